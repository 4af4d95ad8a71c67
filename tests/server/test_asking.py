"""A question before it is asked: errors by column, questions to begin with, and an answer about invented rows."""

from __future__ import annotations

import pytest

from sitr.errors import InvalidUse
from sitr.server.asking import DraftQuestion, drawn, starters, targets, words_of
from tests.server.conftest import PRICE, SQL, Team


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n=100", {"n": 100.0}),
        ("n=1%, total=5e3", {"n": "1%", "total": 5000.0}),
        ('"a=b"=3،n=2', {"a=b": 3.0, "n": 2.0}),
    ],
)
def test_errors_by_column(text: str, found: dict[str, object]) -> None:
    assert targets(text) == found


@pytest.mark.parametrize("text", ["100", "n=many", "=3", "n=1, 5"])
def test_what_names_no_column_or_no_number_is_refused(text: str) -> None:
    with pytest.raises(InvalidUse, match="errors by column"):
        targets(text)


def test_every_question_to_begin_with_can_be_asked(shared: Team) -> None:
    office, ana = shared.app.app.state.office, shared.user("ana")  # type: ignore[attr-defined]
    table = office.open(ana, "visits").budget.table
    found = starters(table)
    assert len(found) == 4
    for sql in found:
        assert drawn(office, ana, "visits", DraftQuestion(sql, PRICE, rows=1_000)).imagined is not None


def test_the_editor_completes_public_names_only(shared: Team) -> None:
    office, ana = shared.app.app.state.office, shared.user("ana")  # type: ignore[attr-defined]
    table = office.open(ana, "visits").budget.table
    keys = {key for column in table.columns for key in column.keys or ()}
    assert set(words_of(table)) <= {"visits", *(column.name for column in table.columns), *(f"'{key}'" for key in keys)}
    assert {"ward", "'Emergency'"} <= set(words_of(table))


def test_an_imagined_answer_needs_no_rows(team: Team) -> None:
    """The rows of the data set are overwritten, and the preview is as before: it is made of what is public."""
    for path in team.folder.glob("visits.*"):
        if path.suffix in (".parquet", ".csv"):
            path.write_bytes(b"no rows")
    office, ana = team.app.app.state.office, team.user("ana")  # type: ignore[attr-defined]
    found = drawn(office, ana, "visits", DraftQuestion(SQL, PRICE, rows=50_000))
    assert found.imagined is not None
    assert len(found.imagined.rows) == 9
    assert not found.approval
    assert office.entries(ana, "visits") == []


def test_a_price_above_the_rule_needs_approval(team: Team) -> None:
    office, ana, noor = team.app.app.state.office, team.user("ana"), team.user("noor")  # type: ignore[attr-defined]
    office.rule(noor, "visits", approval="zcdp(0.02)")
    prices = ("zcdp(0.02)", "zcdp(0.021)", "pure(0.1)")
    assert [drawn(office, ana, "visits", DraftQuestion(SQL, each)).approval for each in prices] == [False, True, False]


def test_a_target_decides_the_price(shared: Team) -> None:
    office, ana = shared.app.app.state.office, shared.user("ana")  # type: ignore[attr-defined]
    found = drawn(office, ana, "visits", DraftQuestion(SQL, "zcdp(0.25)", target="n=300"))
    assert found.preview.errors()["n"] <= 300
    cheaper = drawn(office, ana, "visits", DraftQuestion(SQL, found.price.replace("zcdp(rho=", "zcdp(")))
    assert cheaper.preview.errors()["n"] <= 300
    assert float(found.price.partition("=")[2].rstrip(")")) < 0.01
