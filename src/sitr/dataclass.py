"""Frozen, slotted dataclasses that are made quickly: `from sitr.dataclass import dataclass`.

A class made here is a dataclass as the standard library makes it: `fields`, `replace`, patterns, pickles, signatures
and type checkers see no difference. But the standard library compiles six functions for each class, and a command makes
about 250 classes before it does anything, which took a third of a preview. Here only `__init__` is compiled, and only
for classes that are used; the other methods are the same functions for all classes, closed over the fields. Modules
that `sitr preview` loads use it.

Other kinds of dataclasses, and those that inherit from a dataclass, are made by the standard library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["Remembering", "dataclass"]

_DEFAULTS = {"eq": True, "repr": True}


class _Factory:
    """The default of a parameter whose value is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class Remembering:
    """A base of frozen, slotted dataclasses whose values may have a `functools.cached_property`.

    What was computed is beside the fields and is none of them: it is not compared, written or copied by `replace`.
    """

    __slots__ = ("__dict__",)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """A dataclass. With `frozen=True, slots=True`, and perhaps `eq=False` or `repr=False`, it is made quickly.

        >>> @dataclass(frozen=True, slots=True)
        ... class Point:
        ...     '''A place.'''
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), dataclasses.replace(Point(1), y=2)
        (Point(x=1, y=0), True, Point(x=1, y=2))
        """
        if cls is None:
            return lambda given: dataclass(given, **options)
        own = {name: options.get(name, default) for name, default in _DEFAULTS.items()}
        if options != {"frozen": True, "slots": True} | {name: own[name] for name in own if name in options}:
            return dataclasses.dataclass(cls, **options)
        inherits = any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:])
        if inherits or not cls.__doc__ or "__init__" in vars(cls):
            return dataclasses.dataclass(cls, **options)
        return _made(cls, **own)


def _made(cls: type, *, eq: bool, repr: bool) -> type:
    hashed = vars(cls).get("__hash__") is not None
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=True)
    params = made.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, repr, eq, True
    fields = dataclasses.fields(made)
    made.__init__ = _Init(made, fields)
    methods = [*_frozen(made, {each.name for each in fields}), *_pickled(fields)]
    if repr:
        methods.append(_repr(fields))
    if eq:
        compared = [each for each in fields if each.compare]
        methods.append(_eq(compared))
        if not hashed:
            methods.append(_hash([each for each in fields if (each.compare if each.hash is None else each.hash)]))
    for method in methods:
        name = _named(method, made).__name__
        if name not in vars(made) or name == "__hash__":
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _named(method: Callable[..., Any], made: type) -> Callable[..., Any]:
    method.__qualname__, method.__module__ = f"{made.__qualname__}.{method.__name__}", made.__module__
    return method


class _Init:
    """`__init__`, until it is first looked up: then it is compiled, and takes this place."""

    __slots__ = ("_fields", "_made")

    def __init__(self, made: Any, fields: tuple[Field[Any], ...]) -> None:
        self._made, self._fields = made, fields

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., None]:
        self._made.__init__ = method = _named(_init(self._made, self._fields), self._made)
        found: Callable[..., None] = method.__get__(instance, owner)
        return found


def _init(made: Any, fields: Iterable[Field[Any]]) -> Callable[..., None]:
    """The only method that must be compiled, because its parameters are the fields."""
    known: dict[str, Any] = {"put": object.__setattr__, "FACTORY": _FACTORY}
    plain, keywords, body = list[str](), list[str](), list[str]()
    annotations: dict[str, Any] = {}
    for each in fields:
        name, parameter, value = each.name, each.name, each.name
        if each.default is not MISSING:
            known[f"default_{name}"] = each.default
            parameter = f"{name}=default_{name}"
        elif each.default_factory is not MISSING:
            known[f"make_{name}"] = each.default_factory
            parameter = f"{name}=FACTORY"
            value = f"make_{name}() if {name} is FACTORY else {name}"
        if each.init:
            annotations[name] = each.type
            (keywords if each.kw_only else plain).append(parameter)
        elif each.default_factory is not MISSING:
            value = f"make_{name}()"
        elif each.default is not MISSING:
            value = f"default_{name}"
        else:
            continue  # set by __post_init__
        body.append(f"put(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *plain, *(["*", *keywords] if keywords else [])])
    found: dict[str, Any] = {}
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known, found)
    method: Callable[..., None] = found["__init__"]
    method.__annotations__ = annotations | {"return": None}
    return method


def _frozen(made: Any, names: set[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return __setattr__, __delattr__


def _pickled(fields: Iterable[Field[Any]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    names = [each.name for each in fields]

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __getstate__, __setstate__


def _repr(fields: Iterable[Field[Any]]) -> Callable[[Any], str]:
    names = [each.name for each in fields if each.repr]

    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return __repr__


def _values(fields: list[Field[Any]]) -> Callable[[Any], Any]:
    """What reads these fields, all at once."""
    return attrgetter(*(each.name for each in fields)) if fields else lambda _: ()


def _eq(fields: list[Field[Any]]) -> Callable[[Any, object], Any]:
    values = _values(fields)
    single = len(fields) == 1  # a tuple holds the same object to be equal, NaN included

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return (values(self),) == (values(other),) if single else values(self) == values(other)

    return __eq__


def _hash(fields: list[Field[Any]]) -> Callable[[Any], int]:
    values = _values(fields)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__
