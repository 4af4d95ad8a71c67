"""The sentences of reports about several questions with one charge, in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.report.figures import CONFIDENCE, about, counted, number, visible


@dataclass(frozen=True, slots=True)
class BatchWords:
    """Several questions with one plan."""

    def questions(self, many: int, /) -> str:
        """What is asked, before it has a price."""
        return f"{counted(many, 'question')} with one plan and one charge"

    def answers(self, many: int, /) -> str:
        """What was answered, in one line."""
        return f"{counted(many, 'answer')} for one charge"

    def part(self, name: str, place: int, many: int, /) -> str:
        """What one answer has to do with the others."""
        return (
            f"Answer {number(place)} of {number(many)} of a batch, {visible(name)}. The charge paid for all of them; "
            "the promise here is that of this answer alone."
        )

    def measured(self, many: int, shared: int, /) -> str:
        """How many measurements there are, and how many of them serve several questions."""
        once = f", {number(shared)} of them for several questions at once" if shared else ""
        return f"{counted(many, 'measurement')}{once}, fixed in advance and charged by their loss together"

    def error(self) -> str:
        """What the errors mean."""
        return (
            f"Each number, taken alone, is within ± its error of the exact answer with {about(CONFIDENCE * 100)}% "
            "probability; the bias from clamping and caps is not included."
        )

    def bias(self) -> str:
        """Where to look for the bias."""
        return "Each answer says what was measured of it."

    def caps(self, many: int, /) -> str:
        """Where to look for the caps."""
        return f"The caps of the {counted(many, 'question')} are listed with each of them."

    def released(self, names: Sequence[str], /) -> str:
        """What was released, in a few words."""
        return f"{counted(len(names), 'answer')}: {', '.join(map(visible, names))}"

    def errors(self, errors: Sequence[tuple[str, str]], /) -> str:
        """The errors of each answer, in a few words."""
        return "; ".join(f"{visible(name)}: {error}" for name, error in errors)

    def under(self, name: str, heading: str, /) -> str:
        """The heading of a section about one of the answers."""
        return f"{visible(name)}: {heading}"

    def chart(self, many: int, /) -> str:
        """The title of the chart."""
        return f"{counted(many, 'answer')}, with 95% intervals"
