"""Examine a whole ledger: every row against its record, every record against the next, the end against the witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from sitr.errors import SitrError
from sitr.ledger import book, chain
from sitr.ledger.database import Connection, with_any_text
from sitr.ledger.follow import counted, signers
from sitr.ledger.migrate import as_made
from sitr.ledger.spent import Spent
from sitr.ledger.witness import Head


class Fault(Enum):
    """What can be wrong with a ledger."""

    CHANGED_TRIGGERS = "changed triggers"
    REPLACED = "another ledger in its place"
    NO_BEGINNING = "no beginning"
    MISSING_RECORD = "missing record"
    BROKEN_LINK = "broken link"
    CHANGED_ROW = "changed row"
    MISSING_ROW = "missing row"
    EXTRA_ROW = "extra row"
    BAD_SIGNATURE = "bad signature"
    UNKNOWN_SIGNER = "unknown signer"
    WRONG_SUM = "wrong sum"
    BEHIND = "behind its witness"
    OTHER_END = "not the end that the witness saw"
    NO_WITNESS = "no witness"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, and where it is."""

    fault: Fault
    record: int = 0
    """The number of the record, if there is one."""
    table: str = ""
    row: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found."""

    ledger: str
    """The ledger's own name; empty if its beginning is missing."""
    records: int
    hash: str
    """The hash of the last record."""
    signers: tuple[tuple[str, int], ...]
    """The public keys of the installations that wrote to it, with their numbers of records."""
    findings: tuple[Finding, ...]
    witnessed: bool
    """Whether this installation has a witness of it. Without one, nobody can say whether its end was cut off."""

    @property
    def sound(self) -> bool:
        return not self.findings


def examine(
    connection: Connection,
    witness: Head | None,
    *,
    key: str,
    replaced: bool,
    add_up: Callable[[str], object],
    progress: Callable[[int], object] = lambda _: None,
) -> Examined:
    """Examine a ledger. `add_up` raises an error if the sum that an account stores is wrong.

    `key` is the public key of this installation, and `replaced` says that there was another ledger at the same path.
    """
    with_any_text(connection)
    findings = [] if as_made(connection) else [Finding(Fault.CHANGED_TRIGGERS)]
    findings += [Finding(Fault.REPLACED)] if replaced else []
    findings += _linked(connection, progress)
    findings += _signed(connection)
    findings += _unrecorded(connection)
    for (dataset,) in connection.execute("SELECT dataset FROM accounts ORDER BY dataset").fetchall():
        try:
            add_up(dataset)
        except SitrError:
            findings.append(Finding(Fault.WRONG_SUM, table="accounts", row=dataset))
    if not findings:  # where rows were changed, nothing adds up
        findings += _added_up(connection)
    if witness is not None:
        findings += _witnessed(connection, witness)
    elif key in signers(connection):
        findings.append(Finding(Fault.NO_WITNESS))
    newest, name = chain.last(connection), book.ledger_id(connection)
    if name is None:
        findings.insert(0, Finding(Fault.NO_BEGINNING))
    wrote = Counter(found.signer for found in chain.records(connection))
    return Examined(
        name or "",
        0 if newest is None else newest.number,
        chain.START if newest is None else newest.hash,
        tuple(wrote.items()),
        tuple(findings),
        witness is not None,
    )


def _linked(connection: Connection, progress: Callable[[int], object]) -> Iterator[Finding]:
    """Every record continues the one before, and its row is what it was."""
    number, before = 0, chain.START
    for found in chain.records(connection):
        where = Finding(Fault.BROKEN_LINK, found.number, found.table, found.row)
        for missing in range(number + 1, found.number):
            yield Finding(Fault.MISSING_RECORD, missing)
        if found.number == number + 1 and found.before != before:
            yield where
        fault = _row_fault(connection, found)
        if fault is not None:
            yield Finding(fault, found.number, found.table, found.row)
        number, before = found.number, found.hash
        if not number % 1000:
            progress(number)


def _row_fault(connection: Connection, found: chain.Record) -> Fault | None:
    if chain.intact(connection, found):
        return None
    there = found.table in chain.KEYS and chain.row_of(connection, found.table, found.row) is not None
    return Fault.CHANGED_ROW if there else Fault.MISSING_ROW


def _added_up(connection: Connection) -> Iterator[Finding]:
    """Every charge and every act was possible when it was made, for all accounts that it concerns."""
    accounts: dict[str, Spent] = {}
    for found in chain.records(connection):
        if not counted(connection, found, accounts):
            yield Finding(Fault.WRONG_SUM, found.number, found.table, found.row)


def _signed(connection: Connection) -> Iterator[Finding]:
    """The last signature of each key covers everything before it."""
    known = signers(connection)
    newest = connection.execute("SELECT max(number) FROM records GROUP BY signer ORDER BY 1").fetchall()
    for (number,) in newest:
        found = chain.record(connection, number)
        assert found is not None
        where = (found.number, found.table, found.row)
        if not chain.signed(found):
            yield Finding(Fault.BAD_SIGNATURE, *where)
        elif found.signer not in known:
            yield Finding(Fault.UNKNOWN_SIGNER, *where)


def _unrecorded(connection: Connection) -> Iterator[Finding]:
    """Rows that were put in by hand have no record."""
    for table, key in chain.KEYS.items():
        recorded = f"""SELECT 1 FROM records WHERE "table" = '{table}' AND row = CAST(t.{key} AS TEXT)"""
        rows = connection.execute(f"SELECT t.{key} FROM {table} t WHERE NOT EXISTS ({recorded}) ORDER BY 1")
        for (row,) in rows.fetchall():
            yield Finding(Fault.EXTRA_ROW, table=table, row=str(row))


def _witnessed(connection: Connection, witness: Head) -> Iterator[Finding]:
    """The ledger has at least the records that the witness saw, and the accounts are those that it saw."""
    newest, there = chain.last(connection), chain.record(connection, witness.number)
    if newest is None or newest.number < witness.number:
        yield Finding(Fault.BEHIND, witness.number)
    elif there is None or there.hash != witness.hash:
        yield Finding(Fault.OTHER_END, witness.number)
    for dataset, spent in witness.accounts.items():
        if _opened(connection, dataset) != spent.opened:
            yield Finding(Fault.OTHER_END, table="accounts", row=dataset)


def _opened(connection: Connection, dataset: str) -> str:
    found = chain.of_row(connection, "accounts", dataset)
    return "" if found is None else found.hash
