"""Sentences: their numbers are bounds, and they say what is so and not what is not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.numbers import exact
from sitr.questions.aggregate.release import Release
from sitr.report.headline import Headline
from sitr.report.headline import headline as headline_of
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation


def test_the_releases_are_what_their_names_say(make) -> None:
    assert make("known").plan.threshold is None
    assert make("thresholded").plan.threshold is not None
    assert make("gaussian_with_threshold").plan.finite_tail() > 0
    assert not make("empty").keys


def test_what_a_pure_promise_means(make) -> None:
    query = make("known").plan.query
    for promise in (PureDP(0.5), ApproximateDP(0.5, 0.0)):
        headline = Headline.of(promise)
        assert ENGLISH.meaning(headline, query) == (
            "Anything that anyone could do or conclude because of this answer is at most 1.65 times as likely with "
            "your data as without them, and vice versa."
        )
        assert ENGLISH.odds(headline, query) == (
            "Whatever anyone believed beforehand about whether you are in these data, this answer changes the odds by "
            "at most a factor of 1.65."
        )
    assert ENGLISH.whole(PureDP(2.0), query).endswith("changes the odds by at most a factor of 7.39.")


def test_an_approximate_promise_is_stated_as_it_is_defined(make) -> None:
    promise, known, one_row = ApproximateDP(1.0, 1e-6), make("known").plan.query, make("one_row").plan.query
    headline = Headline.of(promise)
    replaced = replace(one_row, view=replace(one_row.view, relation=Relation.REPLACE_ONE))
    assert ENGLISH.meaning(headline, known) == (
        "Anything that anyone could do or conclude because of this answer is at most 2.72 times as likely with your "
        "data as without them, plus at most 10⁻⁶ (1 in 1,000,000), and vice versa."
    )
    for query, here, there in (
        (one_row, "with any one row", "without it"),
        (make("replaced").plan.query, "with your rows", "with any other person's rows in their place"),
        (replaced, "with any one row", "with any other row in its place"),
    ):
        for sentence in (ENGLISH.meaning(headline, query), ENGLISH.whole(promise, query)):
            assert f"2.72 times as likely {here} as {there}, plus at most 10⁻⁶ " in sentence
        assert ENGLISH.odds(headline, query) == ""
    assert ENGLISH.headline(headline) == "ε = 1, δ = 10⁻⁶"
    assert "e^ε" in ENGLISH.reading(headline)


def test_a_zero_concentrated_promise_has_both_readings_each_with_its_own_sentence(make) -> None:
    promise, query = ZeroConcentratedDP(0.05), make("known").plan.query
    headline = Headline.of(promise)
    means = "4.36 times as likely with your data as without them, plus at most 10⁻⁶ "
    moves = "towards the truth by more than a factor of 5.55 with probability at most 10⁻⁶ (1 in 1,000,000)."
    assert ENGLISH.headline(headline) == "ε = 1.472, δ = 10⁻⁶"
    assert means in ENGLISH.meaning(headline, query)
    assert moves in ENGLISH.odds(headline, query)
    assert "odds" not in ENGLISH.meaning(headline, query)
    assert means in ENGLISH.whole(promise, query)
    assert moves in ENGLISH.whole(promise, query)
    assert "As (ε, δ) it is ε = 1.472, δ = 10⁻⁶." in ENGLISH.reading(headline)
    assert "ε′ = ρ + 2√(ρ ln(1/δ)) = 1.713 with probability at most δ" in ENGLISH.reading(headline)
    assert "ε′ = ξ + ρ + 2√(ρ ln(1/δ))" in ENGLISH.reading(Headline.of(ZeroConcentratedDP(0.05, xi=0.1)))


def test_a_random_promise_never_speaks_without_its_gamma(make) -> None:
    headline, query = Headline.of(RandomDP(PureDP(1.0), 0.05)), make("known").plan.query
    assert ENGLISH.headline(headline) == "ε = 1, δ = 0, γ = 0.05"
    assert "γ = 0.05" in ENGLISH.meaning(headline, query)
    assert ENGLISH.odds(headline, query).startswith("For the others: ")


def test_a_promise_of_nearly_nothing_is_said_to_be_that(make) -> None:
    headline = replace(Headline.of(ZeroConcentratedDP(1.0)), implied=math.inf, odds=math.inf)
    assert ENGLISH.meaning(headline, make("known").plan.query).endswith("next to nothing is promised.")
    assert ENGLISH.odds(headline, make("known").plan.query).endswith("may move the odds by any factor.")
    assert ENGLISH.headline(headline) == "ε = ∞, δ = 10⁻⁶"


Density = Callable[[int], float]


def pair(noise: Gaussian | Laplace) -> tuple[Density, Density, range]:
    """The law of a number with this noise, the same where one person moves it, and where to look."""
    moved, size = int(noise.sensitivity), float(noise.scale if isinstance(noise, Laplace) else noise.sigma)
    reach = math.ceil(30 * size) + moved

    def weight(y: int) -> float:
        return math.exp(-abs(y) / size if isinstance(noise, Laplace) else -y * y / (2 * size * size))

    places = range(-reach, reach + 1)
    whole = math.fsum(map(weight, places))
    return lambda y: weight(y) / whole, lambda y: weight(y - moved) / whole, places


def exceeded(noise: Gaussian | Laplace, factor: float) -> float:
    """P(e^L > factor)."""
    p, q, places = pair(noise)
    return math.fsum(p(y) for y in places if p(y) > factor * q(y))


def excess(noise: Gaussian | Laplace, factor: float) -> float:
    """The most by which P exceeds factor · Q on any event: on the event where the loss exceeds ln(factor)."""
    p, q, places = pair(noise)
    return math.fsum(max(0.0, p(y) - factor * q(y)) for y in places)


def stated(sentence: str, pattern: str) -> float:
    found = re.search(pattern + r" ([\d,]+(?:\.\d+)?)\b", sentence)
    assert found
    return float(found[1].replace(",", ""))


@pytest.mark.parametrize("moved", [1, 40])
@pytest.mark.parametrize("rho", [0.005, 0.05, 0.5])
def test_the_loss_of_gaussian_noise_stays_within_the_sentence(make, rho: float, moved: int) -> None:
    noise = Gaussian.fitting(ZeroConcentratedDP(rho), sensitivity=moved)
    headline, query = Headline.of(noise.promise()), make("known").plan.query
    sentence = ENGLISH.odds(headline, query)
    assert "probability at most 10⁻⁶ " in sentence
    assert exceeded(noise, stated(sentence, "a factor of")) <= 1e-6
    # The factor of (ε, δ) is no such bound, though it is a promise that this noise keeps.
    factor = stated(ENGLISH.meaning(headline, query), "at most")
    assert excess(noise, factor) <= 1e-6 < exceeded(noise, factor)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_loss_of_laplace_noise_stays_within_the_sentence(make, epsilon: float) -> None:
    noise = Laplace.fitting(PureDP(epsilon), sensitivity=5)
    headline, query = Headline.of(noise.promise()), make("known").plan.query
    factor = stated(ENGLISH.odds(headline, query), "a factor of")
    assert factor == stated(ENGLISH.meaning(headline, query), "at most")
    assert exceeded(noise, factor) == 0
    assert exceeded(noise, 0.98 * factor) > 0.1


@pytest.mark.parametrize(
    ("noise", "epsilon"),
    [
        (Gaussian(sigma=20, sensitivity=20), 1.0),
        (Gaussian(sigma=40, sensitivity=10), 0.3),
        (Laplace(scale=10, sensitivity=10), 0.8),
        (Laplace(scale=50, sensitivity=20), 0.1),
    ],
)
def test_an_approximate_sentence_holds_and_is_no_tail_bound(make, noise: Gaussian | Laplace, epsilon: float) -> None:
    promise = ApproximateDP(epsilon, excess(noise, math.exp(epsilon)))
    sentence = ENGLISH.meaning(Headline.of(promise), make("known").plan.query)
    factor, delta = stated(sentence, "is at most"), stated(sentence, "plus at most")
    assert excess(noise, factor) <= delta
    assert excess(noise, 0.95 * factor) > delta
    assert exceeded(noise, factor) > 1.5 * delta


def test_who_is_protected(make) -> None:
    assert "all rows with the same patient" in ENGLISH.protected(make("known").plan.query)
    assert "with or without" in ENGLISH.protected(make("known").plan.query)
    assert "The number of people is not protected" in ENGLISH.protected(make("replaced").plan.query)
    assert "the number of people" in ENGLISH.aggregate.public(make("replaced").plan.query)
    assert "the number of people" not in ENGLISH.aggregate.public(make("known").plan.query)
    assert ENGLISH.protected(make("one_row").plan.query).startswith("Each single row is protected")
    assert "row by row, not as a whole" in ENGLISH.aggregate.contribution(make("one_row").plan.query)


def test_the_caps_are_stated(make) -> None:
    assert "at most 2 rows in each of at most 3 groups" in ENGLISH.aggregate.contribution(make("known").plan.query)
    ungrouped = make("ungrouped").plan.query
    assert f"contributes at most {ungrouped.max_rows_per_group} rows. " in ENGLISH.aggregate.contribution(ungrouped)
    one = replace(ungrouped, max_rows_per_group=1)
    assert "contributes at most 1 row. " in ENGLISH.aggregate.contribution(one)


def test_rows_of_nobody_are_left_out(make) -> None:
    said = "rows without a value in patient are always left out"
    assert said in ENGLISH.aggregate.contribution(make("known").plan.query)
    assert said not in ENGLISH.aggregate.contribution(make("one_row").plan.query)


def test_the_two_ways_to_fail_are_kept_apart(make) -> None:
    both = make("gaussian_with_threshold").plan
    assert "4.544 × 10⁻⁷" in ENGLISH.aggregate.exposure(both)
    assert "5.457 × 10⁻⁷ of δ" in ENGLISH.aggregate.tail(both)
    assert "would expose that person outright" in ENGLISH.aggregate.exposure(make("thresholded").plan)
    pure = make("hostile").plan
    assert ENGLISH.aggregate.exposure(pure).startswith("Nobody can be exposed outright")
    assert ENGLISH.aggregate.tail(pure).startswith("There is no finite tail")
    gaussian = make("ungrouped").plan
    assert ENGLISH.aggregate.exposure(gaussian).startswith("Nobody can be exposed outright")
    assert "no fixed ceiling" in ENGLISH.aggregate.tail(gaussian)


def test_public_knowledge_names_bounds_granularity_and_keys(make) -> None:
    assumed = ENGLISH.aggregate.public(make("known").plan.query)
    assert "the bounds of cost, 0 to 5,000, and its granularity, 0.01" in assumed
    assert any(line.startswith("the 6 keys of ward: cardiology, ") and line.endswith("(no value)") for line in assumed)
    assert not any("keys of" in line for line in ENGLISH.aggregate.public(make("thresholded").plan.query))


def test_the_threshold_is_stated(make) -> None:
    plan = make("thresholded").plan
    assert plan.threshold is not None
    assert f"is at least {plan.threshold.least}" in ENGLISH.aggregate.shown_keys(plan)
    assert ENGLISH.aggregate.shown_keys(make("known").plan).startswith("All 6 keys were declared public. Each is in")
    assert ENGLISH.aggregate.shown_keys(make("one_row").plan).startswith("The only key was declared public. It is in")


def test_the_arithmetic_can_be_followed(answer: Release) -> None:
    """The numbers of every line give its result, and the results stay within the price."""
    *lines, total = ENGLISH.aggregate.checks(answer.plan, headline_of(answer.plan))
    counted = [each for each in answer.plan.noisy if each.passed is not None]  # the line of the keys, without δ
    for column, line in zip((*answer.plan.first, *counted), (each.partition(";")[0] for each in lines), strict=False):
        numbers = [float(text.replace(",", "")) for text in re.findall(r"[\d,]*\d(?:\.\d+)?", line.rpartition("Δ")[2])]
        result = numbers[-1]
        promise = column.noise.promise()
        if isinstance(promise, GaussianDP):
            assert result == pytest.approx(math.sqrt(numbers[0]) / numbers[1], rel=1e-4)
        elif "σ" in line:
            squares, sigma = numbers[-4], numbers[-2]
            assert result == pytest.approx(squares / (2 * sigma**2), rel=1e-4)
        else:
            assert result == pytest.approx(numbers[0] / numbers[1], rel=1e-4)
        share = next(getattr(promise, name) for name in ("mu", "epsilon", "rho") if hasattr(promise, name))
        assert exact(share) <= exact(result) <= exact(share) * Fraction(100_002, 100_000)
    assert total.endswith(f"within the price {notation(answer.plan.price)}")


def test_keys_are_told_apart_from_text(make) -> None:
    assert ENGLISH.aggregate.label((None, True, 2024, "")) == "(no value) · true · 2024 · (empty text)"
    assert ENGLISH.aggregate.label(()) == "all rows"
    assert isinstance(make("one_row").plan.query.unit, Row)
