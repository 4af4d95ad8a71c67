"""Released tables as files: CSV, Parquet, Excel, JSON-stat, SDMX-CSV and a page, with intervals and quality marks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv, parquet

from sitr import arguments
from sitr.errors import FileError, QuestionError, quoted
from sitr.namespace import Later, needs
from sitr.questions.tables import sdmx
from sitr.questions.tables.counting import cells_in_all
from sitr.questions.tables.marked import marked
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import QualityRule
from sitr.questions.tables.workload import Node
from sitr.report.page import tables_page
from sitr.report.words.words import in_words

if TYPE_CHECKING:
    import openpyxl
else:  # an extra
    openpyxl = Later("openpyxl")

ENDINGS = (".csv", ".parquet", ".xlsx", ".json", ".html")

SDMX = ".sdmx.csv"
"""The ending of a file in SDMX-CSV."""

MOST_SHEETS = 200
"""The most tables of an Excel file: each has a sheet."""

MOST_ON_A_PAGE = 20_000
"""The most cells of a page."""

MOST_IN_A_WORKBOOK = 100_000
"""The most cells of an Excel file, which takes a second or more for every 10,000."""

_TITLE = 28
"""The most letters of the name of a sheet, without its number."""


def checked(path: str | Path, publication_tables: int, *, cells: int = 0) -> Path:
    """The path of a file that can be written, before anything is spent."""
    found = arguments.path(path, of="tables.csv")
    if found.suffix.lower() not in ENDINGS:
        raise QuestionError(
            wanted="a file whose name ends in .csv, .sdmx.csv, .parquet, .xlsx, .json (JSON-stat) or .html",
            given=quoted(str(path)),
            do="Write for example tables.csv.",
        )
    if found.suffix.lower() == ".xlsx":
        needs("openpyxl", extra="excel")
        if publication_tables > MOST_SHEETS:
            raise QuestionError(
                wanted=f"at most {MOST_SHEETS} tables in an Excel file",
                given=f"a publication of {publication_tables} tables",
                do="Write a .csv or .parquet file instead.",
            )
        if cells > MOST_IN_A_WORKBOOK:
            raise QuestionError(
                wanted=f"at most {MOST_IN_A_WORKBOOK:,} cells in an Excel file",
                given=f"a publication of {cells:,} cells",
                do="Write a .csv or .parquet file instead.",
            )
    if found.suffix.lower() == ".html" and cells > MOST_ON_A_PAGE:
        raise QuestionError(
            wanted=f"at most {MOST_ON_A_PAGE:,} cells on a page",
            given=f"a publication of {cells:,} cells",
            do="Write a .csv or .parquet file instead.",
        )
    return found


def written(
    publication: PublishedTables, path: str | Path, *, rule: QualityRule, withhold: bool, private: bool, **about: Any
) -> Path:
    """Write all tables to one file; the ending of its name decides the format. A page also says what it is `about`."""
    place = checked(path, len(publication.plan.workload.tables), cells=cells_in_all(publication.plan.workload))
    try:
        match place.suffix.lower():
            case ".csv" if place.name.lower().endswith(SDMX):
                text = sdmx.written(publication, rule=rule, withhold=withhold)
                place.write_text(text, encoding="utf-8", newline="")
            case ".html":
                text = tables_page.page(publication, rule=rule, withhold=withhold, **about)
                place.write_text(text, encoding="utf-8")
            case ".csv":
                csv.write_csv(listed(publication, rule=rule, withhold=withhold), place)
            case ".parquet":
                mark = {"sitr": json.dumps({"private": private})}
                table = listed(publication, rule=rule, withhold=withhold)
                parquet.write_table(table.replace_schema_metadata(mark), place)
            case ".xlsx":
                _excel(publication, place, rule=rule, withhold=withhold, private=private)
            case _:
                content = json_stat(publication, rule=rule, withhold=withhold, private=private)
                place.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    except OSError as failure:
        raise FileError(
            given=f"Cannot write {place}: {failure.strerror or 'the folder is missing'}.",
            do="Choose another path; the answer is kept.",
        ) from None
    return place


def listed(publication: PublishedTables, *, rule: QualityRule, withhold: bool) -> pa.Table:
    """All cells of all tables: the table, the labels of the cell joined by " × ", and the marked numbers."""
    parts = []
    for node in publication.plan.workload.tables:
        labels = [part.to_pylist() for part in publication.labels(node).values()]
        cells = [" × ".join(each) for each in zip(*labels, strict=True)] if labels else [""]
        columns: dict[str, Any] = {"table": [publication.plan.workload.name(node)] * len(cells), "cell": cells}
        columns |= marked(publication, node, rule=rule, withhold=withhold)
        parts.append(pa.table({name: pa.array(column, _type(name)) for name, column in columns.items()}))
    return pa.concat_tables(parts)


def _type(name: str) -> pa.DataType:
    if name in ("table", "cell") or name.endswith("_mark"):
        return pa.string()
    return pa.bool_() if name.endswith("_small") else pa.float64()


def json_stat(publication: PublishedTables, *, rule: QualityRule, withhold: bool, private: bool) -> dict[str, Any]:
    """A collection in JSON-stat 2.0: one dataset for each table, in which the measure is the last dimension."""
    items = [_dataset(publication, node, rule=rule, withhold=withhold) for node in publication.plan.workload.tables]
    return {
        "version": "2.0",
        "class": "collection",
        "label": publication.plan.text,
        "extension": {"private": private, "price": str(publication.plan.price)},
        "link": {"item": items},
    }


def _dataset(publication: PublishedTables, node: Node, *, rule: QualityRule, withhold: bool) -> dict[str, Any]:
    workload, measures = publication.plan.workload, [each.name for each in publication.plan.measures]
    levels = [workload.ladders[column].levels[level - 1] for column, level in node]
    found = marked(publication, node, rule=rule, withhold=withhold)
    rows = zip(*(found[name] for name in measures), strict=True)
    marks = zip(*(found[f"{name}_mark"] for name in measures), strict=True)
    dimensions = {level.name: {"category": {"index": list(level.labels)}} for level in levels}
    metric = "measure"
    while metric in dimensions:
        metric += "_"
    return {
        "class": "dataset",
        "label": workload.name(node),
        "id": [*(level.name for level in levels), metric],
        "size": [*workload.shape(node), len(measures)],
        "role": {"metric": [metric]},
        "dimension": dimensions | {metric: {"category": {"index": measures}}},
        "value": [value for row in rows for value in row],
        "status": [mark for row in marks for mark in row],
    }


def _excel(publication: PublishedTables, path: Path, *, rule: QualityRule, withhold: bool, private: bool) -> None:
    """One sheet with notes, and one for each table, with a header that stays in view."""
    book, words = openpyxl.Workbook(), in_words()
    notes = book.active
    notes.title = words.tables.notes_title()
    plan = publication.plan
    sentences = [
        plan.text,
        words.promise(plan.price),
        words.tables.noise(plan),
        words.tables.adds_up(plan),
        words.tables.intervals(plan),
        words.tables.marks(rule, withhold=withhold),
        *([] if private else [words.tables.not_private()]),
    ]
    for sentence in sentences:
        _append(notes, [sentence])
    notes.column_dimensions["A"].width = 120
    for number, node in enumerate(plan.workload.tables, start=1):
        sheet = book.create_sheet(_sheet_name(number, plan.workload.name(node)))
        sheet.sheet_view.rightToLeft = words.direction == "rtl"
        columns: dict[str, list[Any]] = {name: part.to_pylist() for name, part in publication.labels(node).items()}
        columns |= marked(publication, node, rule=rule, withhold=withhold)
        _append(sheet, list(columns))
        for row in _rows(columns):
            _append(sheet, row)
        for cell in sheet[1]:
            cell.font = openpyxl.styles.Font(bold=True)
        for place, name in enumerate(columns, start=1):
            if name.endswith("_cv"):
                for line in range(2, sheet.max_row + 1):
                    sheet.cell(row=line, column=place).number_format = "0.0%"
        sheet.freeze_panes = "A2"
        sheet.auto_filter.ref = sheet.dimensions
    book.save(path)


def _rows(columns: dict[str, list[Any]]) -> Iterator[list[Any]]:
    for row in zip(*columns.values(), strict=True):
        yield list(row)


def _append(sheet: Any, values: list[Any]) -> None:
    """A row. A text that begins with = stays a text."""
    sheet.append(values)
    for cell in sheet[sheet.max_row]:
        if isinstance(cell.value, str):
            cell.data_type = "s"


def _sheet_name(number: int, name: str) -> str:
    """A name that Excel accepts, different for each table."""
    harmless = "".join("_" if letter in "[]:*?/\\'" else letter for letter in name)
    return f"{number} {harmless}"[:_TITLE]
