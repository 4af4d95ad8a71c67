"""What is left out, measured over all groups together where a price is too small to measure it in each.

**Claim.** Let one unit add between 0 and r to a term in each of at most k groups, and nothing in others. Then the sum
of the term over all groups moves by at most kr, whether the unit is added, removed or replaced.

*Proof.* The unit adds a number in [0, kr] to the sum, and all other units add what they did before, because caps are
applied to each unit by itself.

A table of G groups with n people each has the share of a sum with kr/(Gn) of noise for each unit of it, where the share
of one group has √k·r/n or, with Laplace noise, kr/n: the sum is better by a factor of G/√k or G.
"""

from __future__ import annotations

from fractions import Fraction

from sitr.mechanisms.additive import NoisePrice
from sitr.mechanisms.candidates import least_noise
from sitr.neighbors.distance import Distance
from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.plan import AggregatePlan
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


def says_nothing(plan: AggregatePlan) -> bool:
    """Whether the shares of people from whom something is left out are too noisy for each group, and not for all.

    That is so if the error of a share, where half of `PEOPLE` people are affected, is above `WIDE`. The number of all
    people must be known for the same groups, so it must not be a column of an answer that does not show all groups.
    """
    query, watch = plan.query, plan.query.watch
    if watch is None or not query.keys or query.cells == 1:
        return False
    if not query.known and watch.everybody in query.shown_terms:
        return False
    level = Fraction(975, 1000)
    widths = {each.term: each.width(level) for each in plan.noisy if each.term in watch.terms}
    parts = [term for term in watch.terms if term != watch.everybody and term not in query.shown_terms]
    return any((widths[term] + widths[watch.everybody] / 2) / PEOPLE > WIDE for term in parts)
