"""Correct mechanisms: their claims are proved by exact laws where there are any, and each is nearly tight."""

from __future__ import annotations

import math

import pytest

from sitr.audit.corpus.correct import CORRECT
from sitr.audit.corpus.specimen import Specimen
from sitr.audit.exact.mechanism import finite
from sitr.mechanisms.laplace import Laplace

BY_NAME = {each.name: each for each in CORRECT}


def stated(name: str) -> tuple[float, float]:
    ((epsilon, delta), *_) = BY_NAME[name].claim.stated
    return epsilon, delta


def test_randomized_response_has_exactly_its_claim() -> None:
    assert finite([["3/4", "1/4"], ["1/4", "3/4"]]).epsilon().upper <= stated("randomized response")[0] < 1.0987


def test_the_threshold_is_passed_with_less_than_its_delta_and_not_much_less() -> None:
    """P(1 + Y ≥ 5) for discrete Laplace noise of scale 1; one less, the broken twin, is too much."""
    tail = {least: math.exp(-(least - 1)) / (1 + math.exp(-1)) for least in (4, 5)}
    epsilon, delta = stated("threshold")
    assert 0.99 * delta < tail[5] <= delta < tail[4]
    assert epsilon == 1.0


def test_the_test_of_propose_test_release_has_its_delta() -> None:
    delta = stated("propose-test-release")[1]
    assert math.exp(-5) / (1 + math.exp(-1)) <= delta < 1.001 * math.exp(-5) / (1 + math.exp(-1))


def test_laplace_noise_in_granules_keeps_epsilon() -> None:
    assert Laplace(scale=1_000, sensitivity=1_000).promise() == BY_NAME["Laplace noise"].claim
    assert not BY_NAME["Laplace noise"].claim.kept_by(Laplace(scale=970, sensitivity=1_000).loss())


@pytest.mark.parametrize("specimen", CORRECT, ids=lambda each: each.name)
def test_its_neighbours_differ(specimen: Specimen) -> None:
    first, second = specimen.inputs
    assert repr(first) != repr(second)
    assert not specimen.broken
