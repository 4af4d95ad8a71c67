"""Whoever writes a call of another library reads one that works here."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import sitr
from sitr.dataset.hospital import WARDS, hospital
from sitr.errors import InvalidUse, SitrError, UnknownCall
from sitr.language import Language, speaking
from sitr.questions.aggregate.habits import (
    AGGREGATED,
    ANSWER,
    BUDGET,
    COLUMN,
    DATASET,
    MOMENTS,
    QUESTION,
    SELECTION,
    TEXTS,
    Hints,
)
from sitr.report.words.messages import error_text
from sitr.session.dataset import Dataset

ALL = (BUDGET, SELECTION, DATASET, QUESTION, ANSWER, COLUMN, AGGREGATED, TEXTS, MOMENTS)
EVERY = sorted({hint for hints in ALL for hint in hints.calls.values()})


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("habits")
    said: dict[str, Any] = {"unit": "patient_id", "max_groups": 2, "max_rows_per_group": 3, "keys": {"ward": WARDS}}
    said |= {"bounds": {"cost": (0, 5_000), "days": (0, 30)}, "name": "visits"}
    dataset: Dataset = sitr.protect(hospital(301), **said)  # without a budget yet
    budget = sitr.protect(hospital(300), **said).budget(rho=1, ledger=folder / "sitr.db")
    question = budget.group_by("ward").agg(n=sitr.count())
    found = {"sitr": sitr, "dataset": dataset, "budget": budget, "question": question}
    found |= {"selection": budget.group_by("ward"), "answer": question.release(rho=0.1)}
    found |= {
        "column": sitr.column("cost"),
        "aggregate": sitr.mean("cost"),
        "computed": sitr.sum("cost") / sitr.count(),
    }
    return found | {"text": sitr.column("ward").str, "moment": sitr.column("admitted").dt}


OBJECTS: list[tuple[str, Hints]] = [
    *(("budget", BUDGET), ("selection", SELECTION), ("dataset", DATASET), ("question", QUESTION), ("answer", ANSWER)),
    *(("column", COLUMN), ("aggregate", AGGREGATED), ("computed", COLUMN), ("text", TEXTS), ("moment", MOMENTS)),
]


def shown_call(hint: str) -> str:
    """The code of a hint: the longest beginning that is an expression of Python."""
    words = hint.removeprefix("Write ").removesuffix(".")
    for end in range(len(words), 0, -1):
        try:
            found = ast.parse(words[:end], mode="eval")
        except SyntaxError:
            continue
        if not isinstance(found.body, ast.Tuple):
            return words[:end].rstrip()
    return ""


@pytest.mark.parametrize("hint", [hint for hint in EVERY if hint.startswith("Write ")])
def test_the_call_of_a_hint_works(
    hint: str, known: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a ledger may be written
    code = shown_call(hint)
    assert code.startswith(("sitr.", "budget.", "question.", "answer.", "dataset."))
    found = eval(code, dict(known))
    assert found is not None


@pytest.mark.parametrize(("name", "hints"), OBJECTS)
def test_every_name_of_another_library_gets_its_hint(name: str, hints: Hints, known: dict[str, object]) -> None:
    thing = known[name]
    for call, hint in hints.calls.items():
        if hasattr(type(thing), call):
            continue  # it exists here
        with pytest.raises(UnknownCall) as caught:
            getattr(thing, call)
        assert str(caught.value) == f"{hints.what} has no method {call!r}. {hint}"
        assert isinstance(caught.value, SitrError)
    assert any(not hasattr(type(thing), call) for call in hints.calls)


@pytest.mark.parametrize("name", ["budget", "selection", "dataset"])
def test_brackets_get_a_hint(name: str, known: dict[str, object]) -> None:
    """Without one, Python's own error says nothing about questions; a loop over rows ends in the same way."""
    thing: Any = known[name]
    for use in (lambda: thing["days"], lambda: thing[["days", "cost"]], lambda: list(thing)):
        with pytest.raises(InvalidUse, match=r"has no columns or rows to choose by brackets \[ \]\. Write ") as caught:
            use()
        assert isinstance(caught.value, TypeError)  # as for other objects without items
        with speaking(Language.ARABIC):
            assert "تُختار" in error_text(caught.value)


def test_hints_name_no_call_that_exists(known: dict[str, object]) -> None:
    """A hint for a name that all objects of a kind have would never be read."""
    for name, hints in OBJECTS:
        if name in ("column", "budget", "dataset", "text", "moment"):
            existing = {call for call in hints.calls if hasattr(type(known[name]), call)}
            assert existing <= ({"assign"} if name == "budget" else set()), name  # roles are assigned


@pytest.mark.parametrize("hint", EVERY)
def test_every_hint_is_said_in_arabic(hint: str) -> None:
    with speaking(Language.ARABIC):
        said = error_text(UnknownCall(given="A budget has no method 'filter'.", do=hint))
    assert said.startswith("ليس في الميزانية")
    code = shown_call(hint) if hint.startswith("Write") else ""
    rest = said.replace(code, "")
    for word in ("answer.to_polars()", "answer.table", "join(…)", "agg(…)", "dir(…)", "Python", "filter"):
        rest = rest.replace(word, "")
    assert not re.search("[A-Za-z]{2,}", rest), said


def test_another_name_gets_the_nearest(known: dict[str, object]) -> None:
    with pytest.raises(UnknownCall, match=r"A budget has no method 'grup_by'. Did you mean 'group_by'\?"):
        known["budget"].grup_by  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(UnknownCall, match=r"Use dir\(…\) to list what it has"):
        known["answer"].xyzzy  # type: ignore[attr-defined]  # noqa: B018
    assert getattr(known["budget"], "xyzzy", 7) == 7
    assert not hasattr(known["column"], "xyzzy")


@pytest.mark.parametrize("name", ["column", "aggregate", "computed", "text", "question", "answer"])
def test_objects_are_copied_as_before(name: str, known: dict[str, object]) -> None:
    thing = known[name]
    assert type(copy.copy(thing)) is type(thing)
    assert not hasattr(thing, "__array__")
    assert not hasattr(thing, "_ipython_canary_method_should_not_exist_")
    if name in ("column", "aggregate", "text"):
        assert type(pickle.loads(pickle.dumps(thing))) is type(thing)


def test_an_error_inside_a_property_stays_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = sitr.protect(hospital(20), name="visits", unit="patient_id", max_groups=1, max_rows_per_group=1)
    budget = dataset.budget(rho=1, ledger=tmp_path / "sitr.db")

    def broken(_: object) -> None:
        raise AttributeError("inner")

    monkeypatch.setattr(type(budget), "ledger", property(broken))
    with pytest.raises(AttributeError, match=r"^inner$"):
        budget.ledger  # noqa: B018


@pytest.mark.parametrize("name", sorted(sitr._HABITS))
def test_functions_of_other_libraries_get_a_hint_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(hospital(50), "visits.parquet")
    with pytest.raises(AttributeError) as caught:
        getattr(sitr, name)
    told = str(caught.value)
    assert told == f"Module 'sitr' has no attribute {name!r}. Write {sitr._HABITS[name]}."
    assert eval(sitr._HABITS[name], {"sitr": sitr}) is not None
    assert name not in dir(sitr)
