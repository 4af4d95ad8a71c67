"""The share of a price for each measurement, so that the columns of an answer have small errors.

The error of a column c grows with a weighted sum of noises. With shares s_j of the price, Σ s_j = 1, its square is

    E_c² = Σ_j a_cj²/s_j  for Gaussian noise,  and  Σ_j a_cj²/s_j²  for Laplace noise,

where a_cj is the weight of measurement j times its sensitivity. The weights of a mean, θ = S/N, are 1 and |θ|, those of
a variance 1, 2|m| and |m² − V|: they depend on the data, so their root mean squares over all means within the bounds
are used, which are public. Errors are divided by the largest contribution of one unit, so that they can be added.

By default, Σ_c E_c is minimised. If E_c is the error so far, a new error E is at most E²/(2E_c) + E_c/2. The sum of
these is least for s_j ∝ √(Σ_c a_cj²/E_c), or the cube root for Laplace noise, and repeating this never increases Σ E_c.
Columns that each show one measurement get equal shares. So do all measurements where the gain is less than `GAIN`.

With weights, a column has the share W_c/ΣW, divided among its measurements as is best for this column alone, and a
measurement gets the sum of the parts of its columns: Σ_j Σ_c W_c·p_cj/ΣW = Σ_c W_c/ΣW = 1, the whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.flavors.pure import PureDP
from sitr.mechanisms.additive import NoisePrice
from sitr.numbers import exact
from sitr.questions.aggregate.bias import Watch
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import AnyFormula, BoundAggregate, Same
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.functions.moments import CorrelationFormula, CovarianceFormula, VarianceFormula
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.split import Weights
from sitr.questions.aggregate.stability import people, stability

Terms = tuple[Quantity, ...]
Shares = dict[Terms | str, Fraction]
"""The share of each measurement, under () that of the people beyond the cap on groups, and that of `LOST` rows."""

GAIN = 0.01
"""Unequal shares are used if the sum of all errors is smaller than with equal ones by more than this."""

STEPS = 1_000
"""Shares are rounded to one in this many for each measurement."""

LEAST = 0.05
"""The smallest part that a column gives to a measurement, relative to its largest part."""

ROUNDS = 60
"""How often the shares are improved."""

MEAN = Fraction(577, 1000)
"""√(1/3): the root mean square of a mean, if all means between −1 and 1 are equally likely."""

VARIANCE = Fraction(494, 1000)
"""√(11/45): the root mean square of m² − V, if V is uniform between 0 and its largest value 1 − m² for each mean m."""

COVARIANCE = Fraction(385, 1000)
"""√(4/27): the root mean square of m_x·m_y − C, if C has the variance 1/27: that of r·s_x·s_y, with r² = V = 1/3."""

TURNED = Fraction(645, 1000)
"""√(5/12): the root mean square of m_y − r·m_x/λ, if both are in units of their bounds and r = ½."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a column uses: a_cj by the place of the measurement."""

    name: str
    parts: Mapping[int, float]

    def split(self, *, power: float) -> dict[int, Fraction]:
        """The shares that are best for this column alone; together they are 1."""
        return _rounded({place: part**power for place, part in self.parts.items()})


def main_terms(query: BoundedQuery) -> list[Terms]:
    """The measurements from which columns follow; the others are about what is left out."""
    return [terms for terms in query.measured if terms[0] in query.shown_terms]


def shares(query: BoundedQuery, bought: NoisePrice, main: Sequence[Fraction] | None = None) -> Shares:
    """The share of each measurement.

    What is shown has the whole, or what the bias leaves of it, divided in these parts (`main`) or as the question says;
    what is watched has the rest.
    """
    watch, every, columns = query.watch, query.measured, set(query.shown_terms)
    shown = [terms for terms in every if terms[0] in columns]
    parts = _parts(query, shown, bought) if main is None else main
    watched: list[Terms | str] = [terms for terms in every if terms[0] not in columns]
    watched += [()] if watch is not None and watch.beyond else []
    watched += [LOST] if watch is not None and watch.rows is not None else []
    spent = watch.share if watch is not None and watched else Fraction(0)
    found: Shares = {terms: (1 - spent) * part for terms, part in zip(shown, parts, strict=True)}
    rest = [] if watch is None else _watched(query, watch, watched, laplace=isinstance(bought, PureDP))
    return found | {terms: spent * part for terms, part in zip(watched, rest, strict=True)}


def _watched(query: BoundedQuery, watch: Watch, watched: Sequence[Terms | str], *, laplace: bool) -> list[Fraction]:
    """The parts of what measures the bias: shares of people are quotients, whose weights are 1 and the share itself."""
    uses = []
    places: dict[object, int] = {terms[0]: place for place, terms in enumerate(watched) if terms}
    for term in watch.terms:
        far = stability(query, term)
        if term == watch.everybody or term not in places or far is None:
            continue
        size = float(far.l1 if laplace else far.l2)
        everybody = {places[watch.everybody]: size * float(MEAN)} if watch.everybody in places else {}
        uses.append(Use("", {places[term]: size} | everybody))
    if watch.beyond:
        uses.append(Use("", {list(watched).index(()): 1.0}))
    if watch.rows is not None:
        uses.append(Use("", {list(watched).index(LOST): 1.0}))
    alone = Use("", {place: 1.0 for place in range(len(watched)) if not any(place in use.parts for use in uses)})
    return _least([*uses, *([alone] if alone.parts else [])], len(watched), laplace=laplace)


def _parts(query: BoundedQuery, shown: Sequence[Terms], bought: NoisePrice) -> list[Fraction]:
    """The parts of all measurements that are shown; together they are 1."""
    laplace = isinstance(bought, PureDP)
    if isinstance(query.split, Weights):
        return _weighted(query, shown, query.split, laplace=laplace)
    if len(shown) == 1:
        return [Fraction(1)]
    columns = list(dict.fromkeys(each for pair in _columns(query) for each in pair[1].parts or (pair,)))
    return _least(_uses(query, shown, columns, laplace=laplace), len(shown), laplace=laplace)


def _weighted(query: BoundedQuery, shown: Sequence[Terms], weights: Weights, *, laplace: bool) -> list[Fraction]:
    found = [Fraction(0)] * len(shown)
    for use in _uses(query, shown, _columns(query), laplace=laplace):
        for place, part in use.split(power=2 / 3 if laplace else 1).items():
            found[place] += weights.of(use.name) * part
    whole = sum(found, Fraction(0))
    return [part / whole for part in found]


def _least(uses: Sequence[Use], many: int, *, laplace: bool) -> list[Fraction]:
    """The parts with the least sum of errors, or equal ones if these are nearly as good."""
    equal, power, root = [1 / many] * many, 2 if laplace else 1, 1 / 3 if laplace else 1 / 2

    def errors(parts: Sequence[float]) -> list[float]:
        return [math.sqrt(sum(a * a / parts[place] ** power for place, a in use.parts.items())) for use in uses]

    found, before = equal, [0.0] * many
    for _ in range(ROUNDS):
        if max(abs(one - other) for one, other in zip(found, before, strict=True)) < 1e-6:
            break
        sizes = [0.0] * many
        for use, error in zip(uses, errors(found), strict=True):
            for place, a in use.parts.items():
                sizes[place] += a * a / error
        roots = [size**root for size in sizes]
        found, before = [part / math.fsum(roots) for part in roots], found
    if sum(errors(found)) > (1 - GAIN) * sum(errors(equal)):
        return [Fraction(1, many)] * many
    return list(_rounded(dict(enumerate(found))).values())


def _rounded(parts: Mapping[int, float]) -> dict[int, Fraction]:
    """Fractions with short denominators that add up to 1 exactly, and are never 0."""
    whole = math.fsum(parts.values())
    steps = {place: max(1, round(part / whole * STEPS * len(parts))) for place, part in parts.items()}
    return {place: Fraction(step, sum(steps.values())) for place, step in steps.items()}


def _columns(query: BoundedQuery) -> list[tuple[str, BoundAggregate]]:
    """All columns that are shown, and those that only HAVING and ORDER BY use."""
    shown = zip((each.name for each in query.query.aggregates), query.columns, strict=True)
    return [*shown, *query.after.hidden]


def _uses(
    query: BoundedQuery, shown: Sequence[Terms], columns: Sequence[tuple[str, BoundAggregate]], *, laplace: bool
) -> list[Use]:
    """What each column uses; columns that use the same in the same way count once, unless they have other names."""
    places = {term: place for place, terms in enumerate(shown) for term in terms}
    found: dict[object, Use] = {}
    for name, column in columns:
        parts: dict[int, float] = {}
        for term, size in zip(column.terms, _sizes(query, column, laplace=laplace), strict=True):
            parts[places[term]] = max(size, parts.get(places[term], 0.0))
        least = LEAST * max(parts.values())
        use = Use(name, {place: max(part, least) for place, part in parts.items()})
        same = name if isinstance(query.split, Weights) else tuple(sorted(use.parts.items()))
        found.setdefault(same, use)
    return list(found.values())


def _sizes(query: BoundedQuery, column: BoundAggregate, *, laplace: bool) -> list[float]:
    """a_cj of each term, relative to the largest contribution of one unit to the column."""
    far = [stability(query, term) for term in column.terms]
    weights, plain = typical(column.formula), people(query)
    unknown = [float(exact(plain.l1 if laplace else plain.l2) / plain.largest)] * len(far)
    if weights is None or len(weights) != len(far) or any(each is None for each in far):
        return unknown
    moved = [
        weight * term.granularity * each.largest
        for weight, term, each in zip(weights, column.terms, far, strict=True)
        if each is not None
    ]
    spread = [float(exact(each.l1 if laplace else each.l2) / max(1, each.largest)) for each in far if each is not None]
    most = max(moved)
    if most == 0:
        return unknown
    return [float(size / most) * wide for size, wide in zip(moved, spread, strict=True)]


def typical(formula: AnyFormula) -> tuple[Fraction, ...] | None:
    """The usual weights of the noises in a column, from public bounds alone; None if nothing is known about them.

    >>> from sitr.questions.aggregate.functions.moments import centred_mean
    >>> [round(float(weight), 3) for weight in typical(centred_mean(Fraction(-1), Fraction(1)))]
    [1.0, 0.577]
    """
    one = Fraction(1)
    match formula:
        case Same():
            return (one,)
        case Linear():
            return tuple(map(abs, formula.weights))
        case Quotient() if formula.low is not None and formula.high is not None:
            pairs = zip(formula.above.weights, formula.below.weights, strict=True)
            return tuple(_uniform(a - formula.low * b, a - formula.high * b) for a, b in pairs)
        case VarianceFormula():
            size = _half((formula.low, formula.high))
            return one, 2 * MEAN * size, VARIANCE * size * size
        case CovarianceFormula():
            x, y = _half(formula.x), _half(formula.y)
            return one, MEAN * y, MEAN * x, COVARIANCE * x * y
        case CorrelationFormula():
            x, y = _half(formula.x), _half(formula.y)
            return one, TURNED * y, TURNED * x, y / x / 4, x / y / 4, COVARIANCE * x * y
    return None


def _half(bounds: tuple[Fraction, Fraction]) -> Fraction:
    return max(-bounds[0], bounds[1])


def _uniform(one: Fraction, other: Fraction) -> Fraction:
    """The root mean square of a number that is uniform between two."""
    size = max(abs(one), abs(other))
    if not size:
        return size
    a, b = float(one / size), float(other / size)
    return size * Fraction(math.sqrt((a * a + a * b + b * b) / 3))
