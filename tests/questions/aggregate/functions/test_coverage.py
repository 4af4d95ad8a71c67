"""Intervals hold the exact number as often as they say, in ten thousand releases of each kind.

The exact binomial tail leaves a sound interval a chance of 10⁻⁷ to fail here. Each kind has a broken twin, which takes
one of its numbers for exact or splits nothing, and which falls out of that tail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from sitr.mechanisms.additive import Noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.functions.combined import Applied, Placed
from sitr.questions.aggregate.functions.function import AnyFormula, show
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.functions.moments import (
    CorrelationFormula,
    CovarianceFormula,
    VarianceFormula,
    centred_mean,
)

RELEASES = 10_000
ALPHA = Fraction(5, 100)
ONE, ZERO = Fraction(1), Fraction(0)
X, Y = (Fraction(-50), Fraction(50)), (Fraction(-40), Fraction(40))


@dataclass(frozen=True)
class Kind:
    """A formula, the exact numbers, the size of each noise and the exact value; `broken` are noises to forget."""

    formula: AnyFormula
    exact: tuple[Fraction, ...]
    sizes: tuple[int, ...]
    true: Fraction
    broken: tuple[int, ...]
    tight: float
    """The median half-width over the 95% quantile of the error: at most this, so that it is not idly wide."""


def kinds() -> dict[str, Kind]:
    draw = np.random.default_rng(5)
    x = np.rint(draw.normal(10, 15, 800)).clip(-50, 50).astype(int)
    y = np.rint(0.6 * x + draw.normal(0, 12, 800)).clip(-40, 40).astype(int)
    n, sx, sy, qx, qy, p = (
        Fraction(int(total)) for total in (800, x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum())
    )
    variance, covariance = qx / n - (sx / n) ** 2, p / n - sx * sy / n**2
    other = qy / n - (sy / n) ** 2
    ratio = Quotient(Linear((ONE, ZERO)), Linear((ZERO, ONE)))
    difference = Applied("-", (Placed(centred_mean(*X), (0, 2)), Placed(centred_mean(*Y), (1, 2))))
    return {
        "mean": Kind(centred_mean(*X), (sx, n), (50, 1), sx / n, (0,), 1.2),
        "ratio": Kind(ratio, (qx, qy), (2500, 1600), qx / qy, (1,), 1.3),
        "share": Kind(replace(ratio, low=ZERO, high=ONE, count=1), (Fraction(90), n), (1, 1), 90 / n, (0,), 1.4),
        "variance": Kind(VarianceFormula(*X), (qx, sx, n), (2500, 50, 1), variance, (0,), 1.25),
        "sample variance": Kind(
            VarianceFormula(*X, sample=True), (qx, sx, n), (2500, 50, 1), variance * n / (n - 1), (0,), 1.25
        ),
        "deviation": Kind(
            VarianceFormula(*X, deviation=True),
            (qx, sx, n),
            (2500, 50, 1),
            Fraction(float(variance) ** 0.5),
            (0,),
            1.25,
        ),
        "covariance": Kind(CovarianceFormula(X, Y), (p, sx, sy, n), (2000, 50, 40, 1), covariance, (0,), 1.25),
        "correlation": Kind(
            CorrelationFormula(X, Y),
            (p, sx, sy, qx, qy, n),
            (2000, 50, 40, 2500, 1600, 1),
            Fraction(float(covariance) / float(variance * other) ** 0.5),
            (0, 3, 4),
            1.5,
        ),
        "difference": Kind(difference, (sx, sy, n), (50, 40, 1), sx / n - sy / n, (0, 1), 1.9),
        "linear": Kind(Linear((ONE, -ONE)), (sx, sy), (50, 40), sx - sy, (0,), 1.1),
    }


KINDS = kinds()


def released(kind: Kind, law: Callable[[int], Noise], releases: int) -> tuple[list[Noise], list[list[Fraction]]]:
    coins, noises = TestCoins(7), [law(2 * size) for size in kind.sizes]
    drawn = [noise.draw(releases, coins=coins) for noise in noises]
    return noises, [[n + int(d) for n, d in zip(kind.exact, row, strict=True)] for row in zip(*drawn, strict=True)]


def holding(kind: Kind, noises: Sequence[Noise], rows: list[list[Fraction]]) -> tuple[int, float, float]:
    """How many intervals hold, the median half-width, and the 95% quantile of the errors."""
    together = Joint(tuple((noise, ONE) for noise in noises), ALPHA)
    found = [show(kind.formula, row, together) for row in rows]
    errors = [abs(float(one.value - kind.true)) for one in found if one.value is not None]
    widths = [float(one.high - one.low) / 2 for one in found]
    return (
        sum(one.low <= kind.true <= one.high for one in found),
        float(np.median(widths)),
        float(np.quantile(errors, 0.95)),
    )


def gaussian(size: int) -> Noise:
    return Gaussian(sigma=size)


def laplace(size: int) -> Noise:
    return Laplace(scale=size)


LONG = [
    pytest.param(
        name, law, marks=[pytest.mark.slow, *([pytest.mark.sample] if (name, law) == ("mean", laplace) else [])]
    )
    for name in KINDS
    for law in (gaussian, laplace)
]


@pytest.mark.parametrize(("name", "law"), LONG)
def test_intervals_hold_as_often_as_they_say(name: str, law: Callable[[int], Noise]) -> None:
    kind = KINDS[name]
    noises, rows = released(kind, law, RELEASES)
    held, width, error = holding(kind, noises, rows)
    assert binom.cdf(held, RELEASES, 0.95) > 1e-7
    assert width < kind.tight * error


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", KINDS)
def test_a_few_hundred_of_them_do_and_broken_twins_do_not(name: str) -> None:
    kind = KINDS[name]
    noises, rows = released(kind, gaussian, 400)
    assert binom.cdf(holding(kind, noises, rows)[0], 400, 0.95) > 1e-5
    forgetful = [Gaussian(sigma=Fraction(1, 50)) if n in kind.broken else noise for n, noise in enumerate(noises)]
    assert binom.cdf(holding(kind, forgetful, rows)[0], 400, 0.95) < 1e-5


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("rows", [-(10**30), -1, 0, 1, 2, 10**30])
@pytest.mark.parametrize("other", [-(10**40), 0, 7, 10**40])
def test_no_noisy_numbers_make_a_formula_fail(name: str, rows: int, other: int) -> None:
    kind = KINDS[name]
    numbers = [*(Fraction(other) for _ in kind.exact[1:]), Fraction(rows)]
    together = Joint(tuple((Laplace(scale=2 * size), ONE) for size in kind.sizes), ALPHA)
    found = show(kind.formula, numbers, together)
    assert found.low <= found.high
    assert found.value is None or found.low <= found.value <= found.high


@pytest.mark.parametrize("name", ["mean", "share", "variance", "sample variance", "deviation", "covariance"])
@pytest.mark.parametrize("rows", [20, 200, 5_000])
def test_no_error_is_larger_than_the_largest_at_this_many_rows(name: str, rows: int) -> None:
    """For all possible sums, and for squares that do not fit them; and with more rows it is smaller."""
    kind, draw = KINDS[name], np.random.default_rng(3)
    together = Joint(tuple((Gaussian(sigma=2 * size), ONE) for size in kind.sizes), ALPHA)
    assert not isinstance(kind.formula, Linear)
    largest = kind.formula.largest_error(together, rows=rows)  # type: ignore[union-attr]
    assert kind.formula.largest_error(together, rows=4 * rows) < largest  # type: ignore[union-attr]
    for _ in range(60):
        sums = [Fraction(int(draw.integers(-size, size + 1)) * rows) for size in kind.sizes[:-1]]
        found = show(kind.formula, [*sums, Fraction(rows + int(draw.integers(0, 50)))], together)
        assert found.error <= largest
