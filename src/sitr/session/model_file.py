"""A fitted model of synthetic rows as a file: rows are drawn from it anywhere, without the data and without a charge.

The file is a ZIP of `model.json` and of arrays of numbers, `0.npy`, `1.npy`, …: plain data, so that reading it runs no
code that the file chooses. It holds what was released and nothing else: the noisy tables, the model that was fitted to
them, the public description of the columns, the rules, and the receipt. No exact count is in it, and no path.

What is read is checked before it is used: the size before it is unpacked, the checksum of each part, the version of the
format, and that the tables and the model are ones that a release could have made.
"""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64decode, b64encode
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import pyarrow as pa

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.dataset.cells import Grid
from sitr.errors import FileError, SitrError
from sitr.ledger.departure import Departure
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.ledger.sql import sitr_version
from sitr.noise.coins import Provenance
from sitr.questions.synthetic.crowd import Crowd
from sitr.questions.synthetic.diaries import TableDiary, diaries
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.weighted_rows import WeightedRows
from sitr.session.kept import UNREADABLE
from sitr.session.plain import NUMBERS, built, plain
from sitr.session.shown import unwritable

KIND, SEVERAL = "model of synthetic rows", "model of synthetic rows of several tables"

VERSION = 1
"""The version of the format. A file of a newer one is refused."""

MOST_OCTETS = 2**30
"""The most that a file may hold when it is unpacked: a small file must not fill the memory."""

MOST_JSON = 2**26
"""The most that its JSON may hold: as lists and names it takes many times as much."""

CONTENT = "model.json"

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every part, so that the same model is the same file."""


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model as it is saved, of one table or of several: its receipt, and the number of rows, or people, to draw."""

    portrait: Portrait | Crowd
    receipt: Receipt
    rows: int | None


def write(path: Path, saved: SavedModel) -> None:
    """Write a model to a file. A file that was there is replaced when the new one is whole."""
    arrays: list[Any] = []
    portrait, receipt = saved.portrait, saved.receipt
    of_several = isinstance(portrait, Crowd)
    types = portrait.schemas if isinstance(portrait, Crowd) else (portrait.schema,)
    names = [name for name in _fields(type(portrait)) if name not in ("schema", "schemas")]
    inside = {name: plain(getattr(portrait, name), aside=arrays) for name in names}
    schemas = [b64encode(schema.serialize()).decode() for schema in types]
    content = {
        "kind": SEVERAL if of_several else KIND,
        "version": VERSION,
        "sitr": sitr_version(),
        "rows": saved.rows,
        "schema": schemas if of_several else schemas[0],
        "portrait": inside,
        "receipt": _receipt(receipt),
    }
    if sum(array.nbytes for array in arrays) > MOST_OCTETS // 2:
        raise FileError(
            given="The model is too large for a file.",
            do="Repeat the request to draw rows again; the same tables are fitted at no charge.",
        )
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with ZipFile(unfinished, "w") as file:
            _add(file, CONTENT, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
            for place, array in enumerate(arrays):
                np.lib.format.write_array(part := BytesIO(), np.ascontiguousarray(array), allow_pickle=False)
                _add(file, f"{place}.npy", part.getvalue())
        unfinished.replace(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
        raise unwritable(path) from None
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path) -> SavedModel:
    """The model in a file, after checking it."""
    try:
        with ZipFile(path) as file:
            content, arrays = _parts(path, file)
    except OSError:
        raise FileError(given=f"Could not read {path}.", do="Check the path and the working directory.") from None
    except (BadZipFile, zlib.error, NotImplementedError, EOFError, *UNREADABLE):
        raise _damaged(path) from None
    if (
        not isinstance(content, dict)
        or content.get("kind") not in (KIND, SEVERAL)
        or not isinstance(content.get("version"), int)
    ):
        raise _damaged(path)
    if content["version"] > VERSION:
        raise FileError(
            given=f"{path} has the format {content['version']} of a newer Sitr; this one reads format {VERSION}.",
            do="Install a newer version of Sitr.",
        )
    try:
        saved = _built(content, arrays)
        if _possible(saved):
            return saved
    except (pa.ArrowException, SitrError, *UNREADABLE):
        pass
    if content.get("sitr") == sitr_version():
        raise _damaged(path)
    raise FileError(
        given=f"{path} was written by Sitr {content.get('sitr')}, and Sitr {sitr_version()} cannot read it.",
        do="Use the version that wrote it, or repeat the request, at no charge where its tables are kept.",
    )


def holds_several(path: Path) -> bool:
    """Whether a file holds the models of several tables; False if it cannot be read, which `read` explains."""
    try:
        with ZipFile(path) as file:
            part = file.getinfo(CONTENT)
            return part.file_size <= MOST_JSON and json.loads(_unpacked(file, part)).get("kind") == SEVERAL
    except (OSError, BadZipFile, zlib.error, NotImplementedError, EOFError, *UNREADABLE):
        return False


def _parts(path: Path, file: ZipFile) -> tuple[Any, list[Any]]:
    """The JSON and the arrays of a file, none of them larger than it says."""
    names = {each.filename: each for each in file.infolist()}
    if sum(each.file_size for each in names.values()) > MOST_OCTETS:
        raise FileError(
            given=f"{path} is too large: unpacked, it has more than {MOST_OCTETS:,} octets.",
            do="Get the file from somebody you trust.",
        )
    if names[CONTENT].file_size > MOST_JSON:
        raise BadZipFile
    content = json.loads(_unpacked(file, names[CONTENT]))
    return content, [_array(_unpacked(file, names[f"{place}.npy"])) for place in range(len(names) - 1)]


def _unpacked(file: ZipFile, part: ZipInfo) -> bytes:
    """A part, of which no more is unpacked than it says: it may say less than it holds."""
    if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # the others are unpacked whole, before they are measured
        raise BadZipFile
    with file.open(part) as stream:
        return stream.read(part.file_size)


def _array(data: bytes) -> Any:
    """An array of numbers. Its head may ask for any amount of memory, so it is compared with what is there first."""
    np.lib.format.read_magic(stream := BytesIO(data))
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
    if kind.kind not in NUMBERS or math.prod(shape) * kind.itemsize != len(data) - stream.tell():
        raise ValueError(shape)
    return np.frombuffer(data, kind, offset=stream.tell()).reshape(shape, order="F" if by_columns else "C").copy("A")


def _built(content: dict[str, Any], arrays: list[Any]) -> SavedModel:
    inside = {name: built(part, aside=arrays) for name, part in content["portrait"].items()}
    receipt, rows = _received(content["receipt"]), content["rows"]
    if content["kind"] == SEVERAL:
        return SavedModel(Crowd(schemas=tuple(map(_schema, content["schema"])), **inside), receipt, rows)
    return SavedModel(Portrait(schema=_schema(content["schema"]), **inside), receipt, rows)


def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True)))


def _possible(saved: SavedModel) -> bool:
    """Whether a release could have made this: tables that fit the plan, and a model of their cells."""
    portrait, receipt, rows = saved.portrait, saved.receipt, saved.rows
    texts = (receipt.dataset, receipt.neighbors, receipt.sha256)
    if not isinstance(receipt.private, bool) or not all(isinstance(text, str) for text in texts):
        return False
    if not (rows is None or (type(rows) is int and rows >= 0)) or not portrait.measured.possible():
        return False
    if isinstance(portrait, Crowd):
        return portrait.possible() and _of_several(portrait)
    derived = {each.column.name for each in portrait.structure.derived}
    diary, people = portrait.plan.diary, portrait.plan.people
    person = set() if diary is None else {diary.unit.column}
    if {*(axis.column.name for axis in portrait.plan.declared), *derived, *person} != set(portrait.schema.names):
        return False
    if (people is None) is not (portrait.people is None):
        return False
    if people is not None and not _models(portrait.people, people.sheet.grid):
        return False
    return _models(portrait.model, portrait.plan.sheet.grid) and _drawable(portrait.plan.diary, portrait.model)


def _of_several(found: Crowd) -> bool:
    """Whether these are models of people and of the steps in each table, as the plan says."""
    plan = found.plan
    if plan.people.sheet != plan.diaries.people_sheet() or not _models(found.people, plan.people.sheet.grid):
        return False
    paid = tuple(each for _, own in plan.parts() for each in own.measurements)
    own = plan.diaries.tables
    first = [(table.table, table.names[place]) for table in own for place in table.carried]
    if plan.measurements != paid or diaries([(table.table, table) for table in own], first=first) != plan.diaries:
        return False
    if not set(plan.everyone) <= {table.table for table in own}:
        return False
    tables = zip(plan.diaries.tables, plan.steps, found.steps, strict=True)
    return all(_of_table(table, own, model) for table, own, model in tables)


def _of_table(table: TableDiary, plan: SynthesisPlan | None, model: Any) -> bool:
    """Whether this is a model of the steps in a table; none, if a person has at most one row there."""
    if plan is None or model is None:
        return not table.varying
    if plan.diary != table or plan.sheet != table.steps_sheet():
        return False
    return _models(model, plan.sheet.grid) and _drawable(table, model)


def _models(model: Any, grid: Grid) -> bool:
    """Whether this is a model of these cells."""
    if isinstance(model, WeightedRows):
        return model.possible(grid.shape)
    return bool(model.shape == (grid.size,)) and _is_law(model)


def _drawable(diary: Diary | None, model: Any) -> bool:
    """Whether the model of steps has the terms by which the next row is drawn."""
    if diary is None or not isinstance(model, WeightedRows):
        return True
    columns = range(diary.given, len(model.atoms))
    wanted = {(column,) for column in columns} | {(place, column) for column in columns for place in range(column)}
    return {each.columns for each in model.potentials} == wanted


def _is_law(found: Any) -> bool:
    """Whether these are probabilities."""
    return bool(found.dtype.kind == "f" and found.min() >= 0 and abs(found.sum() - 1) < 1e-6)


def _receipt(receipt: Receipt) -> dict[str, Any]:
    """What a certificate shows of a receipt, without the path of the kept tables."""
    return {
        "dataset": receipt.dataset,
        "neighbors": receipt.neighbors,
        "private": receipt.private,
        "coins": receipt.coins.value,
        "sha256": receipt.sha256,
        "departures": [[each.seconds, each.multiple] for each in receipt.departures],
        "entry": {name: plain(getattr(receipt.entry, name)) for name in _fields(Entry) if name != "beside"},
        "standing": {name: plain(getattr(receipt.standing, name)) for name in _fields(Filter)},
    }


def _received(content: dict[str, Any]) -> Receipt:
    entry, standing = ({name: built(part) for name, part in content[each].items()} for each in ("entry", "standing"))
    return Receipt(
        content["dataset"],
        content["neighbors"],
        Entry(**entry),
        Filter(**standing),
        private=content["private"],
        sha256=content["sha256"],
        coins=Provenance(content["coins"]),
        departures=tuple(Departure(float(seconds), int(times)) for seconds, times in content["departures"]),
    )


def _fields(kind: type) -> list[str]:
    return [each.name for each in fields(kind)]


def _add(file: ZipFile, name: str, data: bytes) -> None:
    part = ZipInfo(name, _EPOCH)
    part.compress_type, part.external_attr = ZIP_DEFLATED, 0o600 << 16
    file.writestr(part, data, compresslevel=1)


def _damaged(path: Path) -> FileError:
    return FileError(
        given=f"{path} is not a model that Sitr saved, or it is damaged.",
        do="Save the model again, or get the file again.",
    )
