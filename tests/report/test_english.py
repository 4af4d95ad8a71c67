"""Sentences: their numbers are bounds, and they say what is so and not what is not."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import exact
from sitr.neighbors.unit import Row
from sitr.releases.release import Release
from sitr.report.english import ENGLISH
from sitr.report.words import READING_DELTA, as_approximate, notation, odds


def test_the_releases_are_what_their_names_say(make) -> None:
    assert make("known").plan.threshold is None
    assert make("thresholded").plan.threshold is not None
    assert make("gaussian_with_threshold").plan.tail_delta > 0
    assert not make("empty").keys


def test_what_a_pure_promise_means(make) -> None:
    sentence = ENGLISH.meaning(PureDP(0.5), make("known").plan.query)
    assert sentence.endswith(
        "about whether you are in these data, this answer changes the odds by at most a factor of 1.65."
    )
    assert ENGLISH.whole(PureDP(2.0)).endswith("by at most a factor of 7.39.")


def test_what_an_approximate_promise_means(make) -> None:
    sentence = ENGLISH.meaning(ApproximateDP(1.0, 1e-6), make("known").plan.query)
    assert "at most a factor of 2.72, apart from an event of probability at most 10⁻⁶ (1 in 1,000,000)" in sentence


def test_a_zero_concentrated_promise_is_read_by_its_arrow_and_says_so(make) -> None:
    promise = ZeroConcentratedDP(0.5)
    bound = promise.to_approximate(delta=READING_DELTA)
    assert as_approximate(promise) == bound
    assert f"factor of {odds(bound.epsilon)}" in ENGLISH.meaning(promise, make("known").plan.query)
    assert "this δ was chosen for reading" in ENGLISH.reading(promise)
    assert notation(bound) in ENGLISH.reading(promise)
    assert "chosen for reading" not in ENGLISH.reading(bound)


def test_who_is_protected(make) -> None:
    assert "all rows with the same patient" in ENGLISH.protected(make("known").plan.query)
    assert "with or without" in ENGLISH.protected(make("known").plan.query)
    assert "The number of people is not protected" in ENGLISH.protected(make("replaced").plan.query)
    assert "the number of people" in ENGLISH.public(make("replaced").plan.query)
    assert "the number of people" not in ENGLISH.public(make("known").plan.query)
    assert ENGLISH.protected(make("one_row").plan.query).startswith("Each single row is protected")
    assert "row by row, not as a whole" in ENGLISH.contribution(make("one_row").plan.query)


def test_caps_are_told_as_they_are(make) -> None:
    assert "at most 2 rows in each of at most 3 groups" in ENGLISH.contribution(make("known").plan.query)
    assert "at most 2 rows." in ENGLISH.contribution(make("ungrouped").plan.query)


def test_the_two_ways_to_fail_are_kept_apart(make) -> None:
    both = make("gaussian_with_threshold").plan
    assert "4.966 × 10⁻⁷" in ENGLISH.exposure(both)
    assert "5 × 10⁻⁷" in ENGLISH.tail(both)
    only_keys = make("thresholded").plan
    assert "expose that one outright" in ENGLISH.exposure(only_keys)
    assert ENGLISH.tail(only_keys).startswith("There is no finite tail")
    gaussian = make("ungrouped").plan
    assert ENGLISH.exposure(gaussian).startswith("Nobody can be exposed outright")
    assert "no fixed ceiling" in ENGLISH.tail(gaussian)


def test_public_knowledge_names_bounds_granularity_and_keys(make) -> None:
    assumed = ENGLISH.public(make("known").plan.query)
    assert "the bounds of cost, 0 to 5,000, and its granularity, 0.01" in assumed
    assert any(line.startswith("the 6 keys of ward: cardiology, ") and line.endswith("(no value)") for line in assumed)
    assert not any("keys of" in line for line in ENGLISH.public(make("thresholded").plan.query))


def test_the_threshold_is_told(make) -> None:
    plan = make("thresholded").plan
    assert plan.threshold is not None
    assert f"is at least {plan.threshold.least}" in ENGLISH.shown_keys(plan)
    assert "declared as public" in ENGLISH.shown_keys(make("known").plan)


def test_the_arithmetic_can_be_followed(answer: Release) -> None:
    """The numbers of every line give its result, and the results stay within the price."""
    *lines, total = ENGLISH.checks(answer.plan)
    for column, line in zip(answer.plan.columns, lines, strict=False):
        numbers = [float(text.replace(",", "")) for text in re.findall(r"[\d,]*\d(?:\.\d+)?", line.rpartition("Δ")[2])]
        result = numbers[-1]
        if "σ" in line:
            squares, sigma = numbers[-4], numbers[-2]
            assert result == pytest.approx(squares / (2 * sigma**2), rel=1e-4)
        else:
            assert result == pytest.approx(numbers[0] / numbers[1], rel=1e-4)
        promise = column.noise.promise()
        share = promise.epsilon if isinstance(promise, PureDP) else promise.rho
        assert exact(share) <= exact(result) <= exact(share) * Fraction(100_002, 100_000)
    assert total.endswith(f"within the price {notation(answer.plan.price)}")


def test_keys_are_told_apart_from_text(make) -> None:
    assert ENGLISH.label((None, True, 2024, "")) == "(no value) · true · 2024 · (empty text)"
    assert ENGLISH.label(()) == "all rows"
    assert isinstance(make("one_row").plan.query.unit, Row)
