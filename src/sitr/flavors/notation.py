"""Promises as text, for command lines, descriptions and ledgers.

    pure(1)    approximate(1, 1e-6)    profile((1, 1e-3), (2, 1e-6))    gaussian(0.3)    random(pure(1), 0.05)
    zcdp(0.5)    zcdp(0.5, xi=0.1)    concentrated(0.5, 1, groups=true)    renyi(2, 0.1)    renyi({2: 0.1, 8: 0.5})
    random(approximate(1, 1e-6), 0.05, asymptotic=true, parts={"newcomer": 0.04, "largest pair": 0.01})

Writing and reading are inverse: a float prints as the decimal it stands for, so nothing is lost on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sitr.errors import InvalidPromise, InvalidUse
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP, Table
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

NAMES: Mapping[str, type[Promise]] = {
    "pure": PureDP,
    "approximate": ApproximateDP,
    "profile": PrivacyProfile,
    "gaussian": GaussianDP,
    "zcdp": ZeroConcentratedDP,
    "concentrated": ConcentratedDP,
    "renyi": RenyiDP,
    "random": RandomDP,
}


def parse(text: str) -> Promise:
    """Read a promise.

    >>> parse("zcdp(0.5)"), parse("approximate(epsilon=1, delta=1e-6)")
    (ZeroConcentratedDP(rho=0.5), ApproximateDP(epsilon=1.0, delta=1e-06))
    """
    try:
        # Python's grammar, of which `_value` lets a few kinds of expression through; nothing is evaluated.
        promise = _value(ast.parse(text.strip(), mode="eval").body)
    except InvalidPromise:
        raise
    except (TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
        raise _unreadable(text) from None
    if not isinstance(promise, Promise):
        raise _unreadable(text)
    return promise


def write(promise: Promise) -> str:
    """Write a promise so that `parse` reads the same value.

    >>> write(ZeroConcentratedDP(rho=0.5)), write(ApproximateDP(1.0, 1e-6))
    ('zcdp(rho=0.5)', 'approximate(epsilon=1.0, delta=1e-06)')
    >>> write(RandomDP(RenyiDP.at({2: 0.1}), 0.05))
    'random(renyi({2.0: 0.1}), gamma=0.05)'
    >>> write(RandomDP(PureDP(1), 0.05, Basis.ASYMPTOTIC, parts=(("gate", 0.01),)))
    "random(pure(epsilon=1.0), gamma=0.05, asymptotic=true, parts={'gate': 0.01})"
    """
    name = next(name for name, flavor in NAMES.items() if type(promise) is flavor)
    match promise:
        case RenyiDP(Table(points)):
            inside = repr(dict(points))
        case RenyiDP():
            raise InvalidPromise(
                wanted="a Rényi promise with a table of orders, such as renyi({2: 0.1, 8: 0.5})",
                given=f"the curve {promise!r}, which has bounds at all orders",
                do="Choose the orders that matter, and write RenyiDP.at({order: promise.curve(order), …}).",
            )
        case PrivacyProfile(points):
            inside = ", ".join(map(repr, points))
        case RandomDP(inner, gamma, basis, parts):
            inside = f"{write(inner)}, gamma={gamma!r}" + (", asymptotic=true" if basis is Basis.ASYMPTOTIC else "")
            inside += f", parts={dict(parts)!r}" if parts else ""
        case ConcentratedDP(mu, tau):
            inside = f"mu={mu!r}, tau={tau!r}" + (", groups=true" if promise.scales_to_groups else "")
        case _:
            values = {field.name: getattr(promise, field.name) for field in fields(promise)}  # type: ignore[arg-type]
            inside = ", ".join(f"{key}={value!r}" for key, value in values.items() if (key, value) != ("xi", 0.0))
    return f"{name}({inside})"


# Reading


def _concentrated(mu: float, tau: float, *, groups: bool = False) -> ConcentratedDP:
    if not isinstance(groups, bool):
        raise _foreign()
    return ConcentratedDP(mu, tau, scales_to_groups=groups)


def _renyi(orders: Any, epsilon: Any = None) -> RenyiDP:
    if isinstance(orders, dict) == (epsilon is not None):
        raise _foreign()
    return RenyiDP.at(orders if epsilon is None else {orders: epsilon})


def _profile(*points: Any) -> PrivacyProfile:
    return PrivacyProfile(points)


def _random(inner: Any, gamma: Any, *, asymptotic: bool = False, parts: Any = None) -> RandomDP:
    if not isinstance(asymptotic, bool) or not isinstance(parts, dict | None):
        raise _foreign()
    return RandomDP(inner, gamma, Basis.ASYMPTOTIC if asymptotic else Basis.FINITE_SAMPLE, tuple((parts or {}).items()))


_READERS: Mapping[str, Callable[..., Promise]] = {
    **NAMES,
    "gdp": GaussianDP,
    "concentrated": _concentrated,
    "renyi": _renyi,
    "profile": _profile,
    "random": _random,
}


def _value(node: ast.expr) -> Any:
    """What an expression stands for, if it is one of those that occur in a promise."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return -_value(node.operand)
        case ast.Name(id="true" | "false"):
            return node.id == "true"
        case ast.Tuple():
            return tuple(map(_value, node.elts))
        case ast.Dict() if None not in node.keys:
            keys = [_key(key) for key in node.keys if key is not None]
            return _once(zip(keys, map(_value, node.values), strict=True))
        case ast.Call(func=ast.Name(id=name)) if name in _READERS:
            # A keyword without a name is a `**`.
            named = _once((str(keyword.arg), _value(keyword.value)) for keyword in node.keywords)
            return _READERS[name](*map(_value, node.args), **named)
    raise _foreign()


def _key(node: ast.expr) -> Any:
    """An order, or the name of a part: the one place for text in quotes."""
    match node:
        case ast.Constant(value=str(name)):
            return name
    return _value(node)


def _once(pairs: Any) -> dict[Any, Any]:
    """A mapping in which nothing is said twice: which of the two would be meant?"""
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _foreign()
        found[key] = value
    return found


def _foreign() -> InvalidUse:
    """Caught by `parse`, which quotes the whole text."""
    return InvalidUse(given="This expression does not occur in a promise.", do="Write for example zcdp(0.5).")


def _unreadable(text: str) -> InvalidPromise:
    return InvalidPromise(
        wanted="a promise: pure(ε), approximate(ε, δ), zcdp(ρ), gaussian(μ), concentrated(μ, τ), "
        "renyi(α, ε), profile((ε, δ), …) or random(promise, γ)",
        given=repr(text),
        do="Write for example zcdp(0.5), or approximate(1, 1e-6).",
    )
