"""Two laws of one shape that differ by a shift and by a dilation: how far apart they are at worst, in closed form.

Noise may be fitted to the data if neighbours get similar noise [NRS07]. With scales s/α and s'/α, centres that are at
most min(s, s') apart, and |ln s/s'| ≤ β, let the narrower scale be 1: the other is e^b with 0 ≤ b ≤ β, and the shift
is d ≤ α. Every number below is the largest H_{e^ε}, or loss, over all such d and b, in both directions; only for noise
in several dimensions it is an upper bound. All of them bound the rounded noise of `sitr.noise.rounded` too. Published
constants are seldom as good, and some are wrong.

**Wide against narrow.** Let A be the set where the loss exceeds ε. It depends on d and b, but the derivative of
H = P(A) − e^ε·Q(A) is the same as for a fixed A, because p = e^ε·q at its border. So H grows with d and with b, and the
worst case is (α, β).

**Narrow against wide.** The loss has a largest value, or is no larger than for b = 0 or b = β at every point: above a
certain ε, this direction is the less harmful one. Nothing is claimed for a smaller ε.

All numbers are enclosed by Arb and rounded to the safe side: δ and ε up, β down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from flint import arb

from sitr.errors import InvalidPromise
from sitr.numbers import Number, ball, exact, inside, lower, natural, positive, upper
from sitr.precision import precision

_CLOSE = Fraction(1, 2**40)
"""The relative precision of the search for β."""

_LEAST = Fraction(1, 2**100)
"""A smaller β counts as none."""

_ENOUGH = 512
"""Bits that separate ε from a loss near it; if they are the same number, nothing is claimed."""

_GOOD, _MOST = 60, 2**13
"""The bits that should be accurate, and the largest precision to reach this: a wide ball is still a bound."""


@precision()
def laplace_delta(epsilon: Number, *, shift: Number, dilation: Number) -> float:
    """δ(ε) = (1 − e^{−β})·exp(−(ε + β)/(e^β − 1))·cosh(α/(e^β − 1)) for ε ≥ max(α, β + αe^{−β}): the largest possible.

    The wide law P at d has L = −b − |x − d|e^{−b} + |x|, at most d − b ≤ ε between 0 and d. It exceeds ε beyond two
    points, with

        H = ½(1 − e^{−b})·[exp(−(ε + b − d)/(e^b − 1)) + exp(−(ε + b + d)/(e^b − 1))],

    which grows with d, and with b: the logarithmic derivatives of the parts are (ε + b ∓ d)·e^b/(e^b − 1)². The
    narrow law has L ≤ b + de^{−b}, convex in b, so at most max(α, β + αe^{−β}).

    >>> laplace_delta(2, shift=1, dilation=0.1)
    1.36...e-06
    """
    e, a, b = _positive(epsilon=epsilon, shift=shift, dilation=dilation)
    if not _radial_known(e, a, b, 1):
        raise _unknown("max(α, β + αe^{−β})")
    return upper(_sharp(lambda: _laplace(e, a, b)))


def laplace_dilation(epsilon: Number, *, delta: Number, shift: Number) -> float:
    """The largest β for which Laplace noise of scale s/α keeps (ε, δ); 0 if there is none.

    >>> laplace_dilation(1, delta=1e-6, shift=0.5)
    0.0530...
    """
    e, d, a = _budget(epsilon, delta, shift)
    return _largest(lambda b: _radial_known(e, a, b, 1) and bool(_sharp(lambda: _laplace(e, a, b)) <= ball(d)))


@precision()
def gaussian_delta(epsilon: Number, *, shift: Number, dilation: Number) -> float:
    """δ(ε) = P(A) − e^ε·Q(A) with P = N(α, e^{2β}), Q = N(0, 1), A = {x < x₁ or x > x₂}, for ε not too small.

    x₁ and x₂ are the roots of (r² − 1)x² + 2αx = α² + 2r²(ε + β), r = e^β: there L = ε. For d and r of any size, H has
    the derivatives p(x₂) − p(x₁) in d, and [(x₂ − d)p(x₂) + (d − x₁)p(x₁)]/r in r. The middle of x₁ and x₂ is
    −d/(r² − 1) ≤ 0, so x₂ is not farther from d than x₁: H grows with d. If ε ≥ α²/2 ≥ L(d), x₂ ≥ d: H grows with r.

    The narrow law at 0 has L = ln r + (x − d)²/(2r²) − x²/2 against N(d, r²); at each x it falls with r as long as
    r < |x − d|, and then grows. For r ≤ e^β it is thus at most the L of r = 1 if |x − d| ≥ c, and the L of r = e^β if
    |x − d| ≤ c, where c² = 2βe^{2β}/(e^{2β} − 1). If the latter is at most ε there (for d = α: in the narrow direction
    H also grows with d), then H is not larger than for r = 1, where both directions are one.

    >>> gaussian_delta(1, shift=0.1, dilation=0.05)
    1.99...e-05
    """
    e, a, b = _positive(epsilon=epsilon, shift=shift, dilation=dilation)
    if not _gaussian_known(e, a, b):
        raise _unknown("α²/2, and the loss of the narrow law against the wide one near its middle")
    return upper(_sharp(lambda: _gaussian(e, a, b)))


def gaussian_dilation(epsilon: Number, *, delta: Number, shift: Number) -> float:
    """The largest β for which Gaussian noise of σ = s/α keeps (ε, δ); 0 if there is none.

    >>> gaussian_dilation(1, delta=1e-6, shift=0.1)
    0.0323...
    """
    e, d, a = _budget(epsilon, delta, shift)
    return _largest(lambda b: _gaussian_known(e, a, b) and bool(_sharp(lambda: _gaussian(e, a, b)) <= ball(d)))


@precision()
def student_epsilon(*, shift: Number, dilation: Number, freedom: int) -> float:
    """ε = max{F(0), F(β)} with F(b) = (ν + 1)/2·θ(b) + (ν − 1)/2·b, cosh θ(b) = (e^b + (1 + α²/ν)e^{−b})/2: pure.

    With P of scale 1 at 0 and Q of scale r at d, L = ln r + (ν + 1)/2·ln of a ratio of two quadratic forms of
    (1, y/√ν), at most the larger λ of the eigenvalues of a matrix with trace 1 + (1 + d²/ν)/r² and determinant 1/r²:
    λ = e^θ/r, which grows with d. For d = α·min(1, r) the trace is 2·cosh θ(|ln r|)/r whether P is the narrower law or
    the wider one. So max L = (ν + 1)/2·θ − (ν − 1)/2·ln r, largest where Q is the narrower, r = e^{−b}. As
    cosh θ(b) = k·cosh(b − ln k), k² = 1 + α²/ν ≥ 1, θ'' has the sign of k² − 1: F is convex, and one end is the worst.

    The published bound (ν + 1)(β + α/(2√ν)) [BS19] is larger.

    >>> student_epsilon(shift=0.25, dilation=0.1, freedom=3), 4 * (0.1 + 0.25 / (2 * 3**0.5))
    (0.4..., 0.68...)
    """
    a, b = _positive(shift=shift, dilation=dilation)
    degrees = natural(freedom, name="freedom", of="Dilation")
    return upper(_sharp(lambda: _student(a, b, degrees)))


def student_dilation(epsilon: Number, *, shift: Number, freedom: int) -> float:
    """The largest β for which Student's noise of scale s/α keeps ε; 0 if there is none.

    >>> student_dilation(1, shift=0.5, freedom=3)
    0.267...
    """
    e, a = _positive(epsilon=epsilon, shift=shift)
    degrees = natural(freedom, name="freedom", of="Dilation")
    return _largest(lambda b: bool(_sharp(lambda: _student(a, b, degrees)) <= ball(e)))


@precision()
def spherical_delta(epsilon: Number, *, shift: Number, dilation: Number, size: int) -> float:
    """δ(ε) ≤ Q(D, te^{−β}) − e^{ε−α}·Q(D, t), t = (ε + Dβ − α)/(1 − e^{−β}), for ε ≥ max(α, Dβ + αe^{−β}).

    Of noise with density ∝ e^{−‖z‖/scale} in D dimensions; Q(D, x) = e^{−x}·Σ_{k<D} x^k/k! is the probability that
    a Gamma(D) number exceeds x. The wide law at v has L = −Db − ‖w‖e^{−b} + ‖w + v‖ at v + w, at most
    −Db + ‖w‖(1 − e^{−b}) + d by the triangle inequality, and ‖w‖ ~ e^b·Gamma(D): the rest is H_{e^{ε−d}} of two Gamma
    laws. It grows with d, and with b: it has the derivative of Q(D, te^{−b}) with t > 0 held fixed. The narrow
    law has L ≤ Db + de^{−b}, convex in b. In one dimension this is less than twice `laplace_delta`.

    >>> spherical_delta(1, shift=0.5, dilation=0.01, size=20)
    8.82...e-15
    """
    e, a, b = _positive(epsilon=epsilon, shift=shift, dilation=dilation)
    many = natural(size, name="size", of="Dilation")
    if not _radial_known(e, a, b, many):
        raise _unknown("max(α, Dβ + αe^{−β})")
    return upper(_sharp(lambda: _spherical(e, a, b, many)))


def spherical_dilation(epsilon: Number, *, delta: Number, shift: Number, size: int) -> float:
    """The largest β for which noise of density ∝ e^{−α‖z‖/s} in `size` dimensions keeps (ε, δ); 0 if there is none.

    >>> spherical_dilation(1, delta=1e-6, shift=0.5, size=20)
    0.0211...
    """
    e, d, a = _budget(epsilon, delta, shift)
    many = natural(size, name="size", of="Dilation")
    return _largest(
        lambda b: _radial_known(e, a, b, many) and bool(_sharp(lambda: _spherical(e, a, b, many)) <= ball(d))
    )


# The formulas, at the working precision


def _radial_known(e: Fraction, a: Fraction, b: Fraction, size: int) -> bool:
    """ε ≥ max(α, Dβ + αe^{−β})."""
    with precision(_ENOUGH):
        return a <= e and bool(size * ball(b) + ball(a) * (-ball(b)).exp() <= ball(e))


def _laplace(epsilon: Fraction, shift: Fraction, dilation: Fraction) -> arb:
    grown = ball(dilation).expm1()
    parts = (-ball(epsilon + dilation - d) / grown for d in (shift, -shift))
    return -(-ball(dilation)).expm1() / 2 * sum((part.exp() for part in parts), arb(0))


def _gaussian_known(e: Fraction, a: Fraction, b: Fraction) -> bool:
    """α² ≤ 2ε, and L = β + y²/(2r²) − (α − y)²/2 ≤ ε for |y| ≤ c: it is concave, with its top at αr²/(r² − 1)."""
    with precision(_ENOUGH):
        wider, square = (2 * ball(b)).expm1(), (2 * ball(b)).exp()
        y = (ball(a) * square / wider).min((2 * ball(b) * square / wider).sqrt())
        return a * a <= 2 * e and bool(ball(b) + y * y / (2 * square) - (ball(a) - y) ** 2 / 2 <= ball(e))


def _gaussian(epsilon: Fraction, shift: Fraction, dilation: Fraction) -> arb:
    e, a, b = ball(epsilon), ball(shift), ball(dilation)
    r, wider = b.exp(), (2 * b).expm1()
    rest = a * a + 2 * r * r * (e + b)
    root = a + (a * a + wider * rest).sqrt()
    right, left = rest / root, root / wider  # x₂ and −x₁
    wide = _beyond((right - a) / r) + _beyond((left + a) / r)
    return wide - e.exp() * (_beyond(right) + _beyond(left))


def _beyond(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def _student(shift: Fraction, dilation: Fraction, freedom: int) -> arb:
    """max{F(0), F(β)}, with θ = arcosh(1 + x) = 2·arsinh √(x/2), where x = 2·sinh²(b/2) + (α²/ν)e^{−b}/2."""

    def largest(b: arb) -> arb:
        x = 2 * (b / 2).sinh() ** 2 + ball(shift**2 / freedom) * (-b).exp() / 2
        return (freedom + 1) * (x / 2).sqrt().asinh() + (freedom - 1) * b / 2

    return largest(arb(0)).max(largest(ball(dilation)))


def _spherical(epsilon: Fraction, shift: Fraction, dilation: Fraction, size: int) -> arb:
    shrunk = (-ball(dilation)).exp()
    t = ball(epsilon + size * dilation - shift) / -(-ball(dilation)).expm1()
    return _gamma_beyond(size, t * shrunk) - ball(epsilon - shift).exp() * _gamma_beyond(size, t)


def _gamma_beyond(size: int, x: arb) -> arb:
    total = arb(1)
    for k in range(size - 1, 0, -1):
        total = 1 + total * x / k
    return (-x).exp() * total


# How they are used


def _sharp(compute: Callable[[], arb]) -> arb:
    """Computed at a precision that gives enough accurate bits."""
    bits = 128
    while True:
        with precision(bits):
            found = compute()
        if found.rel_accuracy_bits() >= _GOOD or bits >= _MOST:
            return found
        bits *= 2


@precision()
def _largest(keeps: Callable[[Fraction], bool]) -> float:
    """A float β that keeps the promise, only a little smaller than one that does not."""
    if not keeps(_LEAST):
        return 0.0
    low, high = _LEAST, Fraction(1)
    while keeps(high):
        low, high = high, 2 * high
    while high - low > _CLOSE * high:
        # By the geometric mean as long as the ends differ by more than a factor of 2.
        middle = (low + high) / 2 if high <= 2 * low else _between(low, high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return lower(ball(low))


def _between(low: Fraction, high: Fraction) -> Fraction:
    """About √(low·high)."""
    return exact(float(ball(low * high).sqrt().mid()))


def _positive(**numbers: Number) -> Iterator[Fraction]:
    """These parameters, exactly, in their order."""
    return (positive(number, name=name, of="Dilation") for name, number in numbers.items())


def _budget(epsilon: Number, delta: Number, shift: Number) -> tuple[Fraction, Fraction, Fraction]:
    e, a = _positive(epsilon=epsilon, shift=shift)
    return e, inside(delta, name="delta", of="Dilation", example=1e-6), a


def _unknown(least: str) -> InvalidPromise:
    return InvalidPromise(
        wanted=f"an ε of at least {least}",
        given="a smaller one",
        do="Raise ε, or lower the shift α (more noise) or the dilation β (more similar noise for neighbours).",
    )
