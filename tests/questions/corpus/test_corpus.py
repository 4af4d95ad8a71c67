"""Most questions of the kinds that others ask are answered, with the numbers of a plain engine; the rest in words.

The kinds are those of the tests and documentation of other systems for private queries, of the examples of databases,
and of a common benchmark of analytical questions. The questions, tables and words are our own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sitr
from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import Same
from sitr.questions.aggregate.functions.linear import Linear
from sitr.session.aggregate import AggregateRequest
from sitr.session.budget import Budget
from tests.questions.corpus.corpus import Asked, asked
from tests.questions.corpus.tables import SCHEMAS, Schema

EVERYTHING = [each for name in SCHEMAS for each in asked(name)]
PRICE = "zcdp(1e10, 0.001)"
ANSWERED = [each for each in EVERYTHING if not each.refused]


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
    return dataset.budget("zcdp(1e14, 0.9)", ledger=ledger, keep=False)


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
        return datetime.fromisoformat(str(one)) == datetime.fromisoformat(str(other))
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


@pytest.mark.parametrize(
    "each",
    [pytest.param(each, marks=() if place % 4 == 0 else pytest.mark.slow) for place, each in enumerate(ANSWERED)],
    ids=[f"{each.schema}: {each.kind}" for each in ANSWERED],
)
def test_an_answer_has_the_numbers_of_a_plain_engine(each: Asked, budgets: dict[str, Budget]) -> None:
    """A quarter of the questions by default, and all of them with pytest -m 'slow or not slow'."""
    request = budgets[each.schema].sql(each.sql, bias="off")
    answer = request.release(_price(request), coins=TestCoins(7))
    assert list(differences(each, answer.released.plan.query, answer.table.to_pylist())) == []


def _price(request: AggregateRequest) -> str:
    """A price at which there is hardly any noise; a question in BigQuery's spelling names its own."""
    if request.price is None:
        return PRICE
    assert isinstance(request.price, ApproximateDP)
    return f"approximate({request.price.epsilon}, {request.price.delta})"


def test_every_question_can_be_previewed_or_is_refused_in_words(budgets: dict[str, Budget]) -> None:
    for each in EVERYTHING:
        if each.refused:
            with pytest.raises(SitrError) as refused:
                budgets[each.schema].sql(each.sql).preview(PRICE)
            _check_refusal(refused.value, each)
        else:
            request = budgets[each.schema].sql(each.sql)
            request.preview(_price(request))


def test_every_question_that_is_proposed_can_be_asked(budgets: dict[str, Budget]) -> None:
    """And most refusals propose one."""
    proposed = []
    for each in EVERYTHING:
        if each.refused:
            with pytest.raises(SitrError) as refused:
                budgets[each.schema].sql(each.sql)
            if refused.value.instead is not None:
                budgets[each.schema].sql(refused.value.instead)
                proposed.append(each.kind)
    assert len(proposed) >= 20


def _check_refusal(refusal: SitrError, each: Asked) -> None:
    """A reason, what to do, and nothing of the parser's."""
    for said in (refusal, *refusal.others):
        assert said.given, each.sql
        assert said.do.endswith((".", "?")), each.sql
        assert "sqlglot" not in str(said), each.sql


def test_at_least_85_percent_are_answered() -> None:
    """The figure of this corpus, and of what a newcomer tries, which has mistakes on purpose."""
    assert len(EVERYTHING) > 200
    assert len(ANSWERED) / len(EVERYTHING) >= 0.85, f"{len(ANSWERED)} of {len(EVERYTHING)} questions are answered"
