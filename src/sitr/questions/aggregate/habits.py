"""Hints for calls that exist elsewhere: whoever writes `budget.filter(…)`, as in polars, reads which call works here.

Names are those of polars, narwhals, pandas and SQL engines. A hint that begins with "Write" shows a call that works; a
test calls each of them. Names without a hint get the nearest name that exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sitr.dataclass import dataclass
from sitr.errors import InvalidUse, UnknownCall, nearest

WHERE = 'Write budget.where(sitr.column("days") > 3).agg(n=sitr.count()).'
COUNT = "Write budget.agg(n=sitr.count())."
AGGREGATE = 'Write budget.group_by("ward").agg(total=sitr.sum("cost")).'
GROUP = 'Write budget.group_by("ward").agg(n=sitr.count()).'
SORT = 'Write budget.group_by("ward").agg(n=sitr.count()).sort("n", descending=True).head(3).'
NAME = 'Write budget.agg(total=sitr.column("cost").sum()), with the name of the result before "=".'
VALUES = 'Write budget.where(sitr.column("cost").is_not_null()).agg(n=sitr.count()).'
SQL = 'Write budget.sql("SELECT COUNT(*) AS n FROM visits").'
PUBLIC = "Write budget.table.columns for what is public about them."
INVENTED = "Write budget.dummy().table for invented rows: no row of the data is ever shown."
BUDGET_FIRST = 'Write dataset.budget(rho=1, ledger="sitr.db").agg(n=sitr.count()): a budget answers questions.'
RELEASE = "Write question.release(rho=0.01).table: a question has rows when it is paid for."
ORDER = 'Write budget.where(sitr.column("days") > 3).agg(n=sitr.count()): agg(…) comes last.'
FRAME = "Write answer.to_pandas(), or use answer.to_polars() and answer.table: what is done with them is free."
COMPUTE = 'Write sitr.column("cost") / 100 with operators and methods: functions of Python never see rows.'
CHOOSE = 'Write sitr.when(sitr.column("days") > 3).then(1).otherwise(0).'
CORRELATE = 'Write budget.agg(r=sitr.correlation("days", "cost")).'
JOIN = "Use join(…) with a table that was declared public."


@dataclass(frozen=True, slots=True)
class Hints:
    """What a kind of object is called, and hints by the names that somebody may try."""

    what: str
    calls: Mapping[str, str]


class Hinted:
    """A base of classes whose missing attributes are answered with a hint."""

    __slots__ = ()
    _hints = Hints("This object", {})

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name in getattr(type(self), "__dataclass_fields__", ()):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if hasattr(type(self), name):  # a property raised an AttributeError: it raises it again
                return object.__getattribute__(self, name)
            raise unknown_call(name, self._hints, dir(type(self)))


class Whole(Hinted):
    """A base of classes that are not picked apart by brackets, as data frames are: `budget["days"]`."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know that there is nothing to pick

        def __getitem__(self, item: object) -> Any:
            raise InvalidUse(
                given=f"{self._hints.what} has no columns or rows to choose by brackets [ ].",
                do=self._hints.calls[PICK],
            )


PICK = "[]"
"""The name of brackets among the hints."""


def unknown_call(name: str, hints: Hints, names: Iterable[str]) -> UnknownCall:
    """The error for a name that an object does not have.

    >>> str(unknown_call("filter", BUDGET, ()))
    'A budget has no method \\'filter\\'. Write budget.where(sitr.column("days") > 3).agg(n=sitr.count()).'
    >>> str(unknown_call("wehre", BUDGET, ["where", "agg"]))
    "A budget has no method 'wehre'. Did you mean 'where'?"
    """
    near = nearest(name, [each for each in names if not each.startswith("_")])
    usual = "Use dir(…) to list what it has." if near is None else f"Did you mean {near!r}?"
    return UnknownCall(given=f"{hints.what} has no method {name!r}.", do=hints.calls.get(name, usual))


def _each(names: str, hint: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), hint)


_NUMBERS = {
    **{name: name for name in ("sum", "mean", "median", "min", "max", "variance", "standard_deviation")},
    "avg": "mean",
    "average": "mean",
    "var": "variance",
    "std": "standard_deviation",
    "stddev": "standard_deviation",
}

_ROWS = "apply map map_rows map_batches map_elements map_groups applymap transform pipe"
_SHOWN = (
    "collect lazy fetch show rows row iter_rows iterrows itertuples items values to_pandas to_polars to_arrow "
    "to_numpy to_list tolist to_dicts head tail limit sample slice first last item write_csv to_csv "
    "write_parquet to_parquet"
)

_QUESTIONS = (
    _each("filter query loc iloc remove mask", WHERE)
    | _each("select with_columns with_column assign project aggregate summarise summarize reduce", AGGREGATE)
    | _each(
        "groupby group_by_dynamic partition_by pivot pivot_table value_counts unique distinct drop_duplicates", GROUP
    )
    | _each("sort sort_values order_by orderby top_k bottom_k nlargest nsmallest rank", SORT)
    | _each("count len size shape height n_rows nrows", COUNT)
    | _each("columns schema dtypes info width describe glimpse", PUBLIC)
    | _each("drop_nulls dropna drop_nans", VALUES)
    | _each("rename alias name", NAME)
    | _each("execute run cursor read_sql", SQL)
    | _each("corr cov", CORRELATE)
    | _each("merge join_asof cross_join", JOIN)
    | _each(_ROWS, COMPUTE)
    | _each(_SHOWN, INVENTED)
    | {name: f'Write budget.agg(found=sitr.{own}("cost")).' for name, own in _NUMBERS.items()}
)

BUDGET = Hints("A budget", _QUESTIONS | {PICK: WHERE})
SELECTION = Hints(
    "A question without agg(…)",
    _QUESTIONS | _each("release preview ask propose having price", GROUP) | {PICK: AGGREGATE},
)
DATASET = Hints(
    "A data set",
    dict.fromkeys(
        (
            *_QUESTIONS,
            "agg",
            "group_by",
            "where",
            "sql",
            "ask",
            "release",
            "histogram",
            "join",
            "tables",
            "suggest",
            PICK,
        ),
        BUDGET_FIRST,
    ),
)
QUESTION = Hints(
    "A question",
    _each(_SHOWN + " table execute run compute result results fetchall fetchone intervals", RELEASE)
    | _each("filter query where group_by groupby agg aggregate select with_columns join merge caps", ORDER)
    | _each("sort_values order_by orderby top_k nlargest nsmallest", SORT)
    | _each("rename alias name", NAME),
)
ANSWER = Hints(
    "An answer",
    _each(
        "filter query loc iloc select with_columns group_by groupby agg sort sort_values head tail limit columns "
        "schema dtypes shape describe merge join rename rows iter_rows iterrows itertuples values item items collect "
        "to_arrow to_numpy to_list tolist to_dicts to_csv write_csv to_parquet write_parquet",
        FRAME,
    ),
)


def _column(*pairs: tuple[str, str]) -> dict[str, str]:
    return {name: f"Write sitr.column({call}." for names, call in pairs for name in names.split()}


_TEXT = {
    "lower": "to_lowercase()",
    "upper": "to_uppercase()",
    "strip": "strip_chars()",
    "lstrip": "strip_chars_start()",
    "rstrip": "strip_chars_end()",
    "startswith": 'starts_with("S")',
    "endswith": 'ends_with("y")',
    "replace": 'replace_all("old", "new")',
    "len": "len_chars()",
    "length": "len_chars()",
    "len_bytes": "len_chars()",
    "cat": 'concat("!")',
    "match": 'matches("S.*")',
    "fullmatch": 'matches("S.*", whole=True)',
}
_MOMENT = {
    "dayofweek": "weekday()",
    "day_of_week": "weekday()",
    "dayofyear": "ordinal_day()",
    "day_of_year": "ordinal_day()",
    "floor": 'truncate("month")',
    "round": 'truncate("month")',
    "date": 'truncate("day")',
    "strftime": 'truncate("month")',
    "to_string": 'truncate("month")',
    "month_start": 'truncate("month")',
    "month_name": "month()",
    "tz_convert": 'convert_time_zone("Europe/Paris")',
}

TEXTS = Hints("Text", _column(*((name, f'"ward").str.{call}') for name, call in _TEXT.items())))
MOMENTS = Hints("A date or time", _column(*((name, f'"admitted").dt.{call}') for name, call in _MOMENT.items())))

COLUMN = Hints(
    "An expression",
    _each(_ROWS, COMPUTE)
    | _each("alias rename name", NAME)
    | _each("agg aggregate", AGGREGATE)
    | _each("over shift lag lead rolling rolling_mean rolling_sum rank cum_sum cumsum diff pct_change ewm_mean", GROUP)
    | _each("value_counts unique mode group_by groupby", GROUP)
    | _each("sort sort_values top_k nlargest nsmallest arg_sort", SORT)
    | _each(_SHOWN, INVENTED)
    | _each("filter where mask", CHOOSE)
    | _each("corr cov", CORRELATE)
    | _each("drop_nulls dropna drop_nans", VALUES)
    | _each("hist histogram", 'Write budget.histogram("ward").')
    | _column(
        ("astype as_type", '"cost").cast("integer")'),
        ("fillna fill_nan coalesce", '"cost").fill_null(0)'),
        ("isnull isna is_nan is_na is_missing", '"cost").is_null()'),
        ("notnull notna is_not_nan", '"cost").is_not_null()'),
        ("isin in_ in_list", '"ward").is_in(["Surgery", "Oncology"])'),
        ("between", '"days").is_between(1, 3)'),
        ("nunique n_distinct count_distinct approx_n_unique", '"ward").n_unique()'),
        ("avg average", '"cost").mean()'),
        ("len size", '"cost").count()'),
        ("stddev standard_deviation", '"cost").std()'),
        ("variance", '"cost").var()'),
        ("pow", '"cost") ** 2'),
    )
    | {name: hint for name, hint in TEXTS.calls.items() if name not in ("len", "replace")}
    | _column(
        ("contains", '"ward").str.contains("gery")'),
        ("to_lowercase", '"ward").str.to_lowercase()'),
        ("to_uppercase", '"ward").str.to_uppercase()'),
        ("starts_with", '"ward").str.starts_with("S")'),
        ("ends_with", '"ward").str.ends_with("y")'),
        *((name, f'"admitted").dt.{name}()') for name in ("year", "quarter", "month", "week", "day", "weekday")),
        ("truncate", '"admitted").dt.truncate("month")'),
    ),
)
AGGREGATED = Hints(
    "An aggregate",
    _each("alias rename name label", NAME)
    | _each("where mask", 'Write budget.agg(n=sitr.count().filter(sitr.column("days") > 3)).')
    | _each("group_by groupby by", AGGREGATE)
    | _each(_SHOWN + " release preview ask", AGGREGATE),
)
