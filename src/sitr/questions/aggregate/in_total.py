"""What is left out, measured over all groups together where a price is too small to measure it in each.

**Claim.** Let one unit add between 0 and r to a term in each of at most k groups, and nothing in others. Then the sum
of the term over all groups moves by at most kr, whether the unit is added, removed or replaced.

*Proof.* The unit adds a number in [0, kr] to the sum, and all other units add what they did before, because caps are
applied to each unit by itself.

A table of G groups with n people each has the share of a sum with kr/(Gn) of noise for each unit of it, where the share
of one group has √k·r/n or, with Laplace noise, kr/n: the sum is better by a factor of G/√k or G.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sitr.mechanisms.additive import Noise, NoisePrice
from sitr.mechanisms.candidates import least_noise
from sitr.neighbors.distance import Distance
from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bias import Watch
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.term import Term
from sitr.sensitivity.bounded import bounded

OVER_ALL = ", over all groups"
"""The end of the name of a measurement of a sum over all groups."""

PEOPLE = 10_000
"""The number of people in a large group, for which it is decided whether a price is too small."""

WIDE = Fraction(1, 4)
"""The error of a share above which it says nothing."""


def is_total(measurement: Measurement) -> bool:
    """Whether one number is measured for all groups together."""
    return measurement.name.endswith(OVER_ALL)


def total_distance(query: BoundedQuery, term: Term) -> Distance:
    """How far one unit moves the sum of a count over all groups."""
    groups = query.max_groups if query.cells is None else min(query.max_groups, query.cells)
    each = 1 if term.people else query.max_rows_per_group
    return bounded(low=0, high=groups * each, groups=1, cells=1, relation=query.changes)


def measured_in_total(query: BoundedQuery, term: Term, part: NoisePrice) -> Measurement:
    """The measurement of the sum of a count over all groups, for this share of the price."""
    far = total_distance(query, term)
    noise = least_noise(part, l1=far.l1, l2=far.l2)
    return Measurement(f"{term.name}{OVER_ALL}", noise.alone(), far)


def says_nothing(query: BoundedQuery, watch: Watch, measured: Mapping[Quantity, Measurement]) -> bool:
    """Whether the shares of people from whom something is left out are too noisy for each group, and not for all.

    That is so if the error of a share, where half of `PEOPLE` people are affected, is above `WIDE`. The number of all
    people must be known for the same groups, so it must not be a column of an answer that does not show all groups.
    """
    shown = query.shown_terms
    if not query.keys or query.cells == 1 or (not query.known and watch.everybody in shown):
        return False
    level = Fraction(975, 1000)
    parts = [measured[term] for term in watch.terms if term != watch.everybody and term not in shown]
    if not parts or all(_deviation(each) < WIDE * PEOPLE / 10 for each in (*parts, measured[watch.everybody])):
        return False
    everybody = measured[watch.everybody].mechanism.error(confidence=level)
    return any((each.mechanism.error(confidence=level) + everybody / 2) / PEOPLE > WIDE for each in parts)


def _deviation(measurement: Measurement) -> float:
    """The standard deviation of its noise: its errors with 97.5% probability are less than 4 times as large."""
    assert isinstance(measurement.mechanism, Noise)
    return measurement.mechanism.deviation
