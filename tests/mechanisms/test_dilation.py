from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from flint import ctx
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln

from sitr.errors import InvalidPromise
from sitr.mechanisms import dilation as module
from sitr.mechanisms.dilation import (
    gaussian_delta,
    gaussian_dilation,
    laplace_delta,
    laplace_dilation,
    spherical_delta,
    spherical_dilation,
    student_dilation,
    student_epsilon,
)

Floats = NDArray[np.float64]
Log = Callable[[Floats, float, float], Floats]
"""ln density at x for a centre and a scale."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def laplace(x: Floats, centre: float, scale: float) -> Floats:
    return -np.abs(x - centre) / scale - math.log(2 * scale)


def gaussian(x: Floats, centre: float, scale: float) -> Floats:
    return -(((x - centre) / scale) ** 2) / 2 - math.log(scale) - math.log(math.tau) / 2


def integral(function: Callable[[Floats], Floats], low: float, high: float, panels: int = 60) -> float:
    edges = np.linspace(low, high, panels + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    points = middle[:, None] + half[:, None] * NODES
    return float((function(points) * WEIGHTS * half[:, None]).sum())


def brute(log: Log, epsilon: float, *, p: tuple[float, float], q: tuple[float, float]) -> float:
    """∫ (p − e^ε·q)₊ with the borders of L > ε found on a fine grid; laws are given by centre and scale."""
    scales = abs(math.log(p[1] / q[1]))
    reach = (epsilon + scales + 2) / -math.expm1(-max(scales, 1e-2)) * max(p[1], q[1]) + 60 * max(p[1], q[1])

    def above(x: Floats) -> Floats:
        return log(x, *p) - log(x, *q) - epsilon

    def gained(x: Floats) -> Floats:
        return np.exp(log(x, *p)) * -np.expm1(-np.maximum(above(x), 0))

    grid = np.unique(np.concatenate([np.linspace(-reach, reach, 20_001), [p[0], q[0]]]))
    heights = above(grid)
    turns = np.flatnonzero(np.sign(heights[1:]) != np.sign(heights[:-1]))
    roots = [brentq(lambda x: float(above(np.array(x))), grid[i], grid[i + 1], xtol=1e-14) for i in turns]
    borders = sorted({-reach, reach, p[0], q[0], *roots})
    # Near a border the integrand is largest, and falls within a few scales.
    cuts = sorted(
        {*borders, *(b + s * 6 * k for b in borders for s in (1, -1) for k in (1, 3, 8) if abs(b + 6 * s * k) < reach)}
    )
    return sum(integral(gained, low, high) for low, high in pairwise(cuts))


def both(log: Log, epsilon: float, shift: float, grown: float) -> float:
    """The worse of the two directions, the narrow law being of scale 1."""
    narrow, wide = (0.0, 1.0), (shift, math.exp(grown))
    return max(brute(log, epsilon, p=wide, q=narrow), brute(log, epsilon, p=narrow, q=wide))


SHIFTS = (0.05, 0.3, 1.0, 2.5)
DILATIONS = (0.01, 0.1, 0.5, 1.5)
EPSILONS = (0.1, 1.0, 3.0, 8.0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("log", "delta"), [(laplace, laplace_delta), (gaussian, gaussian_delta)])
def test_the_worst_divergence_is_the_one_found_by_integration(log, delta):
    """From both sides: as large as claimed at the ends, never larger below them."""
    rng, seen = np.random.default_rng(1), 0
    for epsilon, shift, grown in product(EPSILONS, SHIFTS, DILATIONS):
        try:
            claimed = delta(epsilon, shift=shift, dilation=grown)
        except InvalidPromise:
            continue
        if claimed < 1e-200:
            continue
        seen += 1
        assert both(log, epsilon, shift, grown) == pytest.approx(claimed, rel=1e-8)
        for s, g in rng.uniform(0, 1, (6, 2)) ** [0.5, 1]:
            assert both(log, epsilon, s * shift, g * grown) <= claimed * (1 + 1e-8)
    assert seen > 20


@pytest.mark.parametrize(("log", "delta"), [(laplace, laplace_delta), (gaussian, gaussian_delta)])
def test_the_edge_of_what_is_claimed(log, delta):
    """The smallest ε for which anything is claimed: also there no smaller shift and dilation are worse."""
    for shift, grown in product((0.1, 1.0, 2.5), (0.05, 0.5, 1.5)):
        low, high = 0.0, 20.0
        for _ in range(40):
            middle = (low + high) / 2
            try:
                delta(middle, shift=shift, dilation=grown)
                high = middle
            except InvalidPromise:
                low = middle
        claimed = delta(high, shift=shift, dilation=grown)
        worst = max(both(log, high, shift, g) for g in np.linspace(0.02, 1, 12) * grown)
        assert worst == pytest.approx(claimed, rel=1e-7)
        with pytest.raises(InvalidPromise):
            delta(low, shift=shift, dilation=grown)


def test_the_known_values_for_laplace():
    known = {1e-3: 0.14243, 1e-6: 0.05301, 1e-9: 0.03160, 1e-12: 0.02234}
    for delta, beta in known.items():
        assert laplace_dilation(1, delta=delta, shift=0.5) == pytest.approx(beta, abs=5e-6)
    assert laplace_delta(2, shift=1, dilation=0.1) == pytest.approx(1.36e-6, rel=5e-3)


def test_the_quoted_constant_is_weak_and_fails_for_large_epsilon():
    """2e^{−α/β} at ε = 2α: 67 times too large at (1, 0.1), and too small at (10, 1)."""
    exact, quoted = laplace_delta(2, shift=1, dilation=0.1), 2 * math.exp(-1 / 0.1)
    assert 60 < quoted / exact < 70
    exact, quoted = laplace_delta(20, shift=10, dilation=1), 2 * math.exp(-10)
    assert exact == pytest.approx(5.2e-4, rel=0.01)
    assert exact > 5 * quoted
    assert both(laplace, 20, 10, 1) > 5 * quoted


def test_the_square_root_of_it_is_weaker_and_fails_for_large_dilations():
    """η = e^{−α/2β} at ε = 2α: 5,000 times too large at (1, 0.1), and too small at (2, 4)."""
    assert math.exp(-1 / 0.2) / laplace_delta(2, shift=1, dilation=0.1) > 4000
    found = both(laplace, 4, 2, 4)
    assert found == pytest.approx(0.846, abs=5e-4)
    assert found > math.exp(-2 / 8) + 0.06


def student(y: Floats, centre: float, scale: float, freedom: int) -> Floats:
    return -(freedom + 1) / 2 * np.log1p(((y - centre) / scale) ** 2 / freedom) - math.log(scale)


def largest(freedom: int, shift: float, grown: float) -> float:
    """max |L| over y, on a fine grid: between narrow at 0 and wide at the shift, all y from −∞ to ∞."""
    y = np.tan(np.linspace(-math.pi / 2 + 1e-9, math.pi / 2 - 1e-9, 100_001))
    loss = student(y, 0, 1, freedom) - student(y, shift, math.exp(grown), freedom)
    return float(np.abs(loss).max())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("freedom", [1, 2, 3, 10])
def test_the_largest_loss_of_student_noise(freedom):
    rng = np.random.default_rng(2)
    for shift, grown in product((0.02, 0.3, 2.0, 20.0), (1e-3, 0.1, 1.0)):
        claimed = student_epsilon(shift=shift, dilation=grown, freedom=freedom)
        ends = max(largest(freedom, shift, g) for g in (0.0, grown))
        assert ends == pytest.approx(claimed, rel=1e-6)
        for s, g in rng.uniform(0, 1, (10, 2)) ** [0.5, 1]:
            assert largest(freedom, s * shift, g * grown) <= claimed * (1 + 1e-9)


def test_the_worst_dilation_of_student_noise_may_be_none():
    """Both ends are looked at: here neighbours of the same scale are told apart most easily."""
    same, wider = largest(1, 20.0, 0.0), largest(1, 20.0, 1.0)
    assert same > wider + 0.5
    assert student_epsilon(shift=20, dilation=1, freedom=1) == pytest.approx(same, rel=1e-6)


def test_student_noise_gains_on_the_published_bound():
    """(ν + 1)(β + α/(2√ν)) [BS19] is never smaller; where it is split into halves, a third of it is not needed."""
    for freedom, shift, grown in product((1, 2, 3, 5, 10), (0.01, 0.3, 1.0), (0.01, 0.1, 0.5)):
        published = (freedom + 1) * (grown + shift / (2 * math.sqrt(freedom)))
        assert student_epsilon(shift=shift, dilation=grown, freedom=freedom) < published
    assert student_epsilon(shift=math.sqrt(3) / 4, dilation=1 / 8, freedom=3) == pytest.approx(0.656, abs=1e-3)
    # The same α leaves more than twice the β.
    assert student_dilation(1, shift=math.sqrt(3) / 4, freedom=3) > 2.2 / 8


def test_gaussian_noise_gains_on_the_published_constants():
    """α = ε/(5√(2 ln(2/δ))), β = ε/(4(1 + ln(2/δ))) [NRS07] use less than a hundredth of δ."""
    for epsilon, delta in product((0.1, 1.0), (1e-3, 1e-6, 1e-9)):
        logarithm = math.log(2 / delta)
        alpha, beta = epsilon / (5 * math.sqrt(2 * logarithm)), epsilon / (4 * (1 + logarithm))
        assert gaussian_delta(epsilon, shift=alpha, dilation=beta) < delta / 100
        assert gaussian_dilation(epsilon, delta=delta, shift=alpha) > 2 * beta
        assert gaussian_dilation(epsilon, delta=delta, shift=2.5 * alpha) > beta


def radial(size: int, r: Floats, scale: float) -> Floats:
    """ln density in `size` dimensions at distance r."""
    area = math.log(2) + size / 2 * math.log(math.pi) - gammaln(size / 2)
    return -r / scale - (size * math.log(scale) + float(area + gammaln(size)))


def solid(size: int, epsilon: float, shift: float, grown: float, *, wide_first: bool) -> float:
    """∫ (p − e^ε·q)₊ in two or three dimensions, in polar coordinates around the centre of p."""
    first, second = (math.exp(grown), 1.0) if wide_first else (1.0, math.exp(grown))
    rho = np.linspace(0, 60 * first, 1201)
    rho = (rho[:-1, None] + np.diff(rho)[:, None] * (NODES[None, :] + 1) / 2).ravel()
    weight = (np.diff(np.linspace(0, 60 * first, 1201))[:, None] * WEIGHTS[None, :] / 2).ravel()
    turned, angle = (NODES + 1) / 2 * math.pi, WEIGHTS / 2 * math.pi
    around = 2 * angle if size == 2 else 2 * math.pi * np.sin(turned) * angle
    away = np.sqrt(rho[:, None] ** 2 + shift**2 + 2 * rho[:, None] * shift * np.cos(turned)[None, :])
    loss = radial(size, rho[:, None], first) - radial(size, away, second)
    gained = np.exp(radial(size, rho[:, None], first)) * -np.expm1(-np.maximum(loss - epsilon, 0))
    return float((gained * (rho ** (size - 1) * weight)[:, None] * around[None, :]).sum())


@pytest.mark.parametrize("size", [2, 3])
def test_noise_in_all_directions_is_bounded(size):
    """An upper bound that is not far off: the triangle inequality is only used for the shift."""
    rng, seen = np.random.default_rng(3), 0
    for epsilon, shift, grown in product((1.0, 3.0), (0.05, 0.5), (0.05, 0.1, 0.15)):
        claimed = spherical_delta(epsilon, shift=shift, dilation=grown, size=size)
        if claimed < 1e-15:
            continue
        seen += 1
        found = solid(size, epsilon, shift, grown, wide_first=True)
        assert found <= claimed * (1 + 1e-6)
        assert claimed < found * math.exp(1.5 * shift / grown)
        assert solid(size, epsilon, shift, grown, wide_first=False) == 0
        for s, g in rng.uniform(0, 1, (4, 2)):
            assert solid(size, epsilon, s * shift, g * grown, wide_first=True) <= claimed * (1 + 1e-6)
    assert seen > 6


def test_without_a_shift_noise_in_all_directions_is_told_apart_exactly():
    """Two Gamma laws: the bound is the divergence itself."""
    for size, epsilon, grown in product((2, 3), (1.0, 2.0), (0.1, 0.3)):
        claimed = spherical_delta(epsilon, shift=1e-9, dilation=grown, size=size)
        assert solid(size, epsilon, 1e-9, grown, wide_first=True) == pytest.approx(claimed, rel=1e-4)


def test_in_one_dimension_all_directions_cost_less_than_twice():
    for epsilon, shift, grown in product((1.0, 3.0), (0.05, 0.5), (0.05, 0.3)):
        one, exact = (
            spherical_delta(epsilon, shift=shift, dilation=grown, size=1),
            laplace_delta(epsilon, shift=shift, dilation=grown),
        )
        assert exact < one <= 2 * exact * (1 + 1e-12)


CALIBRATED: dict[str, tuple[Callable[..., float], Callable[..., float], dict[str, int]]] = {
    "laplace": (laplace_delta, laplace_dilation, {}),
    "gaussian": (gaussian_delta, gaussian_dilation, {}),
    "spherical": (spherical_delta, spherical_dilation, {"size": 7}),
}


@pytest.mark.parametrize("law", CALIBRATED)
@pytest.mark.parametrize("epsilon", [0.01, 1, 10])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-30, 1e-200])
def test_the_dilation_found_keeps_delta_and_a_larger_one_does_not(law, epsilon, delta):
    spent, found, more = CALIBRATED[law]
    shift = epsilon / 2 if law != "gaussian" else epsilon / (4 * math.sqrt(2 * math.log(2 / delta)))
    beta = found(epsilon, delta=delta, shift=shift, **more)
    assert beta > 0
    assert spent(epsilon, shift=shift, dilation=beta, **more) <= delta
    try:
        assert spent(epsilon, shift=shift, dilation=beta * (1 + 1e-9), **more) > delta
    except InvalidPromise:
        assert delta == 1e-2  # here it is the other direction that stops it


@pytest.mark.parametrize("freedom", [1, 3, 30])
def test_the_dilation_of_student_noise_keeps_epsilon_and_a_larger_one_does_not(freedom):
    for epsilon in (0.01, 1, 10):
        shift = epsilon * math.sqrt(freedom) / (freedom + 1)
        beta = student_dilation(epsilon, shift=shift, freedom=freedom)
        assert student_epsilon(shift=shift, dilation=beta, freedom=freedom) <= epsilon
        assert student_epsilon(shift=shift, dilation=beta * (1 + 1e-9), freedom=freedom) > epsilon


def test_where_no_dilation_does_there_is_none():
    assert laplace_dilation(0.5, delta=1e-6, shift=0.6) == 0
    assert laplace_dilation(0.5, delta=1e-6, shift=0.5) == 0
    assert laplace_dilation(2, delta=1e-6, shift=2) > 0  # a wider law is *less* exposed to a shift
    assert gaussian_dilation(1, delta=1e-6, shift=0.5) == 0
    assert student_dilation(1, shift=1, freedom=3) == 0
    assert spherical_dilation(1, delta=1e-6, shift=1.5, size=3) == 0


def test_bounds_are_on_the_safe_side(monkeypatch):
    """With few bits they are wider, never too small."""
    sharp = [laplace_delta(1, shift=0.5, dilation=0.05), gaussian_delta(1, shift=0.1, dilation=0.03)]
    monkeypatch.setattr(module, "_GOOD", -1000)
    compute = module._sharp

    def coarse(formula):
        with ctx.workprec(20):
            found = formula()
        assert found.overlaps(compute(formula))
        return found

    monkeypatch.setattr(module, "_sharp", coarse)
    rough = [laplace_delta(1, shift=0.5, dilation=0.05), gaussian_delta(1, shift=0.1, dilation=0.03)]
    assert all(one < other < 1.5 * one for one, other in zip(sharp, rough, strict=True))


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_numbers_that_cannot_be(bad):
    for function, more in ((laplace_delta, {}), (gaussian_delta, {}), (spherical_delta, {"size": 2})):
        for name in ("epsilon", "shift", "dilation"):
            given = {"epsilon": 1, "shift": 0.1, "dilation": 0.1, **more, name: bad}
            with pytest.raises(ValueError, match=f"{name} of Dilation to be a finite number above 0"):
                function(given.pop("epsilon"), **given)
    for name in ("shift", "dilation"):
        with pytest.raises(ValueError, match=name):
            student_epsilon(**{"shift": 1, "dilation": 1, "freedom": 3, name: bad})


def test_counts_and_probabilities_that_cannot_be():
    with pytest.raises(ValueError, match="delta of Dilation to be strictly between 0 and 1"):
        laplace_dilation(1, delta=1, shift=0.5)
    with pytest.raises(ValueError, match="freedom"):
        student_dilation(1, shift=0.5, freedom=0)
    with pytest.raises(ValueError, match="size"):
        spherical_delta(1, shift=0.5, dilation=0.1, size=0)
