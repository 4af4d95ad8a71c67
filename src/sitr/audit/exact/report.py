"""What is shown of a verified mechanism: its figures, the verdicts on claims, and the two curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.audit.exact.claims import Decision, Verdict
from sitr.audit.exact.figure import Figure
from sitr.audit.exact.mechanism import FiniteMechanism
from sitr.audit.exact.population import Failing, PopulationMechanism, RandomDecision
from sitr.audit.exact.table import shown
from sitr.numbers import Interval, Number
from sitr.report.figured import Figured
from sitr.report.figures import about, at_least, at_most, displayed
from sitr.report.paper import Facts, PaperColumn, PaperTable, Role
from sitr.report.text.terminal import as_text, facts, grid
from sitr.report.words.words import Words, in_words

DELTA, EPSILON, ORDER = 1e-6, 1.0, 2.0
"""The parameters of figures that need one, unless somebody asks for others."""

DIGITS = 12
"""A fraction with longer parts is shown as a decimal."""

WIDE = 28

NOWHERE = ("", "")
"""The pair of a figure that no pair attains."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure with its name and its parameter."""

    name: Figured
    parameter: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Verification:
    """All figures of a mechanism, and what became of claims."""

    mechanism: FiniteMechanism
    lines: tuple[Line, ...]
    decisions: tuple[Decision | RandomDecision, ...]
    people: PopulationMechanism | None = None
    """The mechanism on data that are drawn from a population, for figures of random privacy."""

    def __str__(self) -> str:
        return as_text(self.render())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, object]:
        """The figures and verdicts for machines. An infinite end is null."""
        table = self.mechanism.table
        return {
            "meaning": self.mechanism.meaning.value,
            "inputs": len(table.inputs),
            "outcomes": len(table.outcomes),
            "neighbors": len(self.mechanism.neighbors),
            "exact": table.rows is not None,
            "rounding": table.rounding,
            "figures": [_line_dict(line) for line in self.lines],
            "claims": [decision.to_dict() for decision in self.decisions],
        }

    def render(self, *, words: Words | None = None) -> RenderableType:
        """Verdicts, figures and facts as text."""
        words = in_words(words)
        heads = [Text(displayed(sentence), style="bold") for sentence in self.sentences(words)]
        broken = (decision for decision in self.decisions if decision.verdict is Verdict.BROKEN)
        witnesses = dict.fromkeys(_witness(decision, words) for decision in broken)  # one may refute several claims
        named = [("witness", witness) for witness in witnesses if witness]
        return Group(*heads, grid(self._table(words)), facts((*named, *self._facts(words)), words=words))

    def sentences(self, words: Words | None = None) -> Iterator[str]:
        """One verdict for each claim."""
        say = in_words(words).exact
        for decision in self.decisions:
            if isinstance(decision, RandomDecision):
                found = decision.failing.value
                least, most, symbol, allowed = at_least(found.lower), at_most(found.upper), "γ", decision.allowed
            else:
                part = next((one for one in decision.parts if one.verdict is decision.verdict), None)
                least, most, symbol, allowed = "0", "0", "", 0.0
                if part is not None:
                    least, most = _ends(part.figure)
                    symbol, allowed = part.symbol, part.allowed
            match decision.verdict:
                case Verdict.KEPT:
                    yield say.kept(decision.claim)
                case Verdict.BROKEN:
                    yield say.broken(decision.claim, symbol, least, about(allowed, digits=12))
                case Verdict.UNDECIDED:
                    yield say.undecided(decision.claim, symbol, least, most, about(allowed, digits=12))

    def _table(self, words: Words) -> PaperTable:
        say = words.exact
        headings, roles = say.headings(), (Role.KEY, Role.NUMBER, Role.TEXT, Role.TEXT)
        columns = tuple(PaperColumn(heading, role) for heading, role in zip(headings, roles, strict=True))
        rows = [
            (
                say.figure(line.name, line.parameter),
                _proved(line.figure, words),
                _cut(line.figure.place()) if line.figure.upper > 0 and line.figure.pair != NOWHERE else "",
                _cut(line.figure.event()),
            )
            for line in self.lines
        ]
        return PaperTable(columns, lambda: iter(rows), len(rows))

    def _facts(self, words: Words) -> Facts:
        say, table = words.exact, self.mechanism.table
        exposed = next((line.figure for line in self.lines if line.name is Figured.INFINITE), None)
        mechanism = say.mechanism(
            len(table.inputs),
            len(table.outcomes),
            len(self.mechanism.neighbors),
            table.rows is not None,
            f"{table.rounding:.1g}",
        )
        outright = (
            ()
            if exposed is None
            else (("outright", say.outright(at_most(exposed.upper) if exposed.upper > 0 else "", exposed.place())),)
        )
        return (("mechanism", mechanism), *self._drawn(words), *outright)

    def _drawn(self, words: Words) -> Facts:
        people = self.people
        if people is None or people.drawn is None:
            return ()
        return (("proved", words.exact.drawn(people.drawn, people.confidence)),)


def verification(
    mechanism: FiniteMechanism,
    decisions: tuple[Decision | RandomDecision, ...] = (),
    *,
    delta: Number = DELTA,
    epsilon: Number = EPSILON,
    order: float = ORDER,
    xi: Number | None = None,
    uses: int | None = None,
    people: PopulationMechanism | None = None,
    progress: Callable[[float], None] | None = None,
) -> Verification:
    """Every figure of a mechanism, one after another: printed as a table, for people, and as JSON by `to_dict`.

    `decisions` are what `verify` returned about claims, `progress` is called with the finished share. With a `xi`, ρ at
    this ξ is one more figure. With a number of `uses`, so is ρ at the best ξ: the pair (ξ, ρ) that implies the least ε
    at δ after all of them, see `sitr.audit.exact.line`. There is none if a loss is infinite. With `people`, a mechanism
    on data from a population, γ at ε and γ at ε and δ are two more: (α, γ) and (α, η, γ) of random privacy.

    >>> from sitr.audit import finite
    >>> response = finite([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> print(str(verification(response, (response.verify("pure(1)"),))).splitlines()[0])
    Broken: pure(1) does not hold: ε is at least 1.09861, and the claim allows 1.
    """
    rho = mechanism.rho()
    looks: list[tuple[Figured, str, Callable[[], Figure]]] = [
        (Figured.EPSILON, "", mechanism.epsilon),
        (Figured.EPSILON_AT_DELTA, about(delta), lambda: mechanism.epsilon(delta=delta)),
        (Figured.DELTA_AT_EPSILON, about(epsilon), lambda: mechanism.delta(epsilon=epsilon)),
        (Figured.EXCEEDING, about(epsilon), lambda: mechanism.exceeding(epsilon=epsilon)),
        (Figured.QUANTILE, about(delta), lambda: mechanism.quantile(delta=delta)),
        (Figured.MEAN, "", mechanism.mean),
        (Figured.SUBGAUSSIAN, "", lambda: mechanism.subgaussian(rho=rho)),
        (Figured.RHO, "", lambda: rho),
        *([] if xi is None else [(Figured.RHO_AT_XI, about(xi), lambda: mechanism.rho(xi=xi))]),
        *([] if uses is None else [_best(mechanism, delta, uses)]),
        (Figured.RENYI, about(order), lambda: mechanism.renyi(order=order)),
        (Figured.MU, "", mechanism.mu),
        (Figured.INFINITE, "", mechanism.infinite_mass),
        *([] if people is None else _random(people, delta, epsilon)),
    ]
    lines = []
    for place, (name, parameter, look) in enumerate(looks):
        lines.append(Line(name, parameter, look()))
        if progress is not None:
            progress((place + 1) / len(looks))
    return Verification(mechanism, tuple(lines), decisions, people)


def _best(mechanism: FiniteMechanism, delta: Number, uses: int) -> tuple[Figured, str, Callable[[], Figure]]:
    """The best pair (ξ, ρ), which is looked for at once: its ξ is the parameter of the figure."""
    found = mechanism.best_line(delta=delta, times=uses)
    figure = found.figure
    if found.promise.rho == 0.0:  # ξ is the largest loss then, and the figure is about it
        figure = replace(figure, value=Interval(0.0, 0.0), exact=Fraction(0), odds=None)
    return Figured.BEST_RHO, at_most(found.promise.xi, digits=6), lambda: figure


def _random(
    people: PopulationMechanism, delta: Number, epsilon: Number
) -> Iterator[tuple[Figured, str, Callable[[], Figure]]]:
    """For which fractions of data (ε, 0) and (ε, δ) fail, with the likeliest pair of data sets that fails."""

    def figure(found: Failing) -> Figure:
        return Figure(found.value, found.pair or NOWHERE, exact=found.exact)

    yield Figured.GAMMA, about(epsilon), lambda: figure(people.gamma(epsilon=epsilon))
    both = f"ε = {about(epsilon)}, δ = {about(delta)}"
    yield Figured.GAMMA_AT_DELTA, both, lambda: figure(people.gamma(epsilon=epsilon, delta=delta))


def _ends(figure: Figure) -> tuple[str, str]:
    ends = (figure.lower, figure.upper)
    return ("∞" if math.isinf(ends[0]) else at_least(ends[0], digits=6)), (
        "∞" if math.isinf(ends[1]) else at_most(ends[1], digits=6)
    )


def _proved(figure: Figure, words: Words) -> str:
    """A short fraction, one number if both ends agree, or the interval."""
    if figure.exact is not None and len(text := str(figure.exact)) <= DIGITS:
        return words.exact.exactly(text)
    if figure.odds is not None and 1 < figure.odds and len(text := str(figure.odds)) <= DIGITS:
        return words.formula(f"ln {text if figure.odds.denominator == 1 else f'({text})'} ≤ {_ends(figure)[1]}")
    low, high = _ends(figure)
    if low == high or math.isclose(figure.lower, figure.upper, rel_tol=1e-4, abs_tol=1e-12):
        return words.formula(high)
    return words.formula(f"[{low}, {high}]")


def _witness(decision: Decision | RandomDecision, words: Words) -> str:
    if isinstance(decision, RandomDecision):
        pair = decision.failing.pair
        return "" if pair is None else words.exact.witness(shown(pair[0]), shown(pair[1]), "", None)
    part = decision.witness
    assert part is not None
    first, second = map(shown, part.figure.pair)
    return words.exact.witness(first, second, part.figure.event(), part.probabilities)


def _line_dict(line: Line) -> dict[str, object]:
    figure = line.figure
    return {
        "figure": line.name.value,
        "parameter": line.parameter,
        "lower": figure.lower if math.isfinite(figure.lower) else None,
        "upper": figure.upper if math.isfinite(figure.upper) else None,
        "exact": _text(figure.exact),
        "odds": _text(figure.odds),
        "pair": [list(name) if isinstance(name, tuple) else name for name in figure.pair],
        "outcomes": list(figure.outcomes),
        "at": figure.at,
    }


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)


def _cut(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
