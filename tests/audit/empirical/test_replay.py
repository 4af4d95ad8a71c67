"""Frozen noise: declared distances are compared with actual ones, for functions and for every kind of question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.audit.empirical import replay as module
from sitr.audit.empirical.replay import replay, replay_requests
from sitr.errors import InvalidUse
from sitr.flavors.pure import PureDP
from sitr.neighbors.distance import Distance
from sitr.noise import discrete_laplace
from sitr.questions.statistic.question import StatisticQuestion
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.several import SeveralQuestion
from sitr.session.budget import Budget
from tests.laws import walk
from tests.laws.test_questions import FREE, KINDS, WARDS

ONE = Distance(l1=1, l2_squared=1, largest=1)


def noisy(rows: tuple[int, ...], *, coins: Any) -> list[int]:
    """A count and a sum of values up to 3."""
    exact = [len(rows), sum(min(3, row) for row in rows)]
    return [number + discrete_laplace(scale=50, coins=coins) for number in exact]


PAIRS = [((1, 2), (1, 2, 9)), ((), (3,))]


def test_the_difference_is_that_of_the_exact_numbers() -> None:
    found = replay(noisy, PAIRS, declared=Distance(l1=4, l2_squared=10, largest=3))
    (moved,) = found.moved
    assert (moved.l1, moved.l2_squared, moved.largest) == (4, 10, 3)
    assert found.kept


@pytest.mark.parametrize("declared", [Distance(3, 10, 3), Distance(4, 9, 3), Distance(4, 10, 2)])
def test_every_distance_that_is_too_small_is_found(declared: Distance) -> None:
    assert not replay(noisy, PAIRS, declared=declared).kept


def test_missing_numbers_are_infinitely_far_away() -> None:
    def leaky(rows: tuple[float, ...], *, coins: Any) -> float:
        return sum(rows) + discrete_laplace(scale=50, coins=coins)

    assert not replay(leaky, [((1.0,), (1.0, float("nan")))], declared=ONE).kept
    assert not replay(lambda rows, coins: rows, [((), (1,))], declared=ONE).kept  # noqa: ARG005
    with pytest.raises(InvalidUse, match="No inputs"):
        replay(noisy, [], declared=ONE)


# Query plans

APART = {SeveralQuestion, StatisticQuestion, SyntheticQuestion}
"""Their mechanisms find out from the data how far an answer may move, or are made after the plan."""


def table(*, rows: int, person: bool, changed: bool) -> pa.Table:
    """A table; `changed` replaces one unit by the most different one that there is."""
    numbers = np.arange(rows)
    wards = [WARDS[row % 3] for row in numbers]
    costs = (numbers % 100).astype(np.float64)
    unit = 3
    for row in numbers[numbers % 200 == unit] if person else [unit]:
        if changed:
            wards[row], costs[row] = WARDS[(unit + 1) % 3], 100.0 - costs[row]
    made = pa.table({"ward": wards, "cost": costs})
    return made.append_column("patient", pa.array(numbers % 200)) if person else made


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Budget]:
    def budget(*, person: bool, changed: bool) -> Budget:
        unit: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2} if person else {}
        data = sitr.protect(
            table(rows=400, person=person, changed=changed),
            **(unit or {"unit": sitr.Row()}),
            relation=sitr.Relation.REPLACE_ONE,
            name="visits",
            bounds={"cost": (0, 100)},
            granularity={"cost": 0.5},
            keys={"ward": WARDS},
        )
        return data.budget(PureDP(5.0), ledger=tmp_path / f"{person}{changed}.db")

    return budget


def test_no_kind_of_question_is_missing() -> None:
    assert set(KINDS) | FREE == walk.having(("plan", "answer"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_measurement_moves_further_than_its_plan_declares(opened: Any, kind: type) -> None:
    asked = KINDS[kind]
    first, second = (asked.request(opened(person=asked.person, changed=changed)) for changed in (False, True))
    found = replay_requests(first, second, PureDP(0.5))
    assert found.kept, found
    names = {each.name for each in first.question.plan(PureDP(0.5)).measurements}
    assert {each.name for each in found.moved} | set(found.unchecked) == names
    assert found.moved or kind in APART


def test_measured_numbers_do_move(opened: Any) -> None:
    asked = KINDS[next(kind for kind in KINDS if kind.__name__ == "AggregateQuestion")]
    first, second = (asked.request(opened(person=False, changed=each)) for each in (False, True))
    found = replay_requests(first, second, PureDP(0.5))
    moved = {each.name: each.l1 for each in found.moved}
    assert (moved["COUNT(*)"], moved["SUM(cost)"]) == (2, 200)


def test_a_plan_that_declares_too_little_is_found(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: the plan says that a sum moves by half of what it does."""
    asked = KINDS[next(kind for kind in KINDS if kind.__name__ == "AggregateQuestion")]
    first, second = (asked.request(opened(person=False, changed=each)) for each in (False, True))
    plan: Any = first.question.plan

    def wrong(self: Any, price: Any) -> Any:  # noqa: ARG001
        found = plan(price)
        halves = [
            replace(
                each,
                distance=Distance(each.distance.l1 // 2, each.distance.l2_squared // 4, each.distance.largest // 2),
            )
            for each in found.measurements
        ]
        return replace(found, measurements=tuple(halves))

    monkeypatch.setattr(type(first.question), "plan", wrong)
    assert not module.replay_requests(first, second, PureDP(0.5)).kept
