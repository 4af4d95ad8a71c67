"""Compare costs for medians: `python -m benchmarks.medians`.

A private median is drawn from the integers between the bounds with a probability that falls with rate·cost. Let L, E
and A be the numbers of values below, equal to and above x, n = L + E + A, and t = αn. Three costs move by at most
max(α, 1 − α) when a value is added or removed, so that the same rate keeps the same promise:

    ranks(x)   = max(L − t, t − L − E)            what Sitr has: ranks between x and the target, below 0 inside;
    middle(x)  = |(1 − α)·L − α·A|                what OpenDP has: for α = 1/2, ranks(x) + E/2;
    between(x) = min(middle(x), ranks(x) + κ/rate)

A value v that is added moves the two arguments of the maximum by −α or 1 − α each; it moves (1 − α)·L − α·A by 1 − α if
v < x, by −α if v > x, and by 0 if v = x. A constant that is added, a maximum, a minimum and |·| never move farther than
what they are made from.

Some x costs `ranks` 0 or less, and so costs `between` κ/rate or less; and ranks ≤ between. So the error in ranks that
holds with a confidence grows by κ/rate. With `middle` alone there is none: where half of the rows have one value, and
the target is in the middle of its lower half, that value costs as much as all numbers below it.

The mean errors here follow from the laws and are exact; no noise is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.query_cases import EPSILON, GROUPS, HIGH, LOW, RHO, ROWS, TABLES, Data, Whole, even

Floats = NDArray[np.float64]
Cost = Callable[[Whole, float], Floats]
PLACES = np.arange(LOW, HIGH + 1)
NODES, SHARES = np.polynomial.legendre.leggauss(len(PLACES) // 2 + 1)
"""Gauss' rule of this size is exact for the polynomials of `law`, whose degree is the number of other candidates."""

DRAWS, MANY = 300, 2_000


def _counts(x: Whole) -> tuple[Floats, Floats, int]:
    """How many values are below each place, and how many are not above it."""
    ordered = np.sort(np.clip(x, LOW, HIGH))
    below, up_to = np.searchsorted(ordered, PLACES, "left"), np.searchsorted(ordered, PLACES, "right")
    return below.astype(np.float64), up_to.astype(np.float64), len(x)


def ranks(x: Whole, level: float) -> Floats:
    """Sitr's cost."""
    below, up_to, many = _counts(x)
    return np.maximum(below - level * many, level * many - up_to)


def middle(x: Whole, level: float) -> Floats:
    """OpenDP's cost."""
    below, up_to, many = _counts(x)
    return np.abs((1 - level) * below - level * (many - up_to))


def between(most: float) -> Cost:
    """OpenDP's cost, but at most this much more than Sitr's."""
    return lambda x, level: np.minimum(middle(x, level), ranks(x, level) + most)


def law(costs: Floats, rate: float, *, flip: bool) -> Floats:
    """The probability of each place: of permute and flip, or of the exponential mechanism.

    Permute and flip takes the best of −rate·cost + E with exponential noise E [DKSSWXZ21]. With p = e^{−rate·cost} and
    costs from 0, the best is i with probability ∫ p_i·Π_{j≠i}(1 − p_j·u) du over u from 0 to 1.
    """
    odds = np.exp(-rate * (costs - costs.min()))
    if not flip:
        chances: Floats = odds / odds.sum()
        return chances
    logs = np.log1p(-np.outer((NODES + 1) / 2, odds))
    others = np.exp(logs.sum(axis=1, keepdims=True) - logs)
    found: Floats = odds * (SHARES / 2 @ others)
    return found


def error(x: Whole, level: float, rate: float, cost: Cost, *, flip: bool) -> float:
    """The mean distance between the number that is shown and the exact one."""
    chances = law(cost(x, level), rate, flip=flip)
    return float((chances * abs(PLACES - np.quantile(np.clip(x, LOW, HIGH), level))).sum())


def rates(level: float, *, grouped: bool) -> list[tuple[str, float, bool]]:
    """The rates for pure(1) and zcdp(0.1) with the caps of `benchmarks.queries`, and whether choices flip."""
    each, groups = (ROWS // GROUPS, GROUPS) if grouped else (ROWS, 1)
    wide = 2 * each * max(level, 1 - level)
    return [("pure", EPSILON / groups / wide, True), ("zcdp", math.sqrt(8 * RHO / groups) / wide, False)]


def errors(tables: Sequence[Whole], level: float, rate: float, *, flip: bool) -> Floats:
    """The mean error over some tables with each of the three costs."""
    costs = (ranks, middle, between(1 / rate))
    return np.array([np.mean([error(x, level, rate, cost, flip=flip) for x in tables]) for cost in costs])


def by_group(data: Data) -> list[Whole]:
    return [data.x[data.group == number] for number in range(data.groups)]


def redrawn(rate: float, *, flip: bool, seeds: Iterable[int]) -> Floats:
    """The errors of MEDIAN by public keys for tables that are drawn as *even* is: a row for each of them."""
    return np.array([errors(by_group(even(seed=seed)), 0.5, rate, flip=flip) for seed in seeds])


def random_errors(level: float, seed: int, many: int = MANY) -> Floats:
    """The errors for random tables, of 30 to 20,000 values of six kinds, at random rates: a row for each table."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(many):
        rows = int(np.exp(chance.uniform(np.log(30), np.log(20_000))))
        values = _values(chance, rows, int(chance.integers(6)))
        x = np.clip(np.rint(values), LOW, HIGH).astype(np.int64)
        rate, flip = float(np.exp(chance.uniform(np.log(0.01), 0))), bool(chance.integers(2))
        found.append(errors([x], level, rate, flip=flip))
    return np.array(found)


def _values(chance: np.random.Generator, rows: int, kind: int) -> Floats:
    match kind:
        case 0:
            return chance.uniform(LOW, HIGH, rows)
        case 1:
            return chance.normal(chance.uniform(10, 90), chance.uniform(2, 25), rows)
        case 2:
            return chance.exponential(chance.uniform(1, 30), rows)
        case 3:
            return chance.lognormal(chance.uniform(0, 4), chance.uniform(0.2, 1.2), rows)
        case 4:  # somebody rounded them
            return 10 * np.rint(chance.normal(chance.uniform(2, 8), chance.uniform(0.5, 3), rows))
        case _:  # one of them is a half of all
            same = chance.uniform(size=rows) < 0.5
            return np.where(same, chance.uniform(20, 80), chance.uniform(LOW, HIGH, rows))


def main() -> None:
    table = Table(title="Exact mean errors", title_justify="left", box=None)
    for heading in ("", "ranks (Sitr)", "middle (OpenDP)", "between", "ranks / middle"):
        table.add_column(heading, justify="right" if heading else "left")

    def row(name: str, found: Floats) -> None:
        table.add_row(name, *(f"{one:.3f}" for one in found), f"{found[0] / found[1]:.2f}")

    for level, word in ((0.5, "MEDIAN"), (0.9, "QUANTILE 0.9")):
        for name in ("even", "heavy", "narrow", "few", "tail", "rounded"):
            data = TABLES[name]()
            for grouped in (False, True):
                for price, rate, flip in rates(level, grouped=grouped):
                    tables = by_group(data) if grouped else [data.x]
                    keys = " by public keys" if grouped else ""
                    row(f"{word}{keys}, {name}, {price}", errors(tables, level, rate, flip=flip))
    for price, rate, flip in rates(0.5, grouped=True):
        found = redrawn(rate, flip=flip, seeds=range(1_000, 1_000 + DRAWS))
        part = found[:, 0] / found[:, 1]
        words = f"{(part < 1).mean():.0%} below 1, {(part > 1.05).mean():.0%} above 1.05"
        row(f"MEDIAN by public keys, {DRAWS} draws of even, {price} ({words})", found.mean(axis=0))
    for level, word in ((0.5, "MEDIAN"), (0.9, "QUANTILE 0.9")):
        for use, seed in (("to choose", 41), ("to check", 42)):
            row(f"{word}, {MANY:,} random tables {use}", random_errors(level, seed).mean(axis=0))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
