"""Figures about the quality of synthetic rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.mechanisms.additive import Noise
from sitr.questions.synthetic.quality_plan import QualityPlan

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The error of one statistic; `error` is the half-width of its 95% interval, 0 if no noise was added."""

    columns: Names
    found: float
    error: float = 0.0

    @property
    def score(self) -> float:
        """1 − ½·Σ |p − q| of a distance, from 0 to 1: the share of rows that both have in the same cells."""
        return min(1.0, max(0.0, 1 - self.found / 2))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a regression on synthetic rows and on real ones; `error` is the half-width of the 95% interval
    of their difference, if both were samples of one population."""

    term: str
    synthetic: float
    real: float
    error: float

    @property
    def agrees(self) -> bool:
        """Whether the difference is within its error."""
        return abs(self.synthetic - self.real) <= self.error


@dataclass(frozen=True, slots=True)
class Quality:
    """How far synthetic rows are from the data, or from a public table.

    `single`, `pairs` and `triples` are Σ |p − q| over the cells of a marginal, from 0 to 2 but for noise; `triples`
    beside a public table, or where they were paid for. `ranges` are the largest errors of the share of any range of an
    ordered column. `correlations` are synthetic minus true. `plan` is None if the rows were compared with the public
    table `holdout` for free. `scores` are the accuracy on the hold-out after training on synthetic rows and after
    training on real ones. `propensity` is how often a classifier tells synthetic rows from those of the hold-out: 0.5
    if it guesses. `subgroups` are the mean Σ |p − q| of the other columns among the rows with each value of the target.
    `regression` has the coefficients of a linear regression of the target on all other columns.
    """

    plan: QualityPlan | None
    single: tuple[Figure, ...]
    pairs: tuple[Figure, ...]
    ranges: tuple[Figure, ...]
    correlations: tuple[Figure, ...]
    scores: tuple[float, float] | None = None
    holdout: str | None = None
    propensity: float | None = None
    subgroups: tuple[Figure, ...] = ()
    regression: tuple[Coefficient, ...] = ()
    triples: tuple[Figure, ...] = ()

    def possible(self) -> bool:
        """Whether these are finite numbers. Figures read from a file are checked with it."""
        every = (*self.single, *self.pairs, *self.triples, *self.ranges, *self.correlations, *self.subgroups)
        lines = all(all(map(math.isfinite, (each.synthetic, each.real, each.error))) for each in self.regression)
        return lines and all(math.isfinite(figure.found) and math.isfinite(figure.error) for figure in every)

    @property
    def told_apart(self) -> Figure | None:
        """How often the best classifier that sees only some columns is right: the largest ½ + ¼·Σ |p − q|.

        This is the accuracy of guessing the more likely side in every cell, where as many rows are synthetic as real.
        It stands for the propensity where the data themselves train no classifier: a classifier that sees all columns
        can be better. None without a price, and without pairs.

        The largest of many noisy distances is mostly too large, so its error holds for all of them at once.
        """
        if self.plan is None or not self.pairs:
            return None
        many = len(self.pairs) + len(self.triples)
        wide = [
            replace(each, error=each.error * _wider(self.plan.noise(name), many))
            for name, figures in (("distances", self.pairs), ("triples", self.triples))
            for each in figures
        ]
        worst = max(wide, key=lambda figure: figure.found - figure.error)
        return Figure(worst.columns, min(1.0, 0.5 + worst.found / 4), min(0.5, worst.error / 4))

    def worst(self, figures: tuple[Figure, ...]) -> Figure:
        """The largest of the figures of one kind. Noise chose it, so its error holds for all of them at once."""
        worst = max(figures, key=lambda figure: abs(figure.found))
        return replace(worst, error=worst.error * _wider(self._noise_of(figures), len(figures)))

    def _noise_of(self, figures: tuple[Figure, ...]) -> Noise | None:
        """The noise of these figures; that of one distance for the means of subgroups, whose tails are no heavier."""
        if self.plan is None:
            return None
        if figures is self.correlations:
            return next(iter(self.plan.pairs), None)
        if figures is self.triples or figures is self.subgroups:
            return self.plan.noise("triples" if figures is self.triples else "subgroups")
        return self.plan.distances

    @property
    def mean_single(self) -> float:
        return _mean(self.single)

    @property
    def mean_pairs(self) -> float:
        return _mean(self.pairs)

    @property
    def score(self) -> float:
        """The mean score of pairs; of single columns if there are no pairs."""
        counted = self.pairs or self.single
        return sum(each.score for each in counted) / max(1, len(counted))


def _mean(figures: tuple[Figure, ...]) -> float:
    return sum(figure.found for figure in figures) / len(figures) if figures else 0.0


def _wider(noise: Noise | None, many: int) -> float:
    """The error that holds for this many numbers at once, as a multiple of the error of one."""
    if noise is None or not (one := float(noise.error())):
        return 1.0
    return float(noise.error(confidence=1 - Fraction(1, 20 * many))) / one
