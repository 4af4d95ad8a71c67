from __future__ import annotations

import copy
import inspect
import pickle
import re

import pytest

import sitr.errors
from sitr.errors import SitrError

ERRORS = [kind for _, kind in inspect.getmembers(sitr.errors, inspect.isclass) if issubclass(kind, SitrError)]

every_error = pytest.mark.parametrize("kind", ERRORS)


def example(kind: type[SitrError]) -> SitrError:
    return kind(wanted="A cat was wanted.", given="A {dog} was given, 100 % of it.", do="Look for «قطة».")


def test_the_tree_is_drawn_as_it_is():
    drawing = (sitr.errors.__doc__ or "").split("::")[1].split("A message always")[0]
    drawn = {}
    path: list[str] = []
    for line in drawing.splitlines():
        if branch := re.match(r"(?P<before>[ │├└─]*)(?P<name>[A-Z]\w+)", line):
            depth = (len(branch["before"]) - 4) // 4
            path[depth:] = [branch["name"]]
            drawn[branch["name"]] = path[depth - 1] if depth else None
    assert drawn == {
        kind.__name__: next((base.__name__ for base in kind.__bases__ if issubclass(base, SitrError)), None)
        for kind in ERRORS
    }


@every_error
def test_a_message_has_three_parts_in_their_order(kind):
    error = example(kind)
    assert str(error) == "A cat was wanted. A {dog} was given, 100 % of it. Look for «قطة»."
    assert (error.wanted, error.given, error.do) == tuple(
        part for part in ("A cat was wanted.", "A {dog} was given, 100 % of it.", "Look for «قطة».")
    )


@every_error
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_travel_between_processes(kind, protocol):
    error = pickle.loads(pickle.dumps(example(kind), protocol=protocol))
    assert type(error) is kind
    assert (str(error), error.wanted, error.given, error.do) == (
        str(example(kind)),
        example(kind).wanted,
        example(kind).given,
        example(kind).do,
    )


@every_error
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_errors_can_be_copied(kind, duplicate):
    assert str(duplicate(example(kind))) == str(example(kind))


@every_error
def test_no_part_may_be_left_out_or_given_by_place(kind):
    with pytest.raises(TypeError):
        kind(wanted="A cat was wanted.", given="A dog was given.")
    with pytest.raises(TypeError):
        kind("A cat was wanted.", "A dog was given.", "Look again.")


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InvalidPromise", ValueError),
        ("IncompatiblePromises", TypeError),
        ("DescriptionError", ValueError),
        ("QuestionError", ValueError),
    ],
)
def test_errors_are_also_what_python_calls_them(name, builtin):
    assert issubclass(getattr(sitr.errors, name), builtin)
