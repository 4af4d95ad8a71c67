"""The sentences of reports about several questions with one charge, in Arabic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.report.figures import number
from sitr.report.words.arabic.marks import listed, ltr, named
from sitr.report.words.arabic.nouns import ANSWER, MEASUREMENT, QUESTION, confidence, counted
from sitr.report.words.numerals import numerals


@dataclass(frozen=True, slots=True)
class BatchWords:
    """Several questions with one plan."""

    def questions(self, many: int, /) -> str:
        """What is asked, before it has a price."""
        return f"{counted(many, QUESTION)} بخطة واحدة ودفعة واحدة"

    def answers(self, many: int, /) -> str:
        """What was answered, in one line."""
        return f"{counted(many, ANSWER)} مقابل دفعة واحدة"

    def part(self, name: str, place: int, many: int, /) -> str:
        """What one answer has to do with the others."""
        return (
            f"الإجابة {ltr(number(place))} من {ltr(number(many))} في مجموعة أسئلة، وهي {named(name)}. "
            "دُفع الثمن عنها كلها؛ والوعد هنا وعد هذه الإجابة وحدها."
        )

    def measured(self, many: int, shared: int, /) -> str:
        """How many measurements there are, and how many of them serve several questions."""
        once = f"، منها {ltr(number(shared))} لعدة أسئلة معًا" if shared else ""
        return f"{counted(many, MEASUREMENT)}{once}، ثُبِّتت مسبقًا ودُفع ثمنها بحسب خسارتها معًا"

    def error(self) -> str:
        """What the errors mean."""
        return (
            f"كل عدد، إذا نُظر إليه وحده، يقع على مسافة لا تزيد على خطئه من الإجابة الدقيقة باحتمال {confidence()}؛ "
            "ولا يشمل ذلك التحيز الناتج عن القصر ضمن الحدود وعن السقوف."
        )

    def bias(self) -> str:
        """Where to look for the bias."""
        return "تذكر كل إجابة ما قيس من انحيازها."

    def caps(self, many: int, /) -> str:
        """Where to look for the caps."""
        return f"السقوف في {counted(many, QUESTION, oblique=True)} مذكورة عند كل سؤال."

    def released(self, names: Sequence[str], /) -> str:
        """What was released, in a few words."""
        return f"{counted(len(names), ANSWER)}: {listed(map(named, names))}"

    def errors(self, errors: Sequence[tuple[str, str]], /) -> str:
        """The errors of each answer, in a few words."""
        return "؛ ".join(f"{named(name)}: {numerals(error)}" for name, error in errors)

    def under(self, name: str, heading: str, /) -> str:
        """The heading of a section about one of the answers."""
        return f"{named(name)}: {heading}"

    def chart(self, many: int, /) -> str:
        """The title of the chart."""
        return f"{counted(many, ANSWER)}، مع فترات {confidence()}"
