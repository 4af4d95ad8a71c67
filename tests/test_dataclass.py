"""Quickly made dataclasses behave as those of the standard library: every property is checked against a twin of it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataclass import dataclass as quick

T = TypeVar("T")


class Plain:
    """Two fields, one with a default."""

    first: int
    second: str = "two"


class Rich:
    """All kinds of fields that Sitr uses."""

    first: float
    hidden: int = field(default=1, repr=False)
    ignored: int = field(default=2, compare=False)
    made: list[int] = field(default_factory=list, hash=False)
    named: int = field(default=3, kw_only=True)
    later: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "later", self.first * 2)


class Single:
    """One field."""

    only: float


class Empty:
    """No fields."""


class OwnMethods:
    """Methods that the decorator must keep."""

    first: int

    def __repr__(self) -> str:
        return "mine"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7


class OwnEquality:  # noqa: PLW1641 - the decorator makes the hash
    """A hash is made even so, as frozen dataclasses have one."""

    first: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class Typed(Generic[T]):
    """A generic class."""

    first: T


KINDS = (Plain, Rich, Single, Empty, OwnMethods, OwnEquality, Typed)
OPTIONS: tuple[dict[str, bool], ...] = ({}, {"eq": False}, {"repr": False}, {"eq": False, "repr": False})


def twins(kind: type, **options: bool) -> tuple[Any, Any]:
    """The class, made both ways."""
    copies = (type(kind.__name__, kind.__bases__, _content(kind)) for _ in range(2))
    quickly, slowly = copies
    return quick(quickly, frozen=True, slots=True, **options), dataclass(slowly, frozen=True, slots=True, **options)


def _content(kind: type) -> dict[str, Any]:
    left = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    return left | {name: copy.copy(value) for name, value in left.items() if isinstance(value, dataclasses.Field)}


def values(kind: type) -> tuple[Any, ...]:
    return () if kind is Empty else (3,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_looks_the_same(kind: type, options: dict[str, bool]) -> None:
    one, other = twins(kind, **options)
    assert inspect.signature(one) == inspect.signature(other) or kind is Rich  # a factory's default differs
    assert str(inspect.signature(one)) == str(inspect.signature(other))
    assert [(each.name, each.type, each.kw_only) for each in dataclasses.fields(one)] == [
        (each.name, each.type, each.kw_only) for each in dataclasses.fields(other)
    ]
    assert one.__match_args__ == other.__match_args__
    assert one.__slots__ == other.__slots__
    assert one.__doc__ == other.__doc__
    assert one.__qualname__ == other.__qualname__
    assert repr(one.__dataclass_params__) == repr(other.__dataclass_params__)
    assert not hasattr(one(*values(kind)), "__dict__") or kind is Typed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_behaves_the_same(kind: type, options: dict[str, bool]) -> None:
    one, other = twins(kind, **options)
    given = values(kind)
    if options.get("repr", True) or kind is OwnMethods:
        assert repr(one(*given)) == repr(other(*given))
    assert (one(*given) == one(*given)) == (other(*given) == other(*given))
    assert one(*given) != other(*given) or kind is OwnMethods
    assert (one.__hash__ is None) == (other.__hash__ is None)
    if kind is not OwnEquality and options.get("eq", True):
        assert hash(one(*given)) == hash(one(*given))
    changed = (9,) if given else ()
    assert (one(*given) == one(*changed)) == (other(*given) == other(*changed))
    if given and kind is not Single:
        assert dataclasses.replace(one(*given), first=4).first == 4


@pytest.mark.parametrize("kind", [Plain, Rich])
def test_it_is_frozen(kind: type) -> None:
    for made in twins(kind):
        value = made(1)
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'first'"):
            value.first = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'first'"):
            del value.first
        assert value.first == 1


def test_a_new_attribute_is_refused_too() -> None:
    one, _ = twins(Plain)
    with pytest.raises(FrozenInstanceError):
        one(1).third = 3


def test_a_subclass_that_is_no_dataclass_may_have_its_own() -> None:
    one, _ = twins(Plain)

    class Wider(one):  # type: ignore[misc, valid-type]
        pass

    wider = Wider(1)
    wider.third = 3
    assert wider.third == 3
    with pytest.raises(FrozenInstanceError):
        wider.first = 3


def test_a_dataclass_may_inherit_from_it() -> None:
    one, _ = twins(Plain)

    @quick(frozen=True, slots=True)
    class Longer(one):  # type: ignore[misc, valid-type]
        """One more field."""

        third: int = 3

    assert repr(Longer(1)).endswith("Longer(first=1, second='two', third=3)")


@given(st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_one_field_is_compared_as_in_a_tuple(left: float, right: float) -> None:
    one, other = twins(Single)
    assert (one(left) == one(right)) == (other(left) == other(right))
    assert one(left) == one(left)  # NaN, too: it is the same object


def test_defaults_are_made_anew() -> None:
    one, _ = twins(Rich)
    assert one(1).made is not one(1).made
    assert one(1, made=[2]).made == [2]
    assert one(2.0).later == 4.0


def test_wrong_arguments_are_refused() -> None:
    for made in twins(Rich):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
            made()
        with pytest.raises(TypeError, match="takes from 2 to 5 positional arguments"):
            made(1, 2, 3, [], 5)


@quick(frozen=True, slots=True)
class Kept:
    """At the top of a module, where pickle finds it."""

    first: int
    second: tuple[int, ...] = ()


def test_it_can_be_pickled_and_copied() -> None:
    value = Kept(1, (2, 3))
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    match value:
        case Kept(first, second):
            assert (first, second) == (1, (2, 3))


def test_other_kinds_are_those_of_the_standard_library() -> None:
    @quick(slots=True)
    class Changing:
        """Not frozen."""

        first: int

    value = Changing(1)
    value.first = 2
    assert value == Changing(2)


def test_only_the_constructor_is_compiled_for_each_class() -> None:
    one, other = twins(Plain)
    again, _ = twins(Rich)
    for name in ("__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"):
        assert getattr(one, name).__code__ is getattr(again, name).__code__
        assert getattr(one, name).__code__ is not getattr(other, name).__code__


def test_the_constructor_is_compiled_when_it_is_first_used() -> None:
    bare = type("Late", (), {"__doc__": "One.", "__annotations__": {"only": "int"}})
    made: Any = quick(frozen=True, slots=True)(bare)
    before = vars(made)["__init__"]
    assert not inspect.isfunction(before)
    assert str(inspect.signature(made)) == "(only: 'int') -> None"
    assert inspect.isfunction(compiled := vars(made)["__init__"])
    assert made(1).only == made(only=1).only == 1
    assert vars(made)["__init__"] is compiled


def test_a_class_that_inherits_finds_the_constructor_of_its_base() -> None:
    bare = type("Base", (), {"__doc__": "One.", "__annotations__": {"only": "int"}})
    made: Any = quick(frozen=True, slots=True)(bare)
    heir = type("Heir", (made,), {})
    assert heir(2).only == 2
    assert "__init__" not in vars(heir)
    assert getattr(heir, "__init__") is getattr(made, "__init__")  # noqa: B009
