"""Synthetic rows by AIM on mbi, for comparison. It uses numpy's noise.

Written from McKenna, Mullins, Sheldon and Miklau, "AIM: An Adaptive and Iterative Mechanism for Differentially Private
Synthetic Data" (2022), Algorithm 2, with the workload of all pairs of columns.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Columns = tuple[str, ...]

STEPS, LAST_STEPS = 100, 1000
"""Steps of mirror descent in each round, which starts from the model of the round before, and in the end."""

MEASURED = 0.9
"""The part of ρ for measurements; the rest is for choosing them (α in the paper)."""

ROUNDS = 16
"""At most this many rounds for each column are planned in the beginning."""

MOST_MEGABYTES = 80.0
"""The largest graphical model, as in the paper. A smaller one is fitted faster and follows fewer pairs."""


@dataclass(slots=True)
class Spending:
    """What is left of ρ, and what each round spends: σ of a measurement and ε of a choice."""

    rho: float
    columns: int
    megabytes: float = MOST_MEGABYTES
    used: float = 0.0
    sigma: float = 0.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        rounds = ROUNDS * self.columns
        self.sigma = math.sqrt(rounds / (2 * MEASURED * self.rho))
        self.epsilon = math.sqrt(8 * (1 - MEASURED) * self.rho / rounds)
        self.used = self.columns / (2 * self.sigma**2)

    @property
    def round(self) -> float:
        """The price of a round in ρ."""
        return self.epsilon**2 / 8 + 1 / (2 * self.sigma**2)

    @property
    def over(self) -> bool:
        return self.used >= self.rho * (1 - 1e-9)

    def anneal(self) -> None:
        """Spend four times as much on each round."""
        self.epsilon, self.sigma = 2 * self.epsilon, self.sigma / 2

    def finish(self) -> None:
        """If two more rounds cannot be paid, spend everything on one."""
        left = self.rho - self.used
        if not self.over and left <= 2 * self.round:
            self.epsilon, self.sigma = math.sqrt(8 * (1 - MEASURED) * left), math.sqrt(1 / (2 * MEASURED * left))


def adaptive_marginals(rows: Codes, cells: Sequence[int], *, rho: float, megabytes: float = MOST_MEGABYTES) -> Codes:
    """As many synthetic rows, from all single columns and the pairs that the model of the round before misses most."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mbi's advice at its import
        import mbi
    generator, names = np.random.default_rng(), [str(place) for place in range(len(cells))]
    domain, spending = mbi.Domain(names, list(cells)), Spending(rho, len(cells), megabytes)
    # The weight of a set is the number of columns that it shares with all pairs, added up.
    wanted: dict[Columns, int] = {(name,): len(cells) - 1 for name in names}
    wanted |= dict.fromkeys(combinations(names, 2), 2 + 2 * (len(cells) - 2))
    known = {columns: _counts(rows, cells, columns) for columns in wanted}
    measured = [_noisy(mbi, known, (name,), spending.sigma, generator) for name in names]
    estimator = mbi.estimation.MirrorDescent()
    model = estimator.estimate(domain, measured, iters=LAST_STEPS)
    while not spending.over:
        spending.finish()
        chosen = _chosen(mbi, domain, model, measured, known, wanted, spending, generator)
        before = np.asarray(model.project(chosen).datavector())
        measured.append(_noisy(mbi, known, chosen, spending.sigma, generator))
        spending.used += spending.round
        steps = LAST_STEPS if spending.over else STEPS
        model = estimator.estimate(domain, measured, iters=steps, warm_start=model)
        moved = np.abs(np.asarray(model.project(chosen).datavector()) - before).sum()
        if moved <= math.sqrt(2 / math.pi) * spending.sigma * before.size:
            spending.anneal()
    drawn = model.synthetic_data(len(rows)).to_dict()
    return np.column_stack([np.asarray(drawn[name], dtype=np.int64) for name in names])


def _chosen(
    mbi: Any,
    domain: Any,
    model: Any,
    measured: Sequence[Any],
    known: dict[Columns, NDArray[np.float64]],
    wanted: dict[Columns, int],
    spending: Spending,
    generator: np.random.Generator,
) -> Columns:
    """The exponential mechanism among sets that keep the model small: one row moves a score by at most its weight."""
    most = spending.megabytes * min(1.0, (spending.used + spending.round) / spending.rho)
    there = [each.clique for each in measured]
    size = mbi.junction_tree.hypothetical_model_size
    open_ = [each for each in wanted if each in there or size(domain, [*there, each]) <= most]
    scores = np.array(
        [
            wanted[each]
            * (
                np.abs(known[each] - np.asarray(model.project(each).datavector())).sum()
                - math.sqrt(2 / math.pi) * spending.sigma * known[each].size
            )
            for each in open_
        ]
    )
    weights = spending.epsilon / (2 * max(wanted[each] for each in open_)) * scores
    weights = np.exp(weights - weights.max())
    return open_[generator.choice(len(open_), p=weights / weights.sum())]


def _counts(rows: Codes, cells: Sequence[int], columns: Columns) -> NDArray[np.float64]:
    places = [int(name) for name in columns]
    shape = tuple(cells[place] for place in places)
    flat = np.ravel_multi_index(tuple(rows[:, place] for place in places), shape)
    return np.bincount(flat, minlength=math.prod(shape)).astype(np.float64)


def _noisy(
    mbi: Any,
    known: dict[Columns, NDArray[np.float64]],
    columns: Columns,
    sigma: float,
    generator: np.random.Generator,
) -> Any:
    counts = known[columns] + generator.normal(0, sigma, known[columns].size)
    return mbi.LinearMeasurement(counts, columns, sigma)
