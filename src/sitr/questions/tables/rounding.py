"""Controlled rounding: whole numbers, none below a least one, that still add up in all tables.

Whole cells x of all tables and everything coarser are wanted, with x_parent = Σ x_child in every family, x ≥ least, and
Σ w·|x − estimate| small. Two ways lead there, and the nearer result is taken:

- An integer linear programme over the cells of all tables, by HiGHS, where no table has more than two columns. For one
  pair of columns and for hierarchies its matrix is that of a network, so every vertex of the linear programme is whole
  already; beyond that HiGHS branches.
- One table of all columns, of which all others are sums, so that they add up whatever its cells are. Its cells are
  raked to the estimates, which makes none negative, then rounded: the first j cells together to the nearest whole
  number, for each j. In a small table, another integer programme chooses which cells are rounded up.

Whatever comes back is checked in integers: `adds_up` decides, not the solver. Everything here is computed from noisy
numbers, so it is free. So is the solver's time by itself; but added to the time of reading rows it could move an answer
to the next multiple of its deadline, so deadlines have room for it: `most_seconds`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from sitr.questions.tables.counting import coarser, maximal
from sitr.questions.tables.workload import Node, Reals, Workload, below, parent

MOST_JOINT = 10**6
"""The most cells of the one table of all columns."""

MOST_PROGRAMME = 1_500
"""The most cells of an integer programme."""

SECONDS = 10.0
"""The time of the solver, for one programme."""

_SWEEPS = 20
"""How often all tables are raked."""

Integers = NDArray[np.int64]


def joint(workload: Workload) -> Node:
    """The table of all columns, at the finest level that some table needs."""
    finest: dict[int, int] = {}
    for node in workload.tables:
        for column, level in node:
            finest[column] = max(level, finest.get(column, 0))
    return tuple(sorted(finest.items()))


def most_seconds(workload: Workload) -> float:
    """How long the solver may take for one measure: its time for each programme that is small enough to be tried."""
    nodes = {part for node in workload.tables for part in below(node)}
    all_cells = sum(workload.cells(node) for node in nodes) <= MOST_PROGRAMME and max(map(len, nodes)) <= 2
    return SECONDS * (all_cells + (workload.cells(joint(workload)) <= MOST_PROGRAMME))


def rounded(
    workload: Workload, estimates: Mapping[Node, Reals], full: Reals, *, least: int | None = 0
) -> dict[Node, Integers]:
    """Whole tables that add up, near the `estimates` of all tables and everything coarser.

    `full` is the estimate of the table of all columns. No number is below `least`, which is 0, or None if numbers can
    be negative.
    """
    cells = sum(each.size for each in estimates.values())
    found: list[dict[Node, Integers] | None] = [_from_joint(workload, estimates, full, least=least)]
    if cells <= MOST_PROGRAMME and max(map(len, estimates)) <= 2:
        found.append(_programme(workload, estimates, least=least))
    good = [each for each in found if each is not None and adds_up(workload, each, least=least)]
    return min(good, key=lambda each: distance(each, estimates))


def distance(tables: Mapping[Node, Integers], estimates: Mapping[Node, Reals]) -> float:
    """Σ w·|x − estimate|: a cell weighs as much as the number of the finest cells that it holds."""
    weights = _weights(estimates)
    return math.fsum(weights[node] * float(np.abs(tables[node] - estimates[node]).sum()) for node in estimates)


def _weights(estimates: Mapping[Node, Reals]) -> dict[Node, float]:
    finest = max(each.size for each in estimates.values())
    return {node: finest / each.size for node, each in estimates.items()}


def adds_up(workload: Workload, tables: Mapping[Node, Integers], *, least: int | None) -> bool:
    """Whether all margins are sums of their parts, in integers, and no number is too small."""
    if least is not None and any(int(each.min(initial=least)) < least for each in tables.values()):
        return False
    for node, cells in tables.items():
        for place in range(len(node)):
            above = parent(node, place)
            if above in tables and not np.array_equal(coarser(workload, node, cells, above), tables[above]):
                return False
    return True


# An integer programme over the cells of all tables


def _programme(
    workload: Workload, estimates: Mapping[Node, Reals], *, least: int | None
) -> dict[Node, Integers] | None:
    """The nearest whole tables, by HiGHS; None if it finds none in time."""
    nodes = sorted(estimates, key=lambda node: (len(node), node))
    start = dict(zip(nodes, np.cumsum([0, *(estimates[node].size for node in nodes)])[:-1].tolist(), strict=True))
    flat = np.concatenate([estimates[node].ravel() for node in nodes])
    if least is not None:
        flat = np.maximum(flat, float(least))
    size = len(flat)
    own = _weights(estimates)
    weights = np.concatenate([np.full(estimates[node].size, own[node]) for node in nodes])
    rows = _families(workload, nodes, start, size)
    # |x − estimate| is t, with t ≥ x − estimate and t ≥ estimate − x.
    eye, none = sparse.eye_array(size, format="csr"), sparse.csr_array(rows.shape)
    constraints = [
        optimize.LinearConstraint(sparse.hstack([rows, none], format="csr"), 0.0, 0.0),
        optimize.LinearConstraint(sparse.hstack([eye, -eye], format="csr"), -np.inf, flat),
        optimize.LinearConstraint(sparse.hstack([eye, eye], format="csr"), flat, np.inf),
    ]
    low = -np.inf if least is None else float(least)
    bounds = optimize.Bounds(np.concatenate([np.full(size, low), np.zeros(size)]), np.inf)
    kinds = np.concatenate([np.ones(size), np.zeros(size)])
    made = optimize.milp(
        np.concatenate([np.zeros(size), weights]),
        integrality=kinds,
        bounds=bounds,
        constraints=constraints,
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-3},
    )
    if made.x is None:
        return None
    whole = np.rint(made.x[:size]).astype(np.int64)
    return {node: whole[at : at + estimates[node].size].reshape(estimates[node].shape) for node, at in start.items()}


def _families(workload: Workload, nodes: Sequence[Node], start: Mapping[Node, int], size: int) -> sparse.csr_array:
    """One row for each cell of each coarser table: Σ children − parent."""
    rows: list[Integers] = []
    columns: list[Integers] = []
    values: list[Reals] = []
    many = 0
    for node in nodes:
        shape = workload.shape(node)
        at = np.arange(math.prod(shape)).reshape(shape)
        for place, (column, level) in enumerate(node):
            above = parent(node, place)
            if above not in start:
                continue
            families = np.array(workload.ladders[column].families(level), np.intp)
            child = np.repeat(np.arange(len(families)), families)
            upper = np.arange(math.prod(workload.shape(above))).reshape(
                (*shape[:place], len(families), *shape[place + 1 :])
            )
            rows += [many + np.take(upper, child, axis=place).ravel(), many + upper.ravel()]
            columns += [start[node] + at.ravel(), start[above] + upper.ravel()]
            values += [np.ones(at.size), -np.ones(upper.size)]
            many += upper.size
    if not rows:
        return sparse.csr_array((0, size))
    index = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(values), index), shape=(many, size))


# One table of all columns


def _from_joint(
    workload: Workload, estimates: Mapping[Node, Reals], full: Reals, *, least: int | None
) -> dict[Node, Integers]:
    """Whole tables as sums of one."""
    node = joint(workload)
    real = full if least is None else _fitted(workload, node, estimates, full)
    sums = np.cumsum(real.ravel())
    whole = np.diff(np.floor(sums + 0.5), prepend=0.0).astype(np.int64)
    found = _summed(workload, node, whole.reshape(real.shape), estimates)
    if real.size > MOST_PROGRAMME:
        return found
    chosen = _chosen(workload, node, estimates, np.floor(real).astype(np.int64))
    if chosen is None:
        return found
    other = _summed(workload, node, chosen, estimates)
    return min(found, other, key=lambda each: distance(each, estimates))


def _summed(workload: Workload, node: Node, whole: Integers, nodes: Mapping[Node, Reals]) -> dict[Node, Integers]:
    return {each: np.asarray(coarser(workload, node, whole, each), np.int64) for each in nodes}


def _fitted(workload: Workload, node: Node, estimates: Mapping[Node, Reals], full: Reals) -> Reals:
    """Cells that are not negative, near all tables: raking, from the finest tables to the total, again and again.

    Each step multiplies all cells that one number holds, so that their sum is this number, or 0 if it is negative. The
    coarse tables come last, so they are met best; where clipping makes fine ones contradict them, these give way.
    """
    order = sorted(estimates, key=lambda each: -estimates[each].size)
    found: Reals = np.maximum(full, full.std() * 1e-3 + 1e-9)
    for _ in range(_SWEEPS):
        for each in order:
            cells: Any = found
            sums = np.asarray(coarser(workload, node, cells, each), np.float64)
            wanted = np.maximum(estimates[each], 0.0)
            ratio = np.divide(wanted, sums, out=np.zeros(sums.shape), where=sums > 0)
            found = np.asarray(found * _widened(workload, node, each, ratio))
    return found


def _widened(workload: Workload, node: Node, part: Node, cells: Reals) -> Reals:
    """The numbers of a coarser table, repeated for all cells that each of its cells holds."""
    at, found = dict(part), np.asarray(cells, np.float64)
    for place, (column, level) in enumerate(node):
        if column not in at:
            found = np.expand_dims(found, place)
        for finer in range(at.get(column, 0) + 1, level + 1):
            found = np.repeat(found, workload.ladders[column].families(finer), axis=place)
    return found


def _chosen(workload: Workload, node: Node, estimates: Mapping[Node, Reals], floor: Integers) -> Integers | None:
    """The cells of one table, each rounded down or up, so that all tables are near their estimates: by HiGHS."""
    sums, wanted, weights = [], [], []
    own, at = _weights(estimates), np.arange(floor.size)
    for each, cells in estimates.items():
        numbered = np.arange(cells.size, dtype=np.float64).reshape(cells.shape)
        held = _widened(workload, node, each, numbered).ravel().astype(np.intp)
        sums.append(sparse.csr_array((np.ones(floor.size), (held, at)), shape=(cells.size, floor.size)))
        wanted.append((cells - coarser(workload, node, floor, each)).ravel())
        weights.append(np.full(cells.size, own[each]))
    matrix, goal, price = sparse.vstack(sums, format="csr"), np.concatenate(wanted), np.concatenate(weights)
    rows, size = matrix.shape
    eye = sparse.eye_array(rows, format="csr")
    made = optimize.milp(
        np.concatenate([np.zeros(size), price]),
        integrality=np.concatenate([np.ones(size), np.zeros(rows)]),
        bounds=optimize.Bounds(np.zeros(size + rows), np.concatenate([np.ones(size), np.full(rows, np.inf)])),
        constraints=[
            optimize.LinearConstraint(sparse.hstack([matrix, -eye], format="csr"), -np.inf, goal),
            optimize.LinearConstraint(sparse.hstack([matrix, eye], format="csr"), goal, np.inf),
        ],
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-3},
    )
    return None if made.x is None else floor + np.rint(made.x[:size]).astype(np.int64).reshape(floor.shape)


def listed(workload: Workload, tables: Mapping[Node, Integers]) -> Integers:
    """The numbers of the tables from which all others follow, one after another."""
    return np.concatenate([tables[node].ravel() for node in maximal(workload.tables)])


def unlisted(workload: Workload, numbers: Integers) -> dict[Node, Integers] | None:
    """All tables from that list; None if it has the wrong length, or if two tables contradict each other."""
    nodes = maximal(workload.tables)
    sizes = [workload.cells(node) for node in nodes]
    if sum(sizes) != len(numbers):
        return None
    found: dict[Node, Integers] = {}
    for node, part in zip(nodes, np.split(numbers, np.cumsum(sizes)[:-1]), strict=True):
        cells = part.reshape(workload.shape(node))
        for each in below(node):
            made = np.asarray(coarser(workload, node, cells, each), np.int64)
            if each in found and not np.array_equal(found[each], made):
                return None
            found[each] = made
    return found
