"""Tables for a pure price: some tables get Laplace noise, and all others follow from them.

Noise on the cells of a table S with variance s² estimates the residuals of every T ⊆ S: summing over the columns in S∖T
makes the variance s²·Π_{S∖T} m. Estimates of the same residuals from different tables are independent and are averaged,
with weights that are inversely proportional to their variances. Since all cells of a table have the same noise, this is
the least-squares estimate from all noisy cells. Coarser levels of a hierarchy are sums of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.summed import Summand, least_width
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.noise.contrasts import contrasts
from sitr.numbers import Number
from sitr.questions.aggregate.term import Term
from sitr.questions.tables.counting import coarser, maximal
from sitr.questions.tables.estimate import Whole, table
from sitr.questions.tables.ladder import ColumnLevel, ColumnLevels
from sitr.questions.tables.workload import Node, Reals, Workload, below
from sitr.sensitivity.in_total import in_total

JOINT = "all columns"

MOST_JOINT = 10**6
"""The most cells of one table of all columns."""


@lru_cache(16)
def flat(workload: Workload) -> Workload:
    """The same columns without their coarser levels, and the tables cut by the cells of each column."""
    ladders = tuple(
        ColumnLevels(each.axis, (ColumnLevel(own.name, own.labels, (len(own.labels),), own.places),))
        for each, own in ((each, each.levels[-1]) for each in workload.ladders)
    )
    return Workload(ladders, tuple(tuple((column, 1) for column, _ in node) for node in workload.tables))


@lru_cache(16)
def measured(workload: Workload, *, joint: bool = False) -> tuple[Node, ...]:
    """The tables that get noise: all that are not coarser than another one, or the one of all columns."""
    fine = flat(workload)
    if joint:
        return (tuple((column, 1) for column in sorted({column for node in fine.tables for column, _ in node})),)
    return tuple(maximal(fine.tables))


def choices(workload: Workload) -> list[bool]:
    """Whether the one table of all columns is worth a try."""
    (node,) = measured(workload, joint=True)
    return [False, True] if flat(workload).cells(node) <= MOST_JOINT else [False]


def shares(workload: Workload, tables: Sequence[Node], weights: Sequence[float], *, largest: bool) -> list[Fraction]:
    """The part of ε for each table: for weights w, ε ∝ √w makes the largest w/ε² small, and ε ∝ w^⅓ their sum."""
    fine = flat(workload)
    power = 1 / 2 if largest else 1 / 3
    found = []
    for node in tables:
        covered = {*below(node)}
        most = max(weight for weight, wanted in zip(weights, fine.tables, strict=True) if wanted in covered)
        found.append(max(1, math.ceil(1000 * most**power)))
    whole = sum(found)
    return [Fraction(part, whole) for part in found]


def distance(term: Term, *, rows: int, relation: Relation) -> Distance:
    """How far one unit moves one table of a term: each of its rows adds to one cell."""
    low, high = term.reach
    return in_total(low=low, high=high, each=rows, total=rows, groups=1, cells=None, relation=relation)


def noise(price: PureDP, share: Fraction, far: Distance) -> Laplace:
    """Laplace noise for a part of the price."""
    return Laplace.fitting(price.share(share), sensitivity=far.l1)


@dataclass(frozen=True)
class LaplaceTables:
    """Tables with Laplace noise, from which all others of a workload follow."""

    workload: Workload
    tables: tuple[Node, ...]
    noises: tuple[Laplace, ...]

    @cached_property
    def precisions(self) -> dict[Node, dict[int, float]]:
        """For each base, how precisely each of the tables estimates its residuals, by the number of the table."""
        fine = flat(self.workload)
        found: dict[Node, dict[int, float]] = {base: {} for base in fine.bases()}
        for place, (node, noise) in enumerate(zip(self.tables, self.noises, strict=True)):
            for base in below(node):
                if base in found:
                    found[base][place] = fine.cells(base) / (noise.deviation**2 * fine.cells(node))
        return found

    def residual_variance(self, base: Node) -> float:
        """σ² of the residuals of a base, as if they had been measured with the noise of residuals."""
        return 1 / math.fsum(self.precisions[base].values())

    def residuals(self, noisy: Sequence[Whole]) -> Mapping[Node, Reals]:
        """The averaged residuals of all bases."""
        fine, found = flat(self.workload), {}
        for base in fine.bases():
            total = np.zeros(())
            for place, precision in self.precisions[base].items():
                weight = precision * self.residual_variance(base)
                margin = coarser(fine, self.tables[place], noisy[place], base)
                total = total + weight * np.asarray(contrasts(margin, fine.axes(base)), np.float64)
            found[base] = total
        return found

    def estimate(self, node: Node, residuals: Mapping[Node, Reals]) -> Reals:
        """A table from the averaged residuals."""
        fine, cells = flat(self.workload), tuple((column, 1) for column, _ in node)
        lifted = tuple((column, len(self.workload.ladders[column].levels)) for column, _ in node)
        full: Any = table(fine, cells, residuals)
        return np.asarray(coarser(self.workload, lifted, full, node))

    def variance(self, node: Node) -> Reals:
        """The variance of every cell: Σ_T σ_T²·Π_{i∈T}(n − n²/m)·Π_{i∉T}(n/m)² for cells of n of the m finest cells."""
        found = np.zeros((1,) * len(node))
        for base in below(tuple((column, 1) for column, _ in node)):
            if any(len(self.workload.ladders[column].levels[-1].labels) == 1 for column, _ in base):
                continue
            at, part = {column for column, _ in base}, np.ones(())
            for column, level in node:
                held, whole = self._held(column, level)
                share = held - held**2 / whole if column in at else (held / whole) ** 2
                part = np.multiply.outer(part, share)
            found = found + self.residual_variance(base) * part
        return found

    def _held(self, column: int, level: int) -> tuple[Reals, int]:
        """How many of the finest cells each cell of a level holds; one number if they are all equal."""
        own = self.workload.ladders[column].levels[level - 1]
        held = np.bincount(own.places, minlength=len(own.labels)).astype(np.float64)
        return held[:1] if (held == held[0]).all() else held, int(held.sum())

    def sizes(self, node: Node) -> list[tuple[int, ...]]:
        """How many of the finest cells the cells of a table hold, column by column, each combination once."""
        return [*product(*(sorted({*map(int, self._held(column, level)[0])}) for column, level in node))]

    def summands(self, node: Node, held: tuple[int, ...], *, times: Fraction) -> list[Summand]:
        """The noise in a cell of a table that holds `held` of the finest cells: each noisy cell, with its weight."""
        fine = flat(self.workload)
        inside = {column: (n, fine.ladders[column].size(1)) for (column, _), n in zip(node, held, strict=True)}
        found: list[Summand] = []
        for place, (other, noise) in enumerate(zip(self.tables, self.noises, strict=True)):
            common = [column for column, _ in other if column in inside]
            spread = fine.cells(other) // math.prod(inside[column][1] for column in common)
            counts, weights = np.full((), spread), np.zeros((2,) * len(common))
            for column in common:
                n, m = inside[column]
                counts = np.multiply.outer(counts, np.array([n, m - n]))
            rest = math.prod(n / m for column, (n, m) in inside.items() if column not in common)
            for base in below(tuple((column, 1) for column in common)):
                if base not in self.precisions:
                    continue
                at = {column for column, _ in base}
                part = np.full((), self.precisions[base][place] * self.residual_variance(base))
                for column in common:
                    n, m = inside[column]
                    # The part of the cell that adds up to zero over the column, inside and outside of it; or its mean.
                    part = np.multiply.outer(part, np.array([1 - n / m, -n / m] if column in at else [n / m] * 2))
                weights = weights + rest * part
            for count, weight in zip(counts.ravel().tolist(), weights.ravel().tolist(), strict=True):
                rounded = Fraction(round(abs(weight) * 2**40), 2**40)
                found += [Summand(noise, count, times * rounded)] if count and rounded else []
        return found


def width(parts: Sequence[tuple[LaplaceTables, Fraction]], node: Node, *, confidence: Number) -> float:
    """Half the width of the interval of a cell whose noise is a sum of these, proved for the law of the sum.

    It covers the worst cell of the table. Weights are rounded to 2^{−40}, which a millionth of the width covers.
    """
    found = []
    for held in parts[0][0].sizes(node):
        merged: dict[tuple[Laplace, Fraction], int] = {}
        for tables, times in parts:
            for each in tables.summands(node, held, times=times):
                assert isinstance(each.noise, Laplace)
                key = each.noise, each.weight
                merged[key] = merged.get(key, 0) + each.count
        terms = tuple(Summand(law, count, weight) for (law, weight), count in merged.items())
        found.append(least_width(terms, confidence=confidence))
    return max(found) * (1 + 1e-6)
