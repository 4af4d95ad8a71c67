"""The words of an explained question, in English."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.report.figures import counted, visible


@dataclass(frozen=True, slots=True)
class ExplainedWords:
    """What a question reads, how it is bounded, what is measured and what is shown."""

    def table(self, name: str, /) -> str:
        """Where the rows come from."""
        return f"the rows of the protected table {visible(name)}"

    def where(self, condition: str, /) -> str:
        """The rows that are selected."""
        return f"only rows where {visible(condition)}"

    def per_person(self, keys: str, /) -> str:
        """A sub-query that groups by the unit."""
        return f"one row for each person{f' and each {visible(keys)}' if keys else ''}, from their own rows"

    def joined(self, table: str, condition: str, outer: bool, /) -> str:
        """A join with a public table."""
        kept = "rows without a match are kept" if outer else "rows without a match are left out"
        return f"beside the public table {visible(table)} where {visible(condition)}; {kept}"

    def matching(self, table: str, condition: str, outside: bool, /) -> str:
        """Rows that are chosen by a public table."""
        which = "without a row" if outside else "with a row"
        return f"only rows {which} of the public table {visible(table)} where {visible(condition)}"

    def of_people(self, outside: bool, /) -> str:
        """Rows of people who are chosen by their own rows."""
        return f"only the rows of people who {'have none' if outside else 'have some'} of the rows listed second"

    def together(self, parts: int, /) -> str:
        """UNION ALL."""
        return f"the rows of {counted(parts, 'part')}, one after the other"

    def clamped(self, of: str, low: str, high: str, /) -> str:
        """The bounds of a value."""
        return f"{visible(of)} of each row is clamped to {low} … {high}"

    def total_clamped(self, of: str, low: str, high: str, /) -> str:
        """The bounds of a person's total."""
        return f"the total of {visible(of)} of each person and group is clamped to {low} … {high}"

    def public_keys(self, name: str, keys: int, clamped: bool, /) -> str:
        """A key whose values are public; others may be clamped."""
        others = "others count as the nearest bound" if clamped else "rows with others are left out"
        return f"{visible(name)} has {counted(keys, 'public value')}; {others}"

    def unknown_keys(self, name: str, /) -> str:
        """A key whose values are not public."""
        return f"{visible(name)} has no public values, so only values that enough people have are shown"

    def keys(self) -> str:
        """The measurement that decides which keys are shown."""
        return "which keys are shown"

    def beyond(self) -> str:
        """The measurement of people who lost groups."""
        return "people who had rows in groups where the caps left out all of them"

    def rows_lost(self, most: int, /) -> str:
        """The measurement of the rows that were left out."""
        return f"rows that the caps left out, counting up to {counted(most, 'row')} of each person"

    def measurement(self, name: str, /) -> str:
        """The name of another measurement."""
        return visible(name)

    def about_bias(self) -> str:
        """A measurement that no column shows."""
        return "it says from how many something is left out"

    def share(self, percent: str, /) -> str:
        """What a measurement costs."""
        return f"{percent} of the price"

    def error(self, error: str, /) -> str:
        """How far off a measurement is."""
        return f"± {error} with 95% probability"

    def column(self, name: str, formula: str, measured: str, /) -> str:
        """A column of the answer."""
        source = f", from {visible(measured)}" if measured != formula else ""
        return f"{visible(name)} = {visible(formula)}{source}"

    def hidden(self, formula: str, /) -> str:
        """An aggregate that is measured and not shown."""
        return f"{visible(formula)} is measured and not shown"

    def after(self, text: str, /) -> str:
        """HAVING, ORDER BY and LIMIT."""
        return f"{visible(text)} acts on released rows and is free"
