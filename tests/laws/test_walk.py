"""The walk of the law suites finds every class, wherever it is added."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

import sitr
from tests.laws import walk

NEW = """
class {name}:
    def covers(self, other): ...
    def release(self, value): ...
    def promise(self): ...
    def plan(self, price): ...
    def answer(self, plan, exact): ...
    def read(self, reading): ...
    def size(self): ...
    def identifier(self, name): ...
"""


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package with a new module, and a new folder that holds another one."""
    before = set(sys.modules)
    (tmp_path / "novel.py").write_text(NEW.format(name="InAModule"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__init__.py").touch()
    (tmp_path / "folder" / "deep.py").write_text(NEW.format(name="InAFolder"))
    monkeypatch.setattr(sitr, "__path__", [*sitr.__path__, str(tmp_path)])
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("sitr.novel", "sitr.folder")):
            del sys.modules[name]


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    "members",
    [["covers"], ["release", "promise"], ["plan", "answer"], ["read", "size"], ["identifier"]],
    ids=["flavor", "mechanism", "question", "backend", "dialect"],
)
def test_whatever_is_added_to_the_package_is_found(members: list[str]) -> None:
    assert {"InAModule", "InAFolder"} <= {kind.__name__ for kind in walk.having(members)}


def test_the_walk_sees_every_file() -> None:
    root = Path(sitr.__file__).parent
    files = {path for path in root.rglob("*.py") if "migrations" not in path.parts and path.name != "opacus.py"}
    assert {Path(str(module.__file__)) for module in walk.modules()} == files - {root / "__init__.py"}


def test_a_protocol_is_no_class_of_the_walk_and_lends_its_members() -> None:
    class One(Protocol):
        def epsilon(self) -> float: ...

    class Both(One, Protocol):
        def covers(self) -> float: ...

    assert all(hasattr(kind, "covers") and hasattr(kind, "epsilon") for kind in walk.like(Both))
    assert not any(getattr(kind, "_is_protocol", False) for kind in walk.classes())
