"""Texts that reach a message through functions: as an argument, or as what a function returns.

`raise _wrong(path, "table", "a CSV file has no tables")` names neither `given` nor `do`, but `_wrong` puts its third
parameter into one of them. Parameters that end in a field of an error, whole or as a value of its text, are found until
no more are; likewise functions whose result does. Functions are known by their name in their own file, or by a name
that the whole package has once. Methods of other objects are not followed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FIELDS = ("wanted", "given", "do")
Found = tuple[Path, ast.FunctionDef]


@dataclass(slots=True)
class Flow:
    """Which parameters and which results become parts of messages."""

    trees: Mapping[Path, ast.Module]
    local: dict[Path, dict[str, Found]] = field(default_factory=dict)
    top: dict[str, list[Found]] = field(default_factory=lambda: defaultdict(list))
    parameters: set[tuple[Path, str, str]] = field(default_factory=set)
    results: set[tuple[Path, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for path, tree in self.trees.items():
            own = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            self.local[path] = {node.name: (path, node) for node in own}
            for node in tree.body:
                if isinstance(node, ast.FunctionDef):
                    self.top[node.name].append((path, node))
        while self._grown():
            pass

    def texts(self, templates: Callable[[ast.AST], list[str]]) -> Iterator[tuple[Path, str]]:
        """Every text with the file that says it."""
        for path, functions in self.local.items():
            for name, (_, function) in functions.items():
                yield from ((path, text) for each in self._carried(path, name, function) for text in templates(each))
            everywhere = self._said(path, _calls(self.trees[path]))  # also outside of functions
            yield from ((path, text) for each in everywhere for text in templates(each))

    def _grown(self) -> bool:
        before = len(self.parameters), len(self.results)
        for path, functions in self.local.items():
            for name, (_, function) in functions.items():
                self._follow(path, name, function)
        return before != (len(self.parameters), len(self.results))

    def _follow(self, path: Path, name: str, function: ast.FunctionDef) -> None:
        """Back from the messages of a function to its parameters, and to the functions that it calls for them."""
        own = set(_names(function))
        for text in self._carried(path, name, function):
            for part in _parts(text):
                if isinstance(part, ast.Name) and part.id in own:
                    self.parameters.add((path, name, part.id))
                elif (called := self._called(path, part)) is not None:
                    self.results.add((called[0], called[1].name))

    def _carried(self, path: Path, name: str, function: ast.FunctionDef) -> list[ast.expr]:
        """The parts of messages in a function, with what is assigned to its variables for them."""
        found = [*self._said(path, _calls(function)), *(_returned(function) if (path, name) in self.results else ())]
        assigned, seen = _assigned(function), set[str]()
        for text in found:  # it grows
            new = {part.id for part in _parts(text) if isinstance(part, ast.Name)} - seen
            seen |= new
            found += [value for variable in new for value in assigned.get(variable, ())]
        return found

    def _said(self, path: Path, calls: Sequence[ast.Call]) -> Iterator[ast.expr]:
        """What is passed to a field of an error, or to a parameter that becomes a part of one."""
        for call in calls:
            yield from (keyword.value for keyword in call.keywords if keyword.arg in FIELDS)
            if (called := self._called(path, call)) is None:
                continue
            where, function = called
            named = ((each.arg, each.value) for each in call.keywords if each.arg not in FIELDS)
            for name, value in [*zip(_names(function), call.args, strict=False), *named]:
                if name != "lacks" and (where, function.name, name) in self.parameters:
                    yield value  # what `lacks` something becomes a text with the name behind it

    def _called(self, path: Path, call: ast.expr) -> Found | None:
        match call:
            case ast.Call(func=ast.Name(name)) if name in self.local[path]:
                return self.local[path][name]
            case ast.Call(func=ast.Name(name)) if len(self.top[name]) == 1:
                return self.top[name][0]
            case ast.Call(func=ast.Attribute(ast.Name("self" | "cls"), name)):
                return self.local[path].get(name)
        return None


def _names(function: ast.FunctionDef) -> list[str]:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


@cache
def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@cache
def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]


@cache
def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    found = defaultdict[str, list[ast.expr]](list)
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value):
                found[name].append(value)
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                for one, value in zip(names, values, strict=False):
                    if isinstance(one, ast.Name):
                        found[one.id].append(value)
    return found


def _parts(text: ast.expr) -> Iterator[ast.expr]:
    """The names and calls that a text is made of, also as its values; those that are shown by `!r` are the user's."""
    match text:
        case ast.Name() | ast.Call():
            yield text
        case ast.IfExp(_, one, other):
            yield from (*_parts(one), *_parts(other))
        case ast.BoolOp(_, parts):
            yield from (found for part in parts for found in _parts(part))
        case ast.BinOp(left, ast.Add(), right):
            yield from (*_parts(left), *_parts(right))
        case ast.JoinedStr(parts):
            values = [part for part in parts if isinstance(part, ast.FormattedValue) and part.conversion == -1]
            yield from (found for part in values for found in _parts(part.value))
