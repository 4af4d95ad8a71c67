"""Promises explained in English."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import largest_loss
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.explanation import (
    Concentrated,
    Explanation,
    Language,
    Whom,
    all_shown,
    belief,
    detected,
    one_in,
    remaining,
    some_orders,
    some_points,
    symbols,
)
from sitr.report.figures import about, at_most
from sitr.report.headline import Headline, mean_loss
from sitr.report.headline_english import likelihood, moved
from sitr.report.words import BASES, odds, shares

_PAIR = {
    Whom.YOU: "any two data sets that differ in one person",
    Whom.NEWCOMER: "the data before and after this exchange",
}
_DOUBT = {
    Whom.YOU: "whether your data are included",
    Whom.NEWCOMER: "whether the newcomer's data are included or those of the person replaced",
}
_SIDES = {
    Whom.YOU: ("with your data", "without them"),
    Whom.NEWCOMER: ("before the exchange", "after it"),
}

_GENERAL = "What is true of people in general is not hidden: it is learnt about you too, whether or not you take part."
_NEVER = {
    Whom.YOU: "nobody is ever exposed outright",
    Whom.NEWCOMER: "neither the newcomer nor the person replaced is exposed outright",
}
_SOMEBODY = {Whom.YOU: "somebody", Whom.NEWCOMER: "one of these two"}
_GRACEFULLY = (
    "no possible answer settles the matter for certain. The loss need not have a "
    "ceiling, but privacy degrades gracefully: a larger loss is possible, and the larger the rarer."
)


@dataclass(frozen=True, slots=True)
class EnglishVoice:
    """Every flavor in English."""

    headings: tuple[str, str, str, str] = ("What is promised", "In numbers", "With bad luck", "What is not promised")

    def pure(self, promise: PureDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"Pure differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, no possible answer is more than {odds(promise.epsilon)} times as likely on one as on "
            f"the other. In symbols, the privacy loss never exceeds {symbols(promise)}.",
            _always(promise.epsilon, whom),
            f"Luck plays no part. There is no δ: {_NEVER[whom]}, and no answer, however rare, reveals more than that "
            "factor.",
            f"{_GENERAL} A group of s people is promised s·ε. With every further release its ε is added.",
        )

    def approximate(self, promise: ApproximateDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"Approximate differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, whatever answers one looks for, their probabilities differ by at most a factor "
            f"of e^ε, and an addition of δ: {symbols(promise)}.",
            f"{_follows(((promise.epsilon, promise.delta),), whom)} {_test(promise)}",
            _either(promise.delta, whom),
            f"{_GENERAL} A group of s people is promised s·ε with δ·(e^(s·ε) − 1)/(e^ε − 1), which grows "
            "quickly. With every further release its ε and its δ are added, unless a better theorem applies.",
        )

    def profile(self, promise: PrivacyProfile, /, *, whom: Whom) -> Explanation:
        points = some_points(promise)
        chosen = "" if all_shown(promise) else f", of which {len(points)} of {len(promise.points)} are shown"
        return _explanation(
            f"Privacy profile, several (ε, δ) at once: {symbols(promise)}",
            f"On {_PAIR[whom]}, several bounds (ε, δ) hold at once{chosen}: {symbols(promise)}. Each says that "
            "the probabilities of any answers differ by at most a factor of e^ε, and an addition of δ.",
            f"{_follows(points, whom)} {_test(promise)}",
            _at_several(promise, whom),
            f"{_GENERAL} A group of s people is promised each point as (s·ε, δ·(e^(s·ε) − 1)/(e^ε − 1)). "
            "Further releases add their losses, and the whole profile must be computed anew.",
        )

    def concentrated(self, promise: ConcentratedDP, /, *, whom: Whom) -> Explanation:
        group = "is promised s²·μ and s·τ" if promise.scales_to_groups else "is promised nothing by this alone"
        return _explanation(
            f"Concentrated differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, the privacy loss is at most μ = {at_most(promise.mu)} on average, and strays "
            f"from its average no more than a normal variable with standard deviation τ = {at_most(promise.tau)}.",
            _numbers(promise, whom, before=_on_average(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people {group}. With every further release its μ is added to μ, and its "
            "τ² to τ².",
        )

    def zero_concentrated(self, promise: ZeroConcentratedDP, /, *, whom: Whom) -> Explanation:
        group = "s²·ρ" + (" with ξ·s·(1 + 1/2 + … + 1/s)" if promise.xi else "")
        thin = " Large losses become rare just as quickly." if promise.rho else ""
        return _explanation(
            f"Zero-concentrated differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, every moment of the privacy loss is at most what Gaussian noise would give"
            f"{' and a constant' if promise.xi else ''}: {symbols(promise)}.{thin}",
            _numbers(promise, whom),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people is promised {group}. With every further release its "
            f"{'ρ and its ξ are' if promise.xi else 'ρ is'} added.",
        )

    def renyi(self, promise: RenyiDP, /, *, whom: Whom) -> Explanation:
        bounds = ", ".join(f"{at_most(bound)} at order {about(order)}" for order, bound in some_orders(promise))
        where = "" if all_shown(promise) else ", to name a few orders"
        return _explanation(
            f"Rényi differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, moments of the privacy loss are bounded one order at a time: the Rényi "
            f"divergence is at most {bounds}{where}. The higher the order, the more weight rare and large losses have.",
            _numbers(promise, whom),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of two people is promised, at each order from 2, three times the bound at twice "
            "the order. With every further release its bounds are added, order by order.",
        )

    def gaussian(self, promise: GaussianDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"Gaussian differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, telling from the answer which of them it was is at least as hard as telling from "
            f"one draw whether a normal law with standard deviation 1 has mean 0 or mean {symbols(promise)}.",
            _numbers(promise, whom, before=_test(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people is promised s·μ. With every further release its μ² is added to μ².",
        )

    def random(self, promise: RandomDP, /, *, inner: Explanation) -> Explanation:
        but = f"but for a fraction γ = {at_most(promise.gamma)}{_parenthesis(promise.gamma)} of such draws"
        return _explanation(
            f"Random differential privacy: {symbols(promise)}",
            "This protects a random newcomer, and not you. Draw the data at random from a population, then draw "
            f"one newcomer who takes the place of one person: {but}, the following holds. {inner.promised} "
            f"{_rests(promise)}",
            f"In at least {remaining(promise.gamma)} of such draws, {_continued(inner.meaning)}",
            f"{_excepted(promise.gamma)} In all other draws, {_continued(inner.failure)}",
            "You are not protected as you are: whoever is unlike the others may well be in the fraction γ, and of the "
            "others in the data, those who are not exchanged, nothing is said: they may be exposed every time. If the "
            "data are no random sample, nothing is promised at all. γ is about data and δ about coins: neither "
            "can stand in for the other. A group of t newcomers has t·γ. With further random releases γ is added, and "
            "only if all of them were fixed in advance: one that is chosen after seeing an answer breaks the promise.",
        )


def _explanation(title: str, promised: str, meaning: str, failure: str, not_promised: str) -> Explanation:
    return Explanation(Language.ENGLISH, title, promised, meaning, failure, not_promised)


def _begun(sentence: str) -> str:
    """A sentence from its beginning."""
    return sentence[0].upper() + sentence[1:]


def _continued(sentence: str) -> str:
    """A sentence after the beginning of another."""
    return sentence[0].lower() + sentence[1:]


def _follows(points: tuple[tuple[float, float], ...], whom: Whom) -> str:
    """P(S) ≤ e^ε·Q(S) + δ, which is more than to say "but with probability δ".      [DKMMN06, Def. 1]"""
    return likelihood(points, sides=_SIDES[whom], told="the answer")


def _test(promise: ApproximateDP | PrivacyProfile | GaussianDP) -> str:
    return f"A test that accuses wrongly in 5% of cases accuses rightly in at most {detected(promise)}."


def _parenthesis(probability: float) -> str:
    return f" (1 in {one_in(probability)})" if probability else ""


def _always(epsilon: float, whom: Whom) -> str:
    """|L| ≤ ε, as Bayes reads it."""
    return (
        f"Whatever anyone believed beforehand about {_DOUBT[whom]}, the answer changes the odds by at most a factor "
        f"of {odds(epsilon)}: a chance of 50% becomes at most {belief(epsilon)}."
    )


def _on_average(promise: ConcentratedDP) -> str:
    mean = mean_loss(promise)
    spread = f", because the spread alone keeps the average loss within τ²/2 = {at_most(mean)}"
    return (
        f"On geometric average the answer moves the odds towards the truth by at most a factor of {odds(mean)}"
        f"{spread if mean < promise.mu else ''}."
    )


def _numbers(promise: Concentrated, whom: Whom, *, before: str = "") -> str:
    """The promise as (ε, δ) at one δ, said to be one reading of many, and the odds; or the largest loss it allows.

    Only the odds are told with a probability: the loss exceeds ε with more than δ, but ε′ with at most δ.
    """
    headline = Headline.of(promise)
    if headline.delta == 0.0:
        return _always(headline.epsilon, whom)
    told = _follows(((headline.epsilon, headline.delta),), whom)
    if math.isfinite(headline.epsilon) and headline.odds is not None:
        told = (
            f"One reading of many is {headline.symbols()}. {told} Another δ gives another ε, and all of them hold at "
            f"once. Whatever anyone believed beforehand about {_DOUBT[whom]}, "
            f"{moved(headline.odds, headline.delta, 'the answer')}"
        )
    return f"{before} {told}".strip()


def _bad_luck(promise: Concentrated, whom: Whom) -> str:
    if (largest := largest_loss(promise)) is None:
        return f"{_begun(_NEVER[whom])}: {_GRACEFULLY}"
    return (
        f"Luck plays no part: the loss never exceeds {at_most(largest)}. {_begun(_NEVER[whom])}, and no answer, "
        "however rare, reveals more than that factor."
    )


def _at_several(promise: PrivacyProfile, whom: Whom) -> str:
    """Outright is at most what the last δ leaves; the first ones may be finite losses."""
    if len(promise.points) == 1:
        return _either(promise.infinite_mass(), whom)
    graceful = "Whatever δ allows beyond that at a smaller ε is of the graceful kind."
    if (largest := largest_loss(promise)) is None:
        return f"{_either(promise.infinite_mass(), whom)} {graceful}"
    never = f"{_begun(_NEVER[whom])}: the last δ is 0, so that the loss never exceeds {at_most(largest)}."
    return f"{never} {graceful}"


def _either(delta: float, whom: Whom) -> str:
    """The two ways in which an (ε, δ) promise can fail."""
    if delta == 0.0:
        return f"Luck plays no part: δ is 0, so {_NEVER[whom]}, and the factor holds always."
    return (
        f"This promise does not say what δ = {at_most(delta)} is for. It may be either: a graceful failure, where "
        "the odds change by more than a factor of e^ε, and the larger the change the rarer; or, with probability up "
        f"to {at_most(delta)}{_parenthesis(delta)}, {_SOMEBODY[whom]} exposed outright, beyond any doubt. So δ "
        "belongs far below one in the number of people."
    )


def _rests(promise: RandomDP) -> str:
    """What γ assumes, rests on and is made of."""
    named = ", ".join(map(" ".join, shares(promise.gamma, promise.parts)))
    parts = f" It is made of these parts: {named}." if promise.parts else ""
    proved = {
        Basis.FINITE_SAMPLE: "it is proved for the very number of people in the data.",
        Basis.ASYMPTOTIC: "it is known in the limit of ever more people only, and nothing is proved for their number.",
    }
    return (
        "The data are assumed to be exchangeable: the order of people in them tells nothing. "
        f"γ is {BASES[promise.basis]}: {proved[promise.basis]}{parts}"
    )


def _excepted(gamma: float) -> str:
    """Whoever is promised nothing; with γ = 0 there still are some, whom the population never yields."""
    if gamma == 0.0:
        return "Whoever the population never yields is promised nothing, however lucky the coins are."
    return (
        f"In the fraction γ = {at_most(gamma)} nothing is promised, however lucky the coins are: the newcomer may "
        "be exposed outright, every time."
    )
