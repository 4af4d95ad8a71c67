"""Which cells a method can measure."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.dataset.cells import Categories, Even, Grid
from sitr.errors import QuestionError, unknown_name
from sitr.numbers import exact
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Method, Prefixes, Ranges, Unlisted
from sitr.questions.histogram.tally import Tally


def check(tally: Tally, method: Method) -> None:
    """Refuse a method that does not suit these cells."""
    if isinstance(method, Flat | Unlisted):
        return
    if tally.grid is None or tally.grid.line is None:
        raise QuestionError(
            wanted=f"cells in a line for {type(method).__name__}(), of one column of numbers or dates",
            given="categories, or several columns",
            do="Measure them with Flat().",
        )
    if isinstance(method, Buckets | Bins) and not 0 < exact(method.share) < 1:
        raise QuestionError(
            wanted="a share of the price between 0 and 1 for the choice",
            given=f"share={method.share!r}",
            do="Choose for example Fraction(1, 4).",
        )
    if isinstance(method, Bins):
        _candidates(tally.grid, method.candidates)


def _candidates(grid: Grid, candidates: Sequence[int]) -> None:
    (axis,) = grid.axes
    whole = all(isinstance(number, int) and not isinstance(number, bool) and number >= 1 for number in candidates)
    different = len(set(candidates)) == len(candidates) >= 2
    if not isinstance(axis, Even) or not whole or not different or any(axis.bins % number for number in candidates):
        raise QuestionError(
            wanted="two or more numbers of bins of equal width, each of which divides the largest",
            given=f"{tuple(candidates)!r}",
            do="Write for example bins=(5, 10, 20, 40).",
        )


def check_ranges(tally: Tally, method: Prefixes | Ranges) -> None:
    """Refuse ranges of categories, and cells or columns that are not there."""
    grid = tally.grid
    ordered = [] if grid is None else [axis for axis in grid.axes if not isinstance(axis, Categories)]
    if grid is None or not ordered:
        raise QuestionError(
            wanted=f"for {type(method).__name__}(), at least one column of numbers or dates with public cells",
            given="categories",
            do="Measure them with Flat().",
        )
    if isinstance(method, Prefixes):
        known = [axis.column.name for axis in ordered]
        for name in method.columns:
            if name not in known:
                raise unknown_name(name, known, lacks="Prefix sums run along no column of numbers or dates named")
        return
    inside = all(
        len(each) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in each)
        and 0 <= each[0] <= each[1] < (grid.line or 0)
        for each in method.wanted
    )
    if not inside:
        raise QuestionError(
            wanted="ranges of one column, by the numbers of their first and last cells",
            given=f"{method.wanted!r}",
            do="Number the cells from 0, or leave the ranges out, for all of them.",
        )
