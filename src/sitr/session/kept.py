"""Noisy tables on disk: written after the noise and before the fit, so that a crash loses nothing that was paid for.

The file holds what was released and nothing else: the plan as text, the noisy counts, and the number of the charge in
the ledger. No exact count is ever written. It lies beside the ledger and stays there: new rows can be drawn from it
whenever they are needed, without another charge. It can be deleted like any other answer.

The file is not signed. What can be checked is checked when it is read: the request, the charge in the ledger and its
price, the noise of every table, and that all numbers are possible ones. Whoever can write the file can still change the
noisy counts, and the mark of rows that were made with test coins: the file is as trustworthy as its folder.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain, count
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sitr.errors import QuestionError
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.questions.synthetic.marginals import Marginal, Measured, as_planned
from sitr.questions.synthetic.plan import SynthesisPlan

VERSION = 2
_CLASSES = {kind.__name__: kind for kind in (Measured, Marginal, Gaussian, Laplace)}
"""All that a file may be made of, besides numbers, texts and arrays: reading a file runs no code that it chooses."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class KeptTables:
    """Noisy tables as they were read back, and the charge that paid for them."""

    measured: Measured
    entry: int
    question: str
    at: str
    private: bool


def place(ledger: Ledger, entry: Entry) -> Path | None:
    """Beside the ledger, in a new file; None for a ledger that is not a file.

    Other ledgers in the same folder have entries of the same number, and so has a lost ledger that was made anew: what
    was paid for there is not overwritten.
    """
    if not isinstance(ledger, SqlLedger):
        return None
    stem = f"{ledger.path.stem}.entry-{entry.number}"
    names = chain([f"{stem}.npz"], (f"{stem}-{copy}.npz" for copy in count(2)))
    return next(path for name in names if not (path := ledger.path.with_name(name)).exists())


def keep(path: Path, plan: SynthesisPlan, measured: Measured, entry: Entry, *, private: bool) -> None:
    """Write the file, durably: it is whole when it appears under its name, and on disk when this returns."""
    arrays: Arrays = {}
    header = {
        "sitr": VERSION,
        "plan": repr(plan),
        "entry": entry.number,
        "question": entry.question,
        "at": entry.at.isoformat(),
        "private": private,
        "measured": _plain(measured, arrays),
    }
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_kept(path: Path, plan: SynthesisPlan) -> KeptTables:
    """The tables of a file that was written for this plan."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            measured = _built(header["measured"], file)
            found = KeptTables(measured, header["entry"], header["question"], header["at"], header["private"] is True)
            version, planned = header["sitr"], header["plan"]
            possible = planned != repr(plan) or as_planned(plan, measured)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, BadZipFile) as error:
        given = f"There is none at {path}." if isinstance(error, FileNotFoundError) else f"{path} is not such a file."
        raise QuestionError(
            wanted="A file of noisy tables that Sitr kept was wanted.", given=given, do="Check the path."
        ) from None
    if version != VERSION or planned != repr(plan):
        raise QuestionError(
            wanted="Noisy tables are resumed with the same columns, cells, price and method as they were paid for.",
            given=f"{path} was kept for another request.",
            do="Repeat the original request word for word. Nothing was spent.",
        )
    if not possible:
        raise QuestionError(
            wanted="Noisy tables are resumed as they were written.",
            given=f"{path} holds other tables, other noise or impossible numbers for this request.",
            do="The file was changed or is damaged: restore it. Nothing was spent.",
        )
    return found


def _plain(value: Any, arrays: Arrays) -> Any:
    """The value for JSON; arrays go into `arrays`, and their names stand for them."""
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case Fraction():
            return {"Fraction": str(value)}
        case tuple():
            return [_plain(part, arrays) for part in value]
        case np.ndarray():
            name = f"array{len(arrays)}"
            arrays[name] = value
            return {"array": name}
    kind = type(value)
    assert _CLASSES.get(kind.__name__) is kind, f"{kind.__name__} cannot be kept"
    return {kind.__name__: {each.name: _plain(getattr(value, each.name), arrays) for each in fields(value)}}


def _built(content: Any, arrays: Any) -> Any:
    match content:
        case list():
            return tuple(_built(part, arrays) for part in content)
        case {"Fraction": text}:
            return Fraction(text)
        case {"array": name}:
            return arrays[name]
        case dict():
            ((kind, inner),) = content.items()
            return _CLASSES[kind](**{name: _built(part, arrays) for name, part in inner.items()})
    return content
