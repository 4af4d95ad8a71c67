"""Promises as text, for command lines, descriptions and ledgers: `pure(1)`, `approximate(1, 1e-6)`, `zcdp(0.5)`.

Writing and reading are inverse: a float prints as the decimal it stands for, so nothing is lost on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

NAMES: Mapping[str, Callable[..., Promise]] = {
    "pure": PureDP,
    "approximate": ApproximateDP,
    "zcdp": ZeroConcentratedDP,
}

_CALL = re.compile(r"\s*([a-z_]+)\s*\(([^()]*)\)\s*")


def parse(text: str) -> Promise:
    """Read a promise.

    >>> parse("zcdp(0.5)"), parse("approximate(epsilon=1, delta=1e-6)")
    (ZeroConcentratedDP(rho=0.5), ApproximateDP(epsilon=1.0, delta=1e-06))
    """
    call = _CALL.fullmatch(text)
    if call is None or call[1] not in NAMES:
        raise _unreadable(text)
    positional: list[float] = []
    named: dict[str, float] = {}
    try:
        for argument in call[2].split(","):
            name, equals, number = argument.rpartition("=")
            if name.strip() in named:
                raise _unreadable(text)
            if equals:
                named[name.strip()] = float(number)
            else:
                positional.append(float(argument))
        return NAMES[call[1]](*positional, **named)
    except InvalidPromise:
        raise
    except (TypeError, ValueError):
        raise _unreadable(text) from None


def write(promise: Promise) -> str:
    """Write a promise so that `parse` reads the same value.

    >>> write(ZeroConcentratedDP(rho=0.5)), write(ApproximateDP(1.0, 1e-6))
    ('zcdp(rho=0.5)', 'approximate(epsilon=1.0, delta=1e-06)')
    """
    name = next(name for name, flavor in NAMES.items() if type(promise) is flavor)
    values = {field.name: getattr(promise, field.name) for field in fields(promise)}  # type: ignore[arg-type]
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items() if (key, value) != ('xi', 0.0))})"


def _unreadable(text: str) -> InvalidPromise:
    return InvalidPromise(
        wanted="A promise is written pure(ε), approximate(ε, δ) or zcdp(ρ).",
        given=f"{text!r} was given.",
        do="Write for example zcdp(0.5), or approximate(1, 1e-6).",
    )
