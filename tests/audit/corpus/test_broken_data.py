"""Broken treatment of rows: each flaw is in the exact figures, before any noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.audit.corpus.broken_data import AMPLIFIED, DATA, noisy_sum, sampled_sum
from sitr.audit.exact.mechanism import finite
from sitr.noise import TestCoins

BY_NAME = {each.name: each for each in DATA}
pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


def test_amplification_is_right_for_a_person_who_joins_and_wrong_for_one_who_is_replaced() -> None:
    """Half of a response of ε = 1: e^AMPLIFIED is the largest ratio to no response, and less than to the opposite."""
    e = math.e
    yes, no = e / (1 + e), 1 / (1 + e)
    joined = finite(np.array([[0.5 * yes + 0.25, 0.5 * no + 0.25], [0.5, 0.5]])).epsilon()
    assert joined.upper < AMPLIFIED
    assert pytest.approx(0.6201, abs=1e-4) == AMPLIFIED


def test_the_sample_takes_half_of_the_people() -> None:
    drawn = sampled_sum(1_000, 4_000, TestCoins(1))
    assert np.mean(drawn > 500_000) == pytest.approx(0.5, abs=0.05)


def test_a_missing_value_shows_and_a_sum_is_in_granules() -> None:
    assert np.isnan(noisy_sum((0.2, math.nan), 3, TestCoins(1))).all()
    assert noisy_sum((0.25, 0.5), 4_000, TestCoins(1)).mean() == pytest.approx(750, abs=100)


def test_the_largest_answer_of_a_capped_count_is_the_count() -> None:
    specimen = BY_NAME["answer capped at the exact count"]
    drawn = [specimen.answers(data, 2_000, TestCoins(1)).max() for data in specimen.inputs]
    assert drawn == list(specimen.inputs)


def test_zero_sensitivity_means_no_noise_on_one_input_only() -> None:
    specimen = BY_NAME["zero sensitivity"]
    spread = [len({*specimen.answers(data, 200, TestCoins(1)).tolist()}) for data in specimen.inputs]
    assert spread[0] == 1 < spread[1]
