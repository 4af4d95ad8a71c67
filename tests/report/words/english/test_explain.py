"""Whole sentences, as a reader meets them."""

from __future__ import annotations

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.report.explain import explain
from sitr.report.words.explanation import Explanation


def told(promise: Promise) -> Explanation:
    return explain(promise, language=Language.ENGLISH)


def test_pure() -> None:
    assert told(PureDP(0.5)).meaning == (
        "Whatever anyone believed beforehand about whether your data are included, the answer changes the odds by at "
        "most a factor of 1.65: a chance of 50% becomes at most 62.3%."
    )


def test_approximate_is_its_definition_and_not_but_for_delta() -> None:
    """(ε, δ) lets the loss exceed ε with a probability above δ: "with probability 1 − δ" would be false."""
    meaning = told(ApproximateDP(1.0, 1e-6)).meaning
    assert "at most 2.72 times as likely with your data as without them, plus at most 10⁻⁶ " in meaning
    assert ", and vice versa." in meaning
    assert "apart from" not in meaning
    assert meaning.endswith("accuses wrongly in 5% of cases accuses rightly in at most 13.6%.")


def test_a_profile_says_how_much_of_delta_can_be_outright() -> None:
    profile = told(PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))))
    assert "at most 2.72 times as likely with your data as without them, plus at most 0.001 " in profile.meaning
    assert "and at most 7.39 times as likely plus at most 10⁻⁶ " in profile.meaning
    assert "with probability up to 10⁻⁶ (1 in 1,000,000), somebody exposed outright" in profile.failure
    assert "0.001" not in profile.failure
    many = told(PrivacyProfile(tuple((float(i), 10.0**-i) for i in range(1, 30))))
    assert "of which 4 of 29 are shown" in many.promised


def test_concentrated() -> None:
    assert "by at most a factor of 1.65." in told(ConcentratedDP(0.5, 1.0)).meaning
    assert "promised nothing by this alone" in told(ConcentratedDP(0.5, 1.0)).not_promised
    assert "s²·μ and s·τ" in told(ConcentratedDP(0.5, 1.0, scales_to_groups=True)).not_promised


def test_the_spread_bounds_the_mean_too() -> None:
    """E[L] ≤ τ²/2, so that μ = 5 says nothing that τ = 1 does not."""
    wide = told(ConcentratedDP(5.0, 1.0)).meaning
    assert "by at most a factor of 1.65, because the spread alone keeps the average loss within τ²/2 = 0.5." in wide
    assert "spread" not in told(ConcentratedDP(0.25, 1.0)).meaning


def test_zero_concentrated_with_and_without_a_constant() -> None:
    assert "One reading of many is ε = 5.222, δ = 10⁻⁶." in told(ZeroConcentratedDP(0.5)).meaning
    assert "ξ" not in f"{told(ZeroConcentratedDP(0.5))}"
    assert "plus a constant: ρ = 0.5, ξ = 0.1." in told(ZeroConcentratedDP(0.5, xi=0.1)).promised


def test_renyi_names_its_orders() -> None:
    assert "at most 0.1 at order 2, 0.5 at order 8." in told(RenyiDP.at({2.0: 0.1, 8.0: 0.5})).promised
    assert "at order 32, to name a few orders." in told(PureDP(1.0).to_renyi()).promised


def test_gaussian() -> None:
    assert told(GaussianDP(1.0)).meaning.startswith(
        "A test that accuses wrongly in 5% of cases accuses rightly in at most 26%. One reading of many"
    )


def test_random_speaks_of_a_newcomer_throughout() -> None:
    random = told(RandomDP(PureDP(0.5), 0.01))
    assert random.promised.startswith("This protects a random newcomer, not you.")
    assert "in all but a fraction γ = 0.01 (1 in 100) of such draws" in random.promised
    assert random.meaning == (
        "In at least 99% of such draws, whatever anyone believed beforehand about whether the newcomer's data are "
        "included or those of the person replaced, the answer changes the odds by at most a factor of 1.65: a chance "
        "of 50% becomes at most 62.3%."
    )
    assert "neither the newcomer nor the person replaced is exposed outright" in random.failure
    assert "nobody" not in random.failure  # nothing is promised to the others in the data
    assert "the people in the data who are not exchanged: they may be exposed every time" in random.not_promised
    assert "only if all of them were fixed in advance" in random.not_promised
    assert "Anyone whom the population never yields is promised nothing" in told(RandomDP(PureDP(0.5), 0.0)).failure


def test_random_says_what_gamma_rests_on_and_comes_from() -> None:
    finite = told(RandomDP(PureDP(0.5), 0.05, parts=(("newcomer", 0.03), ("gate", 0.01))))
    assert "The data are assumed to be exchangeable" in finite.promised
    assert "γ is finite-sample: it is proved for the number of people in the data." in finite.promised
    assert "Its parts are newcomer 0.03, gate 0.01, others 0.01." in finite.promised
    published = told(RandomDP(PureDP(0.5), 0.05, Basis.ASYMPTOTIC))
    assert "γ is asymptotic, as published" in published.promised
    assert "nothing is proved for the number in the data" in published.promised
    assert "finite-sample" not in published.promised
    assert "parts" not in published.promised
