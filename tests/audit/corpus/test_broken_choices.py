"""Broken choices: the parts they share with correct mechanisms, and flaws that need no statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.audit.corpus.broken_choices import CHOICES, UNIT, above, exponential, noisy_max, thresholded, truthful
from sitr.audit.corpus.broken_choices import tested as released_if_far
from sitr.audit.exact.mechanism import finite
from sitr.noise import TestCoins

BY_NAME = {each.name: each for each in CHOICES}
pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


def test_the_sparse_vector_stops_after_as_many_times_yes() -> None:
    found = above((100,) * 5, 50, TestCoins(1), threshold=1, query=1, most=2)
    assert found.tolist() == [[1, 1, -1, -1, -1]] * 50
    endless = above((100,) * 5, 50, TestCoins(1), threshold=1, query=1, most=None)
    assert endless.tolist() == [[1] * 5] * 50


def test_without_noise_on_the_queries_two_answers_exclude_each_other() -> None:
    """Variant 5: (0, 1) never answers yes, no, and (1, 0) never no, yes."""
    specimen = BY_NAME["sparse vector, variant 5"]
    first, second = ({*map(tuple, specimen.answers(data, 4_000, TestCoins(1)).tolist())} for data in specimen.inputs)
    assert (0, 1) in first - second
    assert (1, 0) in second - first


def test_variant_3_shows_the_value_that_passed() -> None:
    found = above((100,), 20, TestCoins(1), threshold=1, query=1, most=1, shown=True)
    assert (np.abs(found - 100) < 30).all()
    assert len({*found[:, 0].tolist()}) > 10


def test_the_exponential_mechanism_has_twice_its_claimed_loss() -> None:
    rows = []
    for data in BY_NAME["exponential mechanism without the factor 2"].inputs:
        weights = np.exp(np.asarray(data, dtype=float))
        rows.append(weights / weights.sum())
        shares = np.bincount(exponential(data, 20_000, TestCoins(1), rate=1.0)) / 20_000
        assert shares == pytest.approx(rows[-1], abs=0.02)
    assert finite(np.array(rows)).epsilon().lower > 1.5


def test_three_fourths_of_the_truth_are_ln_3() -> None:
    claim = BY_NAME["randomized response with three fourths of the truth"].claim
    assert finite([["3/4", "1/4"], ["1/4", "3/4"]]).verify(claim).verdict.value == "broken"
    assert truthful(1, 20_000, TestCoins(1), truth=0.75).mean() == pytest.approx(0.75, abs=0.02)


def test_a_key_of_nobody_is_never_shown_and_a_failed_test_shows_nothing() -> None:
    assert np.isnan(thresholded(0, 10, TestCoins(1), least=-100)).all()
    assert not np.isnan(thresholded(100, 10, TestCoins(1), least=5)).any()
    assert np.isnan(released_if_far((1, -100), 10, TestCoins(1), least=5)).all()
    assert released_if_far((1, 100), 10, TestCoins(1), least=5).tolist() == [1.0] * 10


def test_the_largest_noisy_value_or_its_place() -> None:
    places = noisy_max((0, 50), 100, TestCoins(1), scale=1, value=False)
    assert places.tolist() == [1] * 100
    values = noisy_max((0, 50), 100, TestCoins(1), scale=1, value=True)
    assert math.isclose(values.mean() / UNIT, 50, abs_tol=1)
