"""SQL and Python calls make the same nodes: every function of rows and every aggregate has a call."""

from __future__ import annotations

from datetime import date

import pytest

import sitr
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.frame import Expr, column, when
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.registry import FUNCTIONS
from sitr.questions.aggregate.sql import parse, parse_condition

x, y, w, d = column("x"), column("y"), column("w"), column("d")
ROWS: dict[str, tuple[str, Expr]] = {
    "+": ("x + 1", x + 1),
    "-": ("x - y", x - y),
    "*": ("x * 2", x * 2),
    "/": ("x / y", x / y),
    "//": ("x // 10", x // 10),
    "%": ("x % 2", x % 2),
    "NEGATE": ("-x", -x),
    "ABS": ("ABS(x)", x.abs()),
    "ROUND": ("ROUND(x, 2)", x.round(2)),
    "FLOOR": ("FLOOR(x)", x.floor()),
    "CEIL": ("CEIL(x)", x.ceil()),
    "SIGN": ("SIGN(x)", x.sign()),
    "SQRT": ("SQRT(x)", x.sqrt()),
    "LN": ("LN(x)", x.log()),
    "LOG10": ("LOG10(x)", x.log10()),
    "EXP": ("EXP(x)", x.exp()),
    "POWER": ("POWER(x, 2)", x**2),
    "CLAMP": ("CLAMP(x, 0, 9)", x.clip(0, 9)),
    "=": ("x = 1", x == 1),
    "<>": ("x <> 1", x != 1),
    "<": ("x < 1", x < 1),
    "<=": ("x <= 1", x <= 1),
    ">": ("x > 1", x > 1),
    ">=": ("x >= 1", x >= 1),
    "AND": ("x > 1 AND y < 2", (x > 1) & (y < 2)),
    "OR": ("x > 1 OR y < 2", (x > 1) | (y < 2)),
    "NOT": ("NOT x > 1", ~(x > 1)),
    "IS NULL": ("x IS NULL", x.is_null()),
    "IN": ("w IN ('a', 'b')", w.is_in(["a", "b"])),
    "LIKE": ("w LIKE 'a%'", w.like("a%")),
    "ILIKE": ("w ILIKE 'a%'", w.ilike("a%")),
    "STARTS_WITH": ("STARTS_WITH(w, 'a')", w.str.starts_with("a")),
    "ENDS_WITH": ("ENDS_WITH(w, 'a')", w.str.ends_with("a")),
    "CONTAINS": ("CONTAINS(w, 'a')", w.str.contains("a")),
    "REGEXP_MATCHES": ("REGEXP_MATCHES(w, '^a+')", w.str.matches("^a+")),
    "REGEXP_FULL_MATCH": ("w SIMILAR TO '(a|b)'", w.str.matches("(a|b)", whole=True)),
    "CASE": ("CASE WHEN x > 1 THEN 1 ELSE 0 END", when(x > 1).then(1).otherwise(0)),
    "COALESCE": ("COALESCE(x, 0)", x.fill_null(0)),
    "NULLIF": ("NULLIF(x, 0)", x.null_if(0)),
    "LEAST": ("LEAST(x, y, 3)", x.least(y, 3)),
    "GREATEST": ("GREATEST(x, y)", x.greatest(y)),
    "LOWER": ("LOWER(w)", w.str.to_lowercase()),
    "UPPER": ("UPPER(w)", w.str.to_uppercase()),
    "TRIM": ("TRIM(w)", w.str.strip_chars()),
    "LTRIM": ("LTRIM(w)", w.str.strip_chars_start()),
    "RTRIM": ("RTRIM(w)", w.str.strip_chars_end()),
    "SUBSTR": ("SUBSTR(w, 2, 3)", w.str.slice(1, 3)),
    "LEFT": ("LEFT(w, 3)", w.str.head(3)),
    "RIGHT": ("RIGHT(w, 3)", w.str.tail(3)),
    "LENGTH": ("LENGTH(w)", w.str.len_chars()),
    "||": ("w || '-'", w.str.concat("-")),
    "REPLACE": ("REPLACE(w, 'ab', 'c')", w.str.replace_all("ab", "c")),
    "SPLIT_PART": ("SPLIT_PART(w, '-', 2)", w.str.split_part("-", 2)),
    "DATE_TRUNC": ("DATE_TRUNC('month', d)", d.dt.truncate("month")),
    "EXTRACT": ("EXTRACT(month FROM d)", d.dt.month()),
    "DATE_DIFF": ("DATE_DIFF('day', DATE '2024-01-01', d)", d.dt.since(date(2024, 1, 1), "day")),
    "AT TIME ZONE": ("d AT TIME ZONE 'Asia/Tokyo'", d.dt.convert_time_zone("Asia/Tokyo")),
    "DATE_ADD": ("d + INTERVAL 3 DAY", d.dt.offset_by(3, "day")),
    "CAST": ("CAST(x AS INTEGER)", x.cast("integer")),
}
AGGREGATES: dict[str, tuple[str, Aggregate | Expr]] = {
    "COUNT": ("COUNT(DISTINCT x)", sitr.count(distinct="x")),
    "SUM": ("SUM(x)", sitr.sum("x")),
    "AVG": ("AVG(x)", sitr.mean("x")),
    "COUNT_IF": ("COUNT_IF(x > 1)", sitr.count_if(x > 1)),
    "VAR_SAMP": ("VAR_SAMP(x)", sitr.variance("x")),
    "VAR_POP": ("VAR_POP(x)", sitr.variance("x", population=True)),
    "STDDEV_SAMP": ("STDDEV_SAMP(x)", sitr.standard_deviation("x")),
    "STDDEV_POP": ("STDDEV_POP(x)", sitr.standard_deviation("x", population=True)),
    "COVAR_SAMP": ("COVAR_SAMP(x, y)", sitr.covariance("x", "y")),
    "COVAR_POP": ("COVAR_POP(x, y)", sitr.covariance("x", "y", population=True)),
    "CORR": ("CORR(x, y)", sitr.correlation("x", "y")),
    "SUM_PER_PERSON": ("SUM_PER_PERSON(x, 0, 9)", sitr.sum("x", per_person=(0, 9))),
    "MIN": ("MIN(x)", sitr.min("x")),
    "MAX": ("MAX(x)", sitr.max("x")),
    "MEDIAN": ("MEDIAN(x)", sitr.median("x")),
    "QUANTILE": ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)", sitr.quantile("x", 0.9)),
    "APPROX_QUANTILES": ("APPROX_QUANTILES(x, 4)", sitr.quantiles("x", 4)),
    "HISTOGRAM": ("HISTOGRAM(x, [0, 1, 2])", sitr.histogram("x", [0, 1, 2])),
    "FILTER": ("SUM(x) FILTER (WHERE y > 1)", sitr.sum("x").filter(y > 1)),
    "DP_INTERVAL_LOW": ("DP_INTERVAL_LOW(SUM(x))", sitr.sum("x").interval_low()),
    "DP_INTERVAL_HIGH": ("DP_INTERVAL_HIGH(SUM(x))", sitr.sum("x").interval_high()),
    "arithmetic": ("MAX(x) - MIN(x)", sitr.max("x") - sitr.min("x")),
    "CASE": ("CASE WHEN COUNT(*) > 9 THEN 1 ELSE 0 END", when(sitr.count() > 9).then(1).otherwise(0)),
}


def test_every_function_has_a_call() -> None:
    assert set(ROWS) == set(ROW_FUNCTIONS)
    assert set(AGGREGATES) >= set(FUNCTIONS)


@pytest.mark.parametrize("function", ROWS)
def test_a_function_of_rows_is_the_same_in_sql_and_in_calls(function: str) -> None:
    sql, call = ROWS[function]
    found: Expression = parse_condition(f"({sql}) IS NULL").arguments[0]  # type: ignore[union-attr]
    assert found == call.expression
    assert getattr(found, "function", "") == function


@pytest.mark.parametrize("function", AGGREGATES)
def test_an_aggregate_is_the_same_in_sql_and_in_calls(function: str) -> None:
    sql, call = AGGREGATES[function]
    (named,) = parse(f"SELECT {sql} AS n FROM t").aggregates
    assert named.aggregate == (Combined(call.expression) if isinstance(call, Expr) else call)
