"""The words of an explained question, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.report.figures import number
from sitr.report.words.arabic.marks import ltr, measurement, named
from sitr.report.words.arabic.nouns import ROW, VALUE, counted


@dataclass(frozen=True, slots=True)
class ExplainedWords:
    """What a question reads, how it is bounded, what is measured and what is shown."""

    def table(self, name: str, /) -> str:
        """Where the rows come from."""
        return f"صفوف الجدول المحمي {named(name)}"

    def where(self, condition: str, /) -> str:
        """The rows that are selected."""
        return f"الصفوف التي تحقق {named(condition)} فقط"

    def per_person(self, keys: str, /) -> str:
        """A sub-query that groups by the unit."""
        return f"صف واحد لكل شخص{f' ولكل {named(keys)}' if keys else ''}، محسوب من صفوفه هو"

    def joined(self, table: str, condition: str, outer: bool, /) -> str:
        """A join with a public table."""
        kept = "وتبقى الصفوف التي لا مقابل لها" if outer else "وتُترك الصفوف التي لا مقابل لها"
        return f"إلى جانب الجدول العلني {named(table)} حيث {named(condition)}؛ {kept}"

    def matching(self, table: str, condition: str, outside: bool, /) -> str:
        """Rows that are chosen by a public table."""
        which = "التي لا صف لها" if outside else "التي لها صف"
        return f"الصفوف {which} في الجدول العلني {named(table)} حيث {named(condition)} فقط"

    def of_people(self, outside: bool, /) -> str:
        """Rows of people who are chosen by their own rows."""
        return f"صفوف الأشخاص الذين {'ليس لهم أي' if outside else 'لهم بعض'} من الصفوف المذكورة ثانيًا فقط"

    def together(self, parts: int, /) -> str:
        """UNION ALL."""
        return f"صفوف الأجزاء واحدًا بعد الآخر، وعددها {ltr(number(parts))}"

    def clamped(self, of: str, low: str, high: str, /) -> str:
        """The bounds of a value."""
        return f"تُقصر {named(of)} في كل صف على المجال {ltr(f'{low} … {high}')}"

    def total_clamped(self, of: str, low: str, high: str, /) -> str:
        """The bounds of a person's total."""
        return f"يُقصر مجموع {named(of)} لكل شخص ومجموعة على المجال {ltr(f'{low} … {high}')}"

    def public_keys(self, name: str, keys: int, clamped: bool, /) -> str:
        """A key whose values are public; others may be clamped."""
        others = "وما عداها يُحسب عند أقرب حد" if clamped else "وتُترك صفوف ما عداها"
        return f"ل{named(name)} {counted(keys, VALUE)} علنية؛ {others}"

    def unknown_keys(self, name: str, /) -> str:
        """A key whose values are not public."""
        return f"ليست ل{named(name)} قيم علنية، فلا تُعرض إلا القيم التي توجد عند عدد كافٍ من الأشخاص"

    def keys(self) -> str:
        """The measurement that decides which keys are shown."""
        return "أي المفاتيح تُعرض"

    def beyond(self) -> str:
        """The measurement of people who lost groups."""
        return "الأشخاص الذين لهم صفوف في مجموعات تركت السقوف جميع صفوفهم فيها"

    def rows_lost(self, most: int, /) -> str:
        """The measurement of the rows that were left out."""
        return f"الصفوف التي تركتها السقوف، بحساب ما لا يزيد على {counted(most, ROW, oblique=True)} لكل شخص"

    def measurement(self, name: str, /) -> str:
        """The name of another measurement."""
        return measurement(name)

    def about_bias(self) -> str:
        """A measurement that no column shows."""
        return "يبين عند كم من الأشخاص تُرك شيء"

    def share(self, percent: str, /) -> str:
        """What a measurement costs."""
        return f"{ltr(percent)} من الثمن"

    def error(self, error: str, /) -> str:
        """How far off a measurement is."""
        return f"{ltr(f'± {error}')} باحتمال {ltr('95%')}"

    def column(self, name: str, formula: str, measured: str, /) -> str:
        """A column of the answer."""
        source = f"، من {named(measured)}" if measured != formula else ""
        return f"{named(name)} هو {named(formula)}{source}"

    def hidden(self, formula: str, /) -> str:
        """An aggregate that is measured and not shown."""
        return f"{named(formula)} يُقاس ولا يُعرض"

    def after(self, text: str, /) -> str:
        """HAVING, ORDER BY and LIMIT."""
        return f"{named(text)} يعمل على الصفوف المنشورة وهو مجاني"
