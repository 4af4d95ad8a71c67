"""The public description of a data set as a small YAML file, kept beside the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from sitr.dataclass import dataclass
from sitr.dataset.csv_format import DECIMALS, CsvFormat
from sitr.dataset.database import (
    SPARK,
    Address,
    DatabaseTable,
    address,
    is_database,
    is_spark,
    located,
    names,
    spark_table,
)
from sitr.dataset.file_table import FileTable
from sitr.dataset.publication import NAMES, Publication
from sitr.dataset.schema import NUMERIC, Bound, Column, Kind, Table, describe
from sitr.errors import DescriptionError, SitrError, no_description, suggestion
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse, write
from sitr.neighbors.period import Length, Period
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.numbers import Number, exact

VERSION = 1
_FIELDS = (
    *("sitr", "name", "source", "table", "csv", "unit", "relation", "max_groups", "max_rows_per_group"),
    *("max_rows", "columns", "public", "budget", "publication"),
)
_COLUMN_FIELDS = ("type", "zone", "bounds", "granularity", "keys")
_COMMENTS = {
    "sitr": """\
What is public about a data set. Everything here can be seen in answers, and must be known without the rows:
from laws, price lists or published reports. Never choose it by looking at the rows.""",
    "name": "The name of the table, in questions and in the ledger.",
    "source": "The file with the rows, seen from the folder of this file, or the address of a database.",
    "table": "The table or view in this database. The password of an address is in PGPASSWORD or in ~/.pgpass.",
    "csv": "How the lines of the CSV file are written. Nothing is detected any more.",
    "unit": "Who is protected: {person: COLUMN}, a person with all rows of the same COLUMN, or row: each row alone.",
    "relation": "What is hidden: whether somebody is in the data (add-remove), or who it is (replace-one).",
    "max_groups": "The most groups of an answer that one person counts in. More would be left out at random.",
    "max_rows_per_group": "The most rows of one person that count in each group. More would be left out at random.",
    "max_rows": "The most rows of one person that count in a whole question. More would be left out at random.",
    "columns": """\
The columns and their types. To sum a column, add the bounds of its values and the step of its numbers:
  cost: {type: real, bounds: [0, 5000], granularity: 0.01}
Bounds of whole numbers or dates also list all groups in every answer, up to 10,000 of them:
  admitted: {type: date, bounds: [2024-01-01, 2024-12-31]}
To list groups in every answer, add all values that the groups can have; null means no value:
  ward: {type: text, keys: [Cardiology, Surgery, null]}
Moments with a time zone are read as the time of day in the zone that is named here:
  at: {type: timestamptz, zone: Europe/Paris}""",
    "public": "Tables that anybody may see. Synthetic rows can be compared with them for free.",
    "budget": "What all answers together may cost, forever, and the ledger that records it. Fixed when it is opened.",
}
"""What each field means, for whoever reads or edits the file."""
_PERIODS = {
    "unit": """\
Who is protected: a person in each period, by the dates in a column. Every question names its period and reads its rows
only. Somebody with rows in several periods pays in each of them: no budget is renewed for a person.""",
    "budget": """\
What all answers about one period may cost together, and the ledger that records it. Every period has this once.""",
}
"""The same where the unit is a person in a period."""


@dataclass(frozen=True, slots=True)
class Description:
    """A described data set on disk, and its budget, if one was set."""

    table: Table
    source: Path | DatabaseTable | FileTable
    format: CsvFormat | None = None
    promise: Kept | None = None
    ledger: Path | Address | None = None
    public: Mapping[str, Path | DatabaseTable | FileTable] = field(default_factory=dict)
    """Public tables, by name."""
    path: Path | None = None
    """The file from which this description was read."""
    publication: Publication = field(default=Publication(), compare=False)
    """Who publishes the answers; this changes no promise, so that it can be edited at any time."""


def save(description: Description, path: Path, *, say: Callable[[str], str] = str) -> None:
    """Write the file. Paths below its folder are written relative to it. `say` translates its comments."""
    if (description.promise is None) != (description.ledger is None):
        raise DescriptionError(
            wanted="both a promise and a ledger for the budget",
            given="only one of the two",
            do="Give both, or neither.",
        )
    table = description.table
    person = isinstance(table.unit, Person)
    content: dict[str, Any] = {
        "sitr": VERSION,
        "name": table.name,
        **_source(description.source, path),
        **({"csv": _written_format(description.format)} if description.format is not None else {}),
        "unit": _unit(table.unit),
        "relation": table.relation.value,
        **({"max_groups": table.max_groups, "max_rows_per_group": table.max_rows_per_group} if person else {}),
        **({"max_rows": table.max_rows} if table.max_rows is not None else {}),
        "columns": {column.name: _column(column) for column in table.columns},
    }
    if description.public:
        content["public"] = {
            name: {"source": _relative(each, path)} if isinstance(each, Path) else {"table": each.table}
            for name, each in description.public.items()
        }
    if description.promise is not None and description.ledger is not None:
        content["budget"] = {"promise": write(description.promise), "ledger": _ledger(description.ledger, path)}
    if said := description.publication.content():
        content["publication"] = said
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    texts = _COMMENTS if table.period is None else _COMMENTS | _PERIODS
    comments = {field: say(comment) for field, comment in texts.items()}
    path.write_text(_commented(text, comments), encoding="utf-8")


def _commented(text: str, comments: Mapping[str, str]) -> str:
    """The file with a comment above each field. Everything within a field is indented."""

    def explained(field: re.Match[str]) -> str:
        return "".join(f"# {line}\n" for line in comments[field[1]].splitlines()) + field[0]

    return re.sub(rf"^({'|'.join(_COMMENTS)}):", explained, text, flags=re.MULTILINE)


_ROWS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".parquet", ".pq", ".duckdb")
"""The endings of files that a description describes."""


def load(path: Path) -> Description:
    """Read the file. Every mistake in it raises a `DescriptionError` that names the place."""
    if path.name.lower().endswith(_ROWS) and path.exists():
        raise DescriptionError(
            given=f"{path} holds rows, and their description is needed here.",
            do=f"Write one with sitr start {path}, and name the file that it writes.",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        raise no_description(path) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise _wrong(path, "the file as a whole", "it is not YAML") from None
    except ValueError:  # the only values that YAML itself can refuse
        raise _wrong(path, "the file as a whole", "a date or time does not exist") from None
    top = _mapping(content, path, "the file as a whole", _FIELDS)
    if top.get("sitr") != VERSION:
        raise _wrong(path, "sitr", f"version {top.get('sitr')!r} is not {VERSION}")
    try:
        return _read(top, path)
    except SitrError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise _wrong(path, "a field", f"{type(error).__name__}: {error}") from None


def _read(top: Mapping[str, Any], path: Path) -> Description:
    unit = top.get("unit")
    columns = {
        str(name): _mapping(column, path, f"columns.{name}", _COLUMN_FIELDS) for name, column in top["columns"].items()
    }
    table = describe(
        str(top["name"]),
        kinds={name: Kind(column["type"]) for name, column in columns.items()},
        unit=_read_unit(unit, path),
        relation=Relation(top["relation"]),
        max_groups=top.get("max_groups"),
        max_rows_per_group=top.get("max_rows_per_group"),
        max_rows=top.get("max_rows"),
        bounds={
            name: _pair(column["bounds"], Kind(column["type"]))
            for name, column in columns.items()
            if "bounds" in column
        },
        granularity={
            name: _number(column["granularity"]) for name, column in columns.items() if "granularity" in column
        },
        keys={name: column["keys"] for name, column in columns.items() if "keys" in column},
        zones={name: column["zone"] for name, column in columns.items() if "zone" in column},
    )
    budget = _mapping(top.get("budget") or {}, path, "budget", ("promise", "ledger"))
    source = _sourced(top, path)
    return Description(
        table,
        source,
        _format(top["csv"], path) if "csv" in top else None,
        parse(str(budget["promise"])) if budget else None,  # type: ignore[arg-type]
        _located(str(budget["ledger"]), path) if budget else None,
        _public(top.get("public") or {}, path, source),
        path,
        Publication.read(_mapping(top.get("publication") or {}, path, "publication", NAMES)),
    )


def _unit(unit: Unit) -> str | dict[str, Any]:
    """The unit as a field."""
    if not isinstance(unit, Person):
        return "row"
    period = unit.period
    own = {} if period is None else {"period": {"column": period.column, "length": period.length.value}}
    return {"person": unit.column, **own}


def _read_unit(content: object, path: Path) -> Unit:
    if content == "row":
        return Row()
    unit = _mapping(content, path, "unit", ("person", "period"))
    if "period" not in unit:
        return Person(str(unit["person"]))
    period = _mapping(unit["period"], path, "unit.period", ("column", "length"))
    lengths = {length.value: length for length in Length}
    if period["length"] not in lengths:
        raise _wrong(path, "unit.period", f"the length {period['length']!r} is none of {', '.join(lengths)}")
    return Person(str(unit["person"]), Period(str(period["column"]), lengths[period["length"]]))


def _ledger(ledger: Path | Address, path: Path) -> str:
    """The ledger as a field; its address has no password."""
    return _relative(ledger, path) if isinstance(ledger, Path) else str(ledger)


def _located(given: str, path: Path) -> Path | Address:
    if not is_database(given):
        return path.parent / given
    found = address(given)
    if found.password is not None:
        raise _wrong(
            path, "ledger", "it has a password", "Delete the password here; put it into PGPASSWORD or into ~/.pgpass."
        )
    return found


def _source(source: Path | DatabaseTable | FileTable, path: Path) -> dict[str, str]:
    """The file or table as fields; the address of a database has no password here."""
    if isinstance(source, FileTable):
        return {"source": _relative(source.path, path), "table": source.table}
    if isinstance(source, DatabaseTable):
        return {"source": str(source)} if source.url == SPARK else {"source": source.url, "table": source.table}
    return {"source": _relative(source, path)}


def _sourced(top: Mapping[str, Any], path: Path) -> Path | DatabaseTable | FileTable:
    given = str(top["source"])
    if is_spark(given) and "table" not in top:
        return spark_table(given)
    if not is_database(given):
        if "table" not in top:
            return path.parent / given
        if top.get("csv"):
            raise _wrong(path, "table", "a CSV file has no tables")
        names(str(top["table"]))
        return FileTable(path.parent / given, str(top["table"]))
    found = located(given, str(top["table"]))
    if found.password is not None:
        raise _wrong(
            path, "source", "it has a password", "Delete the password here; put it into PGPASSWORD or into ~/.pgpass."
        )
    return found


def _public(
    content: object, path: Path, source: Path | DatabaseTable | FileTable
) -> dict[str, Path | DatabaseTable | FileTable]:
    if not isinstance(content, dict) or not all(isinstance(name, str) and name.isidentifier() for name in content):
        raise _wrong(path, "public", "it is not a mapping from names to sources")
    found: dict[str, Path | DatabaseTable | FileTable] = {}
    for name, content_of in content.items():
        each = _mapping(content_of, path, f"public.{name}", ("source", "table"))
        if "table" in each and not isinstance(source, Path):
            found[name] = replace(source, table=str(each["table"]))
        else:
            found[name] = path.parent / str(each["source"])
    return found


def _written_format(format: CsvFormat) -> dict[str, Any]:
    """The format as fields; without `nulls` if there are none."""
    content = asdict(format)
    nulls = content.pop("nulls")
    return content | ({"nulls": list(nulls)} if nulls else {})


def _format(content: object, path: Path) -> CsvFormat:
    found = dict(_mapping(content, path, "csv", tuple(each.name for each in fields(CsvFormat))))
    nulls = found.pop("nulls", [])
    if not isinstance(nulls, list) or not all(isinstance(each, str) and each for each in nulls):
        raise _wrong(path, "csv", f"nulls must be a list of texts, such as ['NA', '-'], not {nulls!r}")
    format = CsvFormat(**found, nulls=tuple(nulls))
    *texts, header, _ = astuple(format)
    marks = (format.delimiter, format.quote)
    if not all(isinstance(value, str) for value in texts) or any(len(mark) != 1 for mark in marks):
        raise _wrong(path, "csv", "the delimiter and the quote must be one character each, and the formats text")
    if not isinstance(header, bool):
        raise _wrong(path, "csv", "the header must be true or false")
    if format.decimal not in DECIMALS:
        raise _wrong(path, "csv", f"the decimal mark {format.decimal!r} is neither '.' nor ','")
    return format


def _column(column: Column) -> dict[str, Any]:
    content: dict[str, Any] = {"type": column.stored.value}
    if column.zone is not None:
        content["zone"] = column.zone
    if column.quantised is not None:
        content["bounds"] = [_written(end) if isinstance(end, Fraction) else end for end in column.bounds or ()]
    if column.granularity is not None:
        content["granularity"] = _written(column.granularity)
    if column.keys is not None:
        content["keys"] = list(column.keys)
    return content


def _written(number: Fraction) -> int | float | str:
    """A number that YAML can hold exactly, or else a fraction as text."""
    if number.denominator == 1:
        return number.numerator
    return float(number) if exact(float(number)) == number else str(number)


def _number(content: object) -> Number:
    return Fraction(content) if isinstance(content, str) else content  # type: ignore[return-value]


def _pair(content: list[Bound], kind: Kind) -> tuple[Bound, Bound]:
    low, high = map(_number, content) if kind in NUMERIC else content
    return low, high


def _relative(target: Path, path: Path) -> str:
    """Relative where the target lies below the description's folder, so that both can be moved together."""
    target, folder = target.resolve(), path.resolve().parent
    return str(target.relative_to(folder)) if target.is_relative_to(folder) else str(target)


def _mapping(content: object, path: Path, place: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise _wrong(path, place, "it is not a mapping")
    if unknown := [name for name in content if name not in known]:
        raise _wrong(path, place, f"there is no field {unknown[0]!r}", suggestion(unknown[0], known))
    return content


def _wrong(
    path: Path, place: str, what: str, do: str = "Correct it, or write the file again with `sitr protect`."
) -> DescriptionError:
    return DescriptionError(given=f"In the description {path}, {place}: {what}.", do=do)
