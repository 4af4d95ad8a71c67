"""The mechanism that selects unknown keys at a price of (ε, δ) without Gaussian noise."""

from __future__ import annotations

from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.stability import people


def selection(query: BoundedQuery, price: ApproximateDP) -> Threshold | PartitionSelection:
    """The one that shows keys of fewer people.

    The number of people of a key is not shown, so nothing needs their noisy number: the optimal selection shows a key
    of n people with the largest probability that its share of (ε, δ) allows, more than any threshold can [DVG22]. Two
    tables differ in at most k keys, or 2k where a unit is replaced; then a threshold, of which only k keys can expose
    the unit, may need fewer people.
    """
    keys = query.max_groups * (2 if query.changes is Relation.REPLACE_ONE else 1)
    threshold = Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)
    optimal = PartitionSelection(price.epsilon, price.delta, keys)
    return optimal if optimal.error() <= threshold.error() else threshold
