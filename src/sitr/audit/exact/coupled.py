"""Coupled-worlds privacy of a finite mechanism, as a linear programme whose optimum is proved on both sides.

A mechanism M keeps it if one simulator, which sees only an aggregate of the input, imitates M for every prior and
every secret that may hold: the laws of M(D) and Sim(agg(D)) given the secret are (ε, δ)-close.      [BGKS13]

The least δ is the optimum of a linear programme in Sim. With t = e^ε, M_c and g_c(y) the laws of the outcome and of the
aggregate in case c (a prior and a secret),

    δ = min over Sim of max over c of max(Σ_z (M_c − tN_c)₊, Σ_z (N_c − tM_c)₊),  N_c(z) = Σ_y g_c(y)·Sim(z | y).

Any simulator gives an upper bound. For the lower bound, multipliers 0 ≤ α_c(z) ≤ u_c and 0 ≤ β_c(z) ≤ v_c with Σ(u_c
+ v_c) = 1 give, whatever Sim is,

    δ ≥ Σ_{c,z} M_c(z)(α_c(z) − tβ_c(z)) + Σ_y min_z Σ_c g_c(y)(β_c(z) − tα_c(z)).

Both are computed with fractions from rounded floats, so no error of the solver matters: e^ε lies between two
fractions, and the least δ falls with t.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from sitr.audit.exact.pufferfish import Prior, Secrets, conditional, prior_weights
from sitr.audit.exact.reading import read_table
from sitr.audit.exact.table import ROUNDING, Table
from sitr.errors import InvalidParameter
from sitr.loss.law import check
from sitr.namespace import Later
from sitr.numbers import Interval, Number, exact, float_above, float_below
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

optimize, sparse = Later("scipy.optimize"), Later("scipy.sparse")

GRAIN = 2**40
"""Floats of the solver are rounded to multiples of 1 over this."""

Law = list[Fraction]


@dataclass(frozen=True, slots=True)
class Coupled:
    """The least δ at an ε as a proved interval, with a simulator that attains its upper end."""

    epsilon: float
    delta: Interval
    simulator: Mapping[Hashable, tuple[Fraction, ...]]
    """For each aggregate the law of the imitated outcome."""
    case: tuple[str, str]
    """The prior and the secret for which the simulator does worst."""

    def __repr__(self) -> str:
        return f"Coupled(epsilon={self.epsilon!r}, delta={self.delta!r}, case={self.case!r})"


@dataclass(frozen=True, slots=True)
class _Cases:
    """The laws of outcomes and aggregates, for every prior and secret."""

    names: list[tuple[str, str]]
    outcomes: list[Law]
    aggregates: list[Law]
    values: list[Hashable]


def coupled_worlds(
    table: object,
    /,
    *,
    epsilon: Number,
    priors: Mapping[str, Prior] | Sequence[Prior],
    secrets: Secrets,
    aggregate: Mapping[Any, Hashable] | Sequence[Hashable],
    rounding: Number = ROUNDING,
) -> Coupled:
    """The least δ with which some simulator imitates the mechanism from an aggregate of the input.

    `priors` and `secrets` are as for `pufferfish`, and `aggregate` says for each input, by name or in the order of the
    table, what a simulator may see of it: for differential privacy's meaning, the input without one person.

    >>> table = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]  # the sum of two bits, without noise
    >>> told = {"no": ["1", "2"], "yes": ["3", "4"]}  # the first bit
    >>> coupled_worlds(table, epsilon=0, priors=[[0.25] * 4], secrets=told, aggregate=[0, 1, 0, 1]).delta
    Interval(lower=0.25..., upper=0.25...)
    """
    check(epsilon, "epsilon", above=0.0, ends="above")
    read = read_table(table, rounding=rounding)
    cases = _cases(read, priors, secrets, aggregate)
    low, high = _odds(exact(epsilon))
    simulator, multipliers = _solved(cases, float(low))
    upper, worst = _upper(cases, simulator, low)
    lower = _lower(cases, multipliers, high)
    slack = Fraction(0)
    if read.rows is None:  # every true law is within this of the floats, and the hockey-stick moves by no more
        slack = 2 * (1 + high) * Fraction(read.rounding)
    found = Interval(
        max(0.0, float_below(max(Fraction(0), lower - slack))), float_above(min(Fraction(1), upper + slack))
    )
    simulated = {value: tuple(law) for value, law in zip(cases.values, simulator, strict=True)}
    return Coupled(float(epsilon), found, simulated, cases.names[worst])


def _odds(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions just below and above e^ε."""
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    with precision(96):
        found = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp()
        ends = [found.lower(), found.upper()]
        low, high = (Fraction(int(end.man_exp()[0])) * Fraction(2) ** int(end.man_exp()[1]) for end in ends)
    return low, high


def _cases(table: Table, priors: Any, secrets: Secrets, aggregate: Any) -> _Cases:
    named = dict(priors) if isinstance(priors, Mapping) else {f"prior {n}": p for n, p in enumerate(priors, start=1)}
    seen = _seen(table, aggregate)
    values = [*dict.fromkeys(seen)]
    found = _Cases([], [], [], values)
    laws = [table.exact_row(place) for place in range(len(table.inputs))]
    laws = [tuple(one / sum(law) for one in law) for law in laws]
    for prior, given in named.items():
        weights = prior_weights(table, given)
        for secret, inputs in dict(secrets).items():
            places = [table.place(one) for one in inputs]
            if sum(weights[place] for place in set(places)) == 0:
                continue
            law = conditional(weights, places)
            outcome = [Fraction(0)] * len(table.outcomes)
            summary = dict.fromkeys(values, Fraction(0))
            for place, weight in enumerate(law):
                if weight:
                    summary[seen[place]] += weight
                    outcome = [a + weight * b for a, b in zip(outcome, laws[place], strict=True)]
            found.names.append((prior, secret))
            found.outcomes.append(outcome)
            found.aggregates.append([summary[value] for value in values])
    if not found.names:
        raise InvalidParameter(
            wanted="a prior under which some secret is possible", given="none", do="Check priors and secrets."
        )
    return found


def _seen(table: Table, aggregate: Any) -> list[Hashable]:
    if isinstance(aggregate, Mapping):
        places = {table.place(name): value for name, value in aggregate.items()}
        seen = [places.get(place) for place in range(len(table.inputs))]
        whole = len(places) == len(table.inputs)
    else:
        seen = list(aggregate)
        whole = len(seen) == len(table.inputs)
    if not whole:
        raise InvalidParameter(
            wanted="an aggregate for each input of the table",
            given=f"{len(seen)} for {len(table.inputs)} inputs" if not isinstance(aggregate, Mapping) else "fewer",
            do="Say for each input what a simulator may see of it.",
        )
    return seen


def _solved(cases: _Cases, t: float) -> tuple[list[Law], tuple[list[Law], list[Law], Law, Law]]:
    """A simulator and multipliers, rounded to fractions that satisfy their constraints exactly."""
    seen, outcomes, count = len(cases.values), len(cases.outcomes[0]), len(cases.names)
    m = np.array([[float(one) for one in law] for law in cases.outcomes])
    g = np.array([[float(one) for one in law] for law in cases.aggregates])
    # Variables: Sim (y, z), excess over and under (c, z), δ.
    sims, cells = seen * outcomes, count * outcomes
    imitated = sparse.kron(sparse.csr_matrix(g), sparse.identity(outcomes))
    identity, none = sparse.identity(cells), sparse.csr_matrix((cells, cells))
    ones = sparse.kron(sparse.identity(count), np.ones((1, outcomes)))
    nothing, delta = sparse.csr_matrix((count, sims)), sparse.csr_matrix(-np.ones((count, 1)))
    column, empty = sparse.csr_matrix((cells, 1)), sparse.csr_matrix((count, cells))
    constraints = sparse.vstack(
        [
            sparse.hstack([-t * imitated, -identity, none, column]),  # M − tN ≤ over
            sparse.hstack([imitated, none, -identity, column]),  # N − tM ≤ under
            sparse.hstack([nothing, ones, empty, delta]),
            sparse.hstack([nothing, empty, ones, delta]),
        ]
    ).tocsr()
    limits = np.concatenate((-m.ravel(), t * m.ravel(), np.zeros(2 * count)))
    whole = sparse.hstack(
        [sparse.kron(sparse.identity(seen), np.ones((1, outcomes))), sparse.csr_matrix((seen, 2 * cells + 1))]
    )
    cost = np.zeros(sims + 2 * cells + 1)
    cost[-1] = 1.0
    done = optimize.linprog(cost, A_ub=constraints, b_ub=limits, A_eq=whole, b_eq=np.ones(seen), method="highs")
    if done.status != 0:
        uniform = [[Fraction(1, outcomes)] * outcomes for _ in range(seen)]
        return uniform, _repaired(np.zeros((2, count, outcomes)), np.ones((2, count)))
    simulator = [_law(row) for row in done.x[:sims].reshape(seen, outcomes)]
    duals = -done.ineqlin.marginals
    return simulator, _repaired(duals[: 2 * cells].reshape(2, count, outcomes), duals[2 * cells :].reshape(2, count))


def _law(row: Any) -> Law:
    """Fractions of at least 0 that add up to 1."""
    whole = [max(0, round(float(one) * GRAIN)) for one in row]
    total = sum(whole)
    return [Fraction(one, total) for one in whole] if total else [Fraction(1, len(whole))] * len(whole)


def _repaired(multipliers: Any, weights: Any) -> tuple[list[Law], list[Law], Law, Law]:
    """Weights that add up to 1, and multipliers from 0 to the weight of their case."""
    shares = _law(weights.ravel())
    u, v = shares[: weights.shape[1]], shares[weights.shape[1] :]
    rounded = [
        [
            [min(limit, max(Fraction(0), Fraction(round(float(one) * GRAIN), GRAIN))) for one in row]
            for row, limit in zip(side, limits, strict=True)
        ]
        for side, limits in ((multipliers[0], u), (multipliers[1], v))
    ]
    return rounded[0], rounded[1], u, v


def _upper(cases: _Cases, simulator: list[Law], t: Fraction) -> tuple[Fraction, int]:
    """The δ of this simulator."""
    found = []
    for outcome, aggregate in zip(cases.outcomes, cases.aggregates, strict=True):
        imitated = [
            sum((g * law[z] for g, law in zip(aggregate, simulator, strict=True) if g), Fraction(0))
            for z in range(len(outcome))
        ]
        both = list(zip(outcome, imitated, strict=True))
        over = sum((max(Fraction(0), a - t * b) for a, b in both), Fraction(0))
        under = sum((max(Fraction(0), b - t * a) for a, b in both), Fraction(0))
        found.append(max(over, under))
    return max(found), max(range(len(found)), key=found.__getitem__)


def _lower(cases: _Cases, multipliers: tuple[list[Law], list[Law], Law, Law], t: Fraction) -> Fraction:
    """The bound of these multipliers."""
    alpha, beta, _, _ = multipliers
    count, outcomes = len(cases.names), range(len(cases.outcomes[0]))
    first = sum(
        (cases.outcomes[c][z] * (alpha[c][z] - t * beta[c][z]) for c in range(count) for z in outcomes), Fraction(0)
    )
    costs = [[beta[c][z] - t * alpha[c][z] for z in outcomes] for c in range(count)]
    second = sum(
        (
            min(sum((cases.aggregates[c][y] * costs[c][z] for c in range(count)), Fraction(0)) for z in outcomes)
            for y in range(len(cases.values))
        ),
        Fraction(0),
    )
    return first + second
