"""Samples: the loss against sums and integrals written out, promises against the loss, and samples that are none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.loss.sampling import Sampling
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.subsampled import Subsampled, amplified
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, square_root_upward
from tests.oracles.losses import loss_of

LAPLACE, GAUSSIAN = Laplace(scale=2, sensitivity=3), Gaussian(sigma=4, sensitivity=2, single=True)


def noise(mechanism):
    """P(Y = y) in Arb, on a window that leaves out less than e^{−80}."""
    if isinstance(mechanism, Laplace):
        weights = {y: (-abs(ball(y)) / ball(mechanism.scale)).exp() for y in range(-300, 301)}
    else:
        weights = {y: (-(ball(y) ** 2) / (2 * ball(mechanism.sigma) ** 2)).exp() for y in range(-120, 121)}
    whole = sum(weights.values(), arb(0))
    return {y: weight / whole for y, weight in weights.items()}


def stick(p, q, epsilon):
    return float(sum(((a - ball(epsilon).exp() * b).nonnegative_part() for a, b in zip(p, q, strict=True)), arb(0)))


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSSIAN], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("rate", [0.01, 0.3, 1])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.4])
def test_the_loss_on_a_poisson_sample_is_that_of_mixtures(mechanism, rate, epsilon):
    masses, shift, q = noise(mechanism), int(mechanism.sensitivity), ball(rate)
    without = [masses[y] for y in range(-100, 101)]
    moved = [masses.get(y - shift, arb(0)) for y in range(-100, 101)]
    mixed = [(1 - q) * b + q * a for a, b in zip(moved, without, strict=True)]
    truth = max(stick(mixed, without, epsilon), stick(without, mixed, epsilon))
    found = loss_of(Subsampled(mechanism, rate)).delta(epsilon=epsilon)
    assert found.lower - 1e-15 <= truth <= found.upper + 1e-15
    assert found.upper <= truth * 1.01 + 1e-15


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2])
def test_the_loss_on_a_subset_is_that_of_one_replaced(epsilon):
    """Randomly replaced: the sample holds x with probability q, and then y in its place; else it holds neither."""
    rate, masses, shift = 0.3, noise(LAPLACE), 3
    # The worst case of one number that moves by Δ between x and y: from the common part B to A or to A'.
    base = [masses[y] for y in range(-100, 101)]
    moved = [masses.get(y - shift, arb(0)) for y in range(-100, 101)]
    mixed = [(1 - ball(rate)) * b + ball(rate) * a for a, b in zip(moved, base, strict=True)]
    # Above 0 the profile is that of the mixture against its own base, whatever stands in x's place.
    truth = stick(mixed, base, epsilon)
    found = loss_of(Subsampled(LAPLACE, rate, Sampling.SUBSET)).delta(epsilon=epsilon)
    assert found.lower - 1e-15 <= truth <= found.upper + 1e-15


def test_no_sample_loses_nothing_and_the_whole_loses_all():
    assert Subsampled(GAUSSIAN, 0).loss() == Loss(())
    assert Subsampled(GAUSSIAN, 1).loss() == GAUSSIAN.loss()
    assert loss_of(Repeated(Subsampled(GAUSSIAN, 0), 10)).epsilon(delta=1e-6).upper == 0.0
    assert Subsampled(LAPLACE, 0).promise() == PureDP(0.0)
    assert Subsampled(Subsampled(GAUSSIAN, 0), 0.5).loss() == Loss(())


def test_a_sample_of_a_sample_is_a_smaller_sample():
    for sampling, law in ((Sampling.POISSON, PoissonLaw), (Sampling.SUBSET, SubsetLaw)):
        twice = Subsampled(Subsampled(LAPLACE, 0.5, sampling), 0.25, sampling)
        assert twice.loss() == Loss.of(law(DiscreteLaplaceLaw(2.0, 3), 0.125))


def test_the_sampling_may_be_named():
    assert Subsampled(LAPLACE, 0.5, "subset") == Subsampled(LAPLACE, 0.5, Sampling.SUBSET)  # type: ignore[arg-type]
    with pytest.raises(InvalidPromise, match="poisson, subset"):
        Subsampled(LAPLACE, 0.5, "shuffled")  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [-0.1, 1.0000001, math.nan, math.inf, True, None, "half", Fraction(11, 10)])
def test_a_rate_is_from_0_to_1(rate):
    with pytest.raises(InvalidPromise, match="from 0 to 1"):
        Subsampled(LAPLACE, rate)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.3, 20.0), st.integers(1, 3), st.floats(0.001, 0.9), st.sampled_from(Sampling))
def test_the_loss_keeps_the_promise(scale, moved, rate, sampling):
    mechanism = Subsampled(Laplace(scale=scale, sensitivity=moved), rate, sampling)
    promise = mechanism.promise()
    assert isinstance(promise, PureDP)
    assert loss_of(mechanism).max() == pytest.approx(promise.epsilon, rel=1e-9)


def test_promises_that_sampling_makes_smaller():
    threshold = Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30)
    promise = Subsampled(threshold, 0.1).promise()
    assert isinstance(promise, ApproximateDP)
    assert promise.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(1.0)))
    assert promise.delta == pytest.approx(0.1 * threshold.promise().delta)


def test_where_no_promise_is_known_the_loss_is():
    with pytest.raises(IncompatiblePromises, match=r"Use loss\(\)"):
        Subsampled(GAUSSIAN, 0.1).promise()
    assert loss_of(Subsampled(GAUSSIAN, 0.1)).epsilon(delta=1e-6).upper < loss_of(GAUSSIAN).epsilon(delta=1e-6).lower


def test_several_releases_on_one_sample_are_bounded_by_the_promise_if_there_is_one():
    twice = Subsampled(Repeated(LAPLACE, 2), 0.1)
    assert loss_of(twice) == bounding(twice.promise())
    assert Subsampled(Composed((LAPLACE, GAUSSIAN)), 0.1).loss() is None


def test_a_vector_of_gaussian_noise_on_a_sample_is_nearly_real_noise():
    vector, one = Gaussian(sigma=30, sensitivity=30), GaussianLaw(float(square_root_upward(Fraction(1))))
    found = loss_of(Subsampled(vector, 0.1))
    assert found.bound
    assert found.infinite_mass() == 0.0
    real = Loss.of(PoissonLaw(one, 0.1)).epsilon(delta=1e-6)
    assert real.upper < found.epsilon(delta=1e-6).upper < real.upper * 1.002
    fixed = loss_of(Subsampled(vector, 0.1, Sampling.SUBSET)).epsilon(delta=1e-6)
    real = Loss.of(SubsetLaw(one, 0.1)).epsilon(delta=1e-6)
    assert real.upper < fixed.upper < real.upper * 1.002


POISSON, SUBSET = Subsampled(LAPLACE, 0.1), Subsampled(LAPLACE, 0.1, Sampling.SUBSET)


@pytest.mark.parametrize(
    "mixed",
    [
        lambda: Composed((POISSON, SUBSET)),
        lambda: Composed((Repeated(POISSON, 3), LAPLACE, Composed((SUBSET, LAPLACE)))),
        lambda: Subsampled(POISSON, 0.5, Sampling.SUBSET),
        lambda: Subsampled(Repeated(Composed((LAPLACE, SUBSET)), 2), 0.5),
    ],
)
def test_neighbours_are_not_mixed(mixed):
    """Neither in a loss nor in a promise, which does not say whom it protects: there is no such mechanism."""
    with pytest.raises(InvalidPromise, match="same neighbours"):
        mixed()


def test_whom_a_mechanism_protects():
    assert Repeated(Composed((POISSON, LAPLACE)), 2).relation is Relation.ADD_REMOVE
    assert Subsampled(SUBSET, 0.5, Sampling.SUBSET).relation is Relation.REPLACE_ONE
    assert Composed((LAPLACE, GAUSSIAN)).relation is None
    assert len(loss_of(Composed((POISSON, LAPLACE))).laws) == 2


@pytest.mark.parametrize(
    "nested",
    [
        Repeated(Repeated(Subsampled(GAUSSIAN, 0.1), 5), 4),
        Repeated(Composed((Subsampled(GAUSSIAN, 0.1),) * 2), 10),
        Composed((Repeated(Subsampled(GAUSSIAN, 0.1), 19), Subsampled(GAUSSIAN, 0.1))),
    ],
)
def test_every_nesting_counts(nested):
    assert nested.loss() == Repeated(Subsampled(GAUSSIAN, 0.1), 20).loss()
    assert nested.loss().laws[0][1] == 20


def test_the_run_that_everybody_quotes():
    """Integer noise of σ = 0.8 loses a little less than real noise, whose ε is 10.0536348."""
    run = Repeated(Subsampled(Gaussian(sigma=0.8, sensitivity=1), rate=0.01), 10_000)
    found = loss_of(run).epsilon(delta=1e-5, relative=0.005)
    assert 10.0 < found.lower <= 10.0537
    assert 10.05 < found.upper < 10.1


@given(st.floats(0.0, 50.0), st.floats(0.0, 1.0))
def test_amplification_never_hurts(epsilon, rate):
    smaller, delta = amplified(epsilon, 0.5, rate=rate)
    assert smaller <= epsilon
    assert smaller == pytest.approx(math.log1p(rate * math.expm1(epsilon)), abs=1e-12)
    assert delta == pytest.approx(rate / 2, rel=1e-15)


# Samples that are drawn

STILL = Laplace(scale=Fraction(1, 1000))  # P(Y ≠ 0) < 2e^{−1000}


class Shown:
    """In place of a mechanism: it tells what it was given."""

    def promise(self):
        return PureDP(1.0)

    def release(self, value, *, coins=None):  # noqa: ARG002
        return value


def fours(rate):
    """Of 80,000 people, four at a time: who of them is in a Poisson sample, as the number whose digits they are."""
    kept = Subsampled(Shown(), rate).release(range(80_000), answer=list, coins=TestCoins(1))  # type: ignore[arg-type]
    marks = np.zeros(80_000, dtype=np.int64)
    marks[kept] = 1
    return (marks.reshape(-1, 4) @ [1, 2, 4, 8]).tolist()


def independent(rate):
    return [float(rate) ** s.bit_count() * (1 - float(rate)) ** (4 - s.bit_count()) for s in range(16)]


@pytest.mark.parametrize("rate", [0.05, 0.25, Fraction(1, 3)])
def test_a_poisson_sample_has_everybody_independently(rate, misfit, alarm):
    """All 2^4 subsets have their probability q^k·(1 − q)^(4 − k)."""
    assert misfit(fours(rate), independent(rate)) > alarm
    assert misfit(fours(rate), independent(rate * Fraction(6, 5))) < alarm


def test_nobody_and_everybody():
    assert set(fours(0)) == {0}
    assert set(fours(1)) == {15}


def subsets(rate, people, runs, coins):
    drawing = Subsampled(Shown(), rate, Sampling.SUBSET)  # type: ignore[arg-type]
    return [drawing.release([1 << place for place in range(people)], answer=sum, coins=coins) for _ in range(runs)]


@pytest.mark.parametrize(("rate", "size"), [(0.4, 2), (Fraction(3, 5), 3), (0.59, 2), (0, 0), (1, 5), (0.1, 0)])
def test_a_subset_has_a_size_and_is_any_of_that_size(rate, size, misfit, alarm):
    drawn = subsets(rate, 5, 4000, TestCoins(2))
    possible = [s for s in range(32) if s.bit_count() == size]
    assert set(drawn) == set(possible)
    if len(possible) > 1:
        assert misfit(drawn, [1 / len(possible) if s in possible else 0.0 for s in range(32)]) > alarm
        lopsided = [max(s, other) for s, other in zip(drawn[::2], drawn[1::2], strict=True)]
        assert misfit(lopsided, [1 / len(possible) if s in possible else 0.0 for s in range(32)]) < alarm


def test_the_mechanism_answers_on_the_sample():
    assert Subsampled(STILL, 1).release([3, 4, 5], answer=sum) == 12
    assert Subsampled(STILL, 0).release([3, 4, 5], answer=sum) == 0
    assert Subsampled(STILL, 1).release(np.array([3, 4, 5]), answer=lambda kept: int(sum(kept))) == 12  # type: ignore[arg-type]
    assert Subsampled(STILL, 1).release([], answer=len) == 0


def test_records_keep_their_order():
    for sampling in Sampling:
        kept = Subsampled(Shown(), 0.5, sampling).release(range(100), answer=list)  # type: ignore[arg-type]
        assert kept == sorted(kept)
        assert 0 < len(kept) < 100


def test_a_sample_of_a_sample_is_a_sample():
    twice = Subsampled(Subsampled(Shown(), 0.5, Sampling.SUBSET), 0.5, Sampling.SUBSET)  # type: ignore[arg-type]
    assert twice.release(range(100), answer=len) == 25


def test_every_repetition_draws_a_sample_of_its_own():
    run = Repeated(Subsampled(Shown(), 0.5), 2)  # type: ignore[arg-type]
    first, second = run.release([range(100), range(100)], answer=list)
    assert first != second


def test_the_error_is_that_of_the_noise():
    assert Subsampled(LAPLACE, 0.1).error(confidence=0.9) == LAPLACE.error(confidence=0.9)


def test_the_law_of_what_is_released_is_the_mixture(misfit, alarm):
    """5 for one person, on a sample at rate 0.3: the masses that the loss was tested with."""
    masses, coins = noise(Laplace(scale=2)), TestCoins(4)
    counted = Subsampled(Laplace(scale=2, sensitivity=5), 0.3)
    answers = [counted.release(["somebody"], answer=lambda kept: 5 * len(kept), coins=coins) for _ in range(500)]
    drawn = [min(max(answer + 10, 0), 20) for answer in answers]

    def law(rate):
        mixed = {y: rate * float(masses[y - 5]) + (1 - rate) * float(masses[y]) for y in range(-100, 101)}
        ends = sum(mixed[y] for y in range(-100, -9)), sum(mixed[y] for y in range(10, 101))
        return [ends[0], *(mixed[y] for y in range(-9, 10)), ends[1]]

    assert misfit(drawn, law(0.3)) > alarm
    assert misfit(drawn, law(1)) < alarm
    assert misfit(drawn, law(0)) < alarm
