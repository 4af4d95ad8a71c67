"""What every flavor means of a loss, on exact pairs of laws: `of` is kept and tight, and `kept_by` is never wrong.

The judge is the oracle of conftest.py, which knows nothing of losses. It looks at a few orders, ε and λ only, so that a
"no" is a proof and a "yes" is none: a promise that is tight must be kept, and clearly better ones must not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import arb

from sitr.errors import IncompatiblePromises, InvalidPromise, Undecided
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.numbers import ball

Masses = tuple[Fraction, ...]


def binomial(share: Fraction, size: int) -> Masses:
    return tuple(math.comb(size, k) * share**k * (1 - share) ** (size - k) for k in range(size + 1))


def parts(*weights: int) -> Masses:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


PAIRS: dict[str, tuple[Masses, Masses]] = {
    "response": (parts(3, 1), parts(1, 3)),
    "three outputs": (parts(7, 2, 1), parts(1, 3, 6)),
    "skewed": (parts(90, 9, 1), parts(60, 30, 10)),
    "binomial": (binomial(Fraction(1, 2), 4), binomial(Fraction(3, 5), 4)),
    "nearly equal": (parts(50, 50), parts(51, 49)),
}


@dataclass(frozen=True)
class Meaning:
    """How a flavor is asked about a loss, and the same promise with its parameters multiplied."""

    of: Callable[[Loss], Any]
    scaled: Callable[[Any, float], list[Any]]


def times(*names: str) -> Callable[[Any, float], list[Any]]:
    """One parameter multiplied; if a promise grows, all of them."""

    def scaled(promise: Any, factor: float) -> list[Any]:
        changed = {name: getattr(promise, name) * factor for name in names}
        if "delta" in changed:
            changed["delta"] = min(1.0, changed["delta"])
        return [replace(promise, **changed)] if factor > 1 else [replace(promise, **{n: v}) for n, v in changed.items()]

    return scaled


def scaled_points(promise: PrivacyProfile, factor: float) -> list[PrivacyProfile]:
    return [PrivacyProfile(tuple((epsilon, min(1.0, delta * factor)) for epsilon, delta in promise.points))]


def scaled_orders(promise: RenyiDP, factor: float) -> list[RenyiDP]:
    return [RenyiDP.at({order: promise.curve(order) * factor for order in promise.orders})]


def scaled_inner(promise: RandomDP, factor: float) -> list[RandomDP]:
    return [replace(promise, inner=PureDP(promise.inner.epsilon * factor))]  # type: ignore[attr-defined]


MEANINGS: dict[str, tuple[type[Any], Meaning]] = {
    "PureDP": (PureDP, Meaning(PureDP.of, times("epsilon"))),
    "ApproximateDP at δ": (
        ApproximateDP,
        Meaning(lambda loss: ApproximateDP.of(loss, delta=1e-3), times("epsilon")),
    ),
    "ApproximateDP at ε": (
        ApproximateDP,
        Meaning(lambda loss: ApproximateDP.of(loss, epsilon=0.01), times("delta")),
    ),
    "PrivacyProfile": (
        PrivacyProfile,
        Meaning(lambda loss: PrivacyProfile.of(loss, epsilons=(0.0, 0.005, 0.01)), scaled_points),
    ),
    "GaussianDP": (GaussianDP, Meaning(GaussianDP.of, times("mu"))),
    "ConcentratedDP": (ConcentratedDP, Meaning(ConcentratedDP.of, times("mu", "tau"))),
    "ZeroConcentratedDP": (ZeroConcentratedDP, Meaning(ZeroConcentratedDP.of, times("rho"))),
    "ZeroConcentratedDP with ξ": (
        ZeroConcentratedDP,
        Meaning(lambda loss: ZeroConcentratedDP.of(loss, xi=0.0001), times("rho")),
    ),
    "ApproximateZeroConcentratedDP": (
        ApproximateZeroConcentratedDP,
        Meaning(ApproximateZeroConcentratedDP.of, times("rho")),
    ),
    "RenyiDP": (RenyiDP, Meaning(lambda loss: RenyiDP.of(loss, orders=(1.5, 2, 10)), scaled_orders)),
    "Pufferfish": (
        Pufferfish,
        Meaning(lambda loss: Pufferfish.of(loss, framework=Framework("a or b", "any")), times("epsilon")),
    ),
    "RandomDP": (RandomDP, Meaning(lambda loss: RandomDP.of(loss, flavor=PureDP, gamma=0.05), scaled_inner)),
}

every_meaning = pytest.mark.parametrize("name", MEANINGS)
every_pair = pytest.mark.parametrize("masses", PAIRS)


@cache
def loss_of(name: str) -> Loss:
    return Loss.of(pair(*PAIRS[name]))


@cache
def tight(name: str, masses: str) -> Any:
    return MEANINGS[name][1].of(loss_of(masses))


def exactly(name: str) -> list[tuple[arb, arb]]:
    p, q = PAIRS[name]
    return [(ball(one), ball(other)) for one, other in zip(p, q, strict=True)]


@pytest.mark.sampled(28)
@every_pair
@every_meaning
def test_the_tightest_promise_is_kept(name, masses, keeps):
    assert isinstance(tight(name, masses), MEANINGS[name][0])
    assert keeps(lambda: exactly(masses), tight(name, masses))


@every_pair
@every_meaning
def test_no_promise_is_much_better(name, masses, keeps):
    """The broken twin: an `of` that returned 8% less would be found out."""
    for better in MEANINGS[name][1].scaled(tight(name, masses), 0.92):
        assert not keeps(lambda: exactly(masses), better)


@every_pair
@every_meaning
def test_weaker_promises_are_kept_and_better_ones_are_not(name, masses):
    promise, scaled = tight(name, masses), MEANINGS[name][1].scaled
    assert all(weaker.kept_by(loss_of(masses)) for weaker in scaled(promise, 1.02))
    for better in scaled(promise, 0.97):
        assert not better.kept_by(loss_of(masses))


@every_pair
@every_meaning
@pytest.mark.parametrize("factor", [0.3, 0.9, 0.99, 0.9999, 1.0, 1.0001, 1.01, 3.0])
def test_a_yes_is_never_wrong_and_neither_is_a_no(name, masses, factor, keeps):
    for promise in MEANINGS[name][1].scaled(tight(name, masses), factor):
        try:
            kept = promise.kept_by(loss_of(masses))
        except Undecided:
            continue
        # The oracle's "no" is a proof. Its "yes" is none, but the flavor's "no" is only possible below the tight one.
        assert kept <= keeps(lambda: exactly(masses), promise)
        assert kept or factor < 1


@every_meaning
def test_both_directions_count(name):
    """Exchanging the two laws changes nothing, although the loss is larger in one direction."""
    p, q = PAIRS["skewed"]
    backward, scaled = Loss.of(pair(q, p)), MEANINGS[name][1].scaled
    assert backward.laws != loss_of("skewed").laws
    assert all(weaker.kept_by(backward) for weaker in scaled(tight(name, "skewed"), 1.02))
    assert not any(better.kept_by(backward) for better in scaled(tight(name, "skewed"), 0.97))


def test_one_direction_alone_would_be_wrong():
    """The broken twin: ln 90/60 is the largest loss of P against Q, but ln 10 is that of Q against P."""
    for masses in (PAIRS["skewed"], PAIRS["skewed"][::-1]):
        assert not PureDP(0.5).kept_by(Loss.of(pair(*masses)))
        assert PureDP(2.31).kept_by(Loss.of(pair(*masses)))


@every_meaning
def test_nothing_lost_keeps_everything(name):
    promise = MEANINGS[name][1].of(Loss(()))
    assert promise.kept_by(Loss(()))


@pytest.mark.parametrize("name", [name for name, (kind, _) in MEANINGS.items() if kind is not ApproximateDP])
def test_an_infinite_loss_keeps_no_promise_about_all_losses_or_moments(name):
    kind, meaning = MEANINGS[name]
    exposing = Loss.of(response(0.5, infinite=0.001))
    if kind in (PrivacyProfile, ApproximateZeroConcentratedDP):
        assert meaning.of(exposing).infinite_mass() >= 0.001
        return
    with pytest.raises(IncompatiblePromises, match="No bound on"):
        meaning.of(exposing)
    assert not tight(name, "three outputs").kept_by(exposing)


def test_too_close_to_decide():
    with pytest.raises(Undecided, match=r"between 1 and 1 .*PureDP\.of"):
        PureDP(0.5).kept_by(Loss.of(response(0.5)))
    assert PureDP(0.5).excess(Loss.of(response(0.5))).upper < 1e-12


@every_meaning
def test_a_bound_proves_a_yes_but_never_a_no(name):
    kind, meaning = MEANINGS[name]
    bound, promise = replace(loss_of("three outputs"), bound=True), tight(name, "three outputs")
    for better in meaning.scaled(promise, 0.5):
        with pytest.raises(Undecided, match="only a bound"):
            better.kept_by(bound)
    for weaker in meaning.scaled(promise, 1.02):
        if kind is not ConcentratedDP:
            assert weaker.kept_by(bound)


def test_a_bound_says_nothing_about_the_spread():
    """Merging outputs may spread the loss: concentrated privacy is not closed under post-processing."""
    bound = replace(loss_of("three outputs"), bound=True)
    with pytest.raises(Undecided, match="only a bound"):
        ConcentratedDP(100.0, 100.0).kept_by(bound)
    with pytest.raises(IncompatiblePromises, match="No bound on the τ"):
        ConcentratedDP.of(bound)


def test_no_loss_proves_a_promise_to_groups():
    promise = ConcentratedDP(9.0, 9.0, scales_to_groups=True)
    with pytest.raises(Undecided):
        promise.kept_by(loss_of("response"))
    assert not ConcentratedDP(1e-3, 1e-3, scales_to_groups=True).kept_by(loss_of("response"))


def test_curves_that_know_what_they_mean():
    loss = Loss.of(GaussianLaw(1.0))
    assert ZeroConcentratedDP(0.51).to_renyi().kept_by(loss)
    assert not ZeroConcentratedDP(0.49).to_renyi().kept_by(loss)
    assert PureDP(1.2).to_renyi().kept_by(loss_of("response"))
    assert not PureDP(1.0).to_renyi().kept_by(loss_of("response"))
    with pytest.raises(Undecided):  # true, but of infinitely many orders
        (ZeroConcentratedDP(0.6).to_renyi() + PureDP(1.0).to_renyi()).kept_by(loss)
    assert not (ZeroConcentratedDP(0.3).to_renyi() + PureDP(0.001).to_renyi()).kept_by(loss)


def test_noise_on_the_integers_needs_a_larger_gaussian():
    loss = Loss.of(DiscreteGaussianLaw(2.0, 1))
    found = GaussianDP.of(loss)
    assert 0.5 < found.mu < 0.52
    assert found.kept_by(loss)


def test_a_point_of_a_tail_needs_one_coordinate():
    for given in ({}, {"delta": 1e-6, "epsilon": 1.0}):
        with pytest.raises(InvalidPromise, match="Expected either delta or epsilon"):
            ApproximateDP.of(loss_of("response"), **given)
    assert ApproximateDP.of(loss_of("response"), delta=1.0) == ApproximateDP(0.0, 1.0)
    assert ApproximateDP.of(loss_of("response"), delta=0.0).epsilon == PureDP.of(loss_of("response")).epsilon


@pytest.mark.parametrize(
    "promise",
    [PureDP(0.7), ApproximateDP(0.7, 0.01), PrivacyProfile(((0.5, 0.01), (1.0, 1e-4))), GaussianDP(0.7)],
    ids=str,
)
def test_the_worst_loss_of_a_promise_uses_it_up(promise):
    """It keeps all that is weaker, and nothing that is better."""
    loss = promise.worst_loss()
    scaled = scaled_points if isinstance(promise, PrivacyProfile) else times(*promise.__dataclass_fields__)
    assert all(weaker.kept_by(loss) for weaker in scaled(promise, 1.001))
    assert not any(better.kept_by(loss) for better in scaled(promise, 0.999))


def test_promises_about_moments_and_fractions_have_no_worst_loss():
    moments: list[Promise] = [
        ZeroConcentratedDP(0.1),
        ConcentratedDP(0.1, 0.5),
        RenyiDP.at({2: 0.1}),
        RandomDP(PureDP(0.1), 0.1),
        ApproximateZeroConcentratedDP(0.1, 0.1),
        Pufferfish(0.1, Framework("a or b", "any")),
    ]
    assert [promise.worst_loss() for promise in moments] == [None] * 6
    nothing: list[Promise] = [PureDP(0.0), ApproximateDP(0.0, 0.0), GaussianDP(0.0), PrivacyProfile(((0.0, 0.0),))]
    assert [promise.worst_loss() for promise in nothing] == [Loss(())] * 4
