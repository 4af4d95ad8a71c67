"""A ledger without its database: all rows and records for an auditor, or a signed head for everybody.

An *export* holds every row as it is hashed, and every record with its hash and signature: whoever has it can check the
chain, the sums and certificates, without the database and without Sitr (`sitr_check.py`). It names every question.

A *head* names none. It says, signed by the installation that wrote it, how far the ledger had come, which entries it
has by their hashes, and which certificates were recorded for them by their SHA-256. So it can be published. Whoever
keeps a head can also tell later whether an export or a ledger still contains it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sitr.accounting.filter import Filter
from sitr.errors import FileError, InvalidParameter, LedgerError
from sitr.flavors.notation import parse
from sitr.ledger import chain
from sitr.ledger.book import SECOND, ledger_id, now
from sitr.ledger.entry import Entry, Seal, Sealed
from sitr.ledger.follow import BEGAN, JOINED, body
from sitr.ledger.key import genuine, installation_key
from sitr.ledger.sql import SqlLedger
from sitr.ledger.state import write_durably

FORMAT, HEAD = "sitr ledger export 1", "sitr ledger head 1"


def export(ledger: SqlLedger) -> dict[str, Any]:
    """Everything in a ledger: its rows by table, its records in order, and its head.

    `LedgerError` if it is behind its witness or was changed since: no head is signed of a ledger that is not used.
    """
    now(ledger._file)
    with ledger._file.transaction(write=False) as connection:
        ordered = {table: f"SELECT * FROM {table} ORDER BY {key}" for table, key in chain.KEYS.items()}
        rows = {table: [dict(row) for row in connection.execute(sql)] for table, sql in ordered.items()}
        records = [asdict(found) for found in chain.records(connection)]
        name = ledger_id(connection) or ""
    return {"format": FORMAT, "head": _head(name, rows, records), "rows": rows, "records": records}


def _head(name: str, rows: Mapping[str, list[dict[str, Any]]], records: list[dict[str, Any]]) -> dict[str, Any]:
    """The head, signed with the key of this installation."""
    key = installation_key()
    last = records[-1] if records else {"number": 0, "hash": chain.START}
    hashes = {found["row"]: found["hash"] for found in records if found["table"] == "entries"}
    content = {
        "ledger": name,
        "number": last["number"],
        "hash": last["hash"],
        "entries": hashes,
        "certificates": {
            seal["sha256"]: seal["entry"] for seal in rows["seals"] if seal["kind"] == Sealed.CERTIFICATE.value
        },
    }
    signature = key.sign(_signed(content, key.public))
    return {"format": HEAD, **content, "signer": key.public, "signature": signature}


def _signed(content: Mapping[str, Any], public: str) -> str:
    """The hash that the signature of a head covers."""
    return chain.hash_of(0, "head", str(content["ledger"]), content, chain.START, public)


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write an export or a head as JSON."""
    write_durably(path, (json.dumps(content, sort_keys=True, indent=1) + "\n").encode(), mode=0o644)


def write_tables(content: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write an export as CSV: one file for each table and one for the records, and the head as JSON."""
    folder.mkdir(exist_ok=True)
    written = [folder / "head.json"]
    write_json(content["head"], written[0])
    for name, rows in {**content["rows"], "records": content["records"]}.items():
        path = folder / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [])
            writer.writeheader()
            writer.writerows(rows)
        written.append(path)
    return written


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A head that was read from a file; its signature is genuine."""

    ledger: str
    number: int
    hash: str
    entries: Mapping[str, str]
    certificates: Mapping[str, int]
    signer: str

    def refuse_other(self, hash: str | None, name: object) -> None:
        """Refuse a ledger that does not contain this head: `hash` is the hash of its record of the same number."""
        if hash != self.hash:
            raise LedgerError(
                given=f"{name} does not contain the head of {self.number} records that was signed by {self.signer}.",
                do="It is another ledger, an older copy, or it was changed; ask for the ledger of this head.",
            )


def read_head(path: Path) -> SignedHead:
    """The head in a file; `LedgerError` if its signature is not genuine."""
    content = _content(path, HEAD)
    try:
        named = ("ledger", "number", "hash", "entries", "certificates")
        said = {name: content[name] for name in named}
        signer = str(content["signer"])
        whole = genuine(signer, _signed(said, signer), str(content["signature"]))
        head = SignedHead(
            str(said["ledger"]),
            int(said["number"]),
            str(said["hash"]),
            dict(said["entries"]),
            dict(said["certificates"]),
            signer,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        whole = False
    if not whole:
        raise LedgerError(given=f"{path} is not a head as Sitr signed it.", do="Ask for a new one.")
    return head


def _content(path: Path, format: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as failure:
        raise FileError(given=f"Cannot read {path}: {failure.strerror}.", do="Check the path.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != format:
        raise InvalidParameter(
            wanted="a file that sitr ledger export wrote", given=str(path), do="Check the path, or write it again."
        )
    return content


@dataclass(frozen=True, slots=True)
class ExportedLedger:
    """The part of a `Ledger` that certificates are checked with, from an export whose chain is whole."""

    path: Path
    rows: Mapping[str, list[dict[str, Any]]]
    records: list[chain.Record]

    def hash_at(self, number: int) -> str | None:
        """The hash of a record."""
        return self.records[number - 1].hash if 0 < number <= len(self.records) else None

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of one entry, or with one hash, or all, oldest first."""
        return [
            Seal(row["entry"], Sealed(row["kind"]), row["sha256"], datetime.fromisoformat(row["at"]))
            for row in self.rows["seals"]
            if (entry is None or row["entry"] == entry) and (sha256 is None or row["sha256"] == sha256)
        ]

    def charged(self, number: int) -> tuple[Entry, Filter[Any] | None]:
        """The entry of this number, or `LedgerError`. The budget after it is not computed again."""
        hashes = {found.row: found.hash for found in self.records if found.table == "entries"}
        second = {row["dataset"] for row in self.rows["acts"] if row["kind"] == SECOND}
        for row in self.rows["entries"]:
            if row["number"] == number:
                price: Any = parse(row["price"])
                at, who = datetime.fromisoformat(row["at"]), (row["by"], row["version"])
                plan, description = row["plan"] or "", row["description"] or ""
                hash, again = hashes[str(number)], row["dataset"] in second
                dataset, question = row["dataset"], row["question"]
                return Entry(number, dataset, price, question, at, *who, (), plan, description, hash, again), None
        raise LedgerError(
            given=f"{self.path} has no entry {number}.",
            do="Run sitr ledger show to see all entries, or check the path of the ledger.",
        )


def read_export(path: Path) -> ExportedLedger:
    """The ledger in an export; `LedgerError` if a row, a record or a signature is not as it was written."""
    content = _content(path, FORMAT)
    try:
        rows = {table: list(content["rows"][table]) for table in chain.KEYS}
        records = [chain.Record(**found) for found in content["records"]]
        wrong = _wrong(rows, records)
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        raise LedgerError(given=f"{path} is not an export as Sitr wrote it.", do="Ask for a new one.") from cause
    if wrong:
        raise LedgerError(
            given=f"{path} was changed by hand: record {wrong} is not the one that was signed.",
            do="Ask for a new export; the ledger itself need not be wrong.",
        )
    return ExportedLedger(path, rows, records)


def _wrong(rows: Mapping[str, list[dict[str, Any]]], records: list[chain.Record]) -> int:
    """The number of the first record that does not belong; 0 if the chain and all signatures are whole."""
    left = {(table, str(row[key])): row for table, key in chain.KEYS.items() for row in rows[table]}
    twice = len(left) < sum(
        map(len, rows.values())
    )  # a record hashes one row of a number, whatever is shown of another
    acts = (row for row in rows["acts"] if row["kind"] in (BEGAN, JOINED))
    known = {str(body(row["body"]).get("public")) for row in acts}
    before, newest = chain.START, dict[str, chain.Record]()
    for number, found in enumerate(records, 1):
        row = left.pop((found.table, found.row), None)
        if row is None or (found.number, found.before) != (number, before) or found.signer not in known:
            return number
        if found.hash != chain.hash_of(number, found.table, found.row, row, before, found.signer):
            return number
        before, newest[found.signer] = found.hash, found
    unsigned = [found.number for found in newest.values() if not chain.signed(found)]
    return unsigned[0] if unsigned else len(records) + 1 if left or twice or not records else 0
