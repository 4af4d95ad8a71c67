"""Questions are read exactly as DuckDB's dialect reads them."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse, tokens
from sqlglot.dialects.duckdb import DuckDB

from sitr.errors import QuestionError
from sitr.questions.aggregate.dialect import QuestionDialect, sql_of
from sitr.questions.aggregate.sql import parse_condition

WRITING = {"EXPRESSION_METADATA", "Generator", "INVERSE_TIME_MAPPING", "INVERSE_TIME_TRIE", "generator_class"}
"""What only the generator and the optimizer use."""

CLASSES = {"Parser", "parser_class", "Tokenizer", "tokenizer_class", "jsonpath_tokenizer_class"}

BACKTICKS = {"IDENTIFIERS", "_IDENTIFIERS"}
"""Names in backticks mean nothing in DuckDB, and can be read here."""

TEXTS = (
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward",
    "SELECT a // 2, b ** 2, c ^ 3, 'it''s', e'\\x41', 1_000, \"odd name\" FROM t WHERE x LIKE 'a%' AND y IN (1, 2)",
    "SELECT x::VARCHAR, CAST(y AS DATETIME), z::INT8, w::STRING FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY w) = 1",
    "SELECT DATE_TRUNC('month', day), strftime(day, '%Y-%m'), EXTRACT(isodow FROM day) FROM t GROUP BY ALL",
    "SELECT MEDIAN(x) FILTER (WHERE y), QUANTILE_CONT(x, 0.5), j->>'$.a', j->'/b', l[1:2] FROM t USING SAMPLE 5",
    "FROM t SELECT x; SUMMARIZE t; ATTACH 'a.db'; PIVOT t ON x USING SUM(y); $$text$$",
    "SELECT a /*+ hint */ FROM t SORT BY a",
)


def settings(of: type) -> dict[str, object]:
    """The values of a class, without its methods."""
    found = {name: getattr(of, name) for name in dir(of) if not name.startswith("__")}
    return {name: value for name, value in found.items() if isinstance(value, type) or not callable(value)}


def test_every_setting_is_duckdbs() -> None:
    ours, theirs = settings(QuestionDialect), settings(DuckDB)
    assert {name for name in ours | theirs if ours.get(name) != theirs.get(name)} <= WRITING | CLASSES
    mine, duckdbs = settings(QuestionDialect.tokenizer_class), settings(DuckDB.tokenizer_class)
    assert {name for name in mine | duckdbs if mine.get(name) != duckdbs.get(name)} == BACKTICKS
    read, meant = settings(QuestionDialect.parser_class), settings(DuckDB.parser_class)
    assert {name for name in read | meant if read.get(name) != meant.get(name)} == {"FUNCTIONS"}
    own = {name for name, value in vars(DuckDB).items() if callable(value) and not isinstance(value, type)}
    assert own <= set(vars(QuestionDialect))


def test_another_setting_is_found() -> None:
    assert settings(tokens.Tokenizer) != settings(DuckDB.tokenizer_class)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_as_duckdb_reads_them(text: str) -> None:
    assert _read(text, QuestionDialect) == _read(text, DuckDB)


@pytest.mark.parametrize("name", ["DATE_DIFF", "DATE_TRUNC", "LOG10", "LOG2", "MOD", "STRFTIME"])
def test_no_argument_is_forgotten(name: str) -> None:
    """DuckDB's parser forgets the last ones, and a question was answered as if they were not there."""
    (tree,) = parse(f"SELECT {name}('month', b, c, d)", dialect=QuestionDialect)
    assert isinstance(tree, exp.Select)
    assert isinstance(tree.selects[0], exp.Anonymous)
    assert [each.name for each in tree.selects[0].expressions] == ["month", "b", "c", "d"]
    with pytest.raises(QuestionError, match=f"{name} has the wrong number of arguments"):
        parse_condition(f"{name}('month', b, c, d) = 1")


def test_functions_without_more_arguments_are_duckdbs() -> None:
    text = "SELECT STRFTIME(a, '%Y'), MOD(a, b), DATE_DIFF('day', a, b), LOG10(a), LOG2(a), DECODE(a)"
    text += ", DATE_TRUNC('day', a)"
    assert _read(text, QuestionDialect) == _read(text, DuckDB)


def test_names_in_backticks_are_names_in_double_quotes() -> None:
    texts = ("SELECT `odd name`, `a-b`.`c``d` FROM `t`", 'SELECT "odd name", "a-b"."c`d" FROM "t"')
    assert _read(texts[0], QuestionDialect) == _read(texts[1], DuckDB)


@pytest.mark.parametrize("path", ["$.a.b", "/a/b", "$[#-1]", "a"])
def test_paths_of_json_are_duckdbs(path: str) -> None:
    given = exp.Literal.string(path)
    assert repr(QuestionDialect().to_json_path(given.copy())) == repr(DuckDB().to_json_path(given.copy()))


def test_trees_are_written_as_duckdb_writes_them() -> None:
    (tree,) = parse(TEXTS[1], dialect=QuestionDialect)
    assert tree is not None
    assert sql_of(tree) == tree.sql(dialect=DuckDB)


def _read(text: str, dialect: type) -> str:
    try:
        return repr(parse(text, dialect=dialect))
    except Exception as problem:  # noqa: BLE001 (both must fail alike)
        return f"{type(problem).__name__}: {problem}"
