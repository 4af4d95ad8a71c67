"""Adapters call other libraries as those are called; here by stand-ins with the same methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sitr.audit import adapters
from sitr.audit.empirical.audit import audit
from sitr.errors import MissingExtra
from sitr.flavors.pure import PureDP
from sitr.noise import TestCoins, discrete_laplace

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


class Mechanism:
    """Laplace noise of a scale, under the names of several libraries."""

    def __init__(self, scale: float) -> None:
        self.scale, self.coins = scale, TestCoins(1)

    def randomise(self, value: float) -> float:
        return value + int(discrete_laplace(scale=self.scale, coins=self.coins))

    add_noise = __call__ = randomise

    def release(self, values: list[float]) -> list[float]:
        return list(np.asarray(values) + discrete_laplace(scale=self.scale, size=len(values), coins=self.coins))


@pytest.mark.parametrize("adapter", [adapters.opendp, adapters.diffprivlib, adapters.python_dp])
def test_a_claim_that_is_too_good_is_refuted_and_a_true_one_is_not(adapter: Any) -> None:
    """ε is 2, or 1/2 of the claim in the twin."""
    for scale, broken in ((0.5, True), (2.0, False)):
        found = audit(adapter(Mechanism(scale)), inputs=(0, 1), claim=PureDP(1.0), draws=4_000)
        assert found.broken is broken


def test_vectors_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "_needs", lambda *_: None)
    calls: list[int] = []

    def measured(values: list[float]) -> list[float]:
        calls.append(len(values))
        return values

    assert adapters.opendp_vector(measured).draw(3, 5).numbers.tolist() == [[3.0]] * 5
    assert calls == [5]
    assert len(adapters.smartnoise(Mechanism(1.0)).draw(0, 7)) == 7
    assert math.isfinite(adapters.tumult(Mechanism(1.0)).draw(0, 1).numbers[0, 0])


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (lambda: adapters.opendp_vector(list), "opendp"),
        (lambda: adapters.smartnoise(Mechanism(1.0)), "smartnoise-sql"),
        (lambda: adapters.tumult(Mechanism(1.0)), "tmlt.core"),
        (lambda: adapters.opacus(sigma=1.0), "opacus"),
    ],
)
def test_a_library_that_is_missing_is_named(call: Any, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=package):
        call()
