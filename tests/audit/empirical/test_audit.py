"""The audit as a whole: no false alarms beyond its confidence, and enough power."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sitr.audit.empirical import audit as module
from sitr.audit.empirical.audit import audit
from sitr.audit.empirical.events import learn
from sitr.audit.empirical.sample import Sample
from sitr.errors import InvalidParameter, InvalidUse
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise import TestCoins, discrete_gaussian, discrete_laplace

UNIT = 1_000


def laplace(seed: int, scale: float = UNIT) -> Any:
    coins = TestCoins(seed)
    return lambda data, size: data + discrete_laplace(scale=scale, size=size, coins=coins)


def gaussian(seed: int, sigma: float = UNIT) -> Any:
    coins = TestCoins(seed)
    return lambda data, size: data + discrete_gaussian(sigma=sigma, size=size, coins=coins)


def response(seed: int, epsilon: float = 1.0) -> Any:
    generator = np.random.default_rng(seed)
    return lambda data, size: np.where(generator.random(size) < 1 / (1 + math.exp(epsilon)), 1 - data, data)


# The law of false alarms


def floats(seed: int) -> Any:
    """Fractions, so that the digits are looked at, too."""
    generator = np.random.default_rng(seed)
    return lambda data, size: data + generator.laplace(size=size)


def rows(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return lambda data, size: data + generator.integers(0, 30, (size, 3))


def texts(seed: int) -> Any:
    generator: Any = np.random.default_rng(seed)
    return lambda _, size: [("yes", None, "no")[each] for each in generator.integers(0, 3, size).tolist()]


NULLS = {"integers": laplace, "floats": floats, "rows": rows, "texts": texts}


def alarms(kind: Any, *, seeds: int, confidence: float, sequential: bool = False, draws: int = 2_400) -> int:
    """How many audits claim that two equal inputs differ: any ε above 0, any μ, any divergence."""
    found = 0
    for seed in range(seeds):
        result = audit(
            kind(seed), inputs=(0, 0), claim=PureDP(0.0), draws=draws, confidence=confidence, sequential=sequential
        )
        found += result.broken or result.mu > 0 or any(low > 0 for _, low in result.divergences)
    return found


@pytest.mark.slow
@pytest.mark.sample
def test_equal_inputs_raise_no_more_alarms_than_the_confidence_allows() -> None:
    """400 seeds; a published tool reports ε ≥ 3.5 on such scores."""
    assert sum(alarms(kind, seeds=100, confidence=0.9) for kind in NULLS.values()) <= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_equal_inputs_of_every_kind(name: str) -> None:
    assert alarms(NULLS[name], seeds=1_000, confidence=0.95) <= 50


@pytest.mark.slow
@pytest.mark.sample
def test_stopping_early_raises_no_more_alarms() -> None:
    assert alarms(laplace, seeds=120, confidence=0.9, sequential=True, draws=8_000) <= 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", [laplace, response])
def test_stopping_early_raises_no_more_alarms_in_a_thousand_audits(kind: Any) -> None:
    """The audit stops at the first block of draws that breaks the claim; its bounds hold at all blocks at once."""
    assert alarms(kind, seeds=1_000, confidence=0.9, sequential=True, draws=2_400) <= 100


def test_learning_from_the_tested_draws_would_raise_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: events are learned from the draws that test them."""

    def cheating(first: Sample, second: Sample, *more: Any, **named: Any) -> Any:
        held.append((first, second))
        return learn(first, second, *more, **named)

    held: list[tuple[Sample, Sample]] = []
    monkeypatch.setattr(module, "learn", cheating)
    add = module._Test.add
    monkeypatch.setattr(module._Test, "add", lambda self, *_: add(self, *held[-1]))
    assert alarms(floats, seeds=40, confidence=0.9) > 12


def test_a_rare_answer_of_another_form_is_no_evidence() -> None:
    """One None among thousands of numbers, on one input only, within what δ allows."""
    generator = np.random.default_rng(3)

    def answer(data: int, size: int) -> list[object]:
        found: list[object] = [int(each) for each in generator.integers(0, 5, size)]
        if data:
            found[0] = None
        return found

    assert not audit(answer, inputs=(0, 1), claim=ApproximateDP(0.1, 0.01), draws=8_000).broken


# Power


@pytest.mark.parametrize(
    ("mechanism", "inputs", "claim", "least"),
    [
        (laplace, (0, UNIT), PureDP(1.0), ("epsilon", 0.9)),
        (response, (0, 1), PureDP(1.0), ("epsilon", 0.9)),
        (gaussian, (0, UNIT), GaussianDP(1.0), ("mu", 0.9)),
    ],
)
def test_a_million_draws_find_nine_tenths(mechanism: Any, inputs: Any, claim: Any, least: tuple[str, float]) -> None:
    found = audit(mechanism(1), inputs=inputs, claim=claim, draws=1_000_000, confidence=0.999)
    assert not found.broken
    bound = found.epsilon() if least[0] == "epsilon" else found.mu
    assert least[1] <= bound <= 1.0


def test_moments_are_bounded_from_below_and_not_above_the_truth() -> None:
    found = audit(gaussian(3), inputs=(0, UNIT), claim=ZeroConcentratedDP(0.5), draws=400_000, confidence=0.99)
    assert not found.broken
    for order in (1.5, 2.0, 4.0):
        assert 0.6 * order / 2 < found.renyi(order) <= order / 2
    broken = audit(gaussian(3), inputs=(0, UNIT), claim=ZeroConcentratedDP(0.35), draws=400_000, confidence=0.99)
    assert broken.broken


def test_the_hockey_stick_and_the_trade_off_are_below_the_true_ones() -> None:
    found = audit(gaussian(4), inputs=(0, UNIT), claim=GaussianDP(1.0), draws=400_000, confidence=0.99)
    for epsilon in (0.0, 0.5, 1.0):
        true = GaussianDP(1.0).delta(epsilon=epsilon)
        assert 0.85 * true < found.delta(epsilon=epsilon) <= true
    corners = found.trade_off()
    assert corners[0] == (0.0, 0.0)
    assert corners[-1] == (1.0, 1.0)
    assert len(corners) > 6
    from scipy.stats import norm

    assert all(y <= norm.cdf(norm.ppf(x) + 1.0) + 1e-6 for x, y in corners[1:-1])


def test_a_sequential_audit_stops_when_it_knows_enough() -> None:
    found = audit(laplace(5, scale=300), inputs=(0, UNIT), claim=PureDP(1.0), draws=2_000_000, sequential=True)
    assert found.broken
    assert found.sequential
    assert found.draws < 150_000
    fair = audit(laplace(5), inputs=(0, UNIT), claim=PureDP(1.0), draws=100_000, sequential=True)
    assert not fair.broken
    assert fair.draws == 100_000
    assert fair.epsilon() > 0.8


def test_of_several_pairs_the_worst_is_audited() -> None:
    """Only the last pair differs by more than is allowed."""
    pairs = [(0, UNIT), (0, 0), (0, 3 * UNIT)]
    found = audit(laplace(6), pairs=pairs, claim=PureDP(1.0), draws=40_000)
    assert found.broken
    assert found.pair == 2


def test_a_claim_with_delta_needs_more_than_delta() -> None:
    found = audit(gaussian(7), inputs=(0, UNIT), claim=ApproximateDP(1.0, 0.13), draws=400_000, confidence=0.99)
    assert not found.broken
    assert audit(gaussian(7), inputs=(0, UNIT), claim=ApproximateDP(1.0, 0.11), draws=400_000, confidence=0.99).broken


# What is reported, and what is refused


def test_a_witness_has_its_frequencies_and_its_bounds() -> None:
    found = audit(laplace(8, scale=500), inputs=(0, UNIT), claim=PureDP(1.0), draws=100_000)
    witness = found.witness
    assert witness is not None
    assert witness.at_least < witness.first / witness.draws
    assert witness.at_most > witness.second / witness.draws
    assert witness.epsilon() > 1.0
    content = found.to_dict()
    assert content["verdict"] == "broken"
    assert content["witness"]["feature"] == "value"
    assert content["epsilon"]["at_least"] == found.epsilon()


def test_progress_is_reported_up_to_the_end() -> None:
    seen: list[float] = []
    audit(laplace(9), inputs=(0, 1), claim=PureDP(1.0), draws=2_000, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_answers_that_are_no_numbers_are_compared() -> None:
    generator = np.random.default_rng(1)

    def answer(data: int) -> object:
        if data and generator.random() < 0.3:
            raise ValueError("only some inputs do this")
        return "yes" if generator.random() < 0.5 else None

    found = audit(answer, inputs=(0, 1), claim=PureDP(1.0), draws=8_000)
    assert found.broken
    assert found.closest.event.feature == "answer"


def test_bad_use_is_refused() -> None:
    with pytest.raises(InvalidUse, match="No inputs"):
        audit(laplace(1), claim=PureDP(1.0))
    with pytest.raises(InvalidParameter):
        audit(laplace(1), inputs=(0, 1), claim=PureDP(1.0), draws=10)
    with pytest.raises(InvalidParameter):
        audit(laplace(1), inputs=(0, 1), claim=PureDP(1.0), confidence=95)
    with pytest.raises(InvalidUse, match=r"failed on every draw: ZeroDivisionError\. Call it"):
        audit(lambda data: data / 0, inputs=(0, 1), claim=PureDP(1.0), draws=400)
    with pytest.raises(InvalidUse, match="function"):
        audit(7, inputs=(0, 1), claim=PureDP(1.0))


def test_answers_of_numpy_beside_a_rare_none_are_no_evidence() -> None:
    """A number must look the same in a block of draws with a None and in one without."""
    coins = np.random.default_rng(3)

    def rarely_none(_: object, size: int) -> list[object]:
        return [None if rare else np.float64(1e20) for rare in coins.random(size) < 1e-3]

    found = [audit(rarely_none, inputs=(0, 0), claim=PureDP(0.5), draws=1_200) for _ in range(60)]
    assert not any(each.broken for each in found)
