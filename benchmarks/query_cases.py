"""The tables and questions of `benchmarks.queries`. Only numpy is needed: peers run with their own interpreters.

Every table has the columns person, grp and x. A question without groups lets each person keep `ROWS` rows; a question
by group lets each person keep `GROUPS` groups with `ROWS // GROUPS` rows each. Values are clamped to `LOW` and `HIGH`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROWS, GROUPS = 6, 2
LOW, HIGH = 0, 100
EDGES = (0, 20, 40, 60, 80, 100)
EPSILON, DELTA, RHO = 1.0, 1e-6, 0.1
PURE, APPROXIMATE, ZERO_CONCENTRATED = "pure", "approximate", "zcdp"
PRICES = (PURE, APPROXIMATE, ZERO_CONCENTRATED)
SCALAR, PUBLIC, UNKNOWN = "", "by public keys", "by unknown keys"
LEVELS = {"MIN": 0.0, "MEDIAN": 0.5, "QUANTILE 0.9": 0.9, "MAX": 1.0}

UNSEEN = 0.1
"""Errors of quantiles that are smaller than this part of a granule are not told apart."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of a table: whose they are, their group by number, their value."""

    name: str
    person: Whole
    group: Whole
    x: Whole

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1

    @property
    def keys(self) -> list[str]:
        return [key(number) for number in range(self.groups)]

    @property
    def cut(self) -> bool:
        """Whether the caps leave rows out."""
        pairs, rows = np.unique(np.stack([self.person, self.group]), axis=1, return_counts=True)
        groups = np.unique(pairs[0], return_counts=True)[1]
        return bool(rows.max() > ROWS // GROUPS or groups.max() > GROUPS)

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("person", "grp", "x"))
            writer.writerows(zip(self.person.tolist(), map(key, self.group.tolist()), self.x.tolist(), strict=True))
        return path


def key(number: int) -> str:
    return f"g{number:02}"


@dataclass(frozen=True, slots=True)
class Case:
    """One aggregate of one table, with or without groups, at one price."""

    table: str
    aggregate: str
    by: str
    price: str

    @property
    def title(self) -> str:
        return f"{self.aggregate} {self.by}".strip()

    @property
    def level(self) -> float | None:
        return LEVELS.get(self.aggregate)


def even(people: int = 1_000, groups: int = 5, *, name: str = "even", seed: int = 16) -> Data:
    """One or two groups for each person, one to three rows in each, values even from 0 to 100: nothing is left out."""
    chance = np.random.default_rng(seed)
    first = chance.integers(groups, size=people)
    second = (first + chance.integers(1, groups, size=people)) % groups
    rows = [
        (person, group)
        for person in range(people)
        for group in (first[person], second[person])[: chance.integers(1, 3)]
        for _ in range(chance.integers(1, ROWS // GROUPS + 1))
    ]
    person, group = np.array(rows, np.int64).T
    return Data(name, person, group, chance.integers(LOW, HIGH, size=len(rows), endpoint=True))


def skewed(people: int = 1_000, groups: int = 5) -> Data:
    """Few people with many rows in many groups, values even from 0 to 100: the caps leave rows out."""
    chance = np.random.default_rng(17)
    person = np.repeat(np.arange(people), np.minimum(chance.zipf(1.8, size=people), 200))
    group = chance.integers(groups, size=len(person))
    return Data("skewed", person, group, chance.integers(LOW, HIGH, size=len(person), endpoint=True))


def heavy(people: int = 1_000, groups: int = 5) -> Data:
    """One row for each person, values with a heavy tail: 3% of them are clamped."""
    chance = np.random.default_rng(18)
    x = np.floor(chance.lognormal(2.5, 1.1, size=people)).astype(np.int64)
    return Data("heavy", np.arange(people), chance.integers(groups, size=people), x)


def small(people: int = 1_000, groups: int = 60) -> Data:
    """One row for each person, in sixty groups of very different size."""
    chance = np.random.default_rng(19)
    size = 1 / np.arange(1, groups + 1)
    group = np.concatenate([np.arange(groups), chance.choice(groups, size=people - groups, p=size / size.sum())])
    return Data("small", np.arange(people), group, chance.integers(LOW, HIGH, size=people, endpoint=True))


def narrow(people: int = 1_000, groups: int = 5) -> Data:
    """One row for each person, values near 40: both bounds are far away, as bounds from public knowledge often are."""
    chance = np.random.default_rng(20)
    x = np.clip(np.rint(chance.normal(40, 8, size=people)), LOW, HIGH).astype(np.int64)
    return Data("narrow", np.arange(people), chance.integers(groups, size=people), x)


def few(people: int = 150, groups: int = 5) -> Data:
    """One row for each of few people, values around 55."""
    chance = np.random.default_rng(21)
    x = np.clip(np.rint(chance.normal(55, 15, size=people)), LOW, HIGH).astype(np.int64)
    return Data("few", np.arange(people), chance.integers(groups, size=people), x)


def tail(people: int = 1_000, groups: int = 5) -> Data:
    """One row for each person, values from 0 with an exponential tail that ends far from the upper bound."""
    chance = np.random.default_rng(22)
    x = np.clip(np.floor(chance.exponential(6, size=people)), LOW, HIGH).astype(np.int64)
    return Data("tail", np.arange(people), chance.integers(groups, size=people), x)


def rounded(people: int = 1_000, groups: int = 5) -> Data:
    """One row for each person, values that somebody rounded to tens, none of them at a bound."""
    chance = np.random.default_rng(23)
    x = 10 * np.clip(np.rint(chance.normal(4, 2, size=people)), 1, 9).astype(np.int64)
    return Data("rounded", np.arange(people), chance.integers(groups, size=people), x)


AGAIN = 8
DRAWN = {
    ("even", price): tuple(f"even{number}" for number in range(2 + AGAIN * place, 2 + AGAIN * (place + 1)))
    for place, price in enumerate(PRICES)
}
"""Tables that were drawn again, other ones for each price. Their seeds were fixed before anything was computed."""

TABLES = {
    "even": even,
    "skewed": skewed,
    "heavy": heavy,
    "narrow": narrow,
    "small": small,
    "few": few,
    "tail": tail,
    "rounded": rounded,
}
"""No choice in Sitr was made on the last three: they check those that were made on the others."""

TABLES |= {name: partial(even, name=name, seed=1_600 + int(name[4:])) for names in DRAWN.values() for name in names}


def cases() -> list[Case]:
    """All questions: every aggregate where nothing is left out, and some where caps or bounds matter."""
    main = ("COUNT", "PEOPLE", "SUM", "AVG", "VARIANCE", "DISTINCT", "HISTOGRAM", "MEDIAN")
    grouped = ("COUNT", "PEOPLE", "SUM", "AVG", "VARIANCE", "MEDIAN")
    found = [Case("even", aggregate, SCALAR, price) for aggregate in main for price in PRICES]
    found += [Case("even", aggregate, SCALAR, PURE) for aggregate in ("STDDEV", "QUANTILE 0.9", "MIN", "MAX")]
    found += [Case("even", aggregate, PUBLIC, price) for aggregate in grouped for price in PRICES]
    found += [Case("skewed", aggregate, SCALAR, PURE) for aggregate in ("COUNT", "PEOPLE", "SUM", "AVG")]
    found += [Case("heavy", aggregate, SCALAR, PURE) for aggregate in ("SUM", "AVG", "VARIANCE", "MEDIAN", "MAX")]
    found += [Case("narrow", aggregate, SCALAR, PURE) for aggregate in ("SUM", "AVG", "VARIANCE", *LEVELS)]
    found += [Case("narrow", aggregate, SCALAR, ZERO_CONCENTRATED) for aggregate in ("MIN", "MAX")]
    found += [Case(table, aggregate, SCALAR, PURE) for table in ("few", "tail", "rounded") for aggregate in LEVELS]
    found += [Case(table, "MEDIAN", PUBLIC, price) for (_, price), tables in DRAWN.items() for table in tables]
    found += [Case("small", aggregate, PUBLIC, PURE) for aggregate in ("COUNT", "SUM", "AVG")]
    return found + [Case("small", aggregate, UNKNOWN, APPROXIMATE) for aggregate in ("COUNT", "PEOPLE", "SUM")]


def exact(data: Data, case: Case, *, clamped: bool = True) -> list[float]:
    """The exact answer, a number for each group or cell. Rows beyond the caps count; values are clamped or not."""
    x = np.clip(data.x, LOW, HIGH) if clamped else data.x
    if case.aggregate == "HISTOGRAM":
        return [float(rows) for rows in np.histogram(x, EDGES)[0]]
    if case.by == SCALAR:
        return [_one(case.aggregate, data.person, x)]
    chosen = (data.group == number for number in range(data.groups))
    return [_one(case.aggregate, data.person[rows], x[rows]) for rows in chosen]


def right(data: Data, case: Case) -> list[float]:
    """What an answer is compared with: the exact answer to the bounded question.

    Where the caps leave rows out, that depends on which, and answers are compared with the truth.
    """
    return exact(data, case, clamped=not data.cut)


def distances(answers: Sequence[Sequence[float | None]], exact: Sequence[float]) -> NDArray[np.float64]:
    """The mean error of each answer over all groups. A group that is not shown counts as 0."""
    numbers = np.array([[0.0 if one is None else one for one in answer] for answer in answers])
    found: NDArray[np.float64] = np.abs(numbers - np.array(exact)).mean(axis=1)
    return found


def _one(aggregate: str, person: Whole, x: Whole) -> float:
    match aggregate:
        case "COUNT":
            return float(len(x))
        case "PEOPLE":
            return float(len(np.unique(person)))
        case "DISTINCT":
            return float(len(np.unique(x)))
        case "SUM":
            return float(x.sum())
        case "AVG":
            return float(x.mean())
        case "VARIANCE":
            return float(x.var())
        case "STDDEV":
            return float(x.std())
    return float(np.quantile(x, LEVELS[aggregate]))
