"""All samples of a few people in a few cells, one by one: which of them expose somebody, and what the others lose."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import exact

PRICE = RandomDP(PureDP(0.5), 0.9)


def sparse(cells, people, *, price=PRICE):
    mechanism = SparseHistogram.fitting(price, cells=cells, people=people)
    assert isinstance(mechanism, SparseHistogram)
    return mechanism


def counts(sample, cells):
    return tuple(sample.count(cell) for cell in range(cells))


def largest_loss(before, after, scale):
    """max |ln P(z)/Q(z)| over all answers: infinite if a cell is empty in one table only, else Σ|moved|/scale."""
    if [c == 0 for c in before] != [c == 0 for c in after]:
        return math.inf
    return Fraction(sum(abs(a - b) for a, b in zip(before, after, strict=True))) / exact(scale)


def experiment(chances, people, scale, epsilon):
    """Over all samples of n + 1: how likely a loss above ε is, and either way to it; and the largest finite loss."""
    cells = len(chances)
    fails = leaves = comes = Fraction(0)
    largest = Fraction(0)
    for sample in product(range(cells), repeat=people + 1):
        chance = math.prod(chances[cell] for cell in sample)
        before, after = counts(sample[:-1], cells), counts(sample[:-2] + sample[-1:], cells)
        loss = largest_loss(before, after, scale)
        fails += chance * (loss > epsilon)
        largest = max(largest, loss) if loss < math.inf else largest
        leaves += chance * (before[sample[-2]] == 1 and sample[-1] != sample[-2])
        comes += chance * (after[sample[-1]] == 1 and sample[-1] != sample[-2])
    return fails, leaves, comes, largest


CHANCES = [
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 5), Fraction(4, 5)),
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    (Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),
    (Fraction(1, 10), Fraction(0), Fraction(9, 10)),
]


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("people", [1, 2, 4, 6])
def test_the_promise_holds_exactly(chances, people):
    mechanism = SparseHistogram(len(chances), people, Laplace(scale=4, sensitivity=2))
    promise, epsilon = mechanism.promise(), Fraction(1, 2)
    fails, leaves, comes, largest = experiment(chances, people, 4, epsilon)
    assert promise.inner == PureDP(0.5)
    alone = sum(p * (1 - p) ** people for p in chances)
    assert leaves == comes == alone
    assert fails <= min(1, leaves + comes) <= exact(promise.gamma)
    assert fails > leaves or people == 1
    if people > 2:  # then four people can be in two cells, two in each
        assert largest == epsilon


def test_noise_for_a_sensitivity_of_one_would_break_it():
    *_, largest = experiment(CHANCES[0], 4, 2, Fraction(1, 2))
    assert largest == 1 > Fraction(1, 2)


@given(st.integers(1, 400), st.integers(1, 400))
def test_gamma_is_the_largest_possible_sum_and_its_formula(cells, people):
    promise = SparseHistogram(cells, people, Laplace(scale=4, sensitivity=2)).promise()
    p = Fraction(1, max(cells, people + 1))
    exactly = min(Fraction(1), 2 * cells * p * (1 - p) ** people)
    assert 0 <= exact(promise.gamma) - exactly <= Fraction(1, 10**13)
    assert exactly <= Fraction(2 * cells, people)  # the published gate is weaker


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda x: sum(x) > 1e-6), st.integers(1, 30))
def test_no_population_exceeds_what_is_said_to_be_the_worst(weights, people):
    p = np.array(weights) / sum(weights)
    mechanism = SparseHistogram(len(weights), people, Laplace(scale=4, sensitivity=2))
    assert min(1.0, 2 * np.sum(p * (1 - p) ** people)) <= mechanism.promise().gamma * (1 + 1e-9)
    assert people * np.sum(p * (1 - p) ** (people - 1)) <= mechanism.exposed() * (1 + 1e-9)


@pytest.mark.parametrize(("cells", "people"), [(8, 5), (50, 50), (400, 20)])
def test_where_there_are_many_cells_an_even_population_is_the_worst(cells, people):
    mechanism = SparseHistogram(cells, people, Laplace(scale=4, sensitivity=2))
    assert mechanism.exposed() == pytest.approx(people * (1 - 1 / cells) ** (people - 1), rel=1e-12)


@pytest.mark.parametrize(("cells", "people"), [(5, 100), (25, 500), (100, 200)])
def test_where_there_are_few_it_is_nearly_attained(cells, people):
    """By k − 1 cells of probability 1/n, or 1/(n + 1), and one that has the rest."""
    mechanism = SparseHistogram(cells, people, Laplace(scale=4, sensitivity=2))
    exposed = (cells - 1) * (1 - 1 / people) ** (people - 1)
    assert exposed <= mechanism.exposed() <= exposed * cells / (cells - 1) * (1 + 1e-12)
    p = 1 / (people + 1)
    gamma = 2 * (cells - 1) * p * (1 - p) ** people
    assert gamma <= mechanism.promise().gamma <= gamma * cells / (cells - 1) * (1 + 1e-12)


def test_the_gate_is_open_exactly_when_gamma_is_large_enough():
    least = SparseHistogram(25, 500, Laplace(scale=20, sensitivity=2)).promise().gamma
    assert least == pytest.approx(0.0368, abs=5e-5)
    assert isinstance(SparseHistogram.fitting(RandomDP(PureDP(0.1), least), cells=25, people=500), SparseHistogram)
    below = RandomDP(PureDP(0.1), math.nextafter(least, 0))
    assert SparseHistogram.fitting(below, cells=25, people=500) == Laplace(scale=20, sensitivity=2)


def test_the_promise_covers_the_price_and_names_its_parts():
    promise = sparse(25, 500, price=RandomDP(PureDP(0.1), 0.05)).promise()
    assert promise.covers(RandomDP(PureDP(0.1), 0.05))
    assert promise.basis is Basis.FINITE_SAMPLE
    assert [name for name, _ in promise.parts] == ["alone who leaves", "alone who comes"]
    assert sum(share for _, share in promise.parts) == pytest.approx(promise.gamma)


def test_a_million_people_in_a_thousand_cells():
    mechanism = sparse(1000, 10**6)
    assert mechanism.promise().gamma == pytest.approx(2e-3 / math.e, rel=1e-5)
    assert mechanism.exposed() == pytest.approx(1000 / math.e, rel=1e-5)


# What is released


def test_empty_cells_are_zero_and_the_others_have_the_noise():
    table = np.array([0, 7, 0, 0, 12, 1])
    mechanism = sparse(6, 20)
    noisy = mechanism.release(table, coins=TestCoins(5))
    expected = mechanism.noise.release(table[[1, 4, 5]], coins=TestCoins(5))
    assert noisy.tolist() == [0, expected[0], 0, 0, expected[1], expected[2]]
    assert mechanism.release(table.tolist(), coins=TestCoins(5)) == noisy.tolist()


def test_very_wide_noise_is_exact_too():
    mechanism = SparseHistogram(3, 5, Laplace(scale=2**70, sensitivity=2))
    noisy = mechanism.release([0, 5, 0])
    assert noisy[0] == noisy[2] == 0
    assert abs(noisy[1]) > 2**40


def test_the_error_is_that_of_the_noise():
    assert sparse(25, 500).error() == Laplace(scale=4).error()


@pytest.mark.parametrize(
    "table",
    [
        [1, 2],
        [1, 2, 3, 4],
        [1, 2, 4],
        [-1, 3, 4],
        [1.0, 2.0, 3.0],
        np.ma.masked_equal([1, 2, 3], 2),
        "123",
        [[1, 2, 3]],
    ],
    ids=["short", "long", "another sum", "negative", "floats", "masked", "text", "nested"],
)
def test_other_tables_are_refused(table):
    with pytest.raises(DescriptionError, match="counts of 3 cells that sum to 6 people"):
        SparseHistogram(3, 6, Laplace(scale=4, sensitivity=2)).release(table)


def test_what_makes_no_sense_is_refused():
    noise = Laplace(scale=4, sensitivity=2)
    for cells, people in ((0, 5), (5, 0), (2.0, 5), (True, 5)):
        with pytest.raises(DescriptionError, match="at least 1"):
            SparseHistogram(cells, people, noise)  # type: ignore[arg-type]
    for wrong in (Laplace(scale=4, sensitivity=1), Laplace(scale=4, sensitivity=2, granularity=0.5)):
        with pytest.raises(DescriptionError, match="sensitivity of 2"):
            SparseHistogram(3, 5, wrong)
    for price in (PureDP(1.0), RandomDP(ApproximateDP(1.0, 1e-6), 0.1)):
        with pytest.raises(InvalidPromise, match="gamma around PureDP"):
            SparseHistogram.fitting(price, cells=3, people=5)  # type: ignore[arg-type]
    histogram: Mechanism = sparse(3, 50)
    assert histogram.loss() is None
    assert SparseHistogram.relation is Relation.REPLACE_ONE
