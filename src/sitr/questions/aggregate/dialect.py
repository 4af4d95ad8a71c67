"""The SQL of questions is read as DuckDB's, without loading what only writes DuckDB's SQL.

`sqlglot.dialects.duckdb` also loads its generator, which parses dozens of templates: an eighth of the time that sqlglot
takes to load, and only some refusals write SQL with it. So the settings of the tokenizer are stated here, the parser is
DuckDB's own except that it forgets no arguments, and a test compares every setting with those of
`sqlglot.dialects.duckdb`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import TokenType, exp, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy, UsingColumnOrder
from sqlglot.parsers.duckdb import DuckDBParser

from sitr.namespace import Later

if TYPE_CHECKING:
    from sqlglot.dialects import duckdb
else:  # it loads the generator
    duckdb = Later("sqlglot.dialects.duckdb")

Builder: TypeAlias = Callable[..., exp.Expr]

_NAMES = {
    TokenType.TEXT: ("BPCHAR", "CHAR", "STRING", "VARCHAR"),
    TokenType.VARBINARY: ("BINARY",),
    TokenType.BIT: ("BITSTRING",),
    TokenType.BOOLEAN: ("LOGICAL",),
    TokenType.INT: ("SIGNED",),
    TokenType.BIGINT: ("INT8",),
    TokenType.UBIGINT: ("UBIGINT",),
    TokenType.UINT: ("UINTEGER",),
    TokenType.USMALLINT: ("USMALLINT",),
    TokenType.UTINYINT: ("UTINYINT",),
    TokenType.STRUCT: ("ROW",),
    TokenType.TIMESTAMPNTZ: ("DATETIME", "TIMESTAMP"),
    TokenType.TIMESTAMP: ("TIMESTAMP_US",),
    TokenType.TIMESTAMP_S: ("TIMESTAMP_S",),
    TokenType.TIMESTAMP_MS: ("TIMESTAMP_MS",),
    TokenType.TIMESTAMP_NS: ("TIMESTAMP_NS",),
    TokenType.FUNCTION: ("MACRO",),
    TokenType.PIVOT: ("PIVOT_WIDER",),
    TokenType.COMMAND: ("RESET",),
    TokenType.DIV: ("//",),
    TokenType.DSTAR: ("**",),
    TokenType.CARET_AT: ("^@",),
    TokenType.AT_GT: ("@>",),
    TokenType.LT_AT: ("<@",),
}
"""The words and signs of DuckDB that mean something else in standard SQL, or nothing."""

_OWN = ("ATTACH", "CONNECT", "DETACH", "DISCONNECT", "FORCE", "INSTALL", "ONLY", "POSITIONAL", "SUMMARIZE")
"""Its words for which sqlglot has a token of the same name."""

_MOST = {
    **dict.fromkeys(("ANY_VALUE", "LOG10", "LOG2"), 1),
    **dict.fromkeys(("CEIL", "FLOOR", "LTRIM", "MOD", "RTRIM", "STRFTIME"), 2),
    **dict.fromkeys(("QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC"), 2),
}
"""Functions that are read here, and the number of arguments beyond which DuckDB's parser forgets the rest."""


def _whole(name: str, most: int) -> Builder:
    """The function as the parser builds it; with more arguments one that nobody knows, so that it is refused."""
    built: Builder = DuckDBParser.FUNCTIONS[name]

    def builder(args: list[exp.Expr], **dialect: Dialect) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=args) if len(args) > most else built(args, **dialect)

    return builder


def _truncated(args: list[exp.Expr]) -> exp.Expr:
    """DATE_TRUNC with its third argument, a time zone as in PostgreSQL and BigQuery."""
    found: exp.Expr = DuckDBParser.FUNCTIONS["DATE_TRUNC"](args[:2])
    if len(args) > 3:
        return exp.Anonymous(this="DATE_TRUNC", expressions=args)
    if len(args) == 3:
        found.set("zone", args[2])
    return found


def _days_between(name: str) -> Builder:
    """DATEDIFF(later, earlier), as in MySQL and Spark, counts days; with a part of the date, the parser reads it."""
    longer = _whole(name, 3)

    def builder(args: list[exp.Expr], **dialect: Dialect) -> exp.Expr:
        if len(args) == 2:
            return exp.DateDiff(this=args[0], expression=args[1], unit=exp.Literal.string("DAY"))
        return longer(args, **dialect)

    return builder


def _decoded(args: list[exp.Expr], **dialect: Dialect) -> exp.Expr:
    """DECODE(x, 'a', 1, 'b', 2, 0) of Oracle and Snowflake; with two arguments, it is DuckDB's."""
    return exp.DecodeCase(expressions=args) if len(args) > 2 else DuckDBParser.FUNCTIONS["DECODE"](args, **dialect)


class QuestionParser(DuckDBParser):
    """DuckDB's parser, which forgets no argument of a function that is read here."""

    FUNCTIONS = (
        DuckDBParser.FUNCTIONS
        | {name: _whole(name, most) for name, most in _MOST.items()}
        | dict.fromkeys(("DATETRUNC", "DATE_TRUNC"), _truncated)
        | {name: _days_between(name) for name in ("DATEDIFF", "DATE_DIFF")}
        | {"DECODE": _decoded}
    )


class QuestionDialect(Dialect):
    """DuckDB's SQL, to be read. `sql_of` writes it."""

    NULL_ORDERING = "nulls_are_last"
    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_INSENSITIVE
    USING_COLUMN_ORDER = UsingColumnOrder.IN_PLACE
    INDEX_OFFSET = 1
    ASCII_ONLY_NORMALIZATION = CONCAT_COALESCE = CONCAT_WS_COALESCE = NUMBERS_CAN_BE_UNDERSCORE_SEPARATED = True
    HAVING_ALIASES_SHADOW_UNGROUPED_COLUMNS = PREFER_COLUMNS_TO_ALIASES_IN_HAVING_AND_QUALIFY = True
    QUERY_RESULTS_ARE_STRUCTS = REGEXP_EXTRACT_MISSING_GROUP_RETURNS_EMPTY = True
    SUPPORTS_FIXED_SIZE_ARRAYS = SUPPORTS_LIMIT_ALL = SUPPORTS_ORDER_BY_ALL = SUPPORTS_USER_DEFINED_TYPES = True
    TABLES_REFERENCEABLE_AS_COLUMNS = True
    REGEXP_EXTRACT_NO_MATCH_RETURNS_NULL = STRICT_JSON_PATH_SYNTAX = UUID_IS_STRING_TYPE = False
    DATE_PART_MAPPING = {name: part for name, part in Dialect.DATE_PART_MAPPING.items() if name != "WEEKDAY"} | {
        "DAYOFWEEKISO": "ISODOW"
    }
    UNESCAPED_SEQUENCES = {"\\a": "a", "\\v": "v"}  # noqa: RUF012

    class Tokenizer(tokens.Tokenizer):
        """What DuckDB's text is cut into."""

        BYTE_STRINGS = [("e'", "'"), ("E'", "'")]  # noqa: RUF012
        BYTE_STRING_ESCAPES = ["'", "\\"]  # noqa: RUF012
        COMMANDS = tokens.Tokenizer.COMMANDS - {TokenType.SHOW}
        DROP_UNKNOWN_ESCAPES = NUMERIC_ESCAPES_ARE_BYTES = HEREDOC_TAG_IS_IDENTIFIER = True
        IDENTIFIERS = ['"', "`"]  # noqa: RUF012
        """BigQuery, MySQL and Spark write names in backticks, which mean nothing in DuckDB."""
        HEREDOC_STRINGS = ["$"]  # noqa: RUF012
        HEREDOC_STRING_ALTERNATIVE = TokenType.PARAMETER
        KEYWORDS = (
            {word: kind for word, kind in tokens.Tokenizer.KEYWORDS.items() if word not in ("/*+", "SORT BY")}
            | {word: kind for kind, words in _NAMES.items() for word in words}
            | {word: TokenType[word] for word in _OWN}
        )
        NUMERIC_ESCAPES = {"x": (16, 1, 2, 0xFF), "0": (8, 1, 3, 0o777)}  # noqa: RUF012
        SINGLE_TOKENS = tokens.Tokenizer.SINGLE_TOKENS | {"$": TokenType.PARAMETER}
        VAR_SINGLE_TOKENS = {"$"}  # noqa: RUF012

    Parser = QuestionParser

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """A path of JSON. A pointer, and a path that counts from the end, stay as they are."""
        text = path.name if isinstance(path, exp.Literal) else ""
        return path if text.startswith("/") or "[#" in text else super().to_json_path(path)


def sql_of(tree: exp.Expr, **options: Any) -> str:
    """A tree as DuckDB's SQL.

    >>> from sqlglot import parse_one
    >>> sql_of(parse_one("select a // 2 from b", dialect=QuestionDialect))
    'SELECT a // 2 FROM b'
    """
    return tree.sql(dialect=duckdb.DuckDB, **options)
