"""All threads share Arb's precision: whatever one does to it, the draws of another keep their law and their bounds."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from flint import ctx

from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.quantile import choose
from sitr.mechanisms.response import UnaryResponse
from sitr.mechanisms.threshold import Threshold
from sitr.noise.coins import TestCoins
from sitr.noise.gaussian import discrete_gaussian_width, gaussian_law
from sitr.noise.inversion import Bits
from sitr.noise.laplace import discrete_laplace_width, laplace_law
from sitr.noise.rounded import rounded_laplace, rounded_law
from sitr.noise.selection import SelectionLaw


@pytest.fixture
def meddling() -> Iterator[None]:
    """A thread that sets the precision to whatever it likes, all the time."""
    before, interval, stop = ctx.prec, sys.getswitchinterval(), threading.Event()

    def meddle() -> None:
        while not stop.is_set():
            for bits in (2, 20, 53, 300):
                ctx.prec = bits

    thread = threading.Thread(target=meddle)
    sys.setswitchinterval(1e-6)
    thread.start()
    yield
    stop.set()
    thread.join()
    sys.setswitchinterval(interval)
    ctx.prec = before


@pytest.mark.usefixtures("meddling")
def test_draws_keep_their_law(misfit, alarm):
    digits = Bits(4, 9)  # tables of this test alone, and many ties
    laplace = laplace_law(3, digits).many(2000, TestCoins(1))
    q = math.exp(-1 / 3)
    assert (
        misfit(
            laplace,
            lambda y: 1 - q ** (y + 1) / (1 + q) if y >= 0 else q**-y / (1 + q),
            range(-30, 31),
        )
        > alarm
    )
    gaussian = gaussian_law(2, digits).many(2000, TestCoins(2))
    weights = [math.exp(-(y**2) / 8) for y in range(-40, 41)]
    assert misfit(gaussian, lambda y: math.fsum(weights[: y + 41]) / math.fsum(weights), range(-12, 13)) > alarm


@pytest.mark.usefixtures("meddling")
@pytest.mark.parametrize("sigma", [2, 100])
def test_rounded_draws_keep_their_law(sigma, misfit, alarm):
    draws = rounded_law(sigma, Bits(4, 9)).many(2000, TestCoins(3))
    edges = range(-6 * sigma, 6 * sigma + 1)
    assert misfit(draws, lambda y: math.erfc(-(y + 0.5) / sigma / math.sqrt(2)) / 2, edges) > alarm


@pytest.mark.usefixtures("meddling")
def test_single_draws_and_choices_keep_their_law(misfit, alarm):
    coins = TestCoins(4)
    laplace = [rounded_laplace(scale=2, coins=coins) for _ in range(300)]
    assert (
        misfit(
            laplace,
            lambda y: 1 - math.exp(-(y + 0.5) / 2) / 2 if y >= 0 else math.exp((y + 0.5) / 2) / 2,
            range(-20, 21),
        )
        > alarm
    )
    law = SelectionLaw([0, -1, -2], Bits(4, 9))
    weights = [1, math.exp(-1), math.exp(-2)]
    assert misfit(law.many(500, coins), lambda i: math.fsum(weights[: i + 1]) / math.fsum(weights), range(3)) > alarm
    runs = [choose([2, 1, 3], [0, 1, 2], Fraction(1, 2), coins) for _ in range(300)]
    weights = [2, math.exp(-0.5), 3 * math.exp(-1)]
    assert misfit(runs, lambda i: math.fsum(weights[: i + 1]) / math.fsum(weights), range(3)) > alarm


def _results() -> tuple[object, ...]:
    """What depends on Arb at many precisions: tables, single draws, bounds and midpoints that become bounds."""
    for cached in (gaussian_law, laplace_law, rounded_law):
        cached.cache_clear()
    return (
        laplace_law(3, Bits(4, 9)).many(50, TestCoins(1)).tolist(),
        gaussian_law(2, Bits(4, 9)).many(50, TestCoins(2)).tolist(),
        rounded_law(100, Bits(4, 9)).many(50, TestCoins(3)).tolist(),
        rounded_laplace(scale=1000, coins=TestCoins(5)),
        discrete_laplace_width(scale=1000, confidence=0.95),
        discrete_gaussian_width(sigma=1000, confidence=0.99),
        GaussianDP(1.5).to_approximate(delta=1e-9),
        ZeroConcentratedDP(0.5).to_approximate(delta=1e-9),
        PureDP(0.25).to_concentrated(),
        response(0.3, answers=5, infinite=1e-7),
        Loss.of(response(0.1), 30).epsilon(delta=1e-6),
        UnaryResponse(epsilon=2, answers=3).loss().epsilon(delta=1e-3),
        Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30).promise(),
    )


def test_threads_of_sitr_leave_each_other_alone():
    """Every thread gets what one thread alone gets, to the last digit, and the precision is what it was."""
    before, interval, expected = ctx.prec, sys.getswitchinterval(), _results()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = [run.result() for run in [pool.submit(_results) for _ in range(12)]]
    finally:
        sys.setswitchinterval(interval)
    assert all(each == expected for each in found)
    assert ctx.prec == before
