"""A text that cannot be read is refused with the likely mistake, at its place."""

from __future__ import annotations

import pytest

from sitr.errors import QuestionError
from sitr.questions.aggregate.sql import parse, parse_condition


def refusal(sql: str) -> QuestionError:
    with pytest.raises(QuestionError) as refused:
        parse(sql)
    return refused.value


def pointed(error: QuestionError) -> str:
    """What the carets are under."""
    assert error.excerpt is not None
    first = error.excerpt.column - 1
    return error.excerpt.text[first : first + error.excerpt.length]


@pytest.mark.parametrize(
    ("sql", "wrong", "right"),
    [
        ("SELEC year, COUNT(*) FROM flights", "SELEC", "SELECT"),
        ("selct COUNT(*) FROM a", "selct", "SELECT"),
        (" -- how many\n SELEC year", "SELEC", "SELECT"),
        ("SELECT COUNT(*) FORM a", "FORM", "FROM"),
        ("SELECT COUNT(*) FROM a WERE cost = 1", "WERE", "WHERE"),
        ("SELECT x, COUNT(*)\nFROM a\nGRUP BY x", "GRUP", "GROUP BY"),
        ("SELECT COUNT(*) FROM a WHERE x = 1 AN y = 2", "AN", "AND"),
    ],
)
def test_a_misspelled_word_is_corrected(sql: str, wrong: str, right: str) -> None:
    error = refusal(sql)
    assert error.message == f"{wrong} is not known here. Did you mean {right}?"
    assert pointed(error) == wrong


@pytest.mark.parametrize("name", ["seattle-weather", "seattle-weather-2024.csv", "مكة-جدة", "a/b"])
@pytest.mark.parametrize("after", ["", " WHERE x = 1", "\nGROUP BY x"])
def test_a_name_with_signs_must_be_quoted(name: str, after: str) -> None:
    error = refusal(f"SELECT COUNT(*) FROM {name}{after}")
    assert f'Write it in double quotes: "{name}".' == error.do
    assert pointed(error) == name
    assert parse(f'SELECT COUNT(*) FROM "{name}"').table == name


@pytest.mark.parametrize(
    ("sql", "words", "place"),
    [
        ("SELECT COUNT(*) FROM", "ends after FROM", "FROM"),
        ("SELECT COUNT(*) FROM a WHERE", "ends after WHERE", "WHERE"),
        ("SELECT COUNT(* FROM a", "bracket is not closed", "("),
        ("SELECT COUNT(*)) FROM a", "bracket is not opened", ")"),
        ("SELECT x COUNT(*) FROM a GROUP BY x", "comma is missing before COUNT", "COUNT"),
        ("SELECT COUNT(*) FROM a WHERE x = 'it", "quote is not closed", "'"),
        ("SELECT COUNT(*) FROM a WHERE x = 'it''s", "quote is not closed", "'"),
        ('SELECT COUNT(*) FROM a WHERE "x = 1', "quote is not closed", '"'),
        ("SELECT COUNT(*) -- it's\n /* FROM a", "comment is not closed", "/*"),
        ("how many rows are there?", "starts with SELECT, not with 'how'", "how"),
        ("SELECT COUNT(*) AS number of rows FROM a", "cannot be read at 'of'", "of"),
    ],
)
def test_other_mistakes_are_named_at_their_place(sql: str, words: str, place: str) -> None:
    error = refusal(sql)
    assert words in error.given
    assert pointed(error) == place


def test_the_first_of_two_quotes_that_are_not_closed_is_meant() -> None:
    error = refusal("SELECT 'a''b")
    assert error.excerpt is not None
    assert error.excerpt.column == 8


def test_a_condition_is_pointed_at_without_what_the_user_did_not_write() -> None:
    for text, place in [("days > 3 AN cost > 1", "AN"), ("days > 'a", "'"), ("days > 3 AND f(cost) = 1", "f(cost)")]:
        with pytest.raises(QuestionError) as refused:
            parse_condition(text)
        assert refused.value.excerpt is not None
        assert refused.value.excerpt.text == text
        assert pointed(refused.value) == place


def test_a_name_with_a_space_is_quoted() -> None:
    error = refusal("SELECT AVG(mean radius) FROM cells")
    assert error.do == 'If mean radius is the name of a column, write it in double quotes: "mean radius".'
    assert pointed(error) == "mean radius"
