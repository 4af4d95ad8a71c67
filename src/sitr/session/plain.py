"""Frozen values as JSON and back: what an answer is written down as, and what its hash is taken of.

Only plain values, arrays of numbers, and dataclasses and enumerations of Sitr itself can be written. So reading runs no
code that a file chooses, and two values with the same text are the same: a function of your own has no text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitr.errors import InvalidUse
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:  # most answers hold no arrays
    np = Later("numpy")

_HOME = ("plans", "questions", "mechanisms", "sensitivity", "flavors", "neighbors", "dataset")
"""The parts of Sitr whose dataclasses and enumerations can be written."""

NUMBERS = frozenset("biuf")
"""The kinds of arrays that hold numbers and nothing else."""

_WRITTEN_AS_IS = frozenset((bool, int, float, str, type(None)))

_fields: dict[type, tuple[str, ...]] = {}
"""The names of the fields of Sitr's dataclasses that were written."""


def text(value: Any) -> str:
    """The value in ASCII, the same for equal values.

    >>> import numpy
    >>> text((Fraction(1, 2), numpy.arange(2), None))
    '[{"Fraction":"1/2"},{"array":["int64",[2],[0,1]]},null]'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def plain(value: Any, *, without: str = "", aside: list[Any] | None = None) -> Any:
    """The value as JSON; `InvalidUse` if it has none. The field `without` of a dataclass is left out.

    Arrays are put `aside`, if a list is given: the JSON then holds their places in it.
    """
    kind = type(value)
    if kind in _WRITTEN_AS_IS:
        return value
    if (names := _fields.get(kind)) is not None:
        parts = {name: plain(getattr(value, name), aside=aside) for name in names if name != without}
        return {_name(kind): parts}
    return _plain(value, without, aside)


def _plain(value: Any, without: str, aside: list[Any] | None) -> Any:
    """The same for a value of a class that was not written before, or is no dataclass."""
    match value:
        case Enum():
            return {"enum": [_name(type(value)), value.name]}
        case bool() | int() | float() | str() | None:
            return value
        case Fraction():
            return {"Fraction": str(value)}
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case tuple():
            return [plain(part, aside=aside) for part in value]
        case _ if is_dataclass(value):
            _name(type(value))  # only those of Sitr
            _fields[type(value)] = tuple(each.name for each in fields(value))
            return plain(value, without=without, aside=aside)
        case np.ndarray() if value.dtype.kind in NUMBERS:
            return _array(value, aside)
        case np.ndarray() if value.dtype == object and all(type(number) is int for number in value):
            return {"integers": [str(number) for number in value]}  # beyond 64 bits
    return {_name(type(value)): {}}


def _array(value: Any, aside: list[Any] | None) -> dict[str, Any]:
    """An array of numbers, or its place among those that are put aside."""
    if aside is None:
        return {"array": [value.dtype.name, list(value.shape), value.ravel().tolist()]}
    aside.append(value)
    return {"aside": len(aside) - 1}


def built(content: Any, *, aside: Sequence[Any] = (), **more: Any) -> Any:
    """The value of this JSON; a dataclass gets these fields too. A `ValueError` or the like if it is no such JSON.

    `aside` are the arrays that the JSON names by their places.
    """
    match content:
        case list():
            return tuple(built(part, aside=aside) for part in content)
        case {"Fraction": written}:
            return fraction(written)
        case {"datetime": written}:
            return datetime.fromisoformat(written)
        case {"date": written}:
            return date.fromisoformat(written)
        case {"array": [kind, shape, values]}:
            return _numbers(kind, values).reshape(shape)
        case {"aside": int(place)}:
            return aside[place]
        case {"integers": [*digits]}:
            return np.array([int(number) for number in digits], dtype=object)
        case {"enum": [kind, name]}:
            return _named(kind)[name]  # type: ignore[index]
        case dict():
            ((kind, inner),) = content.items()
            return _named(kind)(**{name: built(part, aside=aside) for name, part in inner.items()}, **more)
    return content


def _numbers(kind: str, values: list[Any]) -> Any:
    """An array of numbers: texts could be declared to be very long."""
    if np.dtype(kind).kind not in NUMBERS:
        raise ValueError(kind)
    return np.array(values, dtype=kind)


def fraction(written: str) -> Fraction:
    """A fraction as `str` writes it. Other ways to write one are refused: 1e999999999 takes hours.

    >>> fraction("-3/4"), fraction("7")
    (Fraction(-3, 4), Fraction(7, 1))
    """
    over, _, under = written.partition("/")
    return Fraction(int(over), int(under or "1"))


_known: dict[type, str] = {}
"""The names of the classes that were written."""


def _name(kind: type) -> str:
    """Where a class of Sitr is defined."""
    if kind in _known:
        return _known[kind]
    name = f"{kind.__module__.removeprefix('sitr.')}.{kind.__qualname__}"
    try:
        if _named(name) is kind:
            return _known.setdefault(kind, name)
    except (ValueError, ImportError, AttributeError):
        pass
    raise InvalidUse(
        wanted="plain values and values of Sitr, which can be written down",
        given=f"a {kind.__name__}",
        do="Save the answer before this process ends.",
    )


def _named(name: str) -> type:
    """The dataclass or the enumeration of this name; a class of no other kind can be named."""
    module, _, kind = name.rpartition(".")
    if module.partition(".")[0] not in _HOME:
        raise ValueError(name)
    found = getattr(import_module(f"sitr.{module}"), kind)
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum)):
        raise ValueError(name)
    return found
