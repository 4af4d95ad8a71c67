"""Questions in one text are told apart by semicolons, and only by those that end them."""

from __future__ import annotations

import pytest

from sitr.errors import QuestionError
from sitr.questions.batch.statements import statements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        (" ;; -- nothing\n; /* ; */", {}),
        ("SELECT 1", {"1": "SELECT 1"}),
        ("SELECT 1;\nSELECT 2;", {"1": "SELECT 1", "2": "SELECT 2"}),
        ("SELECT 'a;b', \"c;d\"; SELECT 'it''s;'", {"1": "SELECT 'a;b', \"c;d\"", "2": "SELECT 'it''s;'"}),
        (
            "SELECT a - b / c -- one; two\nFROM t; SELECT /* ; */ 2",
            {"1": "SELECT a - b / c  \nFROM t", "2": "SELECT   2"},
        ),
        ("-- Name : all wards \nSELECT 1; -- name:rest\nSELECT 2", {"all wards": "SELECT 1", "rest": "SELECT 2"}),
        ("SELECT 'open; SELECT 2", {"1": "SELECT 'open", "2": "SELECT 2"}),
    ],
)
def test_statements(text: str, found: dict[str, str]) -> None:
    assert statements(text) == found


def test_two_of_the_same_name_are_refused() -> None:
    with pytest.raises(QuestionError, match="Two questions of the file have the name 'a'"):
        statements("-- name: a\nSELECT 1; -- name: a\nSELECT 2")


def test_a_comment_at_the_end_of_a_file_hides_no_question() -> None:
    assert statements("SELECT 1;\nSELECT 2 -- the last one") == {"1": "SELECT 1", "2": "SELECT 2"}
