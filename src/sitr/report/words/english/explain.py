"""Promises explained in English."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.report.figures import about, at_most, visible
from sitr.report.headline import Headline
from sitr.report.words.english.meaning import likelihood, moved
from sitr.report.words.explanation import (
    Concentrated,
    Explanation,
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
from sitr.report.words.notation import BASES, odds, shares

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

_GENERAL = "Facts about people in general are not hidden: they are learned about you too, whether or not you take part."
_NEVER = {
    Whom.YOU: "nobody is ever exposed outright",
    Whom.NEWCOMER: "neither the newcomer nor the person replaced is exposed outright",
}
_SOMEBODY = {Whom.YOU: "somebody", Whom.NEWCOMER: "one of these two"}
_GRACEFULLY = (
    "no possible answer settles the matter for certain. The loss need not have a ceiling, but privacy degrades "
    "gracefully: a larger loss is possible, but rarer."
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
            f"{_GENERAL} A group of s people is promised s·ε. Each further release adds its ε.",
        )

    def approximate(self, promise: ApproximateDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"Approximate differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, the probabilities of any set of answers differ by at most a factor of e^ε and an "
            f"addition of δ: {symbols(promise)}.",
            f"{_follows(((promise.epsilon, promise.delta),), whom)} {_test(promise)}",
            _either(promise.delta, whom),
            f"{_GENERAL} A group of s people is promised s·ε with δ·(e^(s·ε) − 1)/(e^ε − 1), which grows "
            "quickly. Each further release adds its ε and its δ, unless a better theorem applies.",
        )

    def profile(self, promise: PrivacyProfile, /, *, whom: Whom) -> Explanation:
        points = some_points(promise)
        chosen = "" if all_shown(promise) else f", of which {len(points)} of {len(promise.points)} are shown"
        return _explanation(
            f"Privacy profile, several (ε, δ) at once: {symbols(promise)}",
            f"On {_PAIR[whom]}, several bounds (ε, δ) hold at once{chosen}: {symbols(promise)}. Each says that "
            "the probabilities of any set of answers differ by at most a factor of e^ε and an addition of δ.",
            f"{_follows(points, whom)} {_test(promise)}",
            _at_several(promise, whom),
            f"{_GENERAL} A group of s people is promised each point as (s·ε, δ·(e^(s·ε) − 1)/(e^ε − 1)). "
            "Further releases add their losses, and the whole profile must be computed again.",
        )

    def concentrated(self, promise: ConcentratedDP, /, *, whom: Whom) -> Explanation:
        group = "is promised s²·μ and s·τ" if promise.scales_to_groups else "is promised nothing by this alone"
        return _explanation(
            f"Concentrated differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, the privacy loss is at most μ = {at_most(promise.mu)} on average, and strays "
            f"from its average no more than a normal variable with standard deviation τ = {at_most(promise.tau)}.",
            _numbers(promise, whom, before=_on_average(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people {group}. Each further release adds its μ to μ and its τ² to τ².",
        )

    def zero_concentrated(self, promise: ZeroConcentratedDP, /, *, whom: Whom) -> Explanation:
        group = "s²·ρ" + (" with ξ·s·(1 + 1/2 + … + 1/s)" if promise.xi else "")
        thin = " Large losses become rare just as quickly." if promise.rho else ""
        return _explanation(
            f"Zero-concentrated differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, every moment of the privacy loss is at most what Gaussian noise would give"
            f"{' plus a constant' if promise.xi else ''}: {symbols(promise)}.{thin}",
            _numbers(promise, whom),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people is promised {group}. Each further release adds its "
            f"{'ρ and its ξ' if promise.xi else 'ρ'}.",
        )

    def approximate_zero_concentrated(self, promise: ApproximateZeroConcentratedDP, /, *, whom: Whom) -> Explanation:
        if promise.delta == 0.0:
            return self.zero_concentrated(ZeroConcentratedDP(promise.rho), whom=whom)
        return _explanation(
            f"Approximate zero-concentrated differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, apart from an event of probability δ, every moment of the privacy loss is at most what "
            f"Gaussian noise would give: {symbols(promise)}.",
            _outside(promise, whom),
            f"With probability up to δ = {at_most(promise.delta)}{_parenthesis(promise.delta)}, {_SOMEBODY[whom]} may "
            "be exposed outright, beyond any doubt, so δ should be far below 1 divided by the number of people. Apart "
            f"from that, {_GRACEFULLY}",
            f"{_GENERAL} A group of people is promised nothing by this alone. Each further release adds its ρ and its "
            "δ.",
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
            f"{_GENERAL} A group of two people is promised, at each order of at least 2, three times the bound "
            "at twice the order. Each further release adds its bounds, order by order.",
        )

    def gaussian(self, promise: GaussianDP, /, *, whom: Whom) -> Explanation:
        return _explanation(
            f"Gaussian differential privacy: {symbols(promise)}",
            f"On {_PAIR[whom]}, telling from the answer which of them was used is at least as hard as telling from "
            f"one draw whether a normal law with standard deviation 1 has mean 0 or mean {symbols(promise)}.",
            _numbers(promise, whom, before=_test(promise)),
            _bad_luck(promise, whom),
            f"{_GENERAL} A group of s people is promised s·μ. Each further release adds its μ² to μ².",
        )

    def pufferfish(self, promise: Pufferfish, /, *, whom: Whom) -> Explanation:  # noqa: ARG002 - as the others
        believed = promise.framework
        added = " Only Markov quilts of the same series add their ε." if believed.series else ""
        factor = odds(promise.epsilon)
        return _explanation(
            f"Pufferfish privacy: {symbols(promise)}",
            f"It protects secrets ({visible(believed.secrets)}) from observers with certain beliefs about the data "
            f"({visible(believed.priors)}). Under each of these beliefs, no possible answer is more than {factor} "
            f"times as likely given one secret as given the other of a pair: {symbols(promise)}. Chance in the data "
            "counts as well as chance in the noise, so records may depend on each other as those beliefs say.",
            f"Whatever odds such an observer gave one secret against the other, the answer changes them by at most a "
            f"factor of {factor}: a belief of 50% becomes at most {belief(promise.epsilon)}.",
            "Luck plays no part. There is no δ: under the stated beliefs the factor holds for every answer, however "
            "rare.",
            "Observers who know or believe something else may learn the secrets. Other secrets and groups of people "
            "are not protected, and differential privacy does not follow. Two such answers together may reveal a "
            f"secret that each of them hides.{added}",
        )

    def random(self, promise: RandomDP, /, *, inner: Explanation) -> Explanation:
        but = f"in all but a fraction γ = {at_most(promise.gamma)}{_parenthesis(promise.gamma)} of such draws"
        return _explanation(
            f"Random differential privacy: {symbols(promise)}",
            "This protects a random newcomer, not you. Draw the data at random from a population, then draw "
            f"one newcomer who takes the place of one person: {but}, the following holds. {inner.promised} "
            f"{_rests(promise)}",
            f"In at least {remaining(promise.gamma)} of such draws, {_continued(inner.meaning)}",
            f"{_excepted(promise.gamma)} In all other draws, {_continued(inner.failure)}",
            "You yourself are not protected: anyone who is unlike the others may well be in the fraction γ. Nothing is "
            "promised to the people in the data who are not exchanged: they may be exposed every time. If the data are "
            "not a random sample, nothing is promised at all. γ is about data and δ about coins: neither can replace "
            "the other. A group of t newcomers has t·γ. Further random releases add their γ, but only if all of them "
            "were fixed in advance: a release chosen after seeing an answer breaks the promise.",
        )

    def computational(self, promise: ComputationalDP, /, *, inner: Explanation) -> Explanation:
        return _explanation(
            f"Computational differential privacy: {symbols(promise)}",
            "This protects against everybody whose computing power is limited: for them, the answer looks like one for "
            f"which the following holds. {inner.promised}",
            f"For anybody who cannot break the cipher that drew the noise or carried the messages, "
            f"{_continued(inner.meaning)}",
            f"Somebody who breaks the cipher, perhaps years from now, may learn everything. Otherwise, "
            f"{_continued(inner.failure)}",
            "Nothing is promised against unlimited computing power. The probability of breaking the cipher is assumed "
            "to be negligible; no number here includes it. Keys that leak, or that are used twice, break the promise. "
            f"{inner.not_promised}",
        )


def _explanation(title: str, promised: str, meaning: str, failure: str, not_promised: str) -> Explanation:
    return Explanation(Language.ENGLISH, title, promised, meaning, failure, not_promised)


def _begun(sentence: str) -> str:
    """The sentence with a capital letter."""
    return sentence[0].upper() + sentence[1:]


def _continued(sentence: str) -> str:
    """The sentence with a small letter, to continue another one."""
    return sentence[0].lower() + sentence[1:]


def _follows(points: tuple[tuple[float, float], ...], whom: Whom) -> str:
    """P(S) ≤ e^ε·Q(S) + δ, which is not the same as "except with probability δ".      [DKMMN06, Def. 1]"""
    return likelihood(points, sides=_SIDES[whom], evidence="the answer")


def _test(promise: ApproximateDP | PrivacyProfile | GaussianDP) -> str:
    return f"A test that accuses wrongly in 5% of cases accuses rightly in at most {detected(promise)}."


def _parenthesis(probability: float) -> str:
    return f" (1 in {one_in(probability)})" if probability else ""


def _always(epsilon: float, whom: Whom) -> str:
    """|L| ≤ ε, by Bayes' rule."""
    return (
        f"Whatever anyone believed beforehand about {_DOUBT[whom]}, the answer changes the odds by at most a factor "
        f"of {odds(epsilon)}: a chance of 50% becomes at most {belief(epsilon)}."
    )


def _on_average(promise: ConcentratedDP) -> str:
    mean = promise.mean_loss()
    spread = f", because the spread alone keeps the average loss within τ²/2 = {at_most(mean)}"
    return (
        f"On geometric average the answer moves the odds towards the truth by at most a factor of {odds(mean)}"
        f"{spread if mean < promise.mu else ''}."
    )


def _numbers(promise: Concentrated, whom: Whom, *, before: str = "") -> str:
    """The promise as (ε, δ) at one δ, as one reading of many, and the odds; or the largest loss it allows.

    Only the odds come with a probability: the loss may exceed ε with probability above δ, but ε′ with at most δ.
    """
    headline = Headline.of(promise)
    if headline.delta == 0.0:
        return _always(headline.epsilon, whom)
    reading = _follows(((headline.epsilon, headline.delta),), whom)
    if math.isfinite(headline.epsilon) and headline.odds is not None:
        reading = (
            f"One reading of many is {headline.symbols()}. {reading} Another δ gives another ε, and all of them hold "
            f"at once. Whatever anyone believed beforehand about {_DOUBT[whom]}, "
            f"{moved(headline.odds, headline.delta, 'the answer')}"
        )
    return f"{before} {reading}".strip()


def _outside(promise: ApproximateZeroConcentratedDP, whom: Whom) -> str:
    """The promise as (ε, δ) at a δ above its own."""
    headline = Headline.of(promise)
    reading = _follows(((headline.epsilon, headline.delta),), whom)
    if not math.isfinite(headline.epsilon):
        return reading
    return (
        f"One reading of many is {headline.symbols()}. {reading} Another δ above {at_most(promise.delta)} gives "
        "another ε, and all of them hold at once."
    )


def _bad_luck(promise: Concentrated, whom: Whom) -> str:
    if (largest := promise.largest_loss()) is None:
        return f"{_begun(_NEVER[whom])}: {_GRACEFULLY}"
    return (
        f"Luck plays no part: the loss never exceeds {at_most(largest)}. {_begun(_NEVER[whom])}, and no answer, "
        "however rare, reveals more than that factor."
    )


def _at_several(promise: PrivacyProfile, whom: Whom) -> str:
    """At most the last δ can be outright exposure; larger δ may come from finite losses."""
    if len(promise.points) == 1:
        return _either(promise.infinite_mass(), whom)
    graceful = "Whatever δ allows beyond that at a smaller ε is of the graceful kind."
    if (largest := promise.largest_loss()) is None:
        return f"{_either(promise.infinite_mass(), whom)} {graceful}"
    never = f"{_begun(_NEVER[whom])}: the last δ is 0, so the loss never exceeds {at_most(largest)}."
    return f"{never} {graceful}"


def _either(delta: float, whom: Whom) -> str:
    """The two ways in which an (ε, δ) promise can fail."""
    if delta == 0.0:
        return f"Luck plays no part: δ is 0, so {_NEVER[whom]}, and the factor holds always."
    return (
        f"This promise does not say how δ = {at_most(delta)} is used. It may be either a graceful failure, where the "
        "odds change by more than a factor of e^ε, and larger changes are rarer; or, with probability up to "
        f"{at_most(delta)}{_parenthesis(delta)}, {_SOMEBODY[whom]} exposed outright, beyond any doubt. So δ should be "
        "far below 1 divided by the number of people."
    )


def _rests(promise: RandomDP) -> str:
    """The assumption, the basis and the parts of γ."""
    named = ", ".join(map(" ".join, shares(promise.gamma, promise.parts)))
    parts = f" Its parts are {named}." if promise.parts else ""
    proved = {
        Basis.FINITE_SAMPLE: "it is proved for the number of people in the data.",
        Basis.ASYMPTOTIC: "it is known only in the limit of many people; nothing is proved for the number in the data.",
    }
    return (
        "The data are assumed to be exchangeable: the order of the people carries no information. "
        f"γ is {BASES[promise.basis]}: {proved[promise.basis]}{parts}"
    )


def _excepted(gamma: float) -> str:
    """Who is promised nothing. Even with γ = 0 this is anyone whom the population never yields."""
    if gamma == 0.0:
        return "Anyone whom the population never yields is promised nothing, however lucky the coins are."
    return (
        f"In the fraction γ = {at_most(gamma)} nothing is promised, however lucky the coins are: the newcomer may "
        "be exposed outright, every time."
    )
