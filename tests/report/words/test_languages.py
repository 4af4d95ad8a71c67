"""Every language has the same sentences, with the same parameters, and none of them speaks another."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.accounting.compare import THEOREMS
from sitr.dataset.schema import Kind
from sitr.language import Language, speaking
from sitr.ledger.proposals import Status
from sitr.ledger.roles import Duty
from sitr.namespace import Later
from sitr.report.words.arabic.accounting import THEOREMS as ARABIC_THEOREMS
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.arabic.labels import LABELS
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import in_words
from sitr.session.shelf import State

ROOT = Path(sitr.__file__).parent


def parts(words: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All public attributes and methods, of the parts, too."""
    kept = {each.name for each in fields(words)}
    for attribute in dir(words):
        if attribute.startswith("_"):
            continue
        value = getattr(words, attribute)
        value = value._found if isinstance(value, Later) else value
        if attribute in kept and is_dataclass(value):
            yield from parts(value, f"{name}{attribute}.")
        else:
            yield f"{name}{attribute}", value


def signature(value: Any) -> Any:
    return str(inspect.signature(value)) if callable(value) else type(value)


def test_both_languages_have_the_same_sentences_with_the_same_parameters() -> None:
    english, arabic = ({name: signature(value) for name, value in parts(words)} for words in (ENGLISH, ARABIC))
    assert english == arabic
    assert len(english) > 100


def test_the_spoken_language_decides_unless_words_are_given() -> None:
    assert in_words() is ENGLISH
    with speaking(Language.ARABIC):
        assert in_words() is ARABIC
        assert in_words(ENGLISH) is ENGLISH


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """Records for the registry are in English, by its schema."""
    for folder in ("report", "cli", "session"):
        for path in (ROOT / folder).rglob("*.py"):
            if "words" not in path.relative_to(ROOT).parts and path != ROOT / "report" / "registry.py":
                yield path, ast.parse(path.read_text(encoding="utf-8"))


def texts(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


NO_LABELS = {"lower", "upper", "", "#d07a00", "7 4", "Decimal mark of this file (. or ,)"}
"""Other pairs: ends of intervals, colours, dashes, and a question of `sitr start`, which is a message."""


def labels(path: Path, tree: ast.Module) -> Iterator[str]:
    """Labels of facts, headings of sections and columns, titles, and legends."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="label"), args=args):
                yield from texts(args)
            case ast.Call(func=ast.Name(id="map"), args=[ast.Attribute(attr="label"), ast.Tuple(elts)]):
                yield from texts(elts)
            case ast.Call(func=ast.Name(id="_headings"), args=args):
                yield from texts(args)
            case ast.Call(func=ast.Name(id="Section"), args=[heading, *_]):
                yield from texts([heading])
            case ast.Call(func=ast.Name(id="answered"), keywords=keywords):
                yield from texts([each.value for each in keywords if each.arg == "title"])
            case ast.Tuple(elts=[ast.Constant(str(name)), second]) if not isinstance(second, ast.Constant):
                yield name
            case ast.Tuple(elts=[ast.Name(), ast.Constant(str(name))]) if "chart" in path.parts:
                yield name


def used() -> set[str]:
    found = {label for path, tree in sources() for label in labels(path, tree)}
    for template in (ROOT / "report" / "page" / "templates").glob("*.html"):
        found |= set(re.findall(r'words\.label\("([^"]+)"\)', template.read_text(encoding="utf-8")))
    return {label for label in found if label not in NO_LABELS and not label.startswith("--")}


def test_every_label_is_translated() -> None:
    assert sorted(used() - set(LABELS)) == []


DRAWN = {"fitted model", "noisy table", "synthetic rows"}
"""Legends that a chart keeps in a tuple with other things."""

AUDITED = {"mechanism", "witness"}
"""Labels of the reports of `sitr.audit`, which lies above the reports."""

REQUESTED = {"errors", "reason", "request", "status", "would be left"}
"""Labels of requests, which `sitr queue` keeps as the names of a mapping."""


def test_no_translation_of_a_label_is_left_over() -> None:
    named = {choice.value for kind in (Duty, Kind, State, Status) for choice in kind}
    looped = {"type", "bounds", "public values", "repetitions of the whole", *DRAWN, *AUDITED, *REQUESTED}
    assert sorted(set(LABELS) - used() - named - looped) == []
    assert named <= set(LABELS)


@pytest.mark.parametrize("label", LABELS)
def test_labels_are_in_arabic(label: str) -> None:
    outside = re.sub("\u2066[^\u2069]*\u2069", "", ARABIC.label(label))
    assert re.search("[\u0621-\u064a]", outside)
    assert not re.search("[A-Za-z]", outside)
    assert ENGLISH.label(label) == label


def test_every_theorem_has_an_arabic_name() -> None:
    assert set(ARABIC_THEOREMS) == {theorem.name for theorem in THEOREMS}
