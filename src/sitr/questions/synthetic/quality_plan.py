"""The plan for measuring the quality of synthetic rows, from the columns and the price alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sitr.dataset.cells import Granular
from sitr.errors import QuestionError, suggestion
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.shared import SharedNoise
from sitr.neighbors.distance import Distance
from sitr.numbers import flag
from sitr.plans.plan import Measurement, Plan
from sitr.questions.synthetic.products import products
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way, ways

MOST_TRIPLES = 500
"""Triples of columns are compared if there are at most this many."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is compared beside columns, pairs, ranges and correlations: triples, and what concerns a target column."""

    target: int | None = None
    """The position of the column whose values are the subgroups, and which the others explain in a regression."""
    triples: bool = False


PLAIN = Judged()
"""Columns, pairs, ranges and correlations."""


def judged(names: Sequence[str], target: str | None, *, triples: bool) -> Judged:
    """What is compared beside the columns of these names, after checking that it can be."""
    if target is not None and (target not in names or len(names) < 2):
        raise QuestionError(
            wanted=f"a target among the imitated columns {', '.join(names)}, and at least one other column",
            given=repr(target),
            do=suggestion(target, list(names)) if len(names) > 1 else "Imitate more columns.",
        )
    if flag(triples, name="triples", of="the quality") and not 0 < math.comb(len(names), 3) <= MOST_TRIPLES:
        raise QuestionError(
            wanted=f"1 to {MOST_TRIPLES} triples of columns to compare",
            given=f"{math.comb(len(names), 3):,}",
            do="Imitate more columns." if len(names) < 3 else "Leave the triples out, or imitate fewer columns.",
        )
    return Judged(None if target is None else list(names).index(target), triples)


@dataclass(frozen=True, slots=True)
class QualityPlan(Plan):
    """A plan for comparing synthetic rows with the data: the same noise on every distance, and pairs for correlations.

    One unit of m rows moves each Σ |c − s| of counts by at most Δ₁, the ℓ1 distance of the counts themselves, and the
    largest error of a range by no more: a vector of M such numbers moves by MΔ₁ in sum and by √M·Δ₁ in length.

    Within the rows of each value v of a target, the distances D(v, j) of the K other columns are such a vector of
    length K for all values together. A row is counted by one value only, so that the D(v, j) of one column move by Δ₁
    in sum over v, and by no more in length. `sitr.questions.synthetic.products` has the distance of the regression.
    """

    related: int
    """The number of pairs of ordered columns, each with a table."""
    about: str = ""
    """Which rows are measured: the hash of rows and of their model, or how rows will be drawn."""
    target: int | None = None
    """The position of the column whose values are subgroups."""

    @property
    def distances(self) -> Noise:
        """The noise of every distance."""
        return self["distances"].mechanism  # type: ignore[return-value]

    @property
    def pairs(self) -> list[Noise]:
        """The noise of each marginal for a correlation."""
        found = self["correlations"].mechanism if self.related else None
        return found.noises([1] * self.related) if isinstance(found, SharedNoise) else []

    def noise(self, name: str) -> Noise | None:
        """The noise of the measurement of this name; None if there is none."""
        return next((cast("Noise", each.mechanism) for each in self.measurements if each.name == name), None)


def quality_plan(
    sheet: Sheet, price: Promise, *, text: str, looked: Judged = PLAIN, regression: bool = True
) -> QualityPlan:
    """Equal parts of the price for the distances, for the correlations, if there are two ordered columns, and for what
    is asked for beside them: triples, subgroups, and a regression unless rows of a person belong together.

    An approximate price buys Laplace or Gaussian noise, whichever has the smaller error.
    """
    plans = (_planned(sheet, way, text, looked, regression=regression) for way in ways(affordable(price)))
    return min(plans, key=lambda made: made.distances.error())


def _planned(sheet: Sheet, way: Way, text: str, looked: Judged, *, regression: bool) -> QualityPlan:
    columns, ordered = len(sheet.axes), sum(isinstance(axis, Granular) for axis in sheet.axes)
    moved, related = sheet.distance().l1, math.comb(ordered, 2)
    distances = {"distances": _sums(columns + math.comb(columns, 2) + ordered, moved)}
    if looked.triples:
        distances["triples"] = _sums(math.comb(columns, 3), moved)
    if looked.target is not None:
        distances["subgroups"] = _sums(columns - 1, moved)
        distances |= {"regression": products(columns, moved)} if regression else {}
    part = Fraction(1, len(distances) + (related > 0))
    measured = []
    for name, distance in distances.items():
        noise = SharedNoise(way.bought.share(part), distance).noises([1])[0]
        measured.append(Measurement(name, noise, distance))
    if related:
        share = SharedNoise(way.bought.share(part), sheet.distance())
        measured.insert(1, Measurement("correlations", share, sheet.distance()))
    return QualityPlan(tuple(measured), way.charged, text, related, target=looked.target)


def _sums(numbers: int, moved: int) -> Distance:
    """The distance of this many sums of sizes of differences."""
    return Distance(l1=numbers * moved, l2_squared=numbers * moved**2, largest=moved)
