"""The carets of an error are under the part that is wrong: in any line, after tabs and in any script."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from sitr.errors import Excerpt, QuestionError
from sitr.questions.aggregate import places
from sitr.questions.aggregate.dialect import QuestionDialect
from sitr.questions.aggregate.sql import parse

BEFORE = st.text(alphabet="x \t\r\nمكةَ中🙂'", max_size=12)


def place(sql: str) -> Excerpt:
    with pytest.raises(QuestionError) as refused:
        parse(sql)
    assert refused.value.excerpt is not None
    return refused.value.excerpt


def pointed(sql: str) -> str:
    found = place(sql)
    return found.text[found.column - 1 : found.column - 1 + found.length]


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT COUNT(*) FROM a RIGHT JOIN b USING (x) WHERE y = 1", "RIGHT JOIN b USING (x)"),
        ("SELECT COUNT(*), STRING_AGG(x) AS m FROM a", "STRING_AGG(x)"),
        ("SELECT COUNT(*) FROM ONLY a", "ONLY"),
        ("SELECT COUNT(*) FROM a WHERE x = (SELECT y FROM b)", "(SELECT y FROM b)"),
        ("SELECT COUNT(*) FROM a WHERE soundex ( x ) = 'A'", "soundex ( x )"),
        ("SELECT AVG(COS(RADIANS(x))) FROM a", "COS(RADIANS(x))"),
        ("SELECT SUM(f(x)) FROM a", "f(x)"),
        ("SELECT COUNT(*) FROM a WHERE ABS(RANDOM()) > 1", "RANDOM()"),
        ("SELECT COUNT(*) FROM a WHERE CAST(x AS TIME) = 1", "CAST(x AS TIME)"),
        ("SELECT COUNT(*) FROM a WHERE x = 1 AND (y & (1)) > 2", "y & (1)"),
        ("SELECT COUNT(*) FROM a WHERE x = ?", "?"),
        ("SELECT x AS y, COUNT(*) FROM a GROUP BY z", "x AS y"),
        ("SELECT a.x, COUNT(*) FROM a", "a.x"),
        ("SELECT x, y, COUNT(*) FROM a GROUP BY x", "y"),
        ("SELECT COUNT(*) FROM a GROUP BY x, x", "x, x"),
        ("SELECT COUNT(*) FROM a GROUP BY 2", "2"),
        ("SELECT COUNT(*) FROM a WHERE x = 1e400", "1e400"),
        ("SELECT COUNT(*) FROM a; DROP TABLE a", "DROP TABLE a"),
        ("SELECT COUNT(*) FROM a UNION SELECT 1", "UNION"),
        ("BEGIN", "BEGIN"),
        ("DELETE FROM a", "DELETE"),
    ],
)
def test_the_whole_part_is_pointed_at(sql: str, part: str) -> None:
    assert pointed(sql) == part


@pytest.mark.parametrize("breaking", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_do(breaking: str) -> None:
    sql = breaking.join(["SELECT COUNT(*)", "\tFROM a", "", "\t\tWHERE \"مدينة\" = '中文' AND f(x) = 1"])
    found = place(sql)
    last = sql.split(breaking)[3]
    assert found == Excerpt(last, 4, last.index("f(x)") + 1, len("f(x)"))


@given(BEFORE, BEFORE)
def test_the_place_is_right_after_any_text(before: str, between: str) -> None:
    comment, literal = before.replace("\r", "").replace("\n", ""), between.replace("'", "''")
    sql = f"SELECT COUNT(*) -- {comment}\nFROM a WHERE x = '{literal}' AND wrong(x) = 1"
    assert pointed(sql) == "wrong(x)"


def test_of_a_part_in_several_lines_the_first_is_pointed_at() -> None:
    assert pointed("SELECT COUNT(*) FROM a WHERE x = (SELECT\n y\nFROM b)") == "(SELECT"


@pytest.mark.parametrize("mistakes", [4, 32])
def test_a_text_with_many_mistakes_is_split_once(mistakes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was split again for every mistake, so that refusing a CASE of 300 branches took seconds."""
    text = " ".join(["SELECT CASE", *(f"WHEN a = {n} THEN FOO(a)" for n in range(mistakes)), "END FROM t"])
    tree: exp.Expr = exp.maybe_parse(text, dialect=QuestionDialect)
    places.remember(tree, text)
    places._tokens.cache_clear()
    calls: list[str] = []
    split = QuestionDialect.tokenize

    def counted(self: QuestionDialect, given: str) -> Any:
        calls.append(given)
        return split(self, given)

    monkeypatch.setattr(QuestionDialect, "tokenize", counted)
    found = [places.source(each) for each in tree.find_all(exp.Anonymous)]
    assert len(found) == mistakes
    assert all(each is not None and each.endswith("FOO(a)") for each in found)
    assert calls == [text]
