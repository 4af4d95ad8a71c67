"""Promises in symbols, the same in every language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, cast

from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.random import Basis, Parts, RandomDP
from sitr.flavors.uncapped import UNREACHABLE
from sitr.numbers import Number, ball, exact, upper
from sitr.precision import precision
from sitr.report.figures import at_least, at_most, visible


def notation(promise: Kept, *, left: bool = False) -> str:
    """A promise in symbols and few digits, rounded up, or rounded down if it is what is `left`.

    >>> from sitr.flavors import ApproximateDP, PureDP, ZeroConcentratedDP
    >>> notation(ApproximateDP(1.0, 1e-6)), notation(ZeroConcentratedDP(0.33335), left=True)
    ('ε = 1, δ = 10⁻⁶', 'ρ = 0.3333')
    >>> notation(RandomDP(PureDP(1.0), 0.05, parts=(("newcomer", 0.04), ("largest pair", 0.01))))
    'ε = 1, γ = 0.05 (newcomer 0.04, largest pair 0.01), finite-sample'
    """
    write = at_least if left else at_most
    if not isinstance(promise, RandomDP):
        return numbers(promise, write=write)
    inside = notation(cast("Kept", promise.inner), left=left)
    rest = f"γ = {at_least(promise.gamma)}" if left else exceptions(promise.gamma, promise.basis, promise.parts)
    return f"{inside}, {rest}"


GREEK = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "xi": "ξ", "mu": "μ", "tau": "τ", "gamma": "γ"}
"""The symbols of parameters."""


def numbers(promise: Promise, *, write: Callable[[Number], str] = at_most) -> str:
    """The numbers of a promise by symbol, without those that have their default; nothing if it has no such numbers.

    A number that nothing can reach is ∞: a budget may have no cap.

    >>> from sitr.flavors import ZeroConcentratedDP
    >>> numbers(ZeroConcentratedDP(0.5)), numbers(ZeroConcentratedDP(0.5, xi=0.1))
    ('ρ = 0.5', 'ρ = 0.5, ξ = 0.1')
    """
    values = [(each, getattr(promise, each.name)) for each in fields(cast("Any", promise))]
    shown = [(each.name, value) for each, value in values if isinstance(value, float) and value != each.default]
    texts = ((name, "∞" if value >= UNREACHABLE else write(value)) for name, value in shown)
    return ", ".join(f"{GREEK.get(name, name)} = {text}" for name, text in texts)


def parameters(promise: Kept) -> dict[str, Fraction]:
    """The parameters of a promise that add up, by symbol; γ comes last. Of a Gaussian promise, the square adds up.

    >>> from sitr.flavors import PureDP
    >>> parameters(RandomDP(PureDP(0.5), 0.25))
    {'ε': Fraction(1, 2), 'γ': Fraction(1, 4)}
    """
    if isinstance(promise, RandomDP):
        return {**parameters(cast("Kept", promise.inner)), "γ": exact(promise.gamma)}
    if isinstance(promise, GaussianDP):
        return {"μ²": exact(promise.mu) ** 2}
    return {GREEK[each.name]: exact(getattr(promise, each.name)) for each in fields(promise)}


BASES = {Basis.FINITE_SAMPLE: "finite-sample", Basis.ASYMPTOTIC: "asymptotic, as published"}
"""The bases of γ in words."""


def exceptions(gamma: float, basis: Basis, parts: Parts) -> str:
    """γ with its parts and its basis.

    >>> exceptions(0.05, Basis.ASYMPTOTIC, (("newcomer", 0.04),)), exceptions(0.0, Basis.FINITE_SAMPLE, ())
    ('γ = 0.05 (newcomer 0.04, others 0.01), asymptotic, as published', 'γ = 0')
    """
    if gamma == 0.0 and basis is Basis.FINITE_SAMPLE:
        return "γ = 0"
    listed = f" ({', '.join(map(' '.join, shares(gamma, parts)))})" if parts else ""
    return f"γ = {at_most(gamma)}{listed}, {BASES[basis]}"


def shares(gamma: float, parts: Parts, *, others: str = "others") -> list[tuple[str, str]]:
    """The parts of γ by name, rounded up, and the rest of γ.

    >>> shares(0.05, (("newcomer", 0.04),))
    [('newcomer', '0.04'), ('others', '0.01')]
    """
    left = exact(gamma) - sum((exact(share) for _, share in parts), Fraction(0))
    # A smaller rest comes from parts that were rounded down.
    rest = [(others, left)] if left > exact(gamma) / 10**9 else []
    named: list[tuple[str, Number]] = [*parts, *rest]
    return [(visible(name), at_most(share)) for name, share in named]


@precision()
def odds(epsilon: float) -> str:
    """e^ε in few digits, rounded up.

    >>> odds(0.5), odds(1.0), odds(60.0), odds(1e9)
    ('1.65', '2.72', '1.15 × 10²⁶', 'e^1,000,000,000')
    """
    return at_most(upper(ball(epsilon).exp()), digits=3) if epsilon < 700 else f"e^{at_most(epsilon)}"
