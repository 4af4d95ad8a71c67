"""Every kind of question is audited on two neighbouring tables, with a small budget.

What the mechanisms of its plan release is everything that an answer is computed from, so that is what is looked at. The
twin adds no noise, and must be caught.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.audit.empirical.audit import audit
from sitr.audit.empirical.boxes import Function
from sitr.audit.empirical.finding import Finding
from sitr.audit.empirical.replay import _numbers
from sitr.flavors.pure import PureDP
from sitr.noise import TestCoins
from sitr.session.budget import Budget
from tests.audit.empirical.test_replay import table
from tests.laws import walk
from tests.laws.test_questions import FREE, KINDS, WARDS

PRICE = PureDP(0.5)
DRAWS = 400


class Watch:
    """Notes what every mechanism releases, or is given; of mechanisms within mechanisms, only the outer one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, noise: bool) -> None:
        self.released: list[Any] = []
        self.depth = 0
        kinds = walk.having(("release", "promise", "error"))
        for kind in {base for each in kinds for base in each.__mro__ if "release" in vars(base)}:
            monkeypatch.setattr(kind, "release", self._watched(vars(kind)["release"], noise=noise))

    def _watched(self, release: Any, *, noise: bool) -> Any:
        def watched(mechanism: Any, value: Any, *more: Any, **named: Any) -> Any:
            self.depth += 1
            try:
                said = release(mechanism, value, *more, **named)
            finally:
                self.depth -= 1
            if self.depth == 0:
                self.released.extend(_numbers(said if noise else value))
            return said

        return watched


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


def audited(opened: Any, kind: type, monkeypatch: pytest.MonkeyPatch, *, noise: bool) -> Finding:
    asked = KINDS[kind]
    requests = [asked.request(opened(person=asked.person, changed=changed)) for changed in (False, True)]
    question = requests[0].question
    plan, reading = question.plan(PRICE), question.reading()
    several = reading if isinstance(reading, tuple) else (reading,)
    exact = [tuple(request.at.backend.read(each, salt=7) for each in several) for request in requests]
    watch = Watch(monkeypatch, noise=noise)

    def answer(which: int, coins: Any) -> tuple[Any, ...]:
        watch.released.clear()
        question.answer(plan, exact[which] if isinstance(reading, tuple) else exact[which][0], coins=coins)
        return tuple(watch.released)

    box = Function(answer, coins=TestCoins(1))
    return audit(box, inputs=(0, 1), claim=plan.promise(), draws=DRAWS, confidence=0.999)


def test_no_kind_is_missing() -> None:
    assert set(KINDS) | FREE == walk.having(("plan", "answer"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_kind_of_question_is_accused(opened: Any, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not audited(opened, kind, monkeypatch, noise=True).broken


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_exact_numbers_are_caught(opened: Any, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin."""
    assert audited(opened, kind, monkeypatch, noise=False).broken
