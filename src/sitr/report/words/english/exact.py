"""The sentences about mechanisms that are verified exactly, in English."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.report.figured import Figured
from sitr.report.figures import about, counted, visible


@dataclass(frozen=True, slots=True)
class ExactWords:
    """What is proved about a table of probabilities, and about claims."""

    def kept(self, claim: str, /) -> str:
        """The claim is proved."""
        return f"Kept: {visible(claim)} is proved for all neighbouring inputs."

    def broken(self, claim: str, symbol: str, least: str, allowed: str, /) -> str:
        """The claim is refuted."""
        found = "is infinite" if least == "∞" else f"is at least {least}"
        return f"Broken: {visible(claim)} does not hold: {symbol} {found}, and the claim allows {allowed}."

    def undecided(self, claim: str, symbol: str, low: str, high: str, allowed: str, /) -> str:
        """Neither can be proved."""
        return (
            f"Undecided: {visible(claim)} allows {symbol} = {allowed}, and only {low} to {high} is proved. Give exact "
            "probabilities, or a slightly weaker claim."
        )

    def witness(self, first: str, second: str, event: str, probabilities: tuple[float, float] | None, /) -> str:
        """Where a claim is broken."""
        pair = f"the inputs {visible(first)} and {visible(second)}"
        if not event:
            return f"{pair}"
        odds = "" if probabilities is None else _odds(*probabilities)
        return f"{pair}, the outcome {visible(event)}{odds}"

    def drawn(self, draws: int, confidence: float, /) -> str:
        """How sure the fractions of data are for which a random promise fails."""
        sure = f"with {about(100 * confidence)}% confidence"
        return f"everything but γ; each interval of γ holds {sure}, from {counted(draws, 'drawn pair')} of data sets"

    def outright(self, mass: str, pair: str, /) -> str:
        """Mass at infinity, apart from the rest."""
        if not mass:
            return "Nobody can be exposed outright: no loss is infinite."
        return f"With probability {mass} an outcome exposes the input outright ({visible(pair)}), whatever ε is."

    def mechanism(self, inputs: int, outcomes: int, pairs: int, exact: bool, rounding: str, /) -> str:
        """What was verified."""
        numbers = "exact probabilities" if exact else f"probabilities that may be wrong by a factor of 1 ± {rounding}"
        counts = f"{counted(inputs, 'input')}, {counted(outcomes, 'outcome')}, {counted(pairs, 'pair')} of neighbours"
        return f"{counts}, {numbers}"

    def coupled(self, epsilon: str, low: str, high: str, /) -> str:
        """The least δ of coupled worlds."""
        bounds = f"δ between {low} and {high}, proved on both sides"
        return f"Coupled worlds: at ε = {epsilon} the best simulator needs {bounds}."

    def headings(self) -> tuple[str, str, str, str]:
        """The headings of the table of figures."""
        return "figure", "proved", "inputs", "outcomes"

    def figure(self, name: Figured, parameter: str, /) -> str:
        """The name of a figure, with its parameter."""
        return {
            Figured.EPSILON: "ε, the largest loss",
            Figured.EPSILON_AT_DELTA: f"ε at δ = {parameter}",
            Figured.DELTA_AT_EPSILON: f"δ at ε = {parameter}",
            Figured.EXCEEDING: f"P(L > {parameter}), probabilistic",
            Figured.QUANTILE: f"ε with P(L > ε) ≤ {parameter}",
            Figured.MEAN: "μ = E[L], concentrated",
            Figured.SUBGAUSSIAN: "τ, concentrated",
            Figured.RHO: "ρ, zero-concentrated",
            Figured.RHO_AT_XI: f"ρ at ξ = {parameter}",
            Figured.BEST_RHO: f"ρ at the best ξ = {parameter}",
            Figured.RENYI: f"Rényi of order {parameter}",
            Figured.MU: "μ, Gaussian",
            Figured.INFINITE: "P(L = ∞)",
            Figured.GAMMA: f"γ at ε = {parameter}, random",
            Figured.GAMMA_AT_DELTA: f"γ at {parameter}, random",
        }[name]

    def exactly(self, value: str, /) -> str:
        """A figure that is a fraction."""
        return f"{value} exactly"

    def picture(self) -> tuple[str, str, str]:
        """The title of the picture, and its axes."""
        return (
            "The best test between neighbouring inputs",
            "false positives",
            "true positives",
        )

    def claimed(self, claim: str, /) -> str:
        """The curve of the claim."""
        return f"claimed: {visible(claim)}"

    def verified(self) -> str:
        """The curve of the mechanism."""
        return "verified: the mechanism"


def _odds(first: float, second: float) -> str:
    return f", with probabilities {about(first)} and {about(second)}"
