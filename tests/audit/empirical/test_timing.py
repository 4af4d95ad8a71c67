"""The time of an answer tells two inputs apart, or it does not; a drifting clock is no evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from sitr.audit.empirical.timing import timing
from sitr.noise import TestCoins


class Machine:
    """A clock that drifts, and a mechanism that takes its time."""

    def __init__(self, seed: int, *, extra: float) -> None:
        self.generator, self.now, self.extra, self.calls = np.random.default_rng(seed), 0, extra, 0

    def clock(self) -> int:
        return self.now

    def answer(self, data: int) -> None:
        self.calls += 1
        drift = 1_000 + self.calls  # every call is slower than the one before
        self.now += int(drift + self.generator.exponential(300) + self.extra * data)


def p_value(seed: int, extra: float) -> Any:
    machine = Machine(seed, extra=extra)
    return timing(machine.answer, inputs=(0, 1), draws=400, coins=TestCoins(seed), clock=machine.clock)


def test_a_drifting_clock_alone_raises_no_more_alarms_than_allowed() -> None:
    assert sum(p_value(seed, 0.0).tells(confidence=0.9) for seed in range(100)) <= 10


def test_an_input_that_takes_longer_is_found() -> None:
    found = p_value(1, 2_000.0)
    assert found.tells()
    assert found.second > found.first


def test_inputs_in_a_fixed_order_would_be_told_apart_by_the_drift() -> None:
    """The broken twin: first all of one, then all of the other."""
    machine, spent = Machine(1, extra=0.0), []
    for _ in range(400):
        start = machine.now
        machine.answer(0)
        spent.append(machine.now - start)
    assert np.median(spent[200:]) > np.quantile(spent[:200], 0.6)
