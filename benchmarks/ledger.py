"""What a charge costs, and whether a bad day can break a ledger: `python -m benchmarks.ledger`.

Without options it measures the CPU time of charges at entry 10, 1,000, 100,000 and 1,000,000, of opening a ledger, and
of `sitr ledger verify`. Long ledgers are written in bulk, with the hashes and signatures that charges would have made.

    python -m benchmarks.ledger --kills 2500        kill -9 during charges, answers, migrations and backups: each
    python -m benchmarks.ledger --power-cuts 10000  drop what was not synced (needs the extra `faults`)
    python -m benchmarks.ledger --replays 10000     ask the same question again
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from rich.console import Console

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.flavors.notation import write
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger import chain, witness
from sitr.ledger.book import ledger_id
from sitr.ledger.key import installation_key
from sitr.ledger.sql import SqlLedger, sitr_version
from sitr.ledger.who import user

LENGTHS = (10, 1_000, 100_000, 1_000_000)
CHARGE, OPENING = 0.005, 0.05
"""The most CPU seconds of a charge and of opening a ledger."""

PROMISE, PRICE = ZeroConcentratedDP(1.0), ZeroConcentratedDP(1e-7)
NEIGHBORS = "person (patient_id), add-remove"
QUESTION = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
WRITTEN = json.dumps({"plan": "x" * 4000})
PLAN, DESCRIPTION = sha256(WRITTEN.encode()).hexdigest(), "d" * 64


@dataclass(frozen=True, slots=True)
class Figure:
    """The least and the middle CPU time of some runs, in seconds."""

    name: str
    least: float
    median: float


def timed(name: str, run: Callable[[], object], *, repeat: int) -> Figure:
    """How much CPU time a call takes. A first one, which loads modules, is not counted."""
    run()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return Figure(name, min(times), sorted(times)[repeat // 2])


def charge(ledger: SqlLedger, dataset: str) -> None:
    """Charge one question."""
    ledger.charge(dataset, price=PRICE, question=QUESTION, plan=PLAN, description=DESCRIPTION, written=WRITTEN)


def grow(ledger: SqlLedger, dataset: str, *, to: int) -> None:
    """Write entries in bulk until the ledger has this many, as charges would have written them, one after another."""
    key, price = installation_key(), write(PRICE)
    remembered = witness.witnesses(key)
    with ledger._file.transaction(write=True) as connection:
        head = remembered.read(ledger_id(connection) or "")
        last = chain.last(connection)
        assert head is not None
        assert last is not None
        known = head.accounts[dataset]
        paid = Fraction(known.paid.split(" ")[0]) if known.paid else Fraction(0)
        rest = " ".join(["0"] * (len(PROMISE.coordinates()) - 1))
        (most,) = connection.execute("SELECT coalesce(max(number), 0) FROM entries").fetchone()
        step, charges = PRICE.coordinates()[0], known.charges
        signed = {"question": QUESTION, "by": user(), "version": sitr_version(), "plan": PLAN}
        entry = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
        for first in range(most + 1, to + 1, 10_000):
            rows, records = [], []
            for number in range(first, min(first + 10_000, to + 1)):
                paid, charges = paid + step, charges + 1
                row = {"number": number, "dataset": dataset, "price": price, **signed, "charges": charges}
                row |= {"at": datetime.now(UTC).isoformat(), "paid": f"{paid} {rest}".strip()}
                row |= {"description": DESCRIPTION}
                hash = chain.hash_of(last.number + 1, "entries", str(number), row, last.hash, key.public)
                last = chain.Record(
                    last.number + 1, "entries", str(number), last.hash, hash, key.public, key.sign(hash)
                )
                rows.append(tuple(row[name] for name in COLUMNS))
                records.append(astuple(last))
            assert isinstance(connection, sqlite3.Connection)
            connection.executemany(entry, rows)
            connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", records)
        spent = replace(known, entry=max(most, to), charges=charges, paid=f"{paid} {rest}".strip(), first=price)
        accounts = {**head.accounts, dataset: spent}
    remembered.advance(replace(head, number=last.number, hash=last.hash, accounts=accounts), key)


COLUMNS = (
    "number",
    "dataset",
    "price",
    "question",
    "at",
    "by",
    "version",
    "charges",
    "paid",
    "plan",
    "description",
)


def opened(path: Path, dataset: str) -> None:
    """Open a ledger and an account, as a new process does."""
    witness._checked.clear()
    ledger = SqlLedger(path, create=False)
    ledger.open(dataset, promise=PROMISE, neighbors=NEIGHBORS)
    ledger.standing(dataset)


def speed(folder: Path, lengths: Sequence[int], *, accounts: int, repeat: int) -> Iterator[Figure]:
    """Charges and openings at these lengths, and with many accounts."""
    ledger = SqlLedger(folder / "long.db")
    ledger.open("visits", promise=PROMISE, neighbors=NEIGHBORS)
    for length in lengths:
        grow(ledger, "visits", to=length)
        yield timed(f"a charge at entry {length:,}", lambda: charge(ledger, "visits"), repeat=repeat)
        yield timed(f"opening at entry {length:,}", lambda: opened(ledger.path, "visits"), repeat=repeat)
    start = time.process_time()
    found = ledger.examine()
    assert found.sound, found.findings
    yield Figure(f"sitr ledger verify of {found.records:,} records", *[time.process_time() - start] * 2)
    many = SqlLedger(folder / "many.db")
    for number in range(accounts):
        many.open(f"visits {number}", promise=PROMISE, neighbors=NEIGHBORS)
    yield timed(f"a charge with {accounts:,} accounts", lambda: charge(many, "visits 7"), repeat=repeat)
    yield timed(f"opening with {accounts:,} accounts", lambda: opened(many.path, "visits 7"), repeat=repeat)


def targets(figures: Sequence[Figure]) -> Iterator[Target]:
    """The figures that have a limit."""
    for figure in figures:
        if figure.name.startswith(("a charge", "opening")):
            yield Target(
                f"CPU seconds of {figure.name}", figure.least, CHARGE if "a charge" in figure.name else OPENING
            )


def replay(folder: Path, times: int) -> dict[str, int]:
    """Ask a question under a key, and again as `fresh`: how many charges and draws of noise the repetitions made."""
    import pyarrow as pa

    import sitr
    from sitr.noise.coins import Keystream

    people = pa.table({"ward": ["a", "b", "b"] * 100})
    data = sitr.protect(people, unit=sitr.Row(), keys={"ward": ["a", "b"]}, name="people")
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=folder / "replayed.db")
    question, price = budget.keyed("monday").group_by("ward").agg(n=sitr.count()), sitr.ZeroConcentratedDP(0.01)
    first, draws, words = question.release(price), 0, Keystream.words

    def counted(coins: Keystream, count: int) -> Any:
        nonlocal draws
        draws += 1
        return words(coins, count)

    other = 0
    with patch.object(Keystream, "words", counted):
        for _ in range(times):
            other += question.release(price, fresh=True).table != first.table
    return {"charges": len(budget.ledger.entries()) - 1, "draws": draws, "other answers": other}


def _faults(folder: Path, options: argparse.Namespace, console: Console) -> int:
    """The long runs; 1 if anything was found."""
    wrong = 0
    if options.kills:
        from benchmarks.ledger_kills import KINDS, kill

        for kind in options.kinds or KINDS:
            killed = kill(kind, folder, options.kills, seed=options.seed)
            wrong += len(killed.wrong)
            console.print(f"{kind}: {killed.kills:,} kills, {killed.finished:,} pieces of work finished", end="")
            console.print(f", {len(killed.wrong)} faults", *killed.wrong[:10], sep="\n  ", highlight=False)
    if options.power_cuts:
        from benchmarks.power_cut import cut_power

        survived = cut_power(folder, options.power_cuts, seed=options.seed)
        wrong += survived.lost + survived.refused + survived.unsound
        console.print(survived, highlight=False)
    if options.replays:
        found = replay(folder, options.replays)
        wrong += sum(found.values())
        console.print(f"{options.replays:,} replays: {found}", highlight=False)
    return int(wrong > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--accounts", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=100, help="how often each call is timed")
    parser.add_argument("--kills", type=int, help="kill this many children instead, of each kind of work")
    parser.add_argument("--kinds", nargs="+", help="which kinds of work: charge, answer, migration, backup")
    parser.add_argument("--power-cuts", type=int, help="cut the power this often instead")
    parser.add_argument("--replays", type=int, help="ask the same question this often instead")
    parser.add_argument("--seed", type=int, default=0, help="chooses the moments")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args(arguments)
    console = Console()
    with TemporaryDirectory() as name:
        os.environ["SITR_STATE"] = f"{name}/state"
        if options.kills or options.power_cuts or options.replays:
            return _faults(Path(name), options, console)
        figures = []
        for figure in speed(Path(name), options.lengths, accounts=options.accounts, repeat=options.repeat):
            figures.append(figure)
            console.print(f"{figure.name}: {figure.least:.4g} s CPU (median {figure.median:.4g})", highlight=False)
    judged = list(targets(figures))
    console.print(targets_table(judged))
    if options.json is not None:
        content = {"figures": [asdict(one) for one in figures], "load": os.getloadavg()}
        options.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
