"""What was released, on disk: written after the noise and before anything is shown, so that no paid answer is lost.

The file holds what was released and nothing else: the plan as text, the noisy numbers, and the number of the charge in
the ledger. No exact number is ever written. It lies in a folder beside the ledger, `sitr.answers` for `sitr.db`, and
can be read again without a charge whenever it is needed, or deleted like any other answer.

The file is not signed. What can be checked is checked when it is read: the question, the charge in the ledger and its
price, and that the numbers are possible ones. Whoever can write the file can still change the noisy numbers, and the
mark of answers that were made with test coins: the file is as trustworthy as its folder.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from itertools import chain, count
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Categories, Dates, Edges, Even, Granular, Grid, Rule, Step
from sitr.dataset.schema import Column, Kind, Quantised
from sitr.errors import InvalidUse, LedgerError, NotKept, QuestionError
from sitr.ledger.entry import Entry
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.receipt import Receipt
from sitr.ledger.sql import SqlLedger
from sitr.mechanisms.candidates import NOISES
from sitr.plans.plan import Plan
from sitr.questions.aggregate.release import Release
from sitr.questions.histogram.counts import Histogram
from sitr.questions.statistic.question import StatisticRelease
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.questions.synthetic.marginals import Marginal, Measured
from sitr.session.desk import Desk

VERSION = 2
_KINDS = (Release, Histogram, StatisticRelease, Measured, Quality)
_PARTS = (Marginal, Figure, Grid, Even, Edges, Dates, Granular, Categories, Rule, Step, Column, Kind, Quantised)
_CLASSES: dict[str, type] = {kind.__name__: kind for kind in (*_KINDS, *NOISES, *_PARTS)}
"""All that a file may be made of, besides plain values and arrays: reading a file runs no code that it chooses."""

Arrays = dict[str, NDArray[Any]]


def keep(ledger: Ledger, receipt: Receipt, plan: Plan, released: Any) -> Receipt:
    """The receipt, after what was released is durable; a warning and the same receipt if the file cannot be written.

    The second stage of a question replaces the file of the first, whose numbers it holds too.
    """
    if not isinstance(ledger, SqlLedger | LazyLedger):
        return receipt
    path = receipt.kept or _place(ledger.path, receipt.entry)
    try:
        _write(path, plan, released, receipt)
    except (OSError, TypeError) as failure:
        reason = getattr(failure, "strerror", None) or failure
        warnings.warn(
            f"The answer could not be kept in {path} ({reason}). Save it before this process ends.",
            NotKept,
            stacklevel=4,
        )
        return receipt
    return replace(receipt, kept=path)


def resumed(path: Path, plan: Plan, *, at: Desk) -> tuple[Any, Receipt]:
    """What a file keeps for this plan, with its receipt."""
    header, released = _read(path, plan)
    standing = at.ledger.standing(at.account)
    paid = (header["entry"], header["question"], header["at"], standing.charge(plan.price))
    found = (e for e in at.ledger.entries(at.account) if (e.number, e.question, e.at.isoformat(), e.price) == paid)
    if (entry := next(found, None)) is None:
        raise LedgerError(
            given=f"The ledger of {at.table.name} has no entry {header['entry']} that paid for {path}.",
            do="Open the data set with the ledger that was charged. Nothing was spent.",
        )
    private = header["private"] is True
    return released, Receipt(at.table.name, at.table.neighbors(), entry, standing, private, path)


def _place(ledger: Path, entry: Entry) -> Path:
    """A new file in the folder beside the ledger.

    A ledger that was lost and made again has entries of the same number: what was paid for there is not overwritten.
    """
    names = chain([f"entry-{entry.number}.npz"], (f"entry-{entry.number}-{copy}.npz" for copy in count(2)))
    folder = ledger.with_name(f"{ledger.stem}.answers")
    return next(path for name in names if not (path := folder / name).exists())


def _write(path: Path, plan: Plan, released: Any, receipt: Receipt) -> None:
    """Durably: the file is whole when it appears under its name, and on disk when this returns."""
    arrays: Arrays = {}
    header = {
        "sitr": VERSION,
        "plan": repr(plan),
        "entry": receipt.entry.number,
        "question": receipt.entry.question,
        "at": receipt.entry.at.isoformat(),
        "private": receipt.private,
        "released": _plain(released, arrays, without="plan"),
    }
    path.parent.mkdir(mode=0o700, exist_ok=True)
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


def _read(path: Path, plan: Plan) -> tuple[dict[str, Any], Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            same = header["sitr"] == VERSION and header["plan"] == repr(plan)
            released = _built(header["released"], file, plan=plan) if same else None
            possible = released is None or released.possible()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, BadZipFile) as error:
        given = f"There is no file {path}." if isinstance(error, FileNotFoundError) else f"{path} is no kept answer."
        raise QuestionError(given=given, do="Check the path.") from None
    if not same:
        raise QuestionError(
            given=f"{path} was kept for another question, another price or another version of Sitr.",
            do="Repeat the original request exactly. Nothing was spent.",
        )
    if not possible:
        raise QuestionError(
            given=f"{path} holds numbers that this question cannot have released.",
            do="The file was changed or is damaged: restore it. Nothing was spent.",
        )
    return header, released


def _plain(value: Any, arrays: Arrays, *, without: str = "") -> Any:
    """The value for JSON; arrays go into `arrays`, and their names stand for them."""
    match value:
        case Enum():
            return {"enum": [type(value).__name__, value.name]}
        case bool() | int() | float() | str() | None:
            return value
        case Fraction():
            return {"Fraction": str(value)}
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case tuple():
            return [_plain(part, arrays) for part in value]
        case np.ndarray() if value.dtype != object:
            name = f"array{len(arrays)}"
            arrays[name] = value
            return {"array": name}
        case np.ndarray():  # integers beyond 64 bits
            return {"integers": [str(int(number)) for number in value]}
    kind = type(value)
    if not is_dataclass(kind) or _CLASSES.get(kind.__name__) is not kind:
        raise InvalidUse(
            wanted="plain values to keep", given=f"a {kind.__name__}", do="Save the answer before this process ends."
        )
    parts = (each.name for each in fields(value) if each.name != without)
    return {kind.__name__: {name: _plain(getattr(value, name), arrays) for name in parts}}


def _built(content: Any, arrays: Any, *, plan: Plan | None = None) -> Any:
    match content:
        case list():
            return tuple(_built(part, arrays) for part in content)
        case {"Fraction": text}:
            return Fraction(text)
        case {"datetime": text}:
            return datetime.fromisoformat(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case {"array": name}:
            return arrays[name]
        case {"integers": [*digits]}:
            return np.array([int(number) for number in digits], dtype=object)
        case {"enum": [kind, name]}:
            return _CLASSES[kind][name]  # type: ignore[index]
        case dict():
            ((kind, inner),) = content.items()
            parts = {name: _built(part, arrays) for name, part in inner.items()}
            return _CLASSES[kind](**({} if plan is None else {"plan": plan}), **parts)
    return content
