"""Replay with frozen noise: the same coins on two neighbouring inputs, so that only the exact numbers differ.

A sensitivity that is declared too small is found at once, without statistics: whatever the two answers differ by is not
noise. This is the first test for a query plan, and for any function that takes coins and adds noise to numbers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

from sitr.errors import InvalidUse, NotPrivate
from sitr.flavors.price import Price, price_of
from sitr.namespace import Later
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins
from sitr.plans.plan import Measurement, Plan
from sitr.session.request import Request

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Coined = Callable[..., Any]
"""A function of an input and of coins=…, which returns a number or several."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How far some numbers moved between two neighbouring inputs, and how far they may."""

    name: str
    l1: Fraction | float
    l2_squared: Fraction | float
    largest: Fraction | float
    declared: Distance

    @property
    def kept(self) -> bool:
        """Whether no number moved further than declared."""
        declared = self.declared
        return self.l1 <= declared.l1 and self.l2_squared <= declared.l2_squared and self.largest <= declared.largest


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: how far each measurement moved at most, over all pairs of inputs and seeds."""

    moved: tuple[Moved, ...]
    unchecked: tuple[str, ...] = ()
    """Measurements whose mechanism finds out itself how far its input may move, or whose numbers have no place."""

    @property
    def kept(self) -> bool:
        """Whether every declared distance is at least the actual one, as far as was seen."""
        return all(each.kept for each in self.moved)


def replay(
    function: Coined,
    pairs: Iterable[tuple[Any, Any]],
    *,
    declared: Distance,
    name: str = "",
    seeds: Sequence[int] = (1, 2, 3),
) -> Replayed:
    """Call a function twice with the same coins, for each pair of neighbouring inputs, and compare the answers.

    For functions whose noise is added and does not depend on the input: then the difference of the answers is that of
    the exact numbers. Numbers are in the unit in which the distance is declared.

    >>> from sitr.noise import discrete_laplace
    >>> def noisy_sum(rows, *, coins):
    ...     return sum(rows) + discrete_laplace(scale=10, coins=coins)
    >>> one = Distance(l1=1, l2_squared=1, largest=1)
    >>> [replay(noisy_sum, [pair], declared=one).kept for pair in (((1, 1), (1, 1, 1)), ((1,), (1, 5)))]
    [True, False]
    """
    found = []
    for first, second in pairs:
        for seed in seeds:
            one, other = (_numbers(function(each, coins=_frozen(seed))) for each in (first, second))
            found.append(_moved(name, one, other, declared))
    if not found:
        raise InvalidUse(
            given="No inputs were given to the replay.", do="Give at least one pair of neighbouring inputs."
        )
    return Replayed((_most(found),))


def replay_requests(
    first: Request[Any], second: Request[Any], price: Price, *, seeds: Sequence[int] = (1, 2, 3)
) -> Replayed:
    """Ask the same question about two neighbouring tables with the same coins, and compare what is measured.

    Nothing is charged, and nothing is released: noise from test coins would not protect anybody. So the tables must be
    made up. Each mechanism of the plan notes the exact numbers that it is about to hide.
    """
    plan = first.question.plan(price_of(price))
    found: dict[str, list[Moved]] = {}
    for seed in seeds:
        one, other = (_exact_numbers(each, plan, seed) for each in (first, second))
        for place, (measurement, mine) in one.items():
            theirs = other[place][1] if place in other else []
            if measurement.distance is None or len(mine) != len(theirs) or not all(map(_is_number, mine)):
                continue
            moved = _moved(measurement.name, mine, theirs, measurement.distance)
            found.setdefault(place, []).append(moved)
    most = tuple(_most(each) for each in found.values())
    checked = {each.name for each in most}
    names = dict.fromkeys(each.name for each in plan.measurements)
    return Replayed(most, tuple(name for name in names if name not in checked))


Noted = dict[str, tuple[Measurement, list[Any]]]
"""Measurements by their place in a plan, with the exact numbers that their mechanisms were given."""


def _exact_numbers(request: Request[Any], plan: Plan, seed: int) -> Noted:
    """What every mechanism of a plan is given."""
    seen: Noted = {}
    coins, backend, reading = _frozen(seed), request.at.backend, request.question.reading()
    salt = coins.bits(63)
    several = isinstance(reading, tuple)
    exact = [backend.read(each, salt=salt) for each in (reading if several else (reading,))]
    request.question.answer(_noting(plan, seen), tuple(exact) if several else exact[0], coins=coins)
    return seen


def _noting(plan: Any, seen: Noted, path: str = "") -> Any:
    """The same plan with mechanisms that note their input before they hide it; plans within it, too."""
    changed: dict[str, Any] = {}
    for each in fields(plan):
        value, place = getattr(plan, each.name), f"{path}{each.name}"
        if isinstance(value, Plan):
            changed[each.name] = _noting(value, seen, f"{place}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Plan):
            changed[each.name] = tuple(_noting(one, seen, f"{place}.{n}.") for n, one in enumerate(value))
        elif isinstance(value, tuple) and value and isinstance(value[0], Measurement):
            changed[each.name] = tuple(_noted(one, seen, f"{place}.{n}") for n, one in enumerate(value))
    return replace(plan, **changed)


def _noted(measurement: Measurement, seen: Noted, place: str) -> Measurement:
    mechanism: Any = measurement.mechanism
    kind = type(mechanism)

    def release(self: Any, value: Any, *more: Any, **named: Any) -> Any:
        seen.setdefault(place, (measurement, []))[1].extend(_numbers(value))
        return kind.release(self, value, *more, **named)

    noting = type(kind.__name__, (kind,), {"release": release, "__slots__": ()})
    copy = noting(**{each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init})
    return replace(measurement, mechanism=copy)


def _frozen(seed: int) -> TestCoins:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)  # nothing of a replay is released
        return TestCoins(seed)


def _numbers(value: Any) -> list[Any]:
    """All numbers of an answer, in order."""
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).tolist())
    if isinstance(value, list | tuple):
        return [number for each in value for number in _numbers(each)]
    return [value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Rational)


def _moved(name: str, first: list[Any], second: list[Any], declared: Distance) -> Moved:
    """Answers of different lengths, or with missing numbers in different places, are infinitely far apart."""
    if len(first) != len(second):
        return Moved(name, math.inf, math.inf, math.inf, declared)
    gaps = [_gap(one, other) for one, other in zip(first, second, strict=True)]
    nothing: Fraction | float = Fraction(0)
    return Moved(
        name, sum(gaps, nothing), sum((gap * gap for gap in gaps), nothing), max(gaps, default=nothing), declared
    )


def _gap(one: Any, other: Any) -> Fraction | float:
    if not _is_number(one) or not _is_number(other):
        return Fraction(0) if one == other else math.inf
    if (isinstance(one, float) and not math.isfinite(one)) or (isinstance(other, float) and not math.isfinite(other)):
        same = one == other or (one != one and other != other)
        return Fraction(0) if same else math.inf
    return abs(Fraction(one) - Fraction(other))


def _most(found: Sequence[Moved]) -> Moved:
    """The largest move in each sense."""
    first = found[0]
    return Moved(
        first.name,
        max(each.l1 for each in found),
        max(each.l2_squared for each in found),
        max(each.largest for each in found),
        first.declared,
    )
