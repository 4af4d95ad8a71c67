"""Promises as text, for command lines, descriptions and ledgers.

    pure(1)    approximate(1, 1e-6)    profile((1, 1e-3), (2, 1e-6))    gaussian(0.3)    random(pure(1), 0.05)
    zcdp(0.5)    zcdp(0.5, xi=0.1)    zcdp(0.5, 1e-6)    concentrated(0.5, 1, groups=true)
    renyi(2, 0.1)    renyi({2: 0.1, 8: 0.5})
    random(approximate(1, 1e-6), 0.05, asymptotic=true, parts={"newcomer": 0.04, "largest pair": 0.01})
    pufferfish(1, "whether one person is ill", "illness is contagious within households")
    odometer(pure)    odometer(approximate, delta=1e-6)    odometer(zcdp, delta=1e-6)    (budgets without a cap)

Writing and reading are inverse: a float prints as the decimal it stands for, so nothing is lost on the way.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from importlib import import_module
from typing import Any

from sitr.errors import InvalidPromise, InvalidUse, nearest
from sitr.flavors import FLAVORS, uncapped
from sitr.flavors.promise import Promise, foreign

NAMES: dict[str, type[Promise]] = {}
"""Every flavor by its name: the word with which it is written, except for flavors in `SHARED`."""

SHARED = {"approximate_zcdp": "zcdp"}
"""Flavors that are written with the word of another one, which has other parameters: zcdp(ρ, δ) beside zcdp(ρ)."""

ALIASES = {"gdp": "gaussian"}
"""Other names with which flavors can be read."""


def register(flavor: type[Promise]) -> None:
    """Make a flavor known by the name in its notation, so that it can be read, written and converted to.

    A name that is taken is refused, because ledgers are read by these names, and so is a flavor that inherits from
    another one, which would pass for it.
    """
    word = _word(flavor)
    name = flavor.name or word
    if name in ALIASES or NAMES.get(name, flavor) is not flavor or word != SHARED.get(name, name):
        raise InvalidUse(given=f"The name {name!r} of {flavor.__name__} is taken.", do="Choose another notation.")
    if parent := next((kind for kind in NAMES.values() if kind is not flavor and issubclass(flavor, kind)), None):
        raise InvalidUse(
            given=f"{flavor.__name__} inherits from {parent.__name__} and would pass for it.",
            do="Inherit from Promise or Adding.",
        )
    NAMES[name] = flavor


def _word(flavor: type[Promise]) -> str:
    """The word before the parameters."""
    return flavor.notation.partition("(")[0]


for _name, _module in FLAVORS.items():
    register(getattr(import_module(f"sitr.flavors.{_module}"), _name))


@lru_cache(maxsize=1024)
def parse(text: str) -> Promise:
    """Read a promise.

    >>> parse("zcdp(0.5)"), parse("approximate(epsilon=1, delta=1e-6)")
    (ZeroConcentratedDP(rho=0.5), ApproximateDP(epsilon=1.0, delta=1e-06))
    >>> parse("zcdp(0.5, 1e-6)")
    ApproximateZeroConcentratedDP(rho=0.5, delta=1e-06)
    """
    try:
        # Python's grammar, of which `_value` accepts a few kinds of expression; nothing is evaluated.
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

    >>> from sitr.flavors import ApproximateDP, Basis, PureDP, RandomDP, RenyiDP, ZeroConcentratedDP
    >>> write(ZeroConcentratedDP(rho=0.5)), write(ApproximateDP(1.0, 1e-6))
    ('zcdp(rho=0.5)', 'approximate(epsilon=1.0, delta=1e-06)')
    >>> write(RandomDP(RenyiDP.at({2: 0.1}), 0.05))
    'random(renyi({2.0: 0.1}), gamma=0.05)'
    >>> write(RandomDP(PureDP(1), 0.05, Basis.ASYMPTOTIC, parts=(("gate", 0.01),)))
    "random(pure(epsilon=1.0), gamma=0.05, asymptotic=true, parts={'gate': 0.01})"
    """
    if promise.uncapped:
        return uncapped.written(promise)
    flavor = next(flavor for flavor in NAMES.values() if type(promise) is flavor)
    return f"{_word(flavor)}({promise.written()})"


# Reading


def _value(node: ast.expr) -> Any:
    """The value of an expression, if its kind may occur in a promise."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return node.value
        case ast.Constant(value=str(text)):
            return text
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return -_value(node.operand)
        case ast.Name(id="true" | "false"):
            return node.id == "true"
        case ast.Call(func=ast.Name(id=uncapped.NAME), args=[ast.Name(id=word), *rest]):
            named = _once((str(keyword.arg), _value(keyword.value)) for keyword in node.keywords)
            return uncapped.odometer(word, *map(_value, rest), **named)
        case ast.Tuple():
            return tuple(map(_value, node.elts))
        case ast.Dict() if None not in node.keys:
            keys = [_value(key) for key in node.keys if key is not None]
            return _once(zip(keys, map(_value, node.values), strict=True))
        case ast.Call(func=ast.Name(id=name)) if (flavor := NAMES.get(ALIASES.get(name, name))) is not None:
            # A keyword without a name is a `**`.
            named = _once((str(keyword.arg), _value(keyword.value)) for keyword in node.keywords)
            return _fitting(flavor, [_value(value) for value in node.args], named)
    raise foreign()


def _fitting(flavor: type[Promise], values: list[Any], named: dict[str, Any]) -> Promise:
    """The promise with these parameters, of this flavor or else of the one that shares its word."""
    try:
        return flavor.read(*values, **named)
    except TypeError:  # it has other parameters
        other = next((NAMES[name] for name, word in SHARED.items() if word == _word(flavor)), flavor)
        if other is flavor:
            raise
    return other.read(*values, **named)


def _once(pairs: Any) -> dict[Any, Any]:
    """A mapping; a repeated key is refused, because it would be ambiguous."""
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise foreign()
        found[key] = value
    return found


def _unreadable(text: str) -> InvalidPromise:
    name, bracket, numbers = text.strip().partition("(")
    near = nearest(name, NAMES)
    if re.fullmatch(r"[0-9.]+(?:e-?[0-9]+)?", name):
        do = f"Write zcdp({name}) for ρ, or pure({name}) for ε."
    elif near is not None and near != name:
        do = f"Did you mean {near}{bracket}{numbers}?"
    else:
        do = "Write for example zcdp(0.5), or approximate(1, 1e-6)."
    return InvalidPromise(
        wanted=f"a promise: {', '.join(flavor.notation for flavor in NAMES.values())}",
        given=repr(text),
        do=do,
    )
