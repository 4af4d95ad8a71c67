"""What synthetic rows cost and how the price is divided, before any data are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable, size
from sitr.errors import QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.shared import SharedNoise
from sitr.plans.plan import Measurement, Plan
from sitr.questions.synthetic.axes import MOST_CELLS
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way, ways

if TYPE_CHECKING:
    from sitr.questions.synthetic.axes import Codes
    from sitr.questions.synthetic.quality_plan import QualityPlan

PEOPLE = Fraction(1, 5)
"""The part of the price for the tables of people, if the rows of each person are drawn together."""

ALONE = Fraction(1, 5)
"""The part of the price for the tables of single columns; the rest is for the pairs."""

FIRST = Fraction(1, 6)
"""The part of the price of the pairs for a first look at all of them; the rest is for the second look."""

CHOICE = Fraction(1, 5)
"""The part of that rest for the choice of pairs, if there are too many to measure all of them well."""

TRIPLES = Fraction(1, 8)
"""The part of the second look for tables of triples, if these are wanted and the noisy number of rows carries them."""

MOST_COLUMNS = 15
"""Triples of at most this many columns are measured."""

MOST_PAIRS = 300
"""At most this many pairs are fitted. If there are more, the strongest are chosen privately."""

FULL = 4
"""Values are grouped until a pair of groups holds about this many times the noise of its count."""

MOST_GROUPS = 128
"""The most groups of one column."""

GROUPED = 1.0
"""Grouping one column of a pair into g groups adds about GROUPED/g to its Σ|p − q|."""

LEFT = 0.3
"""About how much of the noise of a pair's table is left when all tables are fitted together."""

SIZES = (1e3, 1e4, 1e5, 1e6)
"""Public numbers of rows that methods are compared at: a plan is made before any row is counted."""

NORMAL = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z."""

Reals = NDArray[np.float64]


class Method(Enum):
    """How a data set is tabulated: all columns together, or each alone and in pairs."""

    JOINT = "joint"
    MARGINALS = "marginals"


@dataclass(frozen=True, slots=True)
class Division:
    """How a price is divided between the tables, and how good the rows can be expected to be."""

    sheet: Sheet
    way: Way
    method: Method
    triples: bool = False
    """Whether tables of triples are wanted."""

    @property
    def price(self) -> Additive:
        """What is charged for the tables."""
        return self.way.charged

    @property
    def whole(self) -> SharedNoise:
        """The noise that the whole price buys."""
        return SharedNoise(self.way.bought, self.sheet.distance())

    @property
    def pairs(self) -> int:
        return math.comb(len(self.sheet.axes), 2)

    def alone(self) -> list[Noise]:
        """The noise of the tables of single columns, or of the one table of all."""
        if self.method is Method.JOINT:
            return self.whole.noises([self.sheet.grid.size])
        return self.whole.part(ALONE).noises(self.sheet.grid.shape)

    def choosing(self) -> SharedNoise | None:
        """The noise for choosing pairs; None if all pairs are measured."""
        return self.whole.part((1 - ALONE) * CHOICE) if self.pairs > MOST_PAIRS else None

    def paired(self) -> SharedNoise:
        """The noise of the tables of pairs."""
        return self.whole.part((1 - ALONE) * (1 if self.pairs <= MOST_PAIRS else 1 - CHOICE))

    def looks(self) -> tuple[SharedNoise, SharedNoise]:
        """The noise of the first tables of pairs, and of the second ones, which may have finer groups."""
        paired = self.paired()
        return paired.part(FIRST), paired.part(1 - FIRST)

    def again(self, cells: Sequence[int], *, triples: bool = False) -> list[Noise]:
        """The noise of the second look: of columns, and then of pairs, that weigh so much, with or without triples."""
        second = self.looks()[1]
        return (second.part(1 - TRIPLES) if triples else second).noises(cells)

    def of_triples(self, cells: Sequence[int]) -> list[Noise]:
        """The noise of the tables of triples, with these numbers of cells."""
        return self.looks()[1].part(TRIPLES).noises(cells)

    @property
    def root(self) -> float:
        """The standard deviation of noise is in proportion to this power of the inverse of its share of the price."""
        return 1.0 if isinstance(self.whole.price, PureDP) else 0.5

    def second_deviation(self) -> float:
        """The standard deviation in the second look, if it had one table."""
        return self.looks()[1].noises([1])[0].deviation

    def groups(self, rows: float) -> int:
        """√(n/(4s)) groups for each column: with more, a pair of groups holds too few rows for noise of size s."""
        return min(MOST_GROUPS, max(2, math.isqrt(max(1, math.floor(max(rows, 1.0) / (FULL * self._pair_noise()))))))

    def expected_error(self) -> float:
        """The expected mean of Σ|p − q| over all pairs of columns: its geometric mean over data sets of the `SIZES`.

        Where all cells are counted by themselves, the number of rows cancels when two methods are compared.
        """
        return math.prod(min(1.0, self.error_at(rows)) for rows in SIZES) ** (1 / len(SIZES))

    def error_at(self, rows: float) -> float:
        """The same for n rows, from the noise and the grouping; projections and dependence are ignored.

        Noise of standard deviation s in each of c cells adds c·s·√(2/π)/n to Σ|p − q|. In one table of C cells, each
        cell of a pair with c cells is a sum of C/c noisy counts: √(C·c)·s·√(2/π)/n.
        """
        cells = np.array(self.sheet.grid.shape, dtype=np.float64)
        if self.method is Method.MARGINALS:
            return self._error_of_pairs(rows, cells)
        (noise,) = self.alone()
        roots = _products(np.sqrt(cells)) if len(cells) > 1 else np.sqrt(cells)
        return NORMAL * noise.deviation * math.sqrt(math.prod(cells)) * float(roots.mean()) / rows

    def _error_of_pairs(self, rows: float, cells: Reals) -> float:
        """The best linear fit to all tables has four parts, which do not disturb each other.

        In a table of a×b cells with noise of variance s², only this table measures its (a − 1)(b − 1) contrasts:
        s²(1 − 1/a)(1 − 1/b) for each cell. The differences within a column of a cells are measured by its own table,
        with variance v, and by its tables with columns of b cells, with variance bs²: together u = 1/(1/v + Σ 1/(bs²)),
        and u(1 − 1/a)/b² for each cell. All tables measure the number of rows: t = 1/(Σ 1/(av) + Σ 1/(abs²)), and
        t/(ab)² for each cell.
        """
        most = self.groups(rows)
        known = np.minimum(cells, most)
        pair = self._pair_noise() ** 2 / min(1.0, MOST_PAIRS / self.pairs)
        alone = np.array([noise.deviation**2 for noise in self.alone()]) * cells / known
        precision = 1 / alone + ((1 / known).sum() - 1 / known) / pair
        total = 1 / ((1 / (known * alone)).sum() + (1 / _products(known)).sum() / pair)
        inside = self._pair_noise() ** 2 * np.outer(1 - 1 / known, 1 - 1 / known)
        column = np.outer((1 - 1 / known) / precision, known**-2)
        variance = (inside + column + column.T)[np.triu_indices(len(known), 1)] + total * _products(known) ** -2
        noise = float((_products(known) * np.sqrt(variance)).mean())
        return NORMAL * noise / rows + 2 * GROUPED / most * float((cells > most).mean())

    def _pair_noise(self) -> float:
        """The standard deviation of a count of two groups of values, if all pairs had tables of equal size."""
        return self.paired().noises([1] * min(self.pairs, MOST_PAIRS))[0].deviation

    def errors(self) -> list[tuple[str, int, float]]:
        """Each table that is fixed in advance: its name, its cells, and the 95% error of each of its counts."""
        if self.method is Method.JOINT:
            names, cells = [" × ".join(self.sheet.names)], [self.sheet.grid.size]
        else:
            names, cells = [*self.sheet.names], [*self.sheet.grid.shape]
        return [
            (name, count, float(noise.error())) for name, count, noise in zip(names, cells, self.alone(), strict=True)
        ]

    def pair_error(self) -> float | None:
        """The 95% error of a count of two groups of values, if all pairs had tables of equal size; None if there are
        no pairs."""
        if self.method is Method.JOINT:
            return None
        return float(self.paired().noises([1] * min(self.pairs, MOST_PAIRS))[0].error())

    def triple_error(self) -> tuple[int, float] | None:
        """How many triples there are, and the 95% error of a count if all have tables of equal size; None without."""
        if not self.triples:
            return None
        number = math.comb(len(self.sheet.axes), 3)
        return number, float(self.of_triples([1] * number)[0].error())


@dataclass(frozen=True, slots=True)
class SynthesisPlan(Plan):
    """The tables that will be measured.

    Tables of single columns come first. Their noisy counts decide which pairs are measured, and by which groups of
    values, but not what is spent on the pairs. Pairs are measured twice: the first tables decide which of the second
    ones have finer groups.
    """

    division: Division
    quality: QualityPlan | None = None
    """The plan of a second stage, which compares drawn rows with the data; this plan includes its measurements."""
    diary: Diary | None = None
    """The rows of each person, if these are drawn together: then the sheet is that of their steps."""
    people: SynthesisPlan | None = None
    """The plan of the tables of people, whose measurements come first in this plan."""

    def known(self) -> list[Measurement]:
        """The tables that are fixed before any row is read: of people, and of the columns of the sheet."""
        people = [] if self.people is None else self.people.known()
        first = 0 if self.people is None else len(self.people.measurements)
        return [*people, *self.measurements[first : first + len(self.division.alone())]]

    @property
    def reading(self) -> Sheet | Diary:
        """What is read from the data."""
        return self.sheet if self.diary is None else self.diary

    def coded(self, exact: Codes) -> Codes:
        """The rows that are counted, by the axes of the sheet, from what was read."""
        return exact if self.diary is None else self.diary.steps(exact)

    @property
    def declared(self) -> tuple[Drawable, ...]:
        """The imitated columns, as they were declared."""
        return self.sheet.axes if self.diary is None else self.diary.axes

    @property
    def sheet(self) -> Sheet:
        return self.division.sheet

    @property
    def method(self) -> Method:
        return self.division.method


def _planned(division: Division, text: str) -> SynthesisPlan:
    moved = division.sheet.distance()
    named = [(name, noise) for (name, _, _), noise in zip(division.errors(), division.alone(), strict=True)]
    measured = [Measurement(name, noise, moved) for name, noise in named]
    if division.method is Method.MARGINALS:
        choice = division.choosing()
        measured += [] if choice is None else [Measurement("choice of pairs", choice, moved)]
        first, second = division.looks()
        again = "pairs again, and triples" if division.triples else "pairs again"
        measured += [Measurement("pairs", first, moved), Measurement(again, second, moved)]
    return SynthesisPlan(tuple(measured), division.price, text, division)


def diary_plan(
    diary: Diary, price: Promise, *, method: Method | None = None, text: str = "SYNTHESIZE"
) -> SynthesisPlan:
    """The plan of rows of whole people: a part of the price for the tables of people, the rest for those of steps.

    One person moves the first by one row and the second by all of theirs. Both are paid by one charge: each part of ε,
    ρ or μ² buys noise for its own distance, and the parts add up to the price.
    """
    steps, people = diary.steps_sheet(), diary.people_sheet()
    _check(steps, method)
    _check(people, None)
    options = [
        (way, Division(steps, _part(way, 1 - PEOPLE), each))
        for way in ways(affordable(price))
        for each in _methods(steps, method)
    ]
    way, division = min(options, key=lambda option: option[1].expected_error())
    ours = [Division(people, _part(way, PEOPLE), each) for each in _methods(people, None)]
    first, second = _planned(min(ours, key=Division.expected_error), text), _planned(division, text)
    named = [replace(each, name=f"people: {each.name}") for each in first.measurements]
    measured = (*named, *second.measurements)
    return replace(second, measurements=measured, diary=diary, people=replace(first, measurements=tuple(named)))


def shared_plans(
    sheets: Sequence[tuple[Sheet, Fraction, Method | None]], price: Promise, *, text: str
) -> list[SynthesisPlan]:
    """The plans of several sheets, each with its part of one price: of ε, ρ or μ², whatever one person moves it by."""
    for sheet, _, method in sheets:
        _check(sheet, method)

    def best(way: Way) -> list[Division]:
        return [
            min((Division(sheet, _part(way, part), each) for each in _methods(sheet, method)), key=error)
            for sheet, part, method in sheets
        ]

    error = Division.expected_error
    found = min(map(best, ways(affordable(price))), key=lambda divisions: sum(map(error, divisions)))
    return [_planned(division, text) for division in found]


def _part(way: Way, fraction: Fraction) -> Way:
    """A part of what a way buys; what is charged is the whole."""
    return Way(way.charged, way.bought.share(fraction))


def plan(
    sheet: Sheet, price: Promise, *, method: Method | None = None, triples: bool = False, text: str = "SYNTHESIZE"
) -> SynthesisPlan:
    """The plan for a price. Without a `method` it is the one with the least expected error.

    With `triples`, a part of the second look may go to tables of triples; one table of all columns has them anyway.

    An approximate price buys Gaussian or Laplace noise, whichever errs less; Laplace noise is charged without the δ.
    All choices are made from the price and the cells, which are public.
    """
    _check(sheet, method)
    if triples:
        _check_triples(sheet)
    candidates = [Division(sheet, way, each) for each in _methods(sheet, method) for way in ways(affordable(price))]
    best = min(candidates, key=Division.expected_error)
    return _planned(replace(best, triples=triples and best.method is Method.MARGINALS), text)


def _methods(sheet: Sheet, method: Method | None) -> list[Method]:
    """The methods that can be used, or the one that is wanted."""
    possible = [Method.JOINT] if sheet.grid.size <= MOST_CELLS else []
    possible += [Method.MARGINALS] if len(sheet.axes) > 1 else []
    return possible if method is None else [method]


def _check(sheet: Sheet, method: Method | None) -> None:
    """Refuse a method, or columns, whose tables would have too many cells."""
    cells = sheet.grid.size
    if method is Method.JOINT and cells > MOST_CELLS:
        raise QuestionError(
            wanted=f"at most {MOST_CELLS:,} cells in the table of all columns, because each gets noise",
            given=f"{cells:,} for {' × '.join(sheet.names)}",
            do="Choose fewer columns or wider cells, or the method of marginals.",
        )
    if method is Method.MARGINALS and len(sheet.axes) == 1:
        raise QuestionError(
            given="The method of marginals fits pairs of columns, and there is only one column.",
            do="Leave the method out: one column is one table.",
        )
    if too_long := [axis.column.name for axis in sheet.axes if size(axis) > MOST_CELLS]:
        raise QuestionError(
            given=f"The column {too_long[0]} has more than {MOST_CELLS:,} cells, each of which gets noise.",
            do="Choose wider cells, or leave the column out.",
        )


def _check_triples(sheet: Sheet) -> None:
    """Refuse tables of triples of too few columns, or of too many."""
    if not 3 <= len(sheet.axes) <= MOST_COLUMNS:
        raise QuestionError(
            wanted=f"3 to {MOST_COLUMNS} columns, so that tables of their triples can be measured",
            given=f"{len(sheet.axes)}",
            do="Choose other columns, or leave out fit_triples (--fit-triples); nothing was spent.",
        )


def _products(sizes: Reals) -> Reals:
    """The product of each pair."""
    return np.asarray(np.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)])
