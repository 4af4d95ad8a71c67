"""Cells come from what is said and public, never from the rows."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sitr.dataset.cells import Categories, Dates, Edges, Even, Granular, Rule, Scale, Step
from sitr.dataset.domain import DeclaredCells, axis, drawable
from sitr.dataset.schema import Column, Kind, Quantised
from sitr.errors import DescriptionError, QuestionError

AGE = Column("age", Kind.INTEGER)
COST = Column("cost", Kind.REAL, Quantised(0, 500_000, Fraction(1, 100)))
WARD = Column("ward", Kind.TEXT, keys=("a", "b", None))
DAY = Column("day", Kind.DATE)
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
YEAR = (date(2024, 1, 1), date(2024, 12, 31))


def test_ranges_of_numbers() -> None:
    assert axis(AGE, DeclaredCells(bins=20, bounds=(0, 120))) == Even(AGE, Fraction(0), Fraction(120), 20)
    assert axis(COST, DeclaredCells(bins=10)) == Even(COST, Fraction(0), Fraction(5_000), 10)  # of the description
    found = axis(AGE, DeclaredCells(edges=(0, 0.1, 7), outside=Rule.DROP))
    assert found == Edges(AGE, (Fraction(0), Fraction(1, 10), Fraction(7)), Rule.DROP)


def test_ranges_of_dates() -> None:
    assert axis(DAY, DeclaredCells(every=Step.MONTH, bounds=YEAR)) == Dates(DAY, *YEAR, Step.MONTH)


def test_categories() -> None:
    assert axis(WARD, DeclaredCells()) == Categories(WARD, ("a", "b"), Rule.DROP, Rule.CELL)  # NULL is among its keys
    assert axis(AGE, DeclaredCells(keys=[1, 2], outside=Rule.CELL, missing=Rule.DROP)) == Categories(
        AGE, (1, 2), Rule.CELL, Rule.DROP
    )


def test_null_has_a_cell_only_where_the_description_allows_it() -> None:
    listed = Column("sex", Kind.TEXT, keys=("f", "m"))
    assert axis(listed, DeclaredCells()) == Categories(listed, ("f", "m"), Rule.DROP, Rule.DROP)
    assert axis(listed, DeclaredCells(missing=Rule.CELL)) == Categories(listed, ("f", "m"), Rule.DROP, Rule.CELL)
    for outside in (Rule.CELL, Rule.MISSING):  # the list is not complete
        assert axis(listed, DeclaredCells(outside=outside)) == Categories(listed, ("f", "m"), outside, Rule.CELL)
    assert axis(AGE, DeclaredCells(keys=[1, None], missing=Rule.DROP)) == Categories(AGE, (1,), Rule.DROP, Rule.CELL)
    for ranged in (
        axis(AGE, DeclaredCells(bins=2, bounds=(0, 9))),
        axis(DAY, DeclaredCells(every=Step.DAY, bounds=YEAR)),
    ):
        assert ranged is not None
        assert ranged.missing is Rule.CELL


@pytest.mark.parametrize("column", [Column("diagnosis", Kind.TEXT), AGE, DAY, Column("flag", Kind.BOOLEAN)], ids=str)
def test_categories_that_nobody_has_listed_are_known_as_such(column: Column) -> None:
    assert axis(column, DeclaredCells()) is None


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (AGE, DeclaredCells(bins=20)),
        (AGE, DeclaredCells(bins=0, bounds=(0, 120))),
        (AGE, DeclaredCells(bins=True, bounds=(0, 120))),
        (AGE, DeclaredCells(bins=2.5, bounds=(0, 120))),  # type: ignore[arg-type]
        (AGE, DeclaredCells(bounds=(0, 120))),
        (AGE, DeclaredCells(bins=2, bounds=(120, 0))),
        (AGE, DeclaredCells(bins=2, bounds=(0, Fraction(1, 10**400)))),  # one double, between which there is nothing
        (AGE, DeclaredCells(bins=2, bounds=(0, float("nan")))),
        (AGE, DeclaredCells(bins=2, bounds=(0, float("inf")))),
        (AGE, DeclaredCells(bins=2, bounds=(0, 2**60))),
        (AGE, DeclaredCells(bins=2, bounds=(date(2024, 1, 1), date(2024, 1, 2)))),
        (AGE, DeclaredCells(edges=(0,))),
        (AGE, DeclaredCells(edges=(0, 5, 5))),
        (AGE, DeclaredCells(edges=(0, 5), bins=3)),
        (Column("cost", Kind.REAL), DeclaredCells()),
        (DAY, DeclaredCells(every=Step.MONTH)),
        (DAY, DeclaredCells(bounds=YEAR)),
        (DAY, DeclaredCells(every=Step.MONTH, bounds=YEAR[::-1])),
        (DAY, DeclaredCells(every=Step.MONTH, bounds=(datetime(2024, 1, 1), datetime(2024, 2, 1)))),  # noqa: DTZ001
        (DAY, DeclaredCells(every=Step.MONTH, bounds=(0, 5))),
        (Column("moment", Kind.TIMESTAMP), DeclaredCells()),
        (Column("blob", Kind.OTHER), DeclaredCells(bins=3, bounds=(0, 1))),
        (Column("name", Kind.TEXT), DeclaredCells(bins=3, bounds=(0, 1))),
        (WARD, DeclaredCells(keys=["a"], bins=3)),
        (WARD, DeclaredCells(outside=Rule.CLAMP)),
        (WARD, DeclaredCells(missing=Rule.CLAMP)),
        (AGE, DeclaredCells(bins=20, bounds=(0, 120), outside="clamp")),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_public_or_makes_no_sense_is_refused(column: Column, wanted: DeclaredCells) -> None:
    with pytest.raises(QuestionError):
        axis(column, wanted)


def test_a_column_that_nothing_cuts_is_told_what_would_cut_it() -> None:
    with pytest.raises(QuestionError) as refused:
        axis(AGE, DeclaredCells(bounds=(0, 120)))
    assert refused.value.message.startswith(
        "Nothing says into which cells the column 'age' is cut. Give bins={'age': 20}"
    )
    assert "None" not in refused.value.message
    with pytest.raises(QuestionError, match="got bins=0"):
        axis(AGE, DeclaredCells(bins=0, bounds=(0, 120)))


@pytest.mark.parametrize("keys", [[], ["a", "a"], [1], "ab"])
def test_keys_are_checked_as_in_a_description(keys: list[str]) -> None:
    with pytest.raises(DescriptionError):
        axis(WARD, DeclaredCells(keys=keys))
    with pytest.raises(DescriptionError):
        drawable(WARD, DeclaredCells(bins=64, keys=keys))


def test_bins_of_granules() -> None:
    assert drawable(COST, DeclaredCells(bins=64)) == Granular(COST, 0, 500_000, Fraction(1, 100), 64)
    assert drawable(AGE, DeclaredCells(bins=64, bounds=(18, 20))) == Granular(
        AGE, 18, 20, Fraction(1), 3
    )  # no empty bins
    assert drawable(DAY, DeclaredCells(bins=12, bounds=YEAR, missing=Rule.DROP)) == Granular(
        DAY, 19_723, 20_088, Fraction(1), 12, Rule.DROP
    )
    at = Column("at", Kind.TIMESTAMP)
    seconds = (datetime(1970, 1, 1, 0, 0, 5), datetime(1970, 1, 1, 0, 1))  # noqa: DTZ001
    assert drawable(at, DeclaredCells(bins=5, bounds=seconds)) == Granular(at, 5, 60, Fraction(1), 5)
    for given in ({"bounds": tuple(each.replace(tzinfo=UTC) for each in seconds)}, {"edges": (seconds[0], NOON, NOON)}):
        with pytest.raises(DescriptionError, match="without a time zone"):
            drawable(at, DeclaredCells(bins=5, **given))


def test_keys_to_draw_from() -> None:
    """NULL has a cell if it is listed and not ruled out; a key that is not listed counts as NULL."""
    assert drawable(WARD, DeclaredCells(bins=64)) == Categories(WARD, ("a", "b"), Rule.MISSING, Rule.CELL)
    assert drawable(WARD, DeclaredCells(bins=64, missing=Rule.DROP)) == Categories(
        WARD, ("a", "b"), Rule.MISSING, Rule.DROP
    )
    assert drawable(WARD, DeclaredCells(bins=64, keys=["z"])) == Categories(WARD, ("z",), Rule.MISSING, Rule.DROP)
    assert drawable(WARD, DeclaredCells(bins=64, keys=[None])) == Categories(WARD, (), Rule.MISSING, Rule.CELL)
    assert drawable(AGE, DeclaredCells(bins=64, keys=[1, 2], bounds=(0, 9))) == Categories(
        AGE, (1, 2), Rule.MISSING, Rule.DROP
    )


GAIN = Column("gain", Kind.INTEGER)


def bins_of(axis: object) -> list[str]:
    assert isinstance(axis, Granular)
    return [cell.label for cell in axis.cells()]


def test_spikes_have_cells_of_their_own() -> None:
    cut = drawable(GAIN, DeclaredCells(bins=2, bounds=(0, 99), spikes=[0, 50, 99]))
    assert bins_of(cut) == ["0", "1 to 49", "50", "51 to 98", "99", "(no value)"]
    day = Column("day", Kind.DATE)
    ends = (date(2024, 1, 1), date(2024, 1, 31))
    assert bins_of(drawable(day, DeclaredCells(bins=1, bounds=ends, spikes=[date(2024, 1, 1)])))[0] == "2024-01-01"
    assert isinstance(cut, Granular)
    assert drawable(GAIN, DeclaredCells(bins=2, bounds=(0, 99))) == replace(cut, bins=2, cuts=())


def test_bins_between_edges() -> None:
    """Each value is in the bin [e_j, e_{j+1}) that holds it, the last edge in the last bin, and spikes are cut out."""
    cut = drawable(GAIN, DeclaredCells(bins=2, edges=[0, 18, 65, 99]))
    assert bins_of(cut) == ["0 to 17", "18 to 64", "65 to 99", "(no value)"]
    assert bins_of(drawable(GAIN, DeclaredCells(bins=2, edges=[0, 18, 99], spikes=[0]))) == [
        *("0", "1 to 17", "18 to 99", "(no value)")
    ]
    edges = [0, 0.005, 12.5, 5000]
    fine = drawable(COST, DeclaredCells(bins=2, edges=edges))
    assert isinstance(fine, Granular)
    for granule in (fine.first(place) for place in range(1, fine.bins)):
        value, before = float(fine.value(granule)), float(fine.value(granule - 1))  # type: ignore[arg-type]
        assert any(before < edge <= value for edge in edges[1:-1])
    days = drawable(DAY, DeclaredCells(bins=2, edges=[YEAR[0], date(2024, 3, 1), YEAR[1]]))
    assert bins_of(days) == ["2024-01-01 to 2024-02-29", "2024-03-01 to 2024-12-31", "(no value)"]
    for given in (np.array(edges), (edge for edge in edges)):  # read once
        assert drawable(COST, DeclaredCells(bins=2, edges=given)) == fine  # type: ignore[arg-type]
    listed = drawable(replace(AGE, keys=(1, 2)), DeclaredCells(bins=2, edges=[0, 5, 9]))  # in place of declared keys
    assert bins_of(listed) == ["0 to 4", "5 to 9", "(no value)"]


@pytest.mark.parametrize("ends", [(0, 10**6), (-(10**6), 10**6), (-(10**6), -1), (5, 6), (1000, 2000), (-7, 10**5)])
def test_bins_on_a_logarithmic_scale(ends: tuple[int, int]) -> None:
    """They cover all values once, and each is about a constant factor wider than its neighbour nearer to 0."""
    cut = drawable(GAIN, DeclaredCells(bins=20, bounds=ends, scale=Scale.LOG))
    assert isinstance(cut, Granular)
    firsts = [cut.first(place) for place in range(cut.bins + 1)]
    assert (firsts[0], firsts[-1]) == (ends[0], ends[1] + 1)
    assert firsts == sorted(set(firsts))
    assert cut.bins <= 20
    steps = [math.copysign(math.log1p(abs(k)), k) for k in firsts]
    wide = (steps[-1] - steps[0]) / 20
    assert all(later - earlier < wide + math.log(2) + 1e-9 for earlier, later in pairwise(steps))


@pytest.mark.parametrize(
    ("column", "wanted", "message"),
    [
        (GAIN, DeclaredCells(bins=2, bounds=(0, 99), spikes=[100]), "values within its bounds"),
        (GAIN, DeclaredCells(bins=2, bounds=(0, 99), spikes=[0.5]), "values within its bounds"),
        (GAIN, DeclaredCells(bins=2, bounds=(0, 99), spikes=["0"]), "values within its bounds"),  # type: ignore[list-item]
        (GAIN, DeclaredCells(bins=2000, bounds=(0, 9999), spikes=[0]), "at most 1,024 bins"),
        (GAIN, DeclaredCells(bins=2, keys=[1, 2], spikes=[1]), "neither spikes nor a scale"),
        (GAIN, DeclaredCells(bins=2, keys=[1, 2], scale=Scale.LOG), "neither spikes nor a scale"),
        (GAIN, DeclaredCells(bins=2, keys=[1, 2], edges=[0, 1]), "beside bounds, keys or a scale"),
        (GAIN, DeclaredCells(bins=2, bounds=(0, 9), edges=[0, 9]), "beside bounds, keys or a scale"),
        (GAIN, DeclaredCells(bins=2, edges=[0, 9], scale=Scale.LOG), "beside bounds, keys or a scale"),
        (GAIN, DeclaredCells(bins=2, edges=[0]), "two or more rising edges"),
        (GAIN, DeclaredCells(bins=2, edges=[0, 9, 5, 20]), "two or more rising edges"),
        (GAIN, DeclaredCells(bins=2, edges=[0, 5.2, 5.8, 20]), "with a value of the column in each bin"),
        (GAIN, DeclaredCells(bins=2, edges=[0, "5", 20]), "two or more rising edges"),  # type: ignore[list-item]
    ],
)
def test_cuts_that_make_no_sense(column: Column, wanted: DeclaredCells, message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        drawable(column, wanted)
