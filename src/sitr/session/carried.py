"""Answers that are carried from a server to a client: what was released, exactly, and its receipt.

What was released is carried as the server keeps it, so its hash is the one that the ledger records, and what a client
builds from it is the same object. `sitr.session.plain` says what can be built: values of Sitr, and no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.errors import FileError, LedgerError
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse, write
from sitr.flavors.random import RandomDP
from sitr.ledger.departure import Departure
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Provenance
from sitr.plans.plan import Plan
from sitr.session.kept import UNREADABLE, find
from sitr.session.plain import built, fraction


def written(receipt: Receipt) -> dict[str, Any]:
    """What was released for a receipt, and the receipt, as JSON."""
    ledger = receipt.ledger
    kept = None if ledger is None else find(ledger, receipt.entry)
    if kept is None:
        raise FileError(
            given=f"No answer of entry {receipt.entry.number} is kept by this version of Sitr.",
            do="Run sitr ledger answers to see what is kept.",
        )
    return {"released": kept.content, "receipt": _receipt(receipt)}


def read(content: Mapping[str, Any], *, ledger: Ledger) -> tuple[Any, Receipt]:
    """What was released, and its receipt; `LedgerError` if it is not what the receipt says."""
    try:
        receipt = _read_receipt(content["receipt"], ledger)
        text = json.dumps(content["released"], sort_keys=True, separators=(",", ":"))
        plan = built(content["released"]["plan"])
        released = built(content["released"]["released"], plan=plan)
        same = sha256(text.encode()).hexdigest() == receipt.sha256
        if same and isinstance(plan, Plan) and released.possible():
            return released, receipt
    except UNREADABLE:
        pass
    raise LedgerError(
        given="The server sent an answer that is not what its receipt says.",
        do="Check that both run the same version of Sitr; the answer is kept on the server, and can be had again.",
    )


def filter_dict(found: Filter) -> dict[str, Any]:
    """A budget and what was charged to it, exactly."""
    return {
        "promise": write(found.promise),
        "charges": found.charges,
        "paid": [str(each) for each in found.paid],
        "first": None if found.first is None else write(found.first),
    }


def read_filter(content: Mapping[str, Any]) -> Filter:
    """The same from JSON."""
    first = None if content["first"] is None else cast("RandomDP", parse(content["first"]))
    return Filter(
        cast("Kept", parse(content["promise"])), content["charges"], tuple(map(fraction, content["paid"])), first
    )


def entry_dict(found: Entry) -> dict[str, Any]:
    """A charge to one data set, with everything that its record has."""
    names = (
        "number",
        "dataset",
        "question",
        "by",
        "version",
        "plan",
        "description",
        "hash",
        "second",
        "share",
        "request",
    )
    return {name: getattr(found, name) for name in names} | {"price": write(found.price), "at": found.at.isoformat()}


def read_entry(content: Mapping[str, Any]) -> Entry:
    """The same from JSON."""
    changed = {"price": parse(content["price"]), "at": datetime.fromisoformat(content["at"])}
    return Entry(**{**content, **changed})


def _receipt(found: Receipt) -> dict[str, Any]:
    return {
        "dataset": found.dataset,
        "neighbors": found.neighbors,
        "entry": entry_dict(found.entry),
        "standing": filter_dict(found.standing),
        "private": found.private,
        "sha256": found.sha256,
        "again": found.again,
        "alike": found.alike,
        "coins": found.coins.value,
        "departures": [[each.seconds, each.multiple] for each in found.departures],
    }


def _read_receipt(content: Mapping[str, Any], ledger: Ledger) -> Receipt:
    return Receipt(
        content["dataset"],
        content["neighbors"],
        read_entry(content["entry"]),
        read_filter(content["standing"]),
        private=content["private"] is True,
        sha256=content["sha256"],
        again=content["again"] is True,
        alike=content.get("alike") is True,
        ledger=ledger,
        coins=Provenance(content["coins"]),
        departures=tuple(Departure(float(seconds), int(times)) for seconds, times in content["departures"]),
    )
