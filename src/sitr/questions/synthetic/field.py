"""A field of pair potentials, fitted to noisy marginals: the model nearest to a tree of pairs that explains them.

Rows are drawn from a tree of the strongest pairs. Then two steps take turns. Raking gives each row a weight, a product
of one factor for each cell of each marginal, such that the weighted rows follow all marginals as closely as the noise
deserves. Gibbs sampling redraws each column of each row given the others, by the same factors, so that rows are found
that the tree does not have. The result is a weighted sample of rows. No private data are read and no coins are tossed.

[DS40; GG84]
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sitr.namespace import Later
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.beside import Beside
from sitr.questions.synthetic.looks import FirstLook
from sitr.questions.synthetic.marginals import Marginal, Measured, Weights, group_sums, precise_mean
from sitr.questions.synthetic.tree import Edge, planted
from sitr.questions.synthetic.weighted_rows import Pair, WeightedRows

special = Later("scipy.special")

FEWEST = 20_000
"""The fewest rows of the sample. There are as many as in the data set, by noisy count, between these limits."""

WORK = 10_000_000
"""The most rows of the sample times pairs of columns."""

ROUNDS = 8
"""How many times rows are raked and drawn again."""

SWEEPS = 10
"""How many times all marginals are raked in a round."""

LOYALTY = 0.1
"""How much the divergence from the tree counts, for each row, against squared errors in units of the noise."""

EFFECTIVE = 0.5
"""The smallest part of the rows that may carry the weight: counts that leave fewer are asked for less exactly."""

SOFT = 48.0
"""How exactly counts are asked for in the first round, in rows of the sample, in addition to their noise."""

HARDER = 0.7
"""How much more exactly in each following round."""

RARE = 1e-3
"""The probability that a correct model is reported to miss any of its marginals."""

BLOCK = 4096
"""How many rows are drawn again at a time."""

Progress = Callable[[float], None]
Floats = NDArray[np.float32]


def fit(
    measured: Measured,
    *,
    fewest: int = FEWEST,
    work: int = WORK,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> WeightedRows:
    """A weighted sample of rows that follows all marginals as closely as their noise deserves.

    It is a function of the noisy marginals: no coins are tossed and no other data are read.
    """
    goal = Goal.of(measured)
    size = max(fewest, min(round(goal.total), work // max(1, len(measured.pairs))))
    dice = Dice()
    rows, base = planted(goal.edges, goal.shares, size=size, dice=dice.uniform)
    factors = [np.zeros(table.counts.size) for table in goal.tables]
    softness = SOFT * goal.total / size
    best: tuple[float, Codes, Weights] | None = None
    for turn in range(rounds + 1):
        raked = _raked(goal, rows, factors, softness, must=best is None)
        if raked is None:
            break
        weights, factors, softness = raked
        weights *= goal.total / weights.sum()  # only shares are kept: nearly empty cells add more than the total has
        error = goal.error(rows, weights)
        if best is None or error < best[0]:
            best = (error, rows.copy(), weights)
        if progress is not None:
            progress((turn + 1) / (rounds + 2))
        if turn < rounds:
            rows = rows[:, _resampled(weights, dice)]
            redraw(goal, rows, base, factors, dice)
            softness *= HARDER
    assert best is not None
    _, rows, weights = best
    if progress is not None:
        progress(1.0)
    missed = goal.missed(rows, weights)
    return WeightedRows(rows.T.astype(np.int32), weights / weights.sum(), goal.atoms, measured.shares, missed)


class Dice:
    """Fixed numbers that look uniform, from a public hash. They are never noise for privacy."""

    def __init__(self) -> None:
        self._blocks = 0

    def uniform(self, size: int) -> Weights:
        """The next numbers between 0 and 1."""
        self._blocks += 1
        words = np.frombuffer(hashlib.shake_128(b"%d" % self._blocks).digest(4 * size), dtype="<u4")
        return np.asarray((words + 0.5) / 2.0**32)


@dataclass(frozen=True, slots=True, eq=False)
class FittedTable:
    """Noisy counts of one, two or three columns; `maps` has the group of each atom of each column."""

    columns: tuple[int, ...]
    maps: tuple[Codes, ...]
    counts: Weights
    deviation: float

    def places(self, rows: Codes) -> NDArray[np.int64]:
        """The cell of each row."""
        parts = tuple(each[rows[column]] for column, each in zip(self.columns, self.maps, strict=True))
        return np.asarray(np.ravel_multi_index(parts, self.counts.shape) if len(parts) > 1 else parts[0])

    def wide(self, factors: Weights) -> Weights:
        """One number for each cell of the table, as a table by atoms."""
        return np.asarray(factors.reshape(self.counts.shape)[np.ix_(*self.maps)])


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """Everything that is fitted. An atom of a column is a set of cells that no marginal of pairs tells apart."""

    total: float
    atoms: tuple[Codes, ...]
    shares: tuple[Weights, ...]
    """The noisy shares of the atoms of each column."""
    tables: tuple[FittedTable, ...]
    edges: tuple[Edge, ...]
    """One table of each pair, from which a tree is planted."""
    judges: tuple[tuple[FittedTable, Marginal], ...]
    """The tables of both looks, each with its noise."""

    @classmethod
    def of(cls, measured: Measured) -> Goal:
        total = max(measured.total, 1.0)
        atoms = _atoms(measured)
        shares = tuple(group_sums(share, each) for share, each in zip(measured.shares, atoms, strict=True))
        tables = []
        for place, (one, two) in enumerate(zip(measured.alone, measured.alone_again, strict=True)):
            spread = precise_mean(one, two)[1] * (one.counts.size / len(shares[place])) ** 0.5
            tables.append(FittedTable((place,), (np.arange(len(shares[place])),), shares[place] * total, spread))
        seconds = {each.columns: (each, by) for each, by in zip(measured.again, measured.again_groups, strict=True)}
        judges, edges = [], []
        for first in measured.pairs:
            pair = [_target(first, tuple(measured.groups[place] for place in first.columns), atoms)]
            judges.append((pair[0], first))
            if (found := seconds.get(first.columns)) is not None:
                second, by = found
                pair.append(_target(second, by, atoms))
                judges.append((pair[1], second))
                if second.counts.shape == first.counts.shape:
                    counts, spread = precise_mean(first, second)
                    pair = [replace(pair[0], counts=counts, deviation=spread)]
            tables += pair
            edges.append(Edge(first.columns, pair[-1].wide(_ratio(pair[-1], shares, total))))
        for third in measured.triples:
            tables.append(_target(third, tuple(measured.triple_groups[place] for place in third.columns), atoms))
            judges.append((tables[-1], third))
        return cls(total, atoms, shares, tuple(tables), tuple(edges), tuple(judges))

    def error(self, rows: Codes, weights: Weights) -> float:
        """Σ (fitted − noisy)²/s² over all marginals."""
        return sum(_squares(each, rows, weights) for each in self.tables)

    def missed(self, rows: Codes, weights: Weights) -> tuple[Pair, ...]:
        """The pairs and triples for which Σ (fitted − noisy)²/s² is larger than noise explains, in either look.

        The squared noise in units of its variance has variance v, its kurtosis less 1. A sum over c cells, of variance
        v·c, is compared with the quantile of v/2·χ² with 2c/v degrees of freedom, which has the same mean and variance.
        """
        found = set()
        for target, marginal in self.judges:
            half = (marginal.noise.kurtosis - 1) / 2
            most = half * special.chdtri(target.counts.size / half, RARE / len(self.judges))
            if _squares(target, rows, weights) > most:
                found.add(target.columns)
        return tuple(sorted(found))


def _raked(
    goal: Goal, rows: Codes, factors: list[Weights], softness: float, *, must: bool
) -> tuple[Weights, list[Weights], float] | None:
    """What raking finds, and the softness; None if a few rows would carry the weight. If it must find something, it
    takes more softness instead."""
    while True:
        weights, found = rake(goal, rows, factors, softness)
        if _effective(weights) >= EFFECTIVE or (must and softness > goal.total):
            return weights, found, softness
        if not must:
            return None
        softness *= 2


def rake(goal: Goal, rows: Codes, factors: list[Weights], softness: float = 0.0) -> tuple[Weights, list[Weights]]:
    """Weights of the rows and the logarithms of all factors, after some sweeps over all marginals.

    Each table in turn gets the factors that minimise  λ·KL + Σ (v − y)²/(2s²)  over its cells, all others unchanged:
    a cell of weight c and factor e^{−u₀} gets the weight v = c·e^{u₀ − u} with u = (v − y)/(λs²), the root of
    z + ln z = ln c + u₀ + y/(λs²) − ln(λs²) at z = v/(λs²). The square of the softness is added to s²: rows that were
    drawn cannot follow counts more exactly than draws do, and a few rows would have to carry the weight.
    """
    start = goal.total / rows.shape[1]
    weights = np.full(rows.shape[1], start)
    places = [table.places(rows).astype(np.int32) for table in goal.tables]
    logs, new = np.zeros(rows.shape[1]), [each.copy() for each in factors]
    for _ in range(SWEEPS):
        for k, (table, place) in enumerate(zip(goal.tables, places, strict=True)):
            have = np.bincount(place, weights=weights, minlength=table.counts.size)
            scale, counts = LOYALTY * (table.deviation**2 + softness**2), table.counts.ravel()
            known = np.log(np.maximum(have, 1e-300)) + new[k] + counts / scale - np.log(scale)
            wanted = np.where(have > 0, _root(known) - counts / scale, new[k])
            weights = weights * np.exp(new[k] - wanted)[place]
            logs += (new[k] - wanted)[place]
            new[k] = wanted
    return start * np.exp(np.minimum(logs, 600.0)), new


def redraw(goal: Goal, rows: Codes, base: dict[Pair, Weights], factors: Sequence[Weights], dice: Dice) -> None:
    """Draw each column of all rows again, given the others."""
    alone = [np.log(np.maximum(share, 1e-300)) for share in goal.shares]
    pairs = {pair: table.copy() for pair, table in base.items()}
    triples: list[list[Beside]] = [[] for _ in alone]
    for table, logs in zip(goal.tables, factors, strict=True):
        if len(table.columns) == 1:
            alone[table.columns[0]] = alone[table.columns[0]] - table.wide(logs)
        elif len(table.columns) == 3:
            for axis, column in enumerate(table.columns):
                triples[column].append(Beside.of(table.columns, table.maps, logs.reshape(table.counts.shape), axis))
        else:
            pairs[table.columns] = pairs.get(table.columns, 0.0) - table.wide(logs)
    beside: list[list[tuple[int, Floats]]] = [[] for _ in alone]
    for (i, j), log in pairs.items():
        beside[i].append((j, np.ascontiguousarray(log.T, dtype=np.float32)))
        beside[j].append((i, np.ascontiguousarray(log, dtype=np.float32)))
    for column, others in enumerate(beside):
        first, toss = alone[column].astype(np.float32), dice.uniform(rows.shape[1]).astype(np.float32)
        for start in range(0, rows.shape[1], BLOCK):
            part = slice(start, start + BLOCK)
            here = np.repeat(first[None, :], len(toss[part]), axis=0)
            for other, beside_it in others:
                here += beside_it[rows[other, part]]
            for each in triples[column]:
                here += each.of_rows(rows[:, part])
            here -= here.max(axis=1, keepdims=True)
            sums = np.cumsum(np.exp(here, out=here), axis=1, out=here)
            below = (sums < (toss[part] * sums[:, -1])[:, None]).sum(axis=1)
            rows[column, part] = np.minimum(below, len(first) - 1)


def _root(known: Weights) -> Weights:
    """The z > 0 with z + ln z = k, by Newton's method."""
    low = np.exp(np.minimum(known, 1.0))
    z = np.where(known > 1, np.maximum(known - np.log(np.maximum(known, 1.1)), 0.5), low / (1 + low))
    for _ in range(4):
        z = np.maximum(z * (1 + known - np.log(np.maximum(z, 1e-300))) / (1 + z), 1e-300)
    return np.asarray(z)


def _atoms(measured: Measured) -> tuple[Codes, ...]:
    """The sets of cells of each column that no marginal of pairs or triples tells apart."""
    found = [*measured.groups]
    for each, by in zip(measured.again, measured.again_groups, strict=True):
        for place, groups in zip(each.columns, by, strict=True):
            found[place] = np.unique(found[place] * (groups.max() + 1) + groups, return_inverse=True)[1]
    for place, groups in enumerate(measured.triple_groups):
        found[place] = np.unique(found[place] * (groups.max() + 1) + groups, return_inverse=True)[1]
    return tuple(found)


def _target(marginal: Marginal, groups: tuple[Codes, ...], atoms: tuple[Codes, ...]) -> FittedTable:
    maps = []
    for place, each in zip(marginal.columns, groups, strict=True):
        of_atom = np.zeros(int(atoms[place].max()) + 1, dtype=np.int64)
        of_atom[atoms[place]] = each
        maps.append(of_atom)
    return FittedTable(marginal.columns, tuple(maps), marginal.counts, marginal.deviation)


def _ratio(table: FittedTable, shares: tuple[Weights, ...], total: float) -> Weights:
    """How much more often the groups of two columns occur together than if the columns were independent."""
    margins = (group_sums(shares[place], each) for place, each in zip(table.columns, table.maps, strict=True))
    expected = np.outer(*margins)
    found = FirstLook(table.columns, table.counts, table.deviation, expected).shares(total)
    return np.where(expected > 0, found / np.where(expected > 0, expected, 1.0), 1.0)


def _squares(table: FittedTable, rows: Codes, weights: Weights) -> float:
    fitted = np.bincount(table.places(rows), weights=weights, minlength=table.counts.size)
    return float(((fitted - table.counts.ravel()) ** 2).sum()) / table.deviation**2


def _effective(weights: Weights) -> float:
    """(Σw)²/(NΣw²): the part of the rows that carries the weight."""
    raised = weights / weights.max()
    return float(raised.sum() ** 2 / (raised**2).sum() / len(weights))


def _resampled(weights: Weights, dice: Dice) -> NDArray[np.int64]:
    """Places of rows by systematic sampling, each about as often as its weight says."""
    ends = np.cumsum(weights) / weights.sum()
    teeth = (np.arange(len(weights)) + dice.uniform(1)[0]) / len(weights)
    return np.asarray(np.minimum(np.searchsorted(ends, teeth), len(weights) - 1))
