"""The plan for measuring the quality of synthetic rows, from the columns and the price alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sitr.dataset.cells import Granular
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.shared import SharedNoise
from sitr.neighbors.distance import Distance
from sitr.plans.plan import Measurement, Plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way, ways


@dataclass(frozen=True, slots=True)
class QualityPlan(Plan):
    """A plan for comparing synthetic rows with the data: the same noise on every distance, and pairs for correlations.

    One unit of m rows moves each Σ |c − s| of counts by at most Δ₁, the ℓ1 distance of the counts themselves, and the
    largest error of a range by no more: a vector of M such numbers moves by MΔ₁ in sum and by √M·Δ₁ in length.
    """

    related: int
    """The number of pairs of ordered columns, each with a table."""
    about: str = ""
    """Which rows are measured: the hash of rows and of their model, or how rows will be drawn."""

    @property
    def distances(self) -> Noise:
        """The noise of every distance."""
        return self["distances"].mechanism  # type: ignore[return-value]

    @property
    def pairs(self) -> list[Noise]:
        """The noise of each marginal for a correlation."""
        found = self["correlations"].mechanism if self.related else None
        return found.noises([1] * self.related) if isinstance(found, SharedNoise) else []


def quality_plan(sheet: Sheet, price: Promise, *, text: str) -> QualityPlan:
    """Half of the price for the distances, half for the correlations, if there are two ordered columns.

    An approximate price buys Laplace or Gaussian noise, whichever has the smaller error.
    """
    plans = (_planned(sheet, way, text) for way in ways(affordable(price)))
    return min(plans, key=lambda made: made.distances.error())


def _planned(sheet: Sheet, way: Way, text: str) -> QualityPlan:
    axes = sheet.axes
    whole, ordered = SharedNoise(way.bought, sheet.distance()), sum(isinstance(axis, Granular) for axis in axes)
    numbers = len(axes) + math.comb(len(axes), 2) + ordered
    related = math.comb(ordered, 2)
    half = whole.part(Fraction(1, 2)) if related else whole
    moved = whole.distance.l1
    together = Distance(l1=numbers * moved, l2_squared=numbers * moved**2, largest=moved)
    noise = SharedNoise(half.price, together).noises([1])[0]
    tables = [Measurement("correlations", half, whole.distance)] if related else []
    return QualityPlan((Measurement("distances", noise, together), *tables), way.charged, text, related)
