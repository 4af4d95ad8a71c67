from __future__ import annotations

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.selection import selection
from sitr.questions.aggregate.stability import people

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("price", [ApproximateDP(0.3, 1e-6), ApproximateDP(1, 1e-9), ApproximateDP(4, 1e-3)], ids=repr)
def test_no_threshold_with_laplace_noise_shows_keys_of_fewer_people(ask, price, groups, relation):
    query = ask(SQL, keys={}, max_groups=groups, relation=relation)
    threshold = Threshold.fitting(price, sensitivity=people(query).l1, groups=groups)
    found = selection(query, price)
    assert found.error() <= threshold.error()
    assert found.promise().covers(price)
    if relation is Relation.ADD_REMOVE:
        assert isinstance(found, PartitionSelection)
        assert found.keys == groups
    elif isinstance(found, PartitionSelection):
        assert found.keys == 2 * groups
