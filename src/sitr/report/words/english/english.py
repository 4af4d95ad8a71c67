"""The sentences of reports in English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.mechanisms.additive import Noise
from sitr.namespace import Later
from sitr.neighbors.period import Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.numbers import Number
from sitr.report.figures import at_most, number, visible
from sitr.report.headline import READING_DELTA, Headline, rounded
from sitr.report.words.english.aggregate import AggregateWords
from sitr.report.words.english.meaning import likelihood, moved
from sitr.report.words.english.nouns import noise, unit, units
from sitr.report.words.explanation import symbols
from sitr.report.words.notation import exceptions, notation
from sitr.report.words.protects import Protects

if TYPE_CHECKING:
    from sitr.ledger.shares import Left
    from sitr.report.words.english.accounting import AccountingWords
    from sitr.report.words.english.audit import AuditWords
    from sitr.report.words.english.batch import BatchWords
    from sitr.report.words.english.certificate import CertificateWords
    from sitr.report.words.english.exact import ExactWords
    from sitr.report.words.english.explained import ExplainedWords
    from sitr.report.words.english.histogram import HistogramWords
    from sitr.report.words.english.joins import JoinWords
    from sitr.report.words.english.ranks import RankWords
    from sitr.report.words.english.server import ServerWords
    from sitr.report.words.english.several import SeveralWords
    from sitr.report.words.english.standing import StandingWords
    from sitr.report.words.english.statistic import StatisticWords
    from sitr.report.words.english.suggest import SuggestWords
    from sitr.report.words.english.summary import SummaryWords
    from sitr.report.words.english.synthetic import SyntheticWords
    from sitr.report.words.english.tables import TablesWords
    from sitr.report.words.english.verify import VerifyWords


def _words(later: object) -> Any:
    """The words of one kind of question, loaded when they are first used: most commands need those of one kind."""
    return later


@dataclass(frozen=True, slots=True)
class English:
    """The sentences in English.

    >>> English().flavor(PureDP(1.0))
    'pure differential privacy'
    """

    aggregate: AggregateWords = field(default_factory=AggregateWords)
    ranks: RankWords = field(default_factory=lambda: _words(Later("sitr.report.words.english.ranks", made="RankWords")))
    joins: JoinWords = field(default_factory=lambda: _words(Later("sitr.report.words.english.joins", made="JoinWords")))
    batch: BatchWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.batch", made="BatchWords"))
    )
    suggest: SuggestWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.suggest", made="SuggestWords"))
    )
    histogram: HistogramWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.histogram", made="HistogramWords"))
    )
    statistic: StatisticWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.statistic", made="StatisticWords"))
    )
    crowd: SeveralWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.several", made="SeveralWords"))
    )
    synthetic: SyntheticWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.synthetic", made="SyntheticWords"))
    )
    tables: TablesWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.tables", made="TablesWords"))
    )
    accounting: AccountingWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.accounting", made="AccountingWords"))
    )
    verify: VerifyWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.verify", made="VerifyWords"))
    )
    certificate: CertificateWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.certificate", made="CertificateWords"))
    )
    summary: SummaryWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.summary", made="SummaryWords"))
    )
    standing: StandingWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.standing", made="StandingWords"))
    )
    explained: ExplainedWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.explained", made="ExplainedWords"))
    )
    exact: ExactWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.exact", made="ExactWords"))
    )
    audit: AuditWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.audit", made="AuditWords"))
    )
    server: ServerWords = field(
        default_factory=lambda: _words(Later("sitr.report.words.english.server", made="ServerWords"))
    )

    code = "en"
    """The language of a page, for browsers."""

    comma = ", "
    """What separates the items of a list."""

    direction = "ltr"
    """The direction in which the language is written, for browsers."""

    scales: ClassVar[Mapping[int, str]] = {3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
    """The names of powers of ten on an axis."""

    def drowned(self, columns: Sequence[str], /) -> str:
        """That the errors of these columns are larger than the numbers themselves."""
        names = ", ".join(map(visible, columns))
        return (
            f"In an earlier answer to this question, most numbers in {names} were smaller than this error: at this "
            "price, the noise hides them."
        )

    def label(self, name: str, /) -> str:
        """A label, a heading or a name in a legend. Labels are written in English, so they stay as they are."""
        return name

    def numerals(self, text: str, /) -> str:
        """Numbers outside of sentences, which are the same in English."""
        return text

    def question(self, text: str, /) -> str:
        """A question as a ledger records it."""
        return visible(text)

    def formula(self, text: str, /) -> str:
        """A number or a formula beside words, which has the same direction in English."""
        return text

    def notation(self, promise: Kept, /, *, left: bool = False) -> str:
        """A promise in symbols and few digits, rounded up, or rounded down if it is what is `left`."""
        return notation(promise, left=left)

    def flavor(self, promise: Kept, /) -> str:
        """The name of a promise's flavor."""
        match promise:
            case PureDP():
                return "pure differential privacy"
            case ApproximateDP():
                return "approximate differential privacy"
            case ZeroConcentratedDP():
                return "zero-concentrated differential privacy"
            case ApproximateZeroConcentratedDP():
                return "approximate zero-concentrated differential privacy"
            case GaussianDP():
                return "Gaussian differential privacy"
            case RandomDP(inner):
                return f"random {self.flavor(_inside(inner))}"

    def promise(self, promise: Kept, /) -> str:
        """A promise in symbols, and its flavor."""
        return f"{notation(promise)}, {self.flavor(promise)}"

    def headline(self, headline: Headline, /) -> str:
        """The (ε, δ) in symbols, and what the promise alone implies if the noise does better."""
        if headline.exact is None:
            return headline.symbols()
        alone = f"{symbols(headline.promise)} alone implies ε = {at_most(headline.implied)}"
        known = "exact" if headline.tight else "proved"
        return f"{headline.symbols()}: {known} for this noise, where {alone} at the same δ"

    def meaning(self, headline: Headline, query: Protects, /) -> str:
        """The meaning of (ε, δ) for one person.

        P(S) ≤ e^ε·Q(S) + δ for all S, both ways; S is whatever is done with an answer.      [DKMMN06, Def. 1]
        """
        return self._means(headline, query, "this answer")

    def odds(self, headline: Headline, query: Protects, /) -> str:
        """By how much the odds move; empty if the promise does not bound this.

        Bayes: posterior odds are prior odds times e^L, where L > 0 favours the truth and L < 0 speaks against it.

        Where |L| ≤ ε always, the odds move by at most e^ε. Otherwise P(L > ε′) ≤ δ bounds how far they move towards the
        truth. Being misled as much, L < −ε′, is rarer still, but not covered by the same δ. An (ε, δ) promise does not
        bound the odds at its own δ: E[(1 − e^{ε−L})₊] ≤ δ allows P(L > ε) > δ.
        """
        return self._odds(headline, query, "this answer")

    def newcomer(self, promise: Kept, /) -> str:
        """Whom a random promise protects and what it assumes; empty for other promises."""
        if not isinstance(promise, RandomDP):
            return ""
        return f"{RANDOM} Here {exceptions(promise.gamma, promise.basis, promise.parts)}."

    def whole(self, promise: Kept, query: Protects, /) -> str:
        """The meaning of a budget's promise for all its answers together."""
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
        """How these sentences follow from the promise, in symbols."""
        bound = f"{self.headline(headline)}. The factor in the first sentence is e^ε, rounded up."
        inner = headline.promise.inner if isinstance(headline.promise, RandomDP) else headline.promise
        if isinstance(inner, ApproximateZeroConcentratedDP) and inner.delta > 0.0:
            return (
                f"The promise itself is {symbols(headline.promise)}: apart from an event of probability δ, every "
                f"moment of the privacy loss is at most a Gaussian's. As (ε, δ) it is {bound} Of this δ, "
                f"{at_most(READING_DELTA)} is for the finite tail and was chosen for this report; another δ gives "
                "another ε."
            )
        if headline.odds is None or headline.delta == 0.0:
            return bound
        if isinstance(inner, GaussianDP):
            return (
                f"The promise itself is {symbols(inner)}: every test of whether somebody is in the data errs at least "
                f"as much as one between N(0, 1) and N(μ, 1). As (ε, δ) it is {bound} The odds need a larger number: "
                f"the loss exceeds ε′ = μ²/2 + μ√(2 ln(1/δ)) = {rounded(headline.odds)} with probability at most δ "
                "(probabilistic differential privacy), and the factor of the odds is e^ε′, rounded up. "
                f"δ = {at_most(headline.delta)} was chosen for this report; another δ gives another ε and ε′."
            )
        offset = "ξ + " if isinstance(inner, ZeroConcentratedDP) and inner.xi else ""
        return (
            f"The promise itself is {symbols(headline.promise)}: every moment of the privacy loss is at most a "
            f"Gaussian's. As (ε, δ) it is {bound} The odds need a larger number: the loss exceeds ε′ = {offset}ρ + "
            f"2√(ρ ln(1/δ)) = {rounded(headline.odds)} with probability at most δ (probabilistic differential "
            f"privacy), and the factor of the odds is e^ε′, rounded up. δ = {at_most(headline.delta)} was chosen for "
            "this report; another δ gives another ε and ε′."
        )

    def protected(self, query: Protects, /) -> str:
        """Who is protected."""
        who, them = "Each single row", "it"
        if isinstance(query.unit, Person):
            who, them = f"Each person (all rows with the same {visible(query.unit.column)})", "that person's rows"
            if (period := query.unit.period) is not None:
                return self._periodic(query.unit.column, period)
        if query.relation is Relation.ADD_REMOVE:
            return f"{who} is protected: the answer would look much the same with or without {them}."
        return (
            f"{who} is protected: the answer would look much the same with any other {unit(query)} instead. "
            f"The number of {units(query)} is not protected."
        )

    def _periodic(self, column: str, period: Period) -> str:
        """Who is protected where the unit is a person in a period."""
        length = period.length.value
        read = f" This answer reads the rows of {period.name} only." if period.name else ""
        return (
            f"Each person in each {length} (all rows with the same {visible(column)} whose {visible(period.column)} is "
            f"in the same {length}) is protected: the answer would look much the same with or without that person's "
            f"rows of the {length}.{read} Somebody with rows in several {length}s pays in each of them: what they are "
            f"promised is the sum over these {length}s."
        )

    def neighbors(self, receipt: Receipt, /) -> str:
        """How two neighbouring tables differ."""
        return f"Neighbouring tables: {self.protects(receipt.neighbors)}."

    def protects(self, neighbors: str, /) -> str:
        """Who is protected, as a ledger writes it: `person (id), add-remove` or `row, replace-one`."""
        return visible(neighbors)

    def noise(self, law: Noise, /, *, granularity: Number = 1) -> str:
        """The law of the noise and its scale, with the value of one granule."""
        return noise(law, granularity=granularity)

    def not_private(self) -> str:
        """The warning for an answer made with test coins."""
        return (
            "NOT PRIVATE: made with test coins. Anyone who knows the seed can subtract the noise. These numbers "
            "protect nobody and must not be published."
        )

    def again(self, receipt: Receipt, /) -> str:
        """The note on an answer that was kept, which costs nothing when the same question is asked again."""
        asked = f"{receipt.entry.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"kept answer of entry {receipt.entry.number}, from {asked}; nothing was spent"

    def would_be(self) -> str:
        """The meaning of a certificate of an answer made with test coins."""
        return "This certificate shows how the answer would have been protected with private coins."

    def preview(self) -> str:
        """What a preview did not do."""
        return "Preview: no data were read and nothing was charged."

    def more(self, shown: int, total: int, /) -> str:
        """A note that only the first rows are shown, and how many more there are."""
        here = f"The first {number(shown)} of {number(total)} rows are shown here"
        return f"{here}; the answer has {number(total - shown)} more."

    def as_table(self) -> str:
        """The name of a table that can be scrolled, for readers who do not see it."""
        return "A table"

    def several(self, parts: Iterable[str], /) -> str:
        """Several things of one kind, in one line."""
        return "; ".join(parts)

    def interval_of(self, name: str, /) -> str:
        """What an interval is of; it follows the heading of the column."""
        return f" of {visible(name)}"

    def interval(self, low: str, high: str, /) -> str:
        """Both ends of an interval."""
        return f"{low} to {high}"

    def entry(self, receipt: Receipt, /) -> str:
        """The ledger entry of a charge: its number, the data set, and when."""
        return f"{receipt.entry.number}, {visible(receipt.dataset)}, {receipt.entry.at:%Y-%m-%d %H:%M:%S} UTC"

    def digits(self) -> str:
        """How numbers are rounded, and where all digits are."""
        return (
            "Numbers are rounded to the first two digits of the error, and intervals outward; files, tables and "
            "--exact have all digits."
        )

    def cannot_pay(self) -> str:
        """What is left of a budget that is too small."""
        return "the budget cannot pay this"

    def other_prices(self) -> str:
        """What the table of other prices shows."""
        return "95% errors at this price and at others:"

    def this_price(self, price: str, /) -> str:
        """The price of a preview, among others."""
        return f"{price} (this price)"

    def whole_rest(self, price: str, /) -> str:
        """A price that uses up the budget."""
        return f"{price} (all that is left)"

    def left_of(self, budget: Filter, /) -> str:
        """What is left of a budget, and the whole."""
        return f"{notation(budget.remaining(), left=True)} of {notation(budget.promise)}"

    def left_in(self, lefts: Sequence[Left], /) -> str:
        """What a sub-budget and the accounts above it have left."""
        return "; ".join(
            f"{visible(each.account)}: {notation(each.left, left=True)} of {notation(each.whole)}" for each in lefts
        )

    def stands(self, budget: Filter, /) -> str:
        """What is spent and what is left."""
        return f"{notation(budget.spent())} spent; {notation(budget.remaining(), left=True)} left"

    def left(self, share: str, /) -> str:
        """A share of a budget that is left."""
        return f"{share} left"

    def budget(self, budget: Filter, charge: Kept | None, /) -> str:
        """What was spent, what is left, and what this answer took."""
        taken = f" This answer took {notation(charge)}." if charge is not None else ""
        return f"Spent: {notation(budget.spent())}. Left: {notation(budget.remaining(), left=True)}.{taken}"


RANDOM = (
    "Assumes exchangeable data; protects a random newcomer, not every person: for a fraction γ of newcomers and the "
    "people whose place they take, nothing is promised."
)


ENGLISH = English()


def _inside(inner: Promise) -> Kept:
    """The inner promise of a random promise that a ledger keeps."""
    return cast("Kept", inner)


def _doubt(query: Protects) -> str:
    """The fact that the promise keeps in doubt."""
    person = isinstance(query.unit, Person)
    if isinstance(query.unit, Person) and query.unit.period is not None:
        return f"whether you are in these data {_when(query.unit.period)}"
    if query.relation is Relation.ADD_REMOVE:
        return "whether you are in these data" if person else "whether any one row is in these data"
    return f"whether these data hold {'your rows or other rows' if person else 'one row or another row'} in their place"


def _when(period: Period, *, of: str = "in") -> str:
    """A period by its name, or any one of them."""
    return f"{of} {period.name}" if period.name else f"{of} any one {period.length.value}"


def _sides(query: Protects) -> tuple[str, str]:
    """The two neighbouring tables."""
    person = isinstance(query.unit, Person)
    if isinstance(query.unit, Person) and query.unit.period is not None:
        return f"with your data {_when(query.unit.period, of='of')}", "without them"
    if query.relation is Relation.ADD_REMOVE:
        return ("with your data", "without them") if person else ("with any one row", "without it")
    if person:
        return "with your rows", "with any other person's rows in their place"
    return "with any one row", "with any other row in its place"
