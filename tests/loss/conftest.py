"""The truth, computed in Arb from what the laws are of: outputs and their probabilities, not losses on a lattice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace

import pytest
from flint import arb, ctx, fmpq

from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law

Both = tuple[arb, arb]
"""P and Q."""


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    """A precision at which the reference values are known to hundreds of digits."""
    with ctx.workprec(400):
        yield


def real(number: float) -> arb:
    """The float itself."""
    exact = Fraction(number)
    return arb(fmpq(exact.numerator, exact.denominator))


def normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def outputs(law: Law) -> list[tuple[arb, arb, arb]]:
    """(loss, P, Q) of every output of a discrete law that has a mass worth mentioning."""
    match law:
        case DiscreteLaplaceLaw(scale, shift):
            t, e = real(scale), (-1 / real(scale)).exp()
            one = (1 - e) / (1 + e)
            inside = [(y, one * (-abs(y - shift) / t).exp(), one * (-abs(y) / t).exp()) for y in range(1, shift)]
            low = (0, (-shift / t).exp() / (1 + e), 1 / (1 + e))  # all y ≤ 0
            high = (shift, 1 / (1 + e), (-shift / t).exp() / (1 + e))  # all y ≥ Δ
            return [(arb(2 * y - shift) / t, p, q) for y, p, q in [low, *inside, high]]
        case DiscreteGaussianLaw(sigma, shift):
            s = 2 * real(sigma) ** 2
            reach = math.ceil(15 * sigma) + shift
            whole = sum((arb(-y * y) / s).exp() for y in range(-reach, reach + 1))
            mass = {y: (arb(-y * y) / s).exp() / whole for y in range(-reach - shift, reach + shift + 1)}
            return [
                ((2 * y * shift - shift**2) / s, mass[y - shift], mass[y]) for y in range(-reach, reach + shift + 1)
            ]
        case FiniteLaw(losses, log_masses):
            return [
                (real(loss), real(m).exp(), (real(m) - real(loss)).exp())
                for loss, m in zip(losses, log_masses, strict=True)
            ]
        case PoissonLaw(inner, rate, added):
            r, alone = real(rate), (real(inner.infinite), real(inner.reversed().infinite))
            parts = [(p, q) for _, p, q in outputs(inner)] + [(alone[0], arb(0)), (arb(0), alone[1])]
            found = [((1 - r) * q + r * p, q) for p, q in parts]
            ways = [(q, p) if added else (p, q) for p, q in found]
            return [((p / q).log(), p, q) for p, q in ways if p > 0 and q > 0]
    raise TypeError(law)


def below(law: Law, loss: arb) -> Both:  # noqa: C901 - one case for each law
    """P(L ≤ l) and Q(L ≤ l)."""
    match law:
        case GaussianLaw(mu):
            m = real(mu)
            return normal(loss / m - m / 2), normal(loss / m + m / 2)
        case LaplaceLaw(epsilon):
            e = real(epsilon)
            if loss < -e or loss >= e:
                return (arb(0), arb(0)) if loss < -e else (arb(1), arb(1))
            return ((loss - e) / 2).exp() / 2, 1 - (-(loss + e) / 2).exp() / 2  # noise of at least (ε − l)/2
        case BoundedRangeLaw(width):
            w = real(width)
            if loss < -w or loss >= w:
                return (arb(0), arb(0)) if loss < -w else (arb(1), arb(1))
            q = 1 - ((-(loss + w) / 2).exp() - (-w).exp()) / (1 - (-w).exp())
            return ((-(-loss + w) / 2).exp() - (-w).exp()) / (1 - (-w).exp()), q
        case PoissonLaw(inner, rate, False):
            ratio = (loss.exp() - 1 + real(rate)) / real(rate)
            if ratio <= 0:
                return arb(0), arb(0)
            a, b = below(inner, ratio.log())
            only = real(inner.reversed().infinite)
            return (1 - real(rate)) * (b + only) + real(rate) * a, b + only
        case PoissonLaw(inner, rate, True):
            p, q = below(PoissonLaw(inner, rate), -loss)
            return 1 - q, 1 - p - real(PoissonLaw(inner, rate).infinite)
        case SubsetLaw(inner, rate) if loss < 0:
            return below(PoissonLaw(inner.reversed(), rate, added=True), loss)
        case SubsetLaw(inner, rate):
            return below(PoissonLaw(inner, rate), loss)
    parts = [(p, q) for at, p, q in outputs(law) if at <= loss]
    return sum((p for p, _ in parts), arb(0)), sum((q for _, q in parts), arb(0))


def delta(law: Law, epsilon: arb) -> arb:
    """The hockey-stick of one release at any ε, negative or not: P(L > ε) − e^ε·Q(L > ε)."""
    p, q = below(law, epsilon)
    match law:
        case FiniteLaw() | PoissonLaw(FiniteLaw()):  # whose masses are floats, and add up to 1 only nearly
            rest = [(a, b) for at, a, b in outputs(law) if at > epsilon]
            return sum((a - epsilon.exp() * b for a, b in rest), arb(0)) + real(law.infinite)
    beyond = real(law.reversed().infinite)
    return 1 - p - epsilon.exp() * (1 - q - (beyond if not isinstance(law, PoissonLaw) or law.added else 0))


def twice(law: Law, epsilon: arb) -> arb:
    """The hockey-stick of two releases: the mean of that of one at ε − L."""
    match law:
        case LaplaceLaw(
            size
        ):  # ½ of the mass at ε₀, the rest with density e^{(l−ε₀)/2}/4, and an atom at −ε₀ that adds nothing
            e = real(size)
            start = max(-e, epsilon - e, key=float)
            if start >= e:
                return arb(0)
            rising = (1 - ((start - e) / 2).exp()) / 2
            return delta(law, epsilon - e) / 2 + rising - ((epsilon - 2 * e) / 2).exp() / 4 * (e - start)
        case PoissonLaw(GaussianLaw(mu), rate, added):
            return _trapezoid(law, real(mu), real(rate), added, epsilon)
    atoms = outputs(law)
    sums = ((one + other, p * a, q * b) for one, p, q in atoms for other, a, b in atoms)
    return sum((p - epsilon.exp() * q for loss, p, q in sums if loss > epsilon), arb(0))


def _trapezoid(law: Law, mu: arb, rate: arb, added: bool, epsilon: arb) -> arb:
    """∫ P(x)·δ(ε − L(x)) dx. The trapezoidal rule errs by e^{−2π²/h²·…} for what is so smooth: far below 10⁻²⁰."""
    step, found = arb(fmpq(1, 32)), arb(0)
    with ctx.workprec(160):
        for index in range(-12 * 32, 12 * 32 + math.ceil(float(mu)) * 32 + 1):
            x = index * step
            base, moved = (-x * x / 2).exp(), (-((x - mu) ** 2) / 2).exp()
            mixed = (1 - rate) * base + rate * moved
            p, loss = (base, (base / mixed).log()) if added else (mixed, (mixed / base).log())
            found += p * delta(law, epsilon - loss)
        return found * step / (2 * arb.pi()).sqrt()


@pytest.fixture
def truth() -> SimpleNamespace:
    return SimpleNamespace(real=real, below=below, delta=delta, twice=twice, outputs=outputs, normal=normal)
