"""The sentences that every certificate has, whatever was asked, in English."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.departure import Departure
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Provenance
from sitr.report.figures import about, at_most, counted, number
from sitr.report.headline import Headline, rounded
from sitr.report.level import Level
from sitr.report.views import FALSE_ALARMS, ORDER, Missing, ProvedView, Views
from sitr.report.words.english.nouns import unit
from sitr.report.words.explanation import symbols
from sitr.report.words.protects import Protects

LEVELS = {
    Level.RESULT: "The answer",
    Level.PROMISE: "Who is protected, and what is promised",
    Level.MECHANISMS: "How the numbers were made",
    Level.DATA: "How the data were handled",
    Level.BUDGET: "The budget over time",
    Level.NUMBERS: "All numbers",
}

FLAVORS = {
    PureDP: "pure",
    ApproximateDP: "approximate",
    ZeroConcentratedDP: "zero-concentrated",
    ApproximateZeroConcentratedDP: "approximate zero-concentrated",
    RenyiDP: f"Rényi, order {about(ORDER)}",
    ConcentratedDP: "concentrated",
    GaussianDP: "Gaussian",
}

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class CertificateWords:
    """A page that explains and defends one answer."""

    def heading(self, level: Level, /) -> str:
        """The heading of a part of the page."""
        return LEVELS[level]

    def for_one(self, query: Protects, /) -> str:
        """The heading of the plain sentence."""
        return f"What this means for one {unit(query)}"

    def day(self, day: date, /) -> str:
        """A date.

        >>> CertificateWords().day(date(2026, 3, 1))
        '1 March 2026'
        """
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"

    def further(self, heading: str, /) -> str:
        """Where the rows are that a chart stands for."""
        return f"The table at the end of this page, “{heading}”, has every number with its interval."

    # The promise through every flavor

    def every_flavor(self, headline: Headline, /) -> str:
        """What the table of flavors shows."""
        whose = "the privacy loss L"
        if headline.gamma is not None:
            whose = "the privacy loss L of a random newcomer, outside of the fraction γ"
        return (
            f"Every flavor of differential privacy bounds {whose}, in its own way. These bounds are about the same "
            "release: each is proved and rounded up, and none adds to another."
        )

    def flavor(self, view: ProvedView, /) -> str:
        """The name of a flavor, with the δ at which it is read."""
        name = FLAVORS[view.flavor]
        return name if view.delta is None else f"{name}, δ = {at_most(view.delta)}"

    def bound(self, view: ProvedView, /) -> str:
        """The bound in symbols."""
        match view.promise:
            case None:
                return "none"
            case PureDP(epsilon) | ApproximateDP(epsilon, _):
                return f"ε ≤ {at_most(epsilon)}"
            case RenyiDP() as promise:
                return f"D ≤ {at_most(promise.curve(ORDER))}"
            case ZeroConcentratedDP(rho, xi=xi):
                return f"ρ ≤ {at_most(rho)}" + (f", ξ ≤ {at_most(xi)}" if xi else "")
            case ApproximateZeroConcentratedDP(rho, delta):
                return f"ρ ≤ {at_most(rho)}, δ ≤ {at_most(delta)}"
            case ConcentratedDP(mu, tau):
                return f"μ ≤ {at_most(mu)}, τ ≤ {at_most(tau)}"
            case GaussianDP(mu):
                return f"μ ≤ {at_most(mu)}"
        return symbols(view.promise)

    def proof(self, view: ProvedView, /) -> str:
        """What proves a bound, or why there is none."""
        if view.promise is not None:
            return self.from_loss() if view.from_loss else self.from_promise()
        gaussian, concentrated = view.flavor is GaussianDP, view.flavor is ConcentratedDP
        match view.missing:
            case Missing.OUTRIGHT:
                return "the loss may be infinite" + (", and between two Gaussians it never is" if gaussian else "")
            case Missing.UNLIMITED:
                return "the loss has no largest value"
            case Missing.UNPROVED if gaussian:
                return "only moments are known, and they do not bound every test"
            case Missing.UNPROVED if concentrated:
                return "only a law that dominates the loss is known, and its τ may be smaller"
            case Missing.UNPROVED:
                return "none is proved for this noise"

    def infinite(self, mass: float, /) -> str:
        """What an infinite loss means for the flavors."""
        return (
            f"The loss is infinite with probability at most {at_most(mass)}. A flavor that bounds the largest loss or "
            "its moments has no finite bound then, however small that probability is."
        )

    def from_loss(self) -> str:
        """A bound that comes from the law of the loss."""
        return "the law of the loss"

    def from_promise(self) -> str:
        """A bound that comes from the promise."""
        return "the promise"

    def implied(self, headline: Headline, /) -> tuple[str, str, str]:
        """The ε that the flavor of the price implies, beside the exact one: name, bound and proof."""
        name = f"approximate, δ = {at_most(headline.delta)}"
        return name, f"ε ≤ {rounded(headline.implied)}", f"{symbols(headline.promise)} alone"

    def probabilistic(self, views: Views, /) -> tuple[str, str, str]:
        """P(L > ε) at the ε of the headline: name, bound and proof."""
        name = f"probabilistic, ε = {rounded(views.headline.epsilon)}"
        if views.exceeding is None:
            return name, "none", "the law of the loss is not known"
        proof = self.from_loss() if views.exceeding_from_loss else self.from_promise()
        return name, f"P(L > ε) ≤ {at_most(views.exceeding)}", proof

    # What an attacker can do

    def attack(self, detected: float, /, *, rows: bool = False) -> str:
        """What the best membership attack detects among people, or among rows where each row is protected alone.

        >>> CertificateWords().attack(0.0374349)
        'At 1% false positives, the best membership attack detects at most 3.8% of the people who took part.'
        """
        share = at_most(100 * detected, digits=2)
        return (
            f"At {about(100 * FALSE_ALARMS)}% false positives, the best membership attack detects at most {share}% of "
            + ("the rows in the data." if rows else "the people who took part.")
        )

    def no_attack(self) -> str:
        """Why a random promise has no trade-off curve."""
        return (
            "A random promise is about a random newcomer, so it bounds no attack on a given person, and there is no "
            "trade-off curve to draw."
        )

    def trade_off(self, *, rows: bool = False) -> tuple[str, str, str]:
        """The title of the trade-off curve, and its axes."""
        whom = "rows" if rows else "people"
        return (
            "The most that any membership attack can detect",
            f"false positives: {whom} it points at wrongly",
            f"true positives: {whom} it detects",
        )

    def blind(self) -> str:
        """The diagonal of the trade-off curve."""
        return "blind guessing"

    def any_attack(self) -> str:
        """The trade-off curve itself."""
        return "the best attack"

    # How the data were handled

    def handling(self, provenance: Provenance, /, *, private: bool, exact: bool) -> tuple[str, ...]:
        """What was done with the rows. `exact`: the noise was added to whole numbers by exact samplers."""
        source = "a hardware device" if provenance is Provenance.HARDWARE else "the generator of the operating system"
        coins = f"The noise was drawn from {source}"
        return (
            "The charge was recorded in the ledger before any row was read. It is never taken back.",
            *([f"{coins} and added to whole numbers by exact samplers."] if private and exact else ()),
            *([f"{coins}."] if private and not exact else ()),
            *([self.assumed(provenance)] if private else ()),
            "Nothing else about the rows was released: error messages and empty groups look the same for neighbouring "
            "tables.",
        )

    def assumed(self, provenance: Provenance, /) -> str:
        """Against whom the promise holds, by the provenance of the coins."""
        if provenance is Provenance.HARDWARE:
            return (
                "The operator of this device states that it is truly random. If so, the promise holds even against "
                "unlimited computing power."
            )
        return (
            "It was stretched by a keyed generator (AES-256). The promise holds against everybody who can neither "
            "break that cipher nor predict its keys: computational differential privacy (IND-CDP). Against unlimited "
            "computing power, nothing is promised."
        )

    def coins(self, provenance: Provenance, /) -> str:
        """Where the noise came from, on a label."""
        if provenance is Provenance.HARDWARE:
            return "A hardware device, truly random according to its operator."
        return "A keyed generator (AES-256): the promise holds against limited computing power (IND-CDP)."

    def side_channels(self, departures: tuple[Departure, ...], /) -> str:
        """What remains outside of the promise, and what is promised about time."""
        others = "people who can read the rows themselves, and releases from the same data that are not in this ledger."
        whole = about(sum(each.seconds for each in departures))
        if not departures:
            return f"Not covered by the promise: the time that the answer took, {others}"
        if any(each.late for each in departures):
            return (
                f"The answer missed its deadline of {whole} seconds after the charge. How late it was depends on the "
                f"rows. Not covered by the promise: the time that the answer took, {others}"
            )
        return (
            f"The answer left {whole} seconds after the charge. This time was computed from public numbers before any "
            f"row was read. Not covered by the promise: how busy the machine was meanwhile, {others}"
        )

    def checked(self) -> str:
        """What the program beside this sentence does."""
        return (
            "Check this page yourself: a short program, which needs nothing of Sitr, derives its figures about privacy "
            "again. Unpack it and run it with Python on this file:"
        )

    # The budget over time

    def how_often(self, receipt: Receipt, /) -> str:
        """Which answer of the budget this is."""
        return (
            f"Answer {number(receipt.standing.charges)} from this budget, charged on {self.day(receipt.entry.at)}. "
            "Every further answer takes more of the same budget, and none can go beyond it."
        )

    # The label

    def one_number(self, headline: Headline, /) -> str:
        """The promise in one number."""
        return f"ε = {rounded(headline.epsilon)}"

    def except_for(self, headline: Headline, /) -> str:
        """What the number is subject to."""
        delta = f"δ = {at_most(headline.delta)}"
        return delta if headline.gamma is None else f"{delta}, γ = {at_most(headline.gamma)}"

    def times(self, receipt: Receipt, /) -> str:
        """How often the budget was charged."""
        return f"{counted(receipt.standing.charges, 'answer')} so far"
