"""The sentences of reports about suggested caps and bounds, in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.report.figures import counted, number, visible


@dataclass(frozen=True, slots=True)
class SuggestWords:
    """Caps and bounds that noisy histograms suggest."""

    def chosen(self, groups: int | None, rows: int | None, /) -> str:
        """What is suggested, in one line."""
        if groups is None or rows is None:
            return "Suggested: the bounds below"
        return f"Suggested: at most {counted(groups, 'group')} of a person, and {counted(rows, 'row')} in each"

    def hidden(self) -> str:
        """That nothing is suggested."""
        return (
            "Nothing is suggested: at this price, the noise is larger than any count. Pay more, or ask about more rows."
        )

    def groups(self, share: str, error: str, /) -> str:
        """How many people have no more groups than the cap."""
        return f"about {share} ({error}) of the people have all their groups"

    def rows(self, share: str, error: str, /) -> str:
        """How many people have no more rows than the cap."""
        return f"about {share} ({error}) have all their rows in a group of theirs"

    def values(self, column: str, share: str, error: str, /) -> str:
        """How many people have values within the bounds."""
        return f"about {share} ({error}) have a value of {visible(column)} within the bounds"

    def about_kept(self, columns: Sequence[str], /) -> str:
        """Why the caps for means and quantiles are small."""
        names = ", ".join(map(visible, columns))
        return (
            f"Small caps are best for {names}: a mean, a variance or a quantile is about the rows that are kept. "
            "Larger caps add noise, and rows that are cut are not counted as an error here, as if values did not "
            "depend on how many rows a person has. If people with many rows have other values, choose larger caps, or "
            "ask for a count or a sum beside it: for those, rows that are cut are an error."
        )

    def error(self, least: int, /) -> str:
        """How the expectations were made, and what they cannot see."""
        return (
            "The sizes and errors are for one cell of the answer and are estimated from noisy histograms of one group "
            f"and one row of each person. Cells with fewer than about {number(least)} people can be "
            "taken as empty, so a few people with very many rows or very large values can lose more than this."
        )

    def released(self, sql: str, /) -> str:
        """What was released, in a few words."""
        return f"Caps and bounds for {visible(sql)}"

    def one_cell(self) -> str:
        """The most that a person contributes to a suggestion."""
        return "Each person counts in one cell of each histogram at most."

    def cell(self, low: str, high: str, /) -> str:
        """The numbers of a cell of a histogram."""
        return low if low == high else f"{low} to {high}"

    def histogram(self, column: str, /) -> str:
        """The heading of the histogram of the values of a column."""
        return f"values of {visible(column)}"

    def size(self) -> str:
        """A heading: what a cell of the answer holds."""
        return "in a cell"

    def left_out(self) -> str:
        """A heading: what caps and bounds take away from it."""
        return "left out"

    def code(self, text: str, /) -> str:
        """Options and arguments, to be copied."""
        return visible(text)

    def will_choose(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """In a preview: that caps are chosen from the data, and which caps the errors are for."""
        return (
            f"The caps are chosen privately from the data, for {share} of the price ({price}), after it is paid. The "
            f"errors here are for the caps of the description, at most {counted(groups, 'group')} of a person and "
            f"{counted(rows, 'row')} in each: those of the answer can be smaller or larger."
        )

    def did_choose(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """Which caps were chosen from the data."""
        return (
            f"At most {counted(groups, 'group')} of a person, and {counted(rows, 'row')} in each: chosen privately "
            f"from the data, by noisy histograms for {share} of the price ({price})."
        )

    def told_nothing(self, groups: int, rows: int, share: str, price: str, /) -> str:
        """That no caps could be chosen."""
        return (
            f"At most {counted(groups, 'group')} of a person, and {counted(rows, 'row')} in each, as the description "
            f"says: noisy histograms for {share} of the price ({price}) told nothing."
        )
