"""Weighted sums of released cells, with exact deviations: totals of any cells, differences, and so on.

A cell is a sum over bases T of z_T, divided evenly among finer cells, where z_T is σ_T times independent normal noise
minus its mean in every family of siblings. So a weighted sum of cells has the noise Σ_T ⟨u_T, z_T⟩, where u_T are the
weights, divided and added up in the same way backwards, and its variance is Σ_T σ_T²·‖P u_T‖², where P subtracts the
means of families.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.errors import QuestionError, quoted, unknown_name
from sitr.mechanisms.residual_gaussian import normal_width
from sitr.mechanisms.summed import Summand, least_width
from sitr.numbers import Number, finite
from sitr.questions.tables.laplace import LaplaceTables, flat
from sitr.questions.tables.measures import Measure
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.workload import Node, Reals, Workload, below

_DISTINCT = 32
"""The most different weights of Laplace noise; others are rounded up, which widens the interval."""

Weights = dict[Node, Reals]
"""For each table, the weight of each cell."""


@dataclass(frozen=True, slots=True)
class CombinedCells:
    """A weighted sum of cells: what is shown, the ends of its interval, and the deviation of its noise."""

    value: float
    low: float
    high: float
    deviation: float


def total(
    publication: PublishedTables,
    where: Mapping[str, str | Sequence[str]],
    *,
    measure: str = "count",
    confidence: Number = 0.95,
) -> CombinedCells:
    """The sum of all cells with these labels, from the table in which it has the least deviation."""
    arguments.mapping(where, name="where", example='{"ward": ["a", "b"]}')
    workload, found = publication.plan.workload, _measure(publication, measure)
    known = {level.name for ladder in workload.ladders for level in ladder.levels}
    if unknown := [name for name in where if name not in known]:
        raise unknown_name(unknown[0], sorted(known), lacks="The tables have no column")
    chosen = [{node: cells} for node in workload.tables if (cells := _selected(workload, node, where)) is not None]
    if not chosen:
        raise QuestionError(
            given=f"No table has all of {', '.join(where)}.",
            do="Add a table of these columns to the publication, or name fewer of them.",
        )
    best = min(chosen, key=lambda weights: deviation(publication, found, weights))
    return _combined(publication, found, best, confidence=confidence)


def combined(
    publication: PublishedTables,
    weights: Mapping[str, Mapping[str | tuple[str, ...], Number]],
    *,
    measure: str = "count",
    confidence: Number = 0.95,
) -> CombinedCells:
    """A weighted sum of cells, with weights by table and labels."""
    arguments.mapping(weights, name="weights", example='{"ward": {"a": 1, "b": -1}}')
    workload, made = publication.plan.workload, {}
    for name, cells in weights.items():
        node = publication.node(name)
        arguments.mapping(cells, name=name, example='{"a": 1, "b": -1}')
        made[node] = np.zeros(workload.shape(node))
        levels = [workload.ladders[column].levels[level - 1] for column, level in node]
        for labels, weight in cells.items():
            parts = (labels,) if isinstance(labels, str) else tuple(labels)
            if len(parts) != len(levels) or any(
                part not in level.labels for part, level in zip(parts, levels, strict=False)
            ):
                raise QuestionError(
                    wanted=f"the labels of a cell of {name}",
                    given=quoted(labels),
                    do="Write one label for each column, such as ('a', 'f').",
                )
            if (number := finite(weight)) is None:
                raise QuestionError(wanted="numbers as weights", given=quoted(weight), do="Write for example 1 or -1.")
            at = tuple(level.labels.index(part) for part, level in zip(parts, levels, strict=True))
            made[node][at] += float(number)
    return _combined(publication, _measure(publication, measure), made, confidence=confidence)


def _measure(publication: PublishedTables, name: str) -> Measure:
    added = {measure.name: measure for measure in publication.plan.measures if measure.adds_up}
    if name not in added:
        raise unknown_name(name, sorted(added), lacks="No measure that adds up is called")
    return added[name]


def _selected(workload: Workload, node: Node, where: Mapping[str, str | Sequence[str]]) -> Reals | None:
    """1 for the cells of a table with these labels, 0 for others; None if the table lacks one of the columns."""
    masks, left = [], dict(where)
    for column, level in node:
        mask = np.ones(workload.ladders[column].size(level))
        fine = workload.ladders[column].levels[level - 1]
        for own in workload.ladders[column].levels[:level]:
            if own.name in left:
                given = left.pop(own.name)
                labels = [given] if isinstance(given, str) else list(given)
                if strange := [each for each in labels if each not in own.labels]:
                    raise unknown_name(str(strange[0]), own.labels, lacks=f"{own.name} has no value")
                above = dict(zip(fine.places, own.places, strict=True))
                mask *= [own.labels[above[place]] in labels for place in range(len(fine.labels))]
        masks.append(mask)
    if left:
        return None
    found = np.ones(())
    for mask in masks:
        found = np.multiply.outer(found, mask)
    return found


# Backwards, from weights to noise


def functional(workload: Workload, weights: Weights) -> dict[Node, Reals]:
    """P u_T for each base: what a weighted sum of cells takes from the noise of its residuals."""
    found: dict[Node, Reals] = {}
    for node, cells in weights.items():
        for base in below(node):
            if any(workload.ladders[column].empty(level) for column, level in base):
                continue
            part = _centred(workload, base, _gathered(workload, node, base, cells))
            found[base] = found[base] + part if base in found else part
    return found


def _gathered(workload: Workload, node: Node, base: Node, cells: Reals) -> Reals:
    """The weights of the cells of a base: those of all finer cells, each divided by the sizes of its families."""
    at, found = dict(base), np.asarray(cells, np.float64)
    for place in reversed(range(len(node))):
        column, level = node[place]
        for finer in range(level, at.get(column, 0), -1):
            sizes = np.array(workload.ladders[column].families(finer), np.intp)
            wide = [1] * found.ndim
            wide[place] = len(sizes)
            summed = np.add.reduceat(found, np.cumsum(sizes) - sizes, axis=place)
            found = summed / sizes.reshape(wide)
        if column not in at:
            found = found.reshape((*found.shape[:place], *found.shape[place + 1 :]))
    return found


def _centred(workload: Workload, base: Node, cells: Reals) -> Reals:
    """The numbers minus the means of their families, on every axis."""
    for place, (column, level) in enumerate(base):
        sizes = np.array(workload.ladders[column].families(level), np.intp)
        wide = [1] * cells.ndim
        wide[place] = len(sizes)
        means = np.add.reduceat(cells, np.cumsum(sizes) - sizes, axis=place) / sizes.reshape(wide)
        cells = cells - np.repeat(means, sizes, axis=place)
    return cells


def deviation(publication: PublishedTables, measure: Measure, weights: Weights) -> float:
    """The standard deviation of the noise of a weighted sum of cells."""
    plan, variance = publication.plan, 0.0
    for term, times in measure.weights:
        if plan.pure:
            own: Any = plan.laplace[term]
            parts = functional(flat(plan.workload), _lifted(plan.workload, weights))
            variances = {base: own.residual_variance(base) for base in parts}
        else:
            parts = functional(plan.workload, weights)
            bases = plan.residual(term).bases
            variances = {base: float(bases[plan.bases[base]].sigma) ** 2 for base in parts}
        squares = math.fsum(variances[base] * float((part**2).sum()) for base, part in parts.items())
        variance += float(times) ** 2 * squares
    return math.sqrt(variance)


def _lifted(workload: Workload, weights: Weights) -> Weights:
    """The same weights for the finest cells of each column, which tables with Laplace noise are cut by."""
    found: Weights = {}
    for node, cells in weights.items():
        wide = np.asarray(cells, np.float64)
        for place, (column, level) in enumerate(node):
            # The finest cells stand in the order of their families.
            for finer in range(level + 1, len(workload.ladders[column].levels) + 1):
                wide = np.repeat(wide, workload.ladders[column].families(finer), axis=place)
        fine = tuple((column, 1) for column, _ in node)
        found[fine] = found[fine] + wide if fine in found else wide
    return found


def _combined(publication: PublishedTables, measure: Measure, weights: Weights, *, confidence: Number) -> CombinedCells:
    plan = publication.plan
    exact = sum(
        (
            Fraction(repr(float(weight))) * Fraction(repr(float(cell)))
            for node, cells in weights.items()
            for weight, cell in zip(cells.ravel(), publication.cells(measure, node).ravel(), strict=True)
            if weight
        ),
        Fraction(0),
    )
    value = float(exact)
    middle = math.fsum(float((cells * publication.estimated(measure, node)).sum()) for node, cells in weights.items())
    spread = deviation(publication, measure, weights)
    if plan.pure:
        far = _laplace_width(publication, measure, weights, confidence=confidence)
    else:
        far = spread * normal_width(confidence) * (1 + 1e-9) + _grid(publication, measure, weights)
    size = math.fsum(
        float(np.abs(cells * publication.estimated(measure, node)).sum()) for node, cells in weights.items()
    )
    far += 1e-9 * size  # sums of doubles
    return CombinedCells(value, min(value, middle - far), max(value, middle + far), spread)


def _grid(publication: PublishedTables, measure: Measure, weights: Weights) -> float:
    """How far rounding the residuals to their grids moves a weighted sum, at most."""
    plan, found = publication.plan, 0.0
    parts = functional(plan.workload, weights)
    for term, times in measure.weights:
        bases = plan.residual(term).bases
        for base, part in parts.items():
            step = 2.0 ** -(bases[plan.bases[base]].places + 1)
            found += abs(float(times)) * step * float(np.abs(part).sum())
    return found * (1 + 1e-9)


def _laplace_width(publication: PublishedTables, measure: Measure, weights: Weights, *, confidence: Number) -> float:
    """Half the width of the interval of a weighted sum of Laplace noise, proved for its law."""
    plan = publication.plan
    lifted = _lifted(plan.workload, weights)
    summands: list[Summand] = []
    for term, times in measure.weights:
        summands += _summands(plan.laplace[term], functional(flat(plan.workload), lifted), abs(times))
    return least_width(tuple(summands), confidence=confidence) * (1 + 1e-6) if summands else 0.0


def _summands(tables: LaplaceTables, parts: Mapping[Node, Reals], times: Fraction) -> list[Summand]:
    """The noise of each noisy cell, with its weight.

    Beyond some different weights, they are rounded up: a wider symmetric unimodal law in a sum of such laws makes no
    interval around 0 more probable.
    """
    fine, found = flat(tables.workload), []
    for place, (node, noise) in enumerate(zip(tables.tables, tables.noises, strict=True)):
        whole = np.zeros(fine.shape(node))
        for base, part in parts.items():
            if place not in tables.precisions.get(base, {}):
                continue
            weight = tables.precisions[base][place] * tables.residual_variance(base)
            at = {column for column, _ in base}
            shape = [size if column in at else 1 for (column, _), size in zip(node, fine.shape(node), strict=True)]
            whole = whole + weight * part.reshape(shape)
        sizes = np.abs(whole).ravel()
        sizes = sizes[sizes > sizes.max(initial=0.0) * 1e-12]
        kinds, counts = np.unique(np.round(sizes, 12), return_counts=True)
        if len(kinds) > _DISTINCT:
            steps = np.ceil(_DISTINCT * sizes / sizes.max()) / _DISTINCT * sizes.max()
            kinds, counts = np.unique(np.round(steps, 12), return_counts=True)
        for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            found.append(Summand(noise, count, times * Fraction(math.ceil(kind * 2**40) + 1, 2**40)))
    return found
