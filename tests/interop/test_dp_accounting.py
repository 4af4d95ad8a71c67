"""Events read as losses, and losses written as events. Figures are compared with the other library's own accountant."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.interop.dp_accounting import from_event, to_event
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import FiniteLaw, pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.neighbors.relation import Relation

GAUSSIAN = dp_event.GaussianDpEvent(0.8)
LAPLACE = dp_event.LaplaceDpEvent(4.0)
DISCRETE = dp_event.DiscreteLaplaceDpEvent(0.25, 2)
RESPONSE = dp_event.RandomizedResponseDpEvent(0.5, 4)
POISSON = dp_event.PoissonSampledDpEvent(0.01, GAUSSIAN)
SUBSET = dp_event.SampledWithoutReplacementDpEvent(1000, 10, GAUSSIAN)

ADDED, REPLACED = Relation.ADD_REMOVE, Relation.REPLACE_ONE
EVENTS = [
    (GAUSSIAN, ADDED),
    (GAUSSIAN, REPLACED),
    (LAPLACE, ADDED),
    (LAPLACE, REPLACED),
    (DISCRETE, ADDED),
    (DISCRETE, REPLACED),
    (RESPONSE, REPLACED),
    (POISSON, ADDED),
    (dp_event.PoissonSampledDpEvent(0.25, LAPLACE), ADDED),
    (SUBSET, REPLACED),
]
each_event = pytest.mark.parametrize(("event", "relation"), EVENTS, ids=repr)


# Reading


@pytest.mark.parametrize(
    ("event", "relation", "law"),
    [
        (GAUSSIAN, ADDED, GaussianLaw(1.25)),
        (GAUSSIAN, REPLACED, GaussianLaw(2.5)),
        (LAPLACE, ADDED, LaplaceLaw(0.25)),
        (LAPLACE, REPLACED, LaplaceLaw(0.5)),
        (DISCRETE, ADDED, DiscreteLaplaceLaw(4.0, 2)),
        (DISCRETE, REPLACED, DiscreteLaplaceLaw(4.0, 4)),
        (POISSON, ADDED, PoissonLaw(GaussianLaw(1.25), 0.01)),
        (SUBSET, REPLACED, SubsetLaw(GaussianLaw(2.5), 0.01)),
        (dp_event.PoissonSampledDpEvent(1.0, LAPLACE), ADDED, LaplaceLaw(0.25)),
        (dp_event.SampledWithoutReplacementDpEvent(9, 9, LAPLACE), REPLACED, LaplaceLaw(0.5)),
    ],
    ids=repr,
)
def test_an_event_is_read_as_its_law(event: dp_event.DpEvent, relation: Relation, law: object) -> None:
    assert from_event(event, relation=relation).laws == ((law, 1),)


def test_a_response_is_read_as_its_two_vectors() -> None:
    """p = 1/2 over four answers: the truth with 5/8, each other answer with 1/8."""
    ((law, times),) = from_event(RESPONSE, relation=REPLACED).laws
    assert times == 1
    assert isinstance(law, FiniteLaw)
    assert law.losses == pytest.approx((-math.log(5), 0.0, math.log(5)))
    assert [math.exp(mass) for mass in law.log_masses] == pytest.approx([1 / 8, 1 / 4, 5 / 8])


@each_event
def test_nested_counts_multiply(event: dp_event.DpEvent, relation: Relation) -> None:
    nested = dp_event.SelfComposedDpEvent(dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(event, 5)] * 2), 3)
    once, often = from_event(event, relation=relation), from_event(nested, relation=relation)
    (law, _), ((many, times),) = once.laws[0], often.laws
    if isinstance(law, GaussianLaw) and isinstance(many, GaussianLaw):
        assert law.mu * math.sqrt(30) <= many.mu <= law.mu * math.sqrt(30) * (1 + 1e-14)  # rounded up at each sum
    else:
        assert often == once * 30
        assert (many, times) == (law, 30)


@each_event
def test_ten_times_is_not_once(event: dp_event.DpEvent, relation: Relation) -> None:
    ten = from_event(dp_event.SelfComposedDpEvent(event, 10), relation=relation)
    once = from_event(event, relation=relation)
    assert ten.epsilon(delta=1e-4).lower > 1.2 * once.epsilon(delta=1e-4).upper


def test_ten_responses_lose_ten_times_as_much_at_most() -> None:
    ten = from_event(dp_event.SelfComposedDpEvent(dp_event.RandomizedResponseDpEvent(0.5, 2), 10), relation=REPLACED)
    assert ten.max() == pytest.approx(10 * math.log(3))


AGREE = [
    (dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(6.0), 7), ADDED),
    (dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(6.0), 7), REPLACED),
    (dp_event.SelfComposedDpEvent(LAPLACE, 20), ADDED),
    (dp_event.SelfComposedDpEvent(DISCRETE, 20), ADDED),
    (dp_event.ComposedDpEvent([RESPONSE, RESPONSE, RESPONSE]), REPLACED),
    (dp_event.SelfComposedDpEvent(POISSON, 1000), ADDED),
    (dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.25, LAPLACE), 20), ADDED),
    (
        dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(POISSON, 100), LAPLACE, dp_event.GaussianDpEvent(6.0)]),
        ADDED,
    ),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("event", "relation"), AGREE, ids=repr)
def test_the_other_accountant_agrees(event: dp_event.DpEvent, relation: Relation) -> None:
    """Its figure is a pessimistic one, on a lattice of 1e-4."""
    neighbors = {
        ADDED: NeighboringRelation.ADD_OR_REMOVE_ONE,
        REPLACED: NeighboringRelation.REPLACE_ONE,
    }
    accountant = PLDAccountant(neighbors[relation])
    accountant.compose(event)
    ours = from_event(event, relation=relation).epsilon(delta=1e-5)
    assert ours.lower <= accountant.get_epsilon(1e-5) * (1 + 1e-9)
    assert accountant.get_epsilon(1e-5) <= ours.upper * (1 + 2e-3)


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (dp_event.NoOpDpEvent(), ADDED),
        (dp_event.ComposedDpEvent([]), ADDED),
        (dp_event.SelfComposedDpEvent(POISSON, 0), ADDED),
        (dp_event.PoissonSampledDpEvent(0.0, GAUSSIAN), ADDED),
        (dp_event.PoissonSampledDpEvent(0.5, dp_event.NoOpDpEvent()), ADDED),
        (dp_event.SampledWithoutReplacementDpEvent(10, 0, GAUSSIAN), REPLACED),
        (dp_event.RandomizedResponseDpEvent(0.0, 1), REPLACED),
        (dp_event.RandomizedResponseDpEvent(1.0, 3), REPLACED),
    ],
    ids=repr,
)
def test_nothing_done_is_nothing_lost(event: dp_event.DpEvent, relation: Relation) -> None:
    assert from_event(event, relation=relation) == Loss(())


def test_gaussians_on_one_sample_are_one_gaussian() -> None:
    both = dp_event.PoissonSampledDpEvent(0.1, dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(2.0), 4))
    assert from_event(both) == Loss.of(PoissonLaw(GaussianLaw(1.0), 0.1))


@pytest.mark.parametrize(
    ("event", "relation", "words"),
    [
        (dp_event.NonPrivateDpEvent(), ADDED, "got a NonPrivateDpEvent"),
        (dp_event.ComposedDpEvent([GAUSSIAN, dp_event.NonPrivateDpEvent()]), ADDED, "got a NonPrivateDpEvent"),
        (dp_event.UnsupportedDpEvent(), ADDED, "an event whose privacy loss Sitr knows"),
        (dp_event.ZCDpEvent(0.1), ADDED, "an event whose privacy loss Sitr knows"),
        (dp_event.SampledWithReplacementDpEvent(10, 2, GAUSSIAN), REPLACED, "an event whose privacy loss Sitr knows"),
        (POISSON, REPLACED, "Expected add-remove neighbours"),
        (SUBSET, ADDED, "Expected replace-one neighbours"),
        (RESPONSE, ADDED, "Expected replace-one neighbours"),
        (dp_event.GaussianDpEvent(0.0), ADDED, "got 0, which promises nothing"),
        (dp_event.GaussianDpEvent(math.nan), ADDED, "got nan"),
        (dp_event.LaplaceDpEvent(-1.0), ADDED, "got -1.0"),
        (dp_event.DiscreteLaplaceDpEvent(1.0, 0), ADDED, "sensitivity"),
        (dp_event.RandomizedResponseDpEvent(0.0, 2), REPLACED, "got 0, which promises nothing"),
        (dp_event.RandomizedResponseDpEvent(0.5, 0), REPLACED, "num_buckets"),
        (dp_event.PoissonSampledDpEvent(1.5, GAUSSIAN), ADDED, "sampling_probability"),
        (dp_event.SampledWithoutReplacementDpEvent(10, 11, GAUSSIAN), REPLACED, "11 of 10 people"),
        (dp_event.SelfComposedDpEvent(GAUSSIAN, -1), ADDED, "count"),
        (dp_event.SelfComposedDpEvent(GAUSSIAN, 2.5), ADDED, "count"),
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.ComposedDpEvent([LAPLACE, GAUSSIAN])), ADDED, "one mechanism"),
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.SelfComposedDpEvent(LAPLACE, 2)), ADDED, "one mechanism"),
    ],
    ids=repr,
)
def test_what_cannot_be_read_is_said(event: dp_event.DpEvent, relation: Relation, words: str) -> None:
    with pytest.raises(InvalidPromise, match=words):
        from_event(event, relation=relation)


# Writing


@each_event
def test_an_event_survives_reading_and_writing(event: dp_event.DpEvent, relation: Relation) -> None:
    written = to_event(from_event(event, relation=relation), relation=relation)
    if isinstance(event, dp_event.SampledWithoutReplacementDpEvent):
        assert Fraction(written.sample_size, written.source_dataset_size) == Fraction(1, 100)
        assert written.event == event.event
    else:
        assert written == event


def test_a_composition_survives_reading_and_writing() -> None:
    event = dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(POISSON, 10_000), LAPLACE])
    assert to_event(from_event(event)) == event
    assert to_event(Loss(())) == dp_event.NoOpDpEvent()


sizes = st.floats(1e-3, 1e3)
rates = st.floats(1e-6, 1.0, exclude_max=True)
added_laws = st.one_of(
    sizes.map(GaussianLaw),
    sizes.map(LaplaceLaw),
    st.builds(DiscreteLaplaceLaw, sizes, st.integers(1, 9)),
    st.builds(PoissonLaw, sizes.map(GaussianLaw) | sizes.map(LaplaceLaw), rates),
)
replaced_laws = st.one_of(
    sizes.map(GaussianLaw),
    st.builds(DiscreteLaplaceLaw, sizes, st.integers(1, 9).map(lambda half: 2 * half)),
    st.builds(SubsetLaw, sizes.map(GaussianLaw), rates),
)


def sizes_of(law: object) -> list[float]:
    """What grows with the loss."""
    match law:
        case GaussianLaw(size) | LaplaceLaw(size):
            return [size]
        case DiscreteLaplaceLaw(scale, shift):
            return [1 / scale, shift]
        case PoissonLaw(inner, rate) | SubsetLaw(inner, rate):
            return [*sizes_of(inner), rate]
        case _:
            raise AssertionError(law)


@given(added_laws.map(lambda law: (law, ADDED)) | replaced_laws.map(lambda law: (law, REPLACED)), st.integers(1, 10**6))
def test_no_less_is_read_than_was_written(one: tuple[object, Relation], times: int) -> None:
    law, relation = one
    times = 1 if isinstance(law, GaussianLaw) else times  # many Gaussians are written as one
    loss = Loss(((law, times),))  # type: ignore[arg-type]
    ((read, again),) = from_event(to_event(loss, relation=relation), relation=relation).laws
    assert (type(read), again) == (type(law), times)
    assert all(old <= new <= old * (1 + 2**-49) for old, new in zip(sizes_of(law), sizes_of(read), strict=True))


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize(
    "event",
    [
        dp_event.GaussianDpEvent(1.3),
        dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(0.7), 3),
        dp_event.DiscreteLaplaceDpEvent(0.3, 2),
    ],
)
def test_events_are_written_as_they_were_read(event: dp_event.DpEvent, relation: Relation) -> None:
    assert to_event(from_event(event, relation=relation), relation=relation) == event


@given(st.floats(1e-3, 30.0), st.integers(2, 50))
def test_a_response_is_written_with_its_number_of_answers(epsilon: float, answers: int) -> None:
    event = to_event(Loss.of(response(epsilon, answers=answers)), relation=REPLACED)
    assert event.num_buckets == answers
    ((read, _),) = from_event(event, relation=REPLACED).laws
    assert epsilon <= read.greatest <= epsilon * (1 + 1e-12) + 2 * answers * 2.0**-52  # by one float of p, or two


@pytest.mark.parametrize(
    ("law", "relation"),
    [
        (BoundedRangeLaw(1.0), ADDED),
        (DiscreteGaussianLaw(3.0, 1), ADDED),
        (PoissonLaw(GaussianLaw(1.0), 0.1, added=True), ADDED),
        (PoissonLaw(GaussianLaw(1.0), 0.1), REPLACED),
        (PoissonLaw(BoundedRangeLaw(1.0), 0.1), ADDED),
        (SubsetLaw(GaussianLaw(1.0), 0.1), ADDED),
        (DiscreteLaplaceLaw(2.0, 3), REPLACED),
        (response(1.0), ADDED),
        (response(1.0, infinite=1e-6), REPLACED),
        (pair((0.75, 0.25), (0.5, 0.5)), REPLACED),
        (pair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)), REPLACED),
        (pair((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)), REPLACED),
    ],
    ids=repr,
)
def test_what_no_event_says_is_an_error(law: GaussianLaw, relation: Relation) -> None:
    with pytest.raises(InvalidPromise, match="can describe"):
        to_event(Loss.of(law), relation=relation)
