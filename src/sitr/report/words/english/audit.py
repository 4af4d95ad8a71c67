"""The sentences about audits, in English."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitr.report.figures import about, at_least, at_most, number, visible


@dataclass(frozen=True, slots=True)
class AuditWords:
    """What an audit found."""

    def claim(self, notation: str, /) -> str:
        """The claim as it is written."""
        return visible(notation)

    def inputs(self, first: str, second: str, /) -> str:
        """The two inputs that were audited, if there were several pairs."""
        return f"{visible(first)} and {visible(second)}"

    def broken(self, confidence: float, /) -> str:
        """The claim is refuted.

        >>> AuditWords().broken(0.999)
        'Broken, with 99.9% confidence: the mechanism does not keep its claim.'
        """
        return f"Broken, with {about(100 * confidence)}% confidence: the mechanism does not keep its claim."

    def consistent(self, draws: int, /) -> str:
        """The claim is not refuted."""
        return f"Consistent: {number(draws)} draws do not refute it. That is no proof: other inputs or more draws may."

    def drawn(self, draws: int, sequential: bool, /) -> str:
        """How many answers were looked at."""
        return f"{number(draws)}, and the bounds hold at all numbers of draws" if sequential else number(draws)

    def event(self, feature: str, place: int, order: str, edge: float | None, /) -> str:
        """Answers that tell the two inputs apart.

        >>> AuditWords().event("value", 0, "above", 3.5)
        'the value is at least 3.5'
        """
        what = _FEATURES.get(feature, visible(feature))
        what = f"{what} (number {number(place + 1)} of the answer)" if place and feature in _PLACED else what
        if edge is None or math.isinf(edge) or order not in ("above", "below"):
            return f"{what} is one of those that were likelier on the first input"
        return f"{what} is {'at least' if order == 'above' else 'below'} {about(edge)}"

    def moment(self, order: float, bound: float, allowed: float, /) -> str:
        """A divergence that is larger than the claim allows."""
        return (
            f"the Rényi divergence of order {about(order)} is at least {at_least(bound)}, and the claim allows "
            f"{at_most(allowed)}"
        )

    def frequencies(self, first: int, second: int, draws: int, /) -> str:
        """How often the event happened."""
        return (
            f"{number(first)} of {number(draws)} on the first input, {number(second)} of {number(draws)} on the second"
        )

    def probabilities(self, first: float, second: float, /) -> str:
        """Bounds on the two probabilities of the event."""
        return f"at least {at_least(first)} on the first input, at most {at_most(second)} on the second"

    def epsilon(self, bound: float, delta: float, /) -> str:
        """A lower bound on ε."""
        shown = at_least(bound) if math.isfinite(bound) else "∞"
        return f"ε ≥ {shown} at δ = {about(delta)}" if delta else f"ε ≥ {shown}"

    def mu(self, bound: float, /) -> str:
        """A lower bound on μ."""
        return f"μ ≥ {at_least(bound) if math.isfinite(bound) else '∞'}"

    def guesses(self, made: int, correct: int, canaries: int, /) -> str:
        """How many guesses about canaries were correct."""
        return f"{number(correct)} of {number(made)} correct, for {number(canaries)} canaries"

    def time_tells(self, confidence: float, second: bool, /) -> str:
        """The time depends on the input.

        >>> AuditWords().time_tells(0.99, True)
        'The time tells, with 99% confidence: answers take longer on the second input.'
        """
        slower = "second" if second else "first"
        return f"The time tells, with {about(100 * confidence)}% confidence: answers take longer on the {slower} input."

    def time_silent(self, draws: int, /) -> str:
        """No difference in time was found."""
        return f"No difference found in {number(draws)} tested times. That is no proof: a smaller one may be there."

    def longer(self, seconds: float, /) -> str:
        """An answer takes longer than a limit."""
        shown = about(float(f"{seconds * 1e6:.3g}"))
        return f"an answer takes longer than {shown} µs"

    def chance(self, probability: float, /) -> str:
        """How probable such a difference is if the time does not depend on the input.

        >>> AuditWords().chance(0.0301)
        'such a difference or a larger one has a probability of at most 0.0301 if the time does not depend on the input'
        """
        return (
            f"such a difference or a larger one has a probability of at most {at_most(probability)} if the time does "
            "not depend on the input"
        )

    def time_limits(self) -> str:
        """What a test of times can show."""
        return (
            "This is a statistical test on this machine: other programs, caches and clocks add noise, which hides "
            "small differences. A promise is about answers and says nothing about their time."
        )

    def trade_off(self) -> tuple[str, str, str]:
        """The title, the horizontal and the vertical axis of the picture."""
        return (
            "Claimed and audited trade-off",
            "false positives of a test between the two inputs",
            "true positives",
        )

    def curves(self) -> tuple[str, str]:
        """The legend: what the claim allows, and what was reached."""
        return "claim allows", "test reaches"

    def described(self, broken: bool, /) -> str:
        """The picture in words."""
        if broken:
            return "A test between the two inputs surely reaches more than the claim allows."
        return "The audited curve stays below the curve that the claim allows."

    def intervals(self, delta: float, /) -> tuple[str, str, str]:
        """The title of the picture of bounds on ε, and its legend: the accountant's interval, the audited bound."""
        at = f" at δ = {about(delta)}" if delta else ""
        return f"ε{at}: accountant and audit", "interval of the accountant", "at least this, by the audit"


_FEATURES = {
    "value": "the value",
    "last bit": "the place of the last bit",
    "last bit and value": "the place of the last bit, with the range of the value,",
    "answer": "the answer",
    "values that occur": "the set of values that occur",
    "difference": "the difference of two numbers",
    "sum": "the sum",
    "largest": "the largest number",
    "place of the largest": "the place of the largest number",
    "all numbers": "the score of all numbers",
    "two numbers": "the pair of two numbers",
}
_PLACED = ("value", "last bit", "last bit and value", "difference")
