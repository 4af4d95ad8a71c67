"""Most questions of the kinds that others ask are answered, with the numbers of a plain engine; the rest in words.

The kinds are those of the tests and documentation of other systems for private queries, of the examples of databases,
and of a common benchmark of analytical questions. The questions, tables and words are our own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sitr
from sitr.errors import SitrError
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import Same
from sitr.questions.aggregate.functions.linear import Linear
from sitr.session.budget import Budget
from tests.questions.corpus.corpus import Asked, asked
from tests.questions.corpus.tables import SCHEMAS, Schema

EVERYTHING = [each for name in SCHEMAS for each in asked(name)]
PRICE = "zcdp(100000, 0.001)"
NAMES = [f"{each.schema}: {each.kind}" for each in EVERYTHING]


@cache
def schema(name: str) -> Schema:
    return SCHEMAS[name]()


@pytest.fixture(scope="module")
def budgets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Budget]:
    """A budget for each table that does not run out."""
    folder = tmp_path_factory.mktemp("corpus")
    return {name: _budget(schema(name), folder / f"{name}.db") for name in SCHEMAS}


def _budget(found: Schema, ledger: Path) -> Budget:
    dataset = sitr.protect(found.rows, unit=found.unit, name=found.name, public=found.public, **found.described)
    return dataset.budget("zcdp(1e9, 0.9)", ledger=ledger, keep=False)


@cache
def engine(name: str) -> duckdb.DuckDBPyConnection:
    """A plain engine with the tables of a schema."""
    found, connection = schema(name), duckdb.connect(":memory:")
    connection.execute("CREATE SCHEMA census")
    for called, rows in {found.name: found.rows, **found.public}.items():
        connection.register(f"{called}_rows", rows)
        connection.execute(f"CREATE TABLE {called} AS SELECT * FROM {called}_rows")
        connection.execute(f"CREATE TABLE census.{called} AS SELECT * FROM {called}_rows")
    return connection


def plainly(each: Asked) -> list[dict[str, Any]]:
    """The rows that DuckDB answers."""
    found = engine(each.schema).execute(each.plain)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _same(one: Any, other: Any, within: float) -> bool:
    if _is_number(one) and _is_number(other):
        return math.isclose(float(one), float(other), rel_tol=1e-3, abs_tol=within)
    if isinstance(one, date) and isinstance(other, date):
        return str(one)[:10] == str(other)[:10] and str(one)[10:].strip("0:. ") == str(other)[10:].strip("0:. ")
    return type(one) is type(other) and bool(one == other)


def _has(row: dict[str, Any], key: str, value: Any) -> bool:
    """Whether a row of the plain engine has this key, under its name or, if it was not named, under another one."""
    return _same(row[key], value, 1e-9) if key in row else any(_same(each, value, 1e-9) for each in row.values())


def differences(each: Asked, query: BoundedQuery, shown: list[dict[str, Any]]) -> Iterator[str]:
    """What an answer says otherwise than the plain engine. Public keys without rows have a count of 0."""
    exact, keys, columns = plainly(each), [key.name for key in query.keys], dict(query.shown)
    within = 0.05 if each.within is None else each.within
    left = list(shown)
    for row in exact:
        found = next((one for one in left if all(_has(row, key, one[key]) for key in keys)), None)
        if found is None:
            yield f"{row} is not in the answer"
            continue
        left.remove(found)
        for column in columns:
            if column in row and not _same(found[column], row[column], within):
                yield f"{column} is {found[column]} instead of {row[column]}"
    for row in left if "LIMIT" not in each.sql else ():
        counts = [name for name, column in columns.items() if isinstance(column.formula, Same | Linear)]
        if any(abs(row[name]) > within for name in counts):
            yield f"{row} is in the answer only"


@pytest.mark.parametrize("each", EVERYTHING, ids=NAMES)
def test_each_question_has_the_numbers_of_a_plain_engine_or_is_refused_in_words(
    each: Asked, budgets: dict[str, Budget]
) -> None:
    budget = budgets[each.schema]
    if each.refused:
        with pytest.raises(SitrError) as refused:
            budget.sql(each.sql).preview(PRICE)
        _check_refusal(refused.value, each)
        return
    request = budget.sql(each.sql, bias="off")
    price = PRICE if request.price is None else f"approximate({request.price.epsilon}, {request.price.delta})"
    request.preview(price)
    answer = request.release(price, coins=TestCoins(7))
    assert list(differences(each, answer.released.plan.query, answer.table.to_pylist())) == []


def _check_refusal(refusal: SitrError, each: Asked) -> None:
    """A reason, what to do, and nothing of the parser's."""
    for said in (refusal, *refusal.others):
        assert said.given, each.sql
        assert said.do.endswith((".", "?")), each.sql
        assert "sqlglot" not in str(said), each.sql


def test_at_least_85_percent_are_answered() -> None:
    """The figure of this corpus, and of what a newcomer tries, which has mistakes on purpose."""
    answered = [each for each in EVERYTHING if not each.refused]
    assert len(EVERYTHING) > 200
    assert len(answered) / len(EVERYTHING) >= 0.85, f"{len(answered)} of {len(EVERYTHING)} questions are answered"
