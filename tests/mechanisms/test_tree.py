from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sitr.errors import BudgetExceeded
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.tree import RunningCount, Tree
from sitr.noise.coins import TestCoins
from sitr.numbers import ball

STILL = Laplace(scale=Fraction(1, 1000))  # P(Y ≠ 0) < 2e^{−1000}


def blocks(step: int) -> set[tuple[int, int]]:
    """The intervals whose sums make x_1 + … + x_t: powers of two from the largest on, by hand."""
    found, start = set(), 0
    while start < step:
        length = 1
        while start + 2 * length <= step:
            length *= 2
        found.add((start, start + length))
        start += length
    return found


@dataclass
class Marked:
    """In place of noise: the k-th draw is 1000^k, so that every answer says which draws it is made of."""

    drawn: list[int] = field(default_factory=list)

    def release(self, value: int, *, coins: object) -> int:
        assert coins is None
        self.drawn.append(value)
        return value + int(1000 ** len(self.drawn))


def terms(answer: int, increments: int) -> dict[int, int]:
    """How often each draw is in an answer."""
    answer -= increments
    found, place = {}, 0
    while answer:
        answer, times = divmod(answer, 1000)
        if times:
            found[place] = times
        place += 1
    return found


def marked(steps: int, kind: type[RunningCount] = RunningCount) -> tuple[list[dict[int, int]], Marked]:
    count, noise = kind(Tree(STILL, steps), None), Marked()
    object.__setattr__(count, "_noise", noise)
    return [terms(count.release(1), t) for t in range(1, steps + 1)], noise


def is_a_tree(found: list[dict[int, int]]) -> bool:
    """Two sums share exactly the draws of the intervals that they share: variances and covariances are then known."""
    sums = [blocks(t) for t in range(1, len(found) + 1)]
    return all(
        set(one.values()) == {1} and len(one.keys() & other.keys()) == len(mine & theirs)
        for one, mine in zip(found, sums, strict=True)
        for other, theirs in zip(found, sums, strict=True)
    )


class Redrawing(RunningCount):
    """Broken: every sum is made of fresh noise."""

    __slots__ = ()

    def release(self, increment: int) -> int:
        answer = super().release(increment)
        self._noisy[:] = [self._noise.release(0, coins=None) + s if s else s for s in self._sums]
        return answer


# The noise of sums


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 100, 257])
def test_noise_is_drawn_once_for_every_node_and_shared_by_all_sums(steps):
    found, noise = marked(steps)
    assert is_a_tree(found)
    assert len(noise.drawn) == steps  # each step completes one node, and the last of it is all that is new
    assert noise.drawn == [t & -t for t in range(1, steps + 1)]  # of as many increments as its size


def test_fresh_noise_is_caught():
    assert not is_a_tree(marked(20, Redrawing)[0])


def test_one_increment_is_in_one_node_of_every_level():
    """So often it is paid for: exactly for the first one, less often for the others."""
    for steps in (1, 2, 3, 4, 100, 127, 128):
        nodes = set().union(*(blocks(t) for t in range(1, steps + 1)))
        used = [sum(low <= place < high for low, high in nodes) for place in range(steps)]
        assert max(used) == used[0] == Tree(STILL, steps).levels
        assert all(math.log2(high - low).is_integer() for low, high in nodes)


def test_the_variance_is_that_of_so_many_draws(alarm):
    """At step 7 three draws, at step 8 one; 7 and 6 share two. By the exact law of the sum."""
    tree, runs, coins = Tree(Laplace(scale=3), 8), 6000, TestCoins(1)
    answers = np.array([tree.release([0] * 8, coins=coins) for _ in range(runs)])
    for step, draws in [(1, 1), (3, 2), (6, 2), (7, 3), (8, 1)]:
        with ctx.workprec(128):
            tail = laplace_tail(draws, Fraction(3), 5)
        assert binomtest(int(np.sum(answers[:, step - 1] > 5)), runs, tail).pvalue > alarm
        assert binomtest(int(np.sum(answers[:, step - 1] < -5)), runs, tail).pvalue > alarm
        with ctx.workprec(128):
            other = laplace_tail(draws + 1, Fraction(3), 5)
        assert binomtest(int(np.sum(answers[:, step - 1] > 5)), runs, other).pvalue < alarm
    difference = answers[:, 6] - answers[:, 5]  # x_7 alone
    with ctx.workprec(128):
        tail = laplace_tail(1, Fraction(3), 5)
    assert binomtest(int(np.sum(difference > 5)), runs, tail).pvalue > alarm


@given(st.lists(st.integers(-(10**20), 10**20), min_size=1, max_size=70), st.integers(0, 30))
def test_without_noise_the_sums_are_right(increments, more):
    sums = np.cumsum(np.array(increments, dtype=object)).tolist()
    assert Tree(STILL, len(increments) + more).release(increments) == sums


# The promise


@pytest.mark.parametrize(("steps", "levels"), [(1, 1), (2, 2), (3, 2), (4, 3), (1000, 10), (1023, 10), (1024, 11)])
def test_the_promise_counts_the_levels(steps, levels):
    assert Tree(Laplace(10), steps).promise() == PureDP(0.1) * levels
    assert Tree(Gaussian(10), steps).promise() == ZeroConcentratedDP(0.005) * levels
    assert Tree(Laplace(10), steps).loss() == Laplace(10).loss() * levels


@pytest.mark.parametrize(
    "move", [(3, 0, 0, 0, 0), (1, 1, 1, 0, 0), (-1, 2, 0, 0, 0), (1, 0, -1, 0, 1), (0, 0, 3, 0, 0)]
)
def test_no_unit_moves_the_nodes_farther(move):
    """In the sum of sizes each level moves by at most Δ = 3, and all by Δ times their number; the first attains it."""
    far = [
        sum(
            abs(sum(move[low:high]))
            for low, high in set().union(*(blocks(t) for t in range(1, 6)))
            if high - low == size
        )
        for size in (1, 2, 4)
    ]
    assert all(one <= 3 for one in far)
    assert (sum(far) == 9) is (move[0] == 3)


@given(st.floats(1e-6, 1e6), st.integers(1, 2**40), st.integers(1, 100))
def test_what_is_fitted_costs_its_price(size, steps, sensitivity):
    pure = Tree.fitting(PureDP(size), steps=steps, sensitivity=sensitivity).promise()
    assert isinstance(pure, PureDP)
    assert pure.epsilon == size
    spread = Tree.fitting(ZeroConcentratedDP(size), steps=steps, sensitivity=sensitivity).promise()
    assert isinstance(spread, ZeroConcentratedDP)
    assert size * (1 - 1e-12) <= spread.rho <= size


@pytest.mark.parametrize("steps", [0, -3, 1.5, None])
def test_nothing_is_fitted_to_no_steps(steps):
    with pytest.raises(ValueError, match="steps of Tree to be a whole number of at least 1"):
        Tree.fitting(PureDP(1.0), steps=steps)


@pytest.mark.parametrize("price", [PureDP(0.0), ZeroConcentratedDP(0.0)])
def test_nothing_buys_no_noise(price):
    with pytest.raises(ValueError, match=r"(epsilon|rho) of Tree to be a finite number above 0"):
        Tree.fitting(price, steps=5)


# The error


def added(masses: list[arb], times: int) -> list[arb]:
    """The law of a sum by plain convolution."""
    total = [arb(1)]
    for _ in range(times):
        out = [arb(0)] * (len(total) + len(masses) - 1)
        for i, p in enumerate(total):
            for j, q in enumerate(masses):
                out[i + j] += p * q
        total = out
    return total


def laplace_masses(scale: Fraction) -> list[arb]:
    reach = math.ceil(25 * scale)
    window = [(-ball(abs(y) / scale)).exp() for y in range(-reach, reach + 1)]
    return [mass / sum(window, arb(0)) for mass in window]


def laplace_tail(draws: int, scale: Fraction, width: int) -> float:
    """P(S > w) for a sum of so many draws."""
    one, law = np.array([float(mass) for mass in laplace_masses(scale)]), np.ones(1)
    for _ in range(draws):
        law = np.convolve(law, one)
    return float(law[len(law) // 2 + width + 1 :].sum())


def width(masses: list[arb], confidence) -> int:
    middle = len(masses) // 2
    for w in range(middle + 1):
        if sum(masses[middle - w : middle + w + 1], arb(0)) >= ball(confidence):
            return w
    raise AssertionError("the window is too narrow")


@pytest.mark.parametrize("draws", [1, 2, 3, 4])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.95, 0.9999])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2)])
def test_the_error_of_laplace_noise_is_exact(draws, confidence, scale):
    with ctx.workprec(200):
        known = width(added(laplace_masses(scale), draws), confidence)
    assert Tree(Laplace(scale), 2**draws - 1).error(confidence=confidence) == known


@pytest.mark.parametrize("draws", [1, 2, 3, 4])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("sigma", [Fraction(1, 5), Fraction(1), Fraction(5, 2)])
def test_the_error_of_gaussian_noise_is_exact(draws, confidence, sigma):
    with ctx.workprec(200):
        reach = math.ceil(9 * sigma)
        window = [(-ball(y * y / (2 * sigma**2))).exp() for y in range(-reach, reach + 1)]
        masses = [mass / sum(window, arb(0)) for mass in window]
        known = width(added(masses, draws), confidence)
    assert Tree(Gaussian(sigma), 2**draws - 1).error(confidence=confidence) == known


@pytest.mark.parametrize("noise", [Laplace(7), Gaussian(7)])
def test_the_error_follows_the_ones_of_a_step(noise):
    tree = Tree(noise, 1000)
    by_ones = {step.bit_count(): tree.error(step=step) for step in range(1, 1001)}
    assert all(tree.error(step=step) == by_ones[step.bit_count()] for step in (3, 96, 511, 512, 777, 1000))
    assert all(few < many for (_, few), (_, many) in pairwise(sorted(by_ones.items())))
    assert tree.error() == max(by_ones.values())
    assert tree.error(step=1) == noise.error()


def test_large_trees_have_errors_too():
    assert Tree(Laplace(10**9), 2**40).error() > Laplace(10**9).error()
    assert Tree(Gaussian(10**9), 2**40).error() > 6 * Gaussian(10**9).error()


# A count at work


def test_there_are_no_more_steps_than_were_planned():
    count = Tree(STILL, 3).begin()
    assert [count.release(x) for x in (1, 2, 3)] == [1, 3, 6]
    assert count.left == 0
    with pytest.raises(BudgetExceeded, match="all of its 3 increments"):
        count.release(4)
    with pytest.raises(BudgetExceeded):
        Tree(STILL, 3).release([1, 2, 3, 4])


@pytest.mark.parametrize("increment", [1.0, math.nan, None, "1", Fraction(1, 2)])
def test_what_is_no_integer_is_refused_and_changes_nothing(increment):
    count = Tree(STILL, 3).begin()
    with pytest.raises(ValueError, match="integers for Tree"):
        count.release(increment)
    assert count.left == 3
    assert count.release(np.int64(5)) == 5  # type: ignore[arg-type]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_count_has_no_twin(duplicate):
    with pytest.raises(TypeError, match="stays where it began"):
        duplicate(Tree(STILL, 3).begin())


def test_a_fork_cannot_go_on_counting(monkeypatch):
    count = Tree(STILL, 3).begin()
    count.release(1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(BudgetExceeded, match="fork"):
        count.release(1)


def test_threads_take_turns():
    count = Tree(STILL, 2000).begin()
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.extend(count.release(1) for _ in range(250))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(1, 2001))


# Refusals


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, None])
def test_a_tree_has_steps(steps):
    with pytest.raises(ValueError, match="steps of Tree to be a whole number of at least 1"):
        Tree(STILL, steps)


@pytest.mark.parametrize("noise", [Laplace(1, granularity=Fraction(1, 2)), Gaussian(1, 2, 2), None, 3])
def test_a_tree_counts_in_integers(noise):
    with pytest.raises(ValueError, match="noise on integers"):
        Tree(noise, 5)


@pytest.mark.parametrize("step", [0, 6, -1, 1.5, True])
def test_there_is_no_error_at_other_steps(step):
    with pytest.raises(ValueError, match="step of Tree to be a whole number from 1 to 5"):
        Tree(STILL, 5).error(step=step)


def test_the_loss_is_that_of_one_number_on_every_level():
    """The noise of a node is that of one number, though the same noise on a vector would lose more."""
    one = Gaussian(sigma=7, sensitivity=3, single=True)
    assert Tree(Gaussian(sigma=7, sensitivity=3), 5).loss() == Tree(one, 5).loss() == one.loss() * 3
    assert Tree(Laplace(7, 3), 5).loss() == Laplace(7, 3).loss() * 3


def test_steps_of_numpy_do_not_wrap_around():
    tree = Tree(STILL, np.int8(127))  # type: ignore[arg-type]
    assert type(tree.steps) is int
    assert tree.error(step=np.int8(127)) == Tree(STILL, 127).error(step=127)  # type: ignore[arg-type]
    assert Tree(STILL, np.int8(127))._most() == 7  # type: ignore[arg-type]


def test_levels_are_exact_for_long_trees():
    assert Tree(STILL, 2**60 - 1).levels == 60
    assert Tree(Laplace(1), 2**60).promise() == PureDP(61.0)
