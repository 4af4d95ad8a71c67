"""The sentences of losses, schedules and composition theorems, in English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.numbers import Interval, Number
from sitr.report.figures import about, at_least, at_most, chance, counted, number
from sitr.report.words.english.meaning import likelihood
from sitr.report.words.notation import exceptions

if TYPE_CHECKING:  # slow to import, and most reports need none of them
    from sitr.accounting.compare import TheoremResult
    from sitr.accounting.schedule import Schedule
    from sitr.accounting.theorems.theorem import Total
    from sitr.accounting.training import Training

THEOREMS: Mapping[str, str] = {
    "basic": "basic",
    "advanced": "advanced (DRV 2010)",
    "halved": "advanced, halved (DR 2016)",
    "optimal_equal": "optimal, equal steps (KOV)",
    "optimal_mixed": "optimal, mixed steps (MV)",
    "concentrated": "concentrated (μ, τ)",
    "zero_concentrated": "zero-concentrated",
    "renyi": "Rényi / moments accountant",
    "renyi_as_published": "Rényi, as published in 2016",
    "gaussian": "Gaussian",
    "profile": "several (ε, δ) at once",
    "loss": "privacy-loss distribution",
    "random_union": "random, union bound",
}
CURVES: Mapping[str, str] = {
    "advanced": "advanced",
    "halved": "halved",
    "optimal_equal": "optimal, equal",
    "optimal_mixed": "optimal, mixed",
    "concentrated": "concentrated",
    "renyi": "Rényi",
    "renyi_as_published": "Rényi, 2016",
    "profile": "several (ε, δ)",
    "loss": "loss itself",
    "random_union": "union bound",
}
"""Names that are short enough for the end of a curve; the others are the same as in tables."""
RANDOM = (
    "every ε here holds except for this fraction of data. This is random differential privacy: it assumes exchangeable "
    "data, protects a random newcomer and not you, promises nothing to the others in the data, and holds only if every "
    "random mechanism was fixed in advance."
)


@dataclass(frozen=True, slots=True)
class AccountingWords:
    """Losses that were added up, and what they allow an attacker."""

    def theorem(self, name: str, /) -> str:
        """The name of a theorem in tables and charts.

        >>> AccountingWords().theorem("halved")
        'advanced, halved (DR 2016)'
        """
        return THEOREMS.get(name, name.replace("_", " "))

    def total(self, bounds: Total, /) -> str:
        """The total in four digits, rounded outward; an interval if both ends are known and differ in these digits."""
        if bounds.two_sided and about(bounds.lower, digits=4) != about(bounds.upper, digits=4):
            return f"[{at_least(bounds.lower)}, {at_most(bounds.upper)}]"
        return at_most(bounds.upper)

    def adaptively(self, row: TheoremResult, /) -> str:
        """Whether this total is valid when parameters are chosen adaptively: yes, no, or the condition."""
        return "yes" if row.adaptive.valid else self.reason(row.adaptive.condition) or "no"

    def reason(self, reason: str, /) -> str:
        """Why a theorem does not apply, or under what condition."""
        return reason

    def releases(self, schedule: Schedule, /) -> str:
        """The size of a schedule."""
        return f"{counted(schedule.releases, 'release')} in {counted(len(schedule.parts), 'step')}."

    def adaptive(self) -> str:
        """Which totals are valid for the releases of a ledger."""
        return (
            "A ledger's releases are chosen one after another, in view of earlier answers. Only a row that says yes "
            "may be used as their total, against a limit fixed in advance, and only if that row was chosen before the "
            "first release. A row with a condition may be used only if the condition was met by then, too."
        )

    def random(self, schedule: Schedule, /) -> str:
        """The γ of a schedule, its parts, its basis and its meaning."""
        whole = schedule.exceptions
        return f"{exceptions(whole.gamma, whole.basis, whole.parts)}: {RANDOM}"

    def outright(self, mass: float, /, *, delta: float, random: bool = False) -> str:
        """P(L = +∞), separate from the finite tail. A random promise speaks only of the newcomer.

        >>> AccountingWords().outright(0.0, delta=1e-6)
        'Nobody can be exposed outright: no promise here allows an infinite loss. All of δ is finite tail.'
        """
        if mass == 0.0:
            nobody = "Except in the fraction γ, no newcomer" if random else "Nobody"
            return (
                f"{nobody} can be exposed outright: no promise here allows an infinite loss. All of δ is finite tail."
            )
        who, beyond = ("A newcomer", " beyond the fraction γ") if random else ("Somebody", "")
        exposed = (
            f"{who} may be exposed outright{beyond}: an infinite loss is allowed with probability up to "
            f"{at_most(mass)} ({chance(mass)})."
        )
        if mass <= delta:
            return f"{exposed} This is the part of δ that no ε removes; only the rest of δ is finite tail."
        return f"{exposed} This is more than δ = {at_most(delta)}: no ε follows at this δ, whatever the theorem."

    def found(self, symbol: str, bounds: Interval, given: str, value: str, /) -> str:
        """The ε at a given δ, or the δ at a given ε."""
        return f"{symbol} {self.between(bounds)} at {given} = {value}"

    def between(self, bounds: Interval, /) -> str:
        """An interval in words, rounded outward.

        >>> say = AccountingWords()
        >>> say.between(Interval(2.3806, 2.3822)), say.between(Interval(0.0, 1e-9)), say.between(Interval(0.5, 0.5))
        ('is between 2.38 and 2.383', 'is at most 10⁻⁹', 'is 0.5')
        """
        if bounds.upper == float("inf"):
            infinite = bounds.lower == float("inf")
            return "is infinite" if infinite else f"is at least {at_least(bounds.lower)}, with no upper bound,"
        low, high = at_least(bounds.lower), at_most(bounds.upper)
        if low == high:
            return f"is {high}"
        return f"is between {low} and {high}" if bounds.lower > 0.0 else f"is at most {high}"

    def meaning(self, epsilon: float, delta: float, /) -> str:
        """The meaning of the (ε, δ) of a whole schedule."""
        sides = ("with your data", "without them")
        return likelihood(((epsilon, delta),), sides=sides, evidence="all releases together")

    def hits(self, bounds: Interval, /, *, alarms: Number) -> str:
        """What the best test detects."""
        rate = f"{about(100 * alarms)}% false alarms"
        return f"The best test of who took part detects {self.share(bounds)} of them, with {rate}."

    def guess(self, bounds: Interval, /) -> str:
        """How often the best guess is right."""
        return f"From even odds, the best guess of whether you took part is right {self.share(bounds)} of the time."

    def share(self, bounds: Interval, /) -> str:
        """A probability in percent, rounded outward.

        >>> AccountingWords().share(Interval(0.33151, 0.33179)), AccountingWords().share(Interval(0.5, 0.5))
        ('33.1% to 33.2%', '50%')
        """
        low, high = at_least(100 * bounds.lower, digits=3), at_most(100 * min(1.0, bounds.upper), digits=3)
        return f"{low}%" if low == high else f"{low}% to {high}%"

    def training(self, training: Training, /) -> str:
        """The size of a training run."""
        seen = "1 epoch" if training.epochs == 1 else f"{about(training.epochs)} epochs"
        return (
            f"{counted(training.examples, 'example')}, {seen} in batches of about {number(training.batch)}: "
            f"{counted(training.steps, 'step')} at a rate of {about(training.rate, digits=4)}."
        )

    def noise(self, training: Training, /) -> str:
        """The noise of a training run."""
        return f"σ = {about(training.sigma)} times the norm to which gradients are clipped."

    def assumed(self) -> str:
        """What the figures of a training run assume."""
        return (
            "Every step draws a new batch, each example independently (Poisson sampling), and nobody sees which "
            "examples were drawn. One example is added or removed. Shuffled batches are another mechanism; these "
            "figures do not apply to it."
        )

    def public(self) -> str:
        """What a comparison of ways to release a statistic protects."""
        return (
            "Everything here was computed from the data without noise, so it protects nobody. Choose a way on public "
            "or made-up data, then use it on private data."
        )

    def random_way(self) -> str:
        """What a way with a γ promises."""
        return f"For a way with γ, {RANDOM}"

    def way(self, name: str, /) -> str:
        """The name of a way to release a statistic."""
        return name

    def no_answer(self, probability: float, /, *, often: float) -> str:
        """How often a way gives no answer."""
        if probability > often:
            return "; no answer: nearly always"
        seldom = f"{at_most(probability, digits=2)} of the time" if probability > 0.01 else chance(probability)
        return f"; no answer: {seldom}"

    def loss(self) -> str:
        """The title of the chart of a loss."""
        return "Privacy loss: δ at each ε, and ε by number of releases"

    def at_each(self, symbol: str, given: str, /) -> str:
        """The title of a curve of one number by another."""
        return f"{symbol} at each {given}"

    def logarithmic(self, symbol: str, /) -> str:
        """The name of a logarithmic axis."""
        return f"{symbol}, on a logarithmic axis"

    def compared(self) -> str:
        """The title of the chart of theorems."""
        return "Composition theorems compared: total ε"

    def totals(self) -> str:
        """The title of the chart of theorems by δ."""
        return "Total ε at each δ"

    def error_axis(self) -> str:
        """The axis of the chart of ways to release a statistic."""
        return "95% error on a logarithmic axis: shorter is more accurate"

    def axis(self, name: str, /, *, whole: bool) -> str:
        """The name of an axis, with a note if it ends where ε becomes infinite."""
        return name if whole else f"{name}, as far as ε is finite"

    def by_releases(self, delta: float, /) -> str:
        """The title of the chart of ε by number of releases."""
        return f"ε by number of releases, at δ = {at_most(delta)}"

    def repeated(self, delta: float, /) -> str:
        """The title of the chart of theorems by number of releases."""
        return f"Total ε when all releases are repeated, at δ = {at_most(delta)}"

    def given_delta(self, delta: float, /) -> str:
        """The name of the given δ on an axis."""
        return f"δ = {at_most(delta)}"

    def curve(self, name: str, /) -> str:
        """The name of a theorem at the end of its curve.

        >>> AccountingWords().curve("halved"), AccountingWords().curve("basic")
        ('halved', 'basic')
        """
        return CURVES.get(name, self.theorem(name))

    def curve_total(self, name: str, total: Total | None, /) -> str:
        """The whole name of a theorem and its ε at the given δ, if it has one."""
        return self.theorem(name) + ("" if total is None else f": ε = {at_most(total.upper)}")

    def tightest(self, curve: str, delta: float, /) -> str:
        """Which theorem is the tightest; its curve is thick."""
        return f"The tightest at δ = {at_most(delta)} (thick) is {curve}."

    def bands(self) -> str:
        """How to read the chart of a loss."""
        return "The line joins upper bounds; the pale band reaches to lower bounds. At computed points, ε lies between."

    def curves(self, gamma: float | None, largest: float | None, /) -> str:
        """How to read the chart of theorems."""
        if gamma is None:
            return "Each curve is the ε that one theorem proves; lower is tighter. Values ten times larger are cut off."
        grows = f", of up to {at_most(largest)} with more releases" if largest is not None else ""
        return f"Every ε here holds except for a fraction γ = {at_most(gamma)} of data{grows}."

    def keeps(self, parameter: str, epsilon: str, delta: str, /) -> str:
        """The parameter that was found, and the (ε, δ) that it meets."""
        return f"{parameter} keeps ε = {epsilon} at δ = {delta}"

    def setting(self, values: str, /) -> str:
        """The parameters that were given."""
        return f"{values}."

    def with_sigma(self, found: str, sigma: str, /) -> str:
        """A result, and the noise that it needs."""
        return f"{found}, with σ = {sigma}"

    def for_group(self, size: int, meaning: str, /) -> str:
        """The meaning of a promise for a group."""
        return f"For a group of {size}, with all their data in place of yours: {meaning}"
