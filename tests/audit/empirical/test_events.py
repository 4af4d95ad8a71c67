"""Events are learned from other draws than those that test them, and cells cover every value once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.audit.empirical.events import DISCRETE, EVENTS, GROUPS, Cells, Event, Order, learn, rankings
from sitr.audit.empirical.features import Feature
from sitr.audit.empirical.sample import Sample
from sitr.flavors.pure import PureDP

VALUE = Feature("value", 0, lambda sample: sample.numbers[:, 0])


def sample(seed: int, shift: float = 0.0, size: int = 4_000) -> Sample:
    """Whole numbers of granules: in floats, the last bits alone would tell."""
    return Sample.of(np.round(1_000 * np.random.default_rng(seed).laplace(shift, 1.0, size)))


def test_few_values_have_a_cell_each() -> None:
    cells = Cells.learned(VALUE, Sample.of([1, 2]), Sample.of([2, 5]))
    asked = Sample.of([0.0, 1.0, 1.5, 2.0, 5.0, 9.0, math.nan])
    assert cells.of(asked).tolist() == [0, 1, 1, 2, 3, 3, 4]
    assert cells.count == 5


def test_a_value_that_is_frequent_by_itself_has_a_cell_among_many() -> None:
    numbers = np.concatenate([np.random.default_rng(1).random(3_000), np.full(200, 0.5)])
    cells = Cells.learned(VALUE, Sample.of(numbers), Sample.of(numbers))
    assert DISCRETE > cells.count > 100
    before, at, after = cells.of(Sample.of([np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1)])).tolist()
    assert before < at < after


@pytest.mark.parametrize("place", range(3))
def test_a_ranking_is_a_permutation_of_the_cells(place: int) -> None:
    ranking = rankings(VALUE, sample(1), sample(2, 1.0))[place]
    assert sorted(ranking.ranks.tolist()) == list(range(ranking.cells.count))
    assert ranking.hits(ranking.of(sample(3)))[-1] == 4_000


@pytest.mark.parametrize(("place", "holds"), [(1, lambda x, edge: x >= edge), (2, lambda x, edge: x < edge)])
def test_an_event_by_value_is_what_its_edge_says(place: int, holds: object) -> None:
    ranking = rankings(VALUE, sample(1), sample(2, 1.0))[place]
    event = Event(ranking, 40, 0.0)
    edge = event.edge()
    assert edge is not None
    drawn = sample(3)
    inside = ranking.of(drawn) < event.size
    assert inside.tolist() == holds(drawn.numbers[:, 0], edge).tolist()  # type: ignore[operator]
    assert ranking.order in (Order.ABOVE, Order.BELOW)


def test_missing_values_come_last_by_value_and_have_no_edge() -> None:
    first, second = Sample.of([1.0, 2.0, math.nan]), Sample.of([1.0, 2.0, 2.0])
    likelier, above, _ = rankings(VALUE, first, second)
    missing = Sample.of([math.nan])
    assert above.of(missing).tolist() == [above.cells.count - 1]
    assert likelier.of(missing).tolist() == [0]
    assert math.isnan(Event(likelier, 1, 0.0).members()[0])
    assert Event(likelier, 1, 0.0).edge() is None


def test_the_most_promising_event_tells_the_inputs_apart() -> None:
    learned = learn(sample(1, size=20_000), sample(2, 2.0, 20_000), PureDP(1.0), tested=20_000, failure=0.001)
    best = learned.events[0]
    shares = [best.ranking.hits(best.ranking.of(each))[best.size - 1] / 4_000 for each in (sample(3), sample(4, 2.0))]
    assert 1.5 < math.log(shares[0] / shares[1]) < 2.5 or 1.5 < math.log((1 - shares[1]) / (1 - shares[0])) < 2.5
    assert best.promising > 0
    assert len(learned.events) <= EVENTS
    assert set(learned.groups.tolist()) <= set(range(GROUPS))
    assert (np.diff([event.size for event in learned.curve]) > 0).all()


def test_equal_inputs_promise_nothing() -> None:
    learned = learn(sample(1), sample(2), PureDP(0.5), tested=2_000, failure=0.001)
    assert learned.events[0].promising < 0
