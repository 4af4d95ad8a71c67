"""The sentences of reports in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import cast

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.numbers import exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import AggregatePlan, Shown
from sitr.report.figures import CONFIDENCE, about, at_least, at_most, chance, counted, number, shortened, visible
from sitr.report.headline import Headline, rounded
from sitr.report.words.english.meaning import likelihood, moved
from sitr.report.words.explanation import symbols
from sitr.report.words.notation import exceptions, notation
from sitr.report.words.words import Protects, Words


@dataclass(frozen=True, slots=True)
class English:
    """The sentences in English.

    >>> English().flavor(PureDP(1.0))
    'pure differential privacy'
    """

    def flavor(self, promise: Kept, /) -> str:
        match promise:
            case PureDP():
                return "pure differential privacy"
            case ApproximateDP():
                return "approximate differential privacy"
            case ZeroConcentratedDP():
                return "zero-concentrated differential privacy"
            case RandomDP(inner):
                return f"random {self.flavor(_inside(inner))}"

    def headline(self, headline: Headline, /) -> str:
        if headline.exact is None:
            return headline.symbols()
        alone = f"{symbols(headline.promise)} alone implies ε = {at_most(headline.implied)}"
        known = "exact" if headline.tight else "proved"
        return f"{headline.symbols()}: {known} for this noise, where {alone} at the same δ"

    def meaning(self, headline: Headline, query: Protects, /) -> str:
        """P(S) ≤ e^ε·Q(S) + δ for all S, both ways; S is whatever is done with an answer.  [DKMMN06, Def. 1]"""
        return self._means(headline, query, "this answer")

    def odds(self, headline: Headline, query: Protects, /) -> str:
        """Bayes: posterior odds are prior odds times e^L, where L > 0 favours the truth and L < 0 speaks against it.

        Where |L| ≤ ε always, the odds move by at most e^ε. Otherwise P(L > ε′) ≤ δ bounds how far they move towards the
        truth. Being misled as much, L < −ε′, is rarer still, but not covered by the same δ. An (ε, δ) promise does not
        bound the odds at its own δ: E[(1 − e^{ε−L})₊] ≤ δ allows P(L > ε) > δ.
        """
        return self._odds(headline, query, "this answer")

    def newcomer(self, promise: Kept, /) -> str:
        if not isinstance(promise, RandomDP):
            return ""
        return f"{RANDOM} Here {exceptions(promise.gamma, promise.basis, promise.parts)}."

    def whole(self, promise: Kept, query: Protects, /) -> str:
        headline, evidence = Headline.of(promise), "the whole set of answers from this budget"
        return f"{self._means(headline, query, evidence)} {self._odds(headline, query, evidence)}".strip()

    def _means(self, headline: Headline, query: Protects, evidence: str) -> str:
        sentence = likelihood(((headline.epsilon, headline.delta),), sides=_sides(query), evidence=evidence)
        if isinstance(headline.promise, RandomDP):
            return f"{self.newcomer(headline.promise)} For the others: {sentence}"
        return sentence

    def _odds(self, headline: Headline, query: Protects, evidence: str) -> str:
        if headline.odds is None:
            return ""
        others = "For the others: whatever" if headline.gamma is not None else "Whatever"
        change = moved(headline.odds, headline.delta, evidence)
        return f"{others} anyone believed beforehand about {_doubt(query)}, {change}"

    def reading(self, headline: Headline, /) -> str:
        bound = f"{self.headline(headline)}. The factor in the first sentence is e^ε, rounded up."
        if headline.odds is None or headline.delta == 0.0:
            return bound
        inner = headline.promise.inner if isinstance(headline.promise, RandomDP) else headline.promise
        offset = "ξ + " if isinstance(inner, ZeroConcentratedDP) and inner.xi else ""
        return (
            f"The promise itself is {symbols(headline.promise)}: every moment of the privacy loss is at most a "
            f"Gaussian's. As (ε, δ) it is {bound} The odds need a larger number: the loss exceeds ε′ = {offset}ρ + "
            f"2√(ρ ln(1/δ)) = {rounded(headline.odds)} with probability at most δ (probabilistic differential "
            f"privacy), and the factor of the odds is e^ε′, rounded up. δ = {at_most(headline.delta)} was chosen for "
            "this report; another δ gives another ε and ε′."
        )

    def protected(self, query: BoundedQuery, /) -> str:
        rows = f"all rows with the same {visible(query.unit.column)}" if isinstance(query.unit, Person) else "one row"
        who = f"Each person ({rows})" if isinstance(query.unit, Person) else "Each single row"
        if query.relation is Relation.ADD_REMOVE:
            return f"{who} is protected: the answer would look much the same with or without {_them(query)}."
        return (
            f"{who} is protected: the answer would look much the same with any other {self.unit(query)} instead. "
            f"The number of {_units(query)} is not protected."
        )

    def unit(self, query: BoundedQuery, /) -> str:
        return "person" if isinstance(query.unit, Person) else "row"

    def contribution(self, query: BoundedQuery, /) -> str:
        if not isinstance(query.unit, Person):
            return "One row counts once. A person with several rows is protected less: row by row, not as a whole."
        return (
            f"Each person contributes {_caps(query)}. Rows beyond these caps are left out at random, and rows without "
            f"a value in {visible(query.unit.column)} are always left out."
        )

    def error(self) -> str:
        return (
            f"Each number, taken alone, is within ± the error of the exact answer with {about(CONFIDENCE * 100)}% "
            "probability; the bias from clamping and caps is not included."
        )

    def exposure(self, plan: AggregatePlan, /) -> str:
        mass = plan.infinite_mass()
        if mass == 0.0:
            return "Nobody can be exposed outright: no possible answer rules a person in or out for certain."
        unit = self.unit(plan.query)
        return (
            f"With probability at most {at_most(mass)} ({chance(mass)}) a key that only one {unit} has passes the "
            f"threshold by chance and is shown, which would expose that {unit} outright."
        )

    def tail(self, plan: AggregatePlan, /) -> str:
        if plan.finite_tail() > 0.0:
            return (
                f"A further {at_most(plan.finite_tail())} of δ covers unusually large noise. Privacy then degrades "
                "gracefully: the odds may change by more than a factor of e^ε, but always by a finite factor, and "
                "larger factors are rarer."
            )
        if isinstance(plan.promise(), ZeroConcentratedDP):
            return (
                "The loss has no fixed ceiling, but a thin tail like a Gaussian's: ρ bounds the probability of large "
                "losses, and every loss is finite."
            )
        return "There is no finite tail: the loss never exceeds ε in any other way."

    def shown_keys(self, plan: AggregatePlan, /) -> str:
        if not plan.query.keys:
            return "The question has no groups, so the answer has one row, whatever the data are."
        if plan.threshold is None:
            many = plan.query.cells != 1
            declared = f"All {number(plan.query.cells or 0)} keys were" if many else "The only key was"
            return (
                f"{declared} declared public. {'Each' if many else 'It'} is in the answer, with noise, whether or not "
                "the data hold it."
            )
        return (
            f"The keys are not public. A key is shown if its number of {_units(plan.query)}, with noise "
            f"({self.noise(plan.threshold.noise)}), is at least {number(plan.threshold.least)}. Other keys are left "
            "out, and their number is not released."
        )

    def public(self, query: BoundedQuery, /) -> tuple[str, ...]:
        caps = [f"the caps: {_caps(query)} for each person"] if isinstance(query.unit, Person) else []
        known = [
            f"the {counted(len(key.keys), 'key')} of {visible(key.name)}: {self._listed(key.keys)}"
            for key in query.keys
            if key.keys is not None
        ]
        clamps = {
            f"the bounds of {visible(term.column.name)}, {about(term.quantised.lower * term.quantised.granularity)} to "
            f"{about(term.quantised.upper * term.quantised.granularity)}, and its granularity, "
            f"{about(term.quantised.granularity)}": None
            for term in query.terms
            if term.column is not None and term.quantised is not None
        }
        size = [f"the number of {_units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        return ("the names and types of the columns, and the question itself", *size, *caps, *known, *clamps)

    def _listed(self, keys: tuple[Key, ...]) -> str:
        first = ", ".join(shortened(self.key(key), most=24) for key in keys[:6])
        return first + (f" and {number(len(keys) - 6)} more" if len(keys) > 6 else "")

    def noise(self, noise: Noise, /, *, granularity: Fraction = Fraction(1)) -> str:
        parameter = "scale" if noise.symbol == "scale" else f"{noise.symbol} ="
        return f"{noise.law}, {parameter} {about(noise.size * granularity)}"

    def checks(self, plan: AggregatePlan, /) -> tuple[str, ...]:
        lines = [f"{visible(column.term.name)}: {_share(column)}" for column in plan.columns]
        if plan.threshold is not None:
            lines.append(f"keys: {_threshold(plan.threshold)}")
        return (*lines, f"together: {_together(plan)}")

    def not_private(self) -> str:
        return (
            "NOT PRIVATE: made with test coins. Anyone who knows the seed can subtract the noise. These numbers "
            "protect nobody and must not be published."
        )

    def empty(self, plan: AggregatePlan, /) -> str:
        return (
            f"No key reached the threshold of {number(plan.threshold.least if plan.threshold else 0)}. This "
            "answer was paid for; it does not mean that the data are empty."
        )

    def more(self, shown: int, total: int, /) -> str:
        here = f"The first {number(shown)} of {number(total)} rows are shown here"
        return f"{here}; the answer has {number(total - shown)} more."

    def largest(self, shown: int, total: int, /) -> str:
        if shown == total:
            return f"{counted(total, 'bar')}, each with its 95% interval."
        return f"The largest {number(shown)} of {number(total)} keys are drawn."

    def chart(self, names: Sequence[str], /) -> str:
        return f"{', '.join(map(visible, names))}, with 95% intervals"

    def budget(self, budget: Filter, charge: Kept | None, /) -> str:
        taken = f" This answer took {notation(charge)}." if charge is not None else ""
        return f"Spent: {notation(budget.spent())}. Left: {notation(budget.remaining(), left=True)}.{taken}"

    def key(self, part: Key, /) -> str:
        match part:
            case None:
                return "(no value)"
            case bool():
                return "true" if part else "false"
            case date():
                return part.isoformat()
            case "":
                return "(empty text)"
            case _:
                return visible(str(part))

    def label(self, key: tuple[Key, ...], /) -> str:
        return " · ".join(map(self.key, key)) if key else "all rows"


RANDOM = (
    "Assumes exchangeable data; protects a random newcomer, not every person: for a fraction γ of newcomers and the "
    "people whose place they take, nothing is promised."
)


ENGLISH: Words = English()
"""The language of all reports."""


def _inside(inner: Promise) -> Kept:
    """The inner promise of a random promise that a ledger keeps."""
    return cast("Kept", inner)


def _share(column: Shown) -> str:
    """The cost of one column, from its sensitivity and its noise."""
    noise, (formula, symbol) = column.noise, column.noise.arithmetic
    moved = column.distance.l2_squared if noise.euclidean else column.distance.l1
    return f"{formula.format(moved=number(moved), size=about(noise.size))} {_result(noise.cost(), symbol)}"


def _threshold(threshold: Threshold) -> str:
    noise, promise = threshold.noise, threshold.promise()
    share = _result(exact(noise.sensitivity) / exact(noise.scale), "ε")
    single = f"1 − (1 − p)^{threshold.groups} ≤ {at_most(promise.delta)} = δ"
    chance_of_one = f"with p = P({threshold.each} + noise ≥ {number(threshold.least)})"
    return f"Δ / scale = {number(noise.sensitivity)} / {about(noise.scale)} {share}; {single}, {chance_of_one}"


def _together(plan: AggregatePlan) -> str:
    """The sum of the shares, then the conversion if there is one, then the price."""
    match Composed(tuple(column.noise for column in plan.columns)).promise():
        case ZeroConcentratedDP(rho):
            steps = [f"ρ ≤ {at_most(rho, digits=6)}"]
        case GaussianDP(mu):
            steps = [f"√Σμ² ≤ {at_most(mu, digits=6)}"]
        case noise:
            steps = [f"ε ≤ {at_most(noise.epsilon, digits=6)}"]  # type: ignore[union-attr]
    if plan.threshold is not None:
        steps.append(f"with the keys {notation(plan.promise())}, by the sum of their losses")
    elif isinstance(plan.price, ApproximateDP) and plan.price.delta > 0:
        steps.append(f"which is {notation(plan.promise())}")
    return ", ".join([*steps, f"within the price {notation(plan.price)}"])


def _result(share: Fraction, symbol: str) -> str:
    text = at_most(share, digits=6)
    return f"{'=' if at_least(share, digits=6) == text else '≤'} {text} = {symbol}"


def _doubt(query: Protects) -> str:
    """The fact that the promise keeps in doubt."""
    person = isinstance(query.unit, Person)
    if query.relation is Relation.ADD_REMOVE:
        return "whether you are in these data" if person else "whether any one row is in these data"
    return f"whether these data hold {'your rows or other rows' if person else 'one row or another row'} in their place"


def _sides(query: Protects) -> tuple[str, str]:
    """The two neighbouring tables."""
    person = isinstance(query.unit, Person)
    if query.relation is Relation.ADD_REMOVE:
        return ("with your data", "without them") if person else ("with any one row", "without it")
    if person:
        return "with your rows", "with any other person's rows in their place"
    return "with any one row", "with any other row in its place"


def _them(query: BoundedQuery) -> str:
    return "that person's rows" if isinstance(query.unit, Person) else "it"


def _units(query: BoundedQuery) -> str:
    return "people" if isinstance(query.unit, Person) else "rows"


def _caps(query: BoundedQuery) -> str:
    groups = f" in each of at most {counted(query.max_groups, 'group')}" if query.keys else ""
    return f"at most {counted(query.max_rows_per_group, 'row')}{groups}"
