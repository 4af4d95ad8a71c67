"""Pufferfish privacy of a finite mechanism: the laws of the outcome given one secret or another, for every prior.

For every prior θ and every discriminative pair of secrets (s, s′) that θ allows, P(M ∈ S | s, θ) ≤ e^ε·P(M ∈ S | s′,
θ) + δ for all events S.      [KM14]  The laws given secrets are mixtures of rows of the table, so they are the rows of
another table, whose neighbours are the pairs of secrets under one prior. Every figure of a finite mechanism is one of
it. If people are independent under every prior, it is differential privacy: what one of two values of a person says
about the others is nothing, so both laws are the same mixture of neighbouring rows; and priors that are certain of all
others give back each pair of neighbours. The test shows it for two people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from sitr.audit.exact.mechanism import FiniteMechanism, Meaning
from sitr.audit.exact.reading import read_table
from sitr.audit.exact.table import ROUNDING, Name, Table, usable
from sitr.errors import InvalidParameter, quoted
from sitr.loss.law import ROUNDING as UNIT
from sitr.namespace import Later
from sitr.numbers import Number, exact

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Prior = Mapping[object, Number] | Sequence[Number]
"""The probability of each input: by name, or in the order of the table."""

Secrets = Mapping[str, Iterable[object]]
"""For each secret the inputs for which it is true."""


def pufferfish(
    table: object,
    /,
    *,
    priors: Mapping[str, Prior] | Sequence[Prior],
    secrets: Secrets,
    pairs: Iterable[tuple[str, str]] | None = None,
    rounding: Number = ROUNDING,
) -> FiniteMechanism:
    """The mechanism that an observer sees who wants to tell secrets apart.

    `priors` are what the observer may believe about the input, `secrets` name events of inputs, and `pairs` are the
    secrets that nobody may tell apart; without them, every two secrets that exclude each other.

    >>> table = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]  # the sum of two bits, without noise
    >>> seen = pufferfish(table, priors=[[0.25] * 4], secrets={"no": ["1", "2"], "yes": ["3", "4"]})
    >>> seen.delta(epsilon=0).exact, seen.table.inputs
    (Fraction(1, 2), (('prior 1', 'no'), ('prior 1', 'yes')))
    """
    read = read_table(table, rounding=rounding)
    named = dict(priors) if isinstance(priors, Mapping) else {f"prior {n}": p for n, p in enumerate(priors, start=1)}
    weights = {name: prior_weights(read, prior) for name, prior in named.items()}
    places = {secret: [read.place(one) for one in inputs] for secret, inputs in dict(secrets).items()}
    told = list(pairs) if pairs is not None else _exclusive(places)
    rows: dict[tuple[str, str], list[Fraction]] = {}
    found = []
    for prior, weight in weights.items():
        for one, other in told:
            if all(sum(weight[place] for place in _known(places, secret)) > 0 for secret in (one, other)):
                for secret in (one, other):
                    rows[prior, secret] = conditional(weight, places[secret])
                found.append(((prior, one), (prior, other)))
    if not found:
        raise InvalidParameter(
            wanted="a prior under which two secrets of a pair are possible",
            given="none",
            do="Check priors and secrets.",
        )
    mixed = mixture(read, rows)
    numbers = {name: place for place, name in enumerate(mixed.inputs)}
    neighbors = np.array([(numbers[one], numbers[other]) for one, other in found], dtype=np.int64)
    return FiniteMechanism(mixed, neighbors, Meaning.PUFFERFISH)


def _exclusive(places: Mapping[str, Sequence[int]]) -> list[tuple[str, str]]:
    return [(one, other) for one, other in combinations(places, 2) if not set(places[one]) & set(places[other])]


def _known(places: Mapping[str, list[int]], secret: str) -> list[int]:
    if secret not in places:
        raise InvalidParameter(wanted="pairs of secrets that are named", given=quoted(secret), do="Define that secret.")
    return places[secret]


def prior_weights(table: Table, prior: Prior) -> list[Fraction]:
    """The probability of every input, exactly; they must add up to 1."""
    if isinstance(prior, Mapping):
        weights = [Fraction(0)] * len(table.inputs)
        for name, weight in prior.items():
            weights[table.place(name)] += exact(weight)
    else:
        weights = [exact(weight) for weight in prior]
    if len(weights) != len(table.inputs) or min(weights) < 0 or sum(weights) != 1:
        raise InvalidParameter(
            wanted="a prior with a probability for each input, which add up to exactly 1",
            given=f"{len(weights)} numbers with a sum of {float(sum(weights)):.15g}",
            do="Correct the prior; fractions such as Fraction(1, 3) are exact.",
        )
    return weights


def conditional(weights: Sequence[Fraction], places: Sequence[int]) -> list[Fraction]:
    """The prior given that the input is one of these."""
    total = sum(weights[place] for place in set(places))
    chosen = set(places)
    return [weight / total if place in chosen else Fraction(0) for place, weight in enumerate(weights)]


def mixture(table: Table, rows: Mapping[tuple[str, str], Sequence[Fraction]]) -> Table:
    """The laws of the outcome for random inputs: exact if the table is, and otherwise with a little more rounding."""
    names: list[Name] = [*rows]
    if table.rows is not None:
        laws = [row.fractions() for row in table.rows]
        values = [
            [
                sum((w * law[z] for w, law in zip(weight, laws, strict=True) if w and law[z]), Fraction(0))
                for z in range(len(table.outcomes))
            ]
            for weight in rows.values()
        ]
        return Table.of(values, inputs=names, outcomes=table.outcomes)
    weights = np.array([[float(weight) for weight in row] for row in rows.values()])
    possible = np.array([[weight > 0 for weight in row] for row in rows.values()]).astype(np.float64)
    zeros = possible @ (table.values > 0.0) == 0.0  # a product of small numbers may be 0 as a float only
    error = table.rounding + (len(table.inputs) + 4) * UNIT
    return Table(tuple(names), table.outcomes, usable(weights @ table.values, zeros), error)
