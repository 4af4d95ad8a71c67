"""All threads share Arb's precision: whatever one does to it, the draws of another keep their law."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator

import pytest
from flint import ctx

from sitr.noise.coins import TestCoins
from sitr.noise.gaussian import gaussian_law
from sitr.noise.inversion import Bits
from sitr.noise.laplace import laplace_law
from sitr.noise.rounded import rounded_law


@pytest.fixture
def meddling() -> Iterator[None]:
    """A thread that sets the precision to whatever it likes, all the time."""
    before, interval, stop = ctx.prec, sys.getswitchinterval(), threading.Event()

    def meddle() -> None:
        while not stop.is_set():
            for bits in (20, 53, 300):  # with 2 bits nothing may be known, and then there is an error instead of a draw
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
@pytest.mark.parametrize("sigma", [2, pytest.param(100, marks=pytest.mark.slow)])  # threads may wait for long
def test_rounded_draws_keep_their_law(sigma, misfit, alarm):
    draws = rounded_law(sigma, Bits(4, 9)).many(2000, TestCoins(3))
    edges = range(-6 * sigma, 6 * sigma + 1)
    assert misfit(draws, lambda y: math.erfc(-(y + 0.5) / sigma / math.sqrt(2)) / 2, edges) > alarm
