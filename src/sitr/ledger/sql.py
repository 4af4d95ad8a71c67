"""A ledger in a SQLite file or on a PostgreSQL server.

Statements are plain SQL with named parameters, which the database's own driver runs. SQLAlchemy, which is
slow to load, only makes and changes the tables: see `migrate`.
"""

from __future__ import annotations

import json
from dataclasses import astuple
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from hashlib import sha256
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sitr.accounting.filter import Filter, replay
from sitr.errors import IncompatiblePromises, InvalidPromise, LedgerError, LedgerMismatch, no_ledger
from sitr.flavors.arrows import Kept, kept
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.ledger import acts, chain, gate, registry
from sitr.ledger.book import SECOND, Page, begin, ledger_id, writing
from sitr.ledger.database import Connection, LedgerRow
from sitr.ledger.entry import DIRECT, Account, Entry, Link, Seal, Sealed, Warrant
from sitr.ledger.examine import Examined, examine
from sitr.ledger.key import installation_key
from sitr.ledger.located import Where, addressed, located
from sitr.ledger.migrate import HISTORY, revision, upgrade
from sitr.ledger.state import PATIENCE
from sitr.ledger.who import user
from sitr.ledger.witness import Head, witnesses
from sitr.namespace import Later

if TYPE_CHECKING:
    from importlib import metadata

    from sitr.ledger import plans
else:  # a preview records nothing
    metadata, plans = Later("importlib.metadata"), Later("sitr.ledger.plans")


_RECORDED = """(SELECT hash FROM records WHERE "table" = 'entries' AND row = CAST(entries.number AS TEXT))"""
_SECOND = f"EXISTS (SELECT 1 FROM acts WHERE kind = '{SECOND}' AND acts.dataset = entries.dataset)"
_ENTRIES = f"SELECT *, {_RECORDED} AS hash, {_SECOND} AS second FROM entries"
"""Entries with the hashes of their records, and whether their rows have another budget elsewhere."""


class SqlLedger:
    """A `Ledger` in a SQLite file, given by its path, or on a PostgreSQL server: `postgresql://host/database`.

    Any number of threads and processes may use one ledger; those that write wait for their turn, in order. Each call is
    one transaction, so a process that dies leaves a whole entry or none. With `create=False` a missing ledger is an
    error.

    >>> from tempfile import TemporaryDirectory
    >>> from sitr.flavors.pure import PureDP
    >>> with TemporaryDirectory() as folder:
    ...     ledger = SqlLedger(f"{folder}/ledger.db")
    ...     account = ledger.open("clinic", promise=PureDP(0.3), neighbors="person (patient_id), add-remove")
    ...     entry, budget = ledger.charge("clinic", price=PureDP(0.1), question="SELECT COUNT(*) FROM clinic")
    >>> entry.number, entry.price, budget.remaining()
    (1, PureDP(epsilon=0.1), PureDP(epsilon=0.2))
    """

    def __init__(self, where: Where, *, create: bool = True, patience: float = PATIENCE) -> None:
        self._file = located(where, patience=patience)
        self.place = self._file.place
        self.where = self.place if isinstance(self.place, Path) else addressed(where)
        self._name = str(self.place)
        found = self._revision() if self._file.exists() else None
        if found == HISTORY[-1]:
            return
        if found is None and not create:
            raise no_ledger(self._name)
        witnesses(installation_key())  # without a key and a place for its witness no ledger can be made
        self._file.create()
        self._upgrade(found)

    @property
    def path(self) -> Path:
        """The file of the ledger; `LedgerError` if it is on a server."""
        if isinstance(self.place, Path):
            return self.place
        raise LedgerError(
            given=f"The ledger {self.place} is not a file.",
            do="Use the tools of PostgreSQL to copy it, such as pg_dump.",
        )

    def identity(self) -> tuple[str, ...]:
        """The same for all names of one ledger, and sortable: who locks several locks them in this order."""
        return self._file.identity()

    def _upgrade(self, found: str | None) -> None:
        """Bring the tables to the newest revision and begin the chain, in one transaction."""
        key, heads = installation_key(), list[Head]()

        def chained(connection: Connection) -> None:
            if ledger_id(connection) is not None:  # its chain has begun, under an older version
                return
            if found is not None:
                registry.refuse_known(self.place)
            heads.append(begin(connection, key))
            witnesses(key).advance(heads[0], key)  # before the chain is durable: a ledger never lacks its witness

        upgrade(self._file, then=chained)
        for head in heads:
            registry.remember(self.place, head.ledger)

    def open(
        self,
        dataset: str,
        *,
        promise: Kept,
        neighbors: str,
        source: str = "",
        second: bool = False,
        create: bool = True,
    ) -> Account:
        """The account of this data set, created if missing; `LedgerMismatch` if it was opened with other terms.

        `source` says where the rows are. If they have a budget elsewhere, only `second` allows another one, and it is
        recorded. With `create=False` a missing account is a `LedgerError`, and nothing is written.

        The account must be the one that the witness of the ledger remembers.
        """
        if not create:
            known = self.account(dataset)
            check_terms(known, self._name, promise=promise, neighbors=neighbors)
            return known
        with writing(self._file) as page:
            found = self._find(page.connection, dataset)
            if found is not None:  # before its source is registered under a wrong promise
                check_terms(found, self._name, promise=promise, neighbors=neighbors)
            here = registry.Budgeted(page.head.ledger, self._name, dataset)
            # Rows in memory are known by their account: if its ledger is deleted, a new one is noticed.
            where = source or registry.account_source(self.place, dataset)
            lost = found is None and page.head.unknown
            others = registry.claim(where, here, second=second, lost=lost)
            stored = found
            if stored is None:
                stored = Account(dataset, promise, neighbors, datetime.now(UTC))
                row = {"dataset": dataset, "promise": write(promise), "neighbors": neighbors}
                page.insert("accounts", row | {"opened": stored.opened.isoformat()})
            if others and not _is_second(page.connection, dataset):
                several = [{"ledger": other.ledger, "dataset": other.dataset} for other in others]
                page.act(SECOND, {"others": several}, dataset=dataset)
            page.check_account(dataset)
        return stored

    def open_part(self, dataset: str, *, of: str) -> Account:
        """The account of one period of a data set, created if missing, on the terms of all periods.

        The rows of a period are a part of rows that have a budget here, so the registry need not know of them.
        """
        with writing(self._file) as page:
            whole, found = self._account(page.connection, of), self._find(page.connection, dataset)
            page.check_account(of)
            if found is None and page.head.unknown:
                raise LedgerError(
                    given=f"The witness of {self._name} was lost, so nobody knows what {dataset} had spent.",
                    do="Ask about periods that the ledger has kept, or begin a second budget in another ledger; "
                    "nothing was spent.",
                )
            if found is None:
                found = Account(dataset, whole.promise, whole.neighbors, datetime.now(UTC))
                row = {"dataset": dataset, "promise": write(whole.promise), "neighbors": whole.neighbors}
                page.open_part(row | {"opened": found.opened.isoformat()}, of=of)
                if _is_second(page.connection, of):
                    page.act(SECOND, {"of": of}, dataset=dataset)
            check_terms(found, self._name, promise=whole.promise, neighbors=whole.neighbors)
            page.check_account(dataset)
        return found

    def account(self, dataset: str) -> Account:
        """The account of this data set, or `LedgerError`."""
        with self._file.transaction(write=False) as connection:
            return self._account(connection, dataset)

    def accounts(self) -> list[Account]:
        """All accounts, by name."""
        with self._file.transaction(write=False) as connection:
            rows = connection.execute("SELECT * FROM accounts").fetchall()
        return sorted((self._to_account(row) for row in rows), key=attrgetter("dataset"))

    def standing(self, dataset: str) -> Filter:
        """The promise and what is spent now: a snapshot, which reserves nothing."""
        with self._file.transaction(write=False) as connection:
            return self._filter(connection, self._account(connection, dataset))

    def check(self, dataset: str) -> Filter:
        """The same, added up from all entries; `LedgerError` if the stored sum differs."""
        with self._file.transaction(write=False) as connection:
            account = self._account(connection, dataset)
            running, rebuilt = self._filter(connection, account), self._rebuilt(connection, account)
        if running != rebuilt:
            raise LedgerError(
                given=f"{self._name} was changed by hand: its sum for {dataset} is {write(running.spent())} after "
                f"{running.charges} charges, but its {rebuilt.charges} entries add up to {write(rebuilt.spent())}.",
                do="Restore it from a backup, and count all later charges as spent.",
            )
        return rebuilt

    def charge(
        self,
        dataset: str,
        *,
        price: Promise,
        question: str,
        plan: str = "",
        description: str = "",
        warrant: Warrant = DIRECT,
        written: str = "",
        coins: str = "",
    ) -> tuple[Entry, Filter]:
        """Check the price and record it durably, as one step; returns the entry and the budget after it."""
        with writing(self._file) as page:
            entry, after = self._charge(
                page,
                dataset,
                price=price,
                question=question,
                plan=plan,
                description=description,
                written=written,
                coins=coins,
                warrant=warrant,
            )
        # The charge is durable, and an answer is allowed, only here, after the commit.
        return entry, after

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """The charges to one data set, or to all, oldest first."""
        ours = "" if dataset is None else "WHERE dataset = :dataset"
        with self._file.transaction(write=False) as connection:
            if dataset is not None:
                self._account(connection, dataset)  # a wrong name is an error, not an empty list
            rows = connection.execute(f"{_ENTRIES} {ours} ORDER BY number", {"dataset": dataset}).fetchall()
        return [self._to_entry(row) for row in rows]

    def asked(self, dataset: str, *, question: str) -> list[Entry]:
        """All charges for this question, newest first; none if the data set has no account."""
        with self._file.transaction(write=False) as connection:
            ours = {"dataset": dataset, "question": question}
            same = "dataset = :dataset AND question = :question"
            rows = connection.execute(f"{_ENTRIES} WHERE {same} ORDER BY number DESC", ours).fetchall()
        return [self._to_entry(row) for row in rows]

    def charged(self, number: int) -> tuple[Entry, Filter]:
        """The entry of this number and the budget right after it, as `charge` returned them, or `LedgerError`."""
        with self._file.transaction(write=False) as connection:
            row = connection.execute(f"{_ENTRIES} WHERE number = :number", {"number": number}).fetchone()
            if row is None:
                raise LedgerError(
                    given=f"{self._name} has no entry {number}.",
                    do="Run sitr ledger show to see all entries, or check the path of the ledger.",
                )
            return self._to_entry(row), self._filter(connection, self._account(connection, row["dataset"]), last=number)

    def paid(self, dataset: str, *, price: Promise, question: str) -> list[Entry]:
        """All charges of this price for this question, newest first; none if the data set has no account."""
        with self._file.transaction(write=False) as connection:
            if (account := self._find(connection, dataset)) is None:
                return []
            ours = {"dataset": dataset, "price": write(Filter(account.promise).charge(price)), "question": question}
            same = "dataset = :dataset AND price = :price AND question = :question"
            rows = connection.execute(f"{_ENTRIES} WHERE {same} ORDER BY number DESC", ours).fetchall()
        return [self._to_entry(row) for row in rows]

    def plan(self, sha256: str) -> str:
        """The text of a plan that was charged, by its hash; empty if none is stored."""
        with self._file.transaction(write=False) as connection:
            return plans.stored(connection, sha256)

    def keyed(self, key: str) -> Entry | None:
        """The charge that this user made under a key; None if there is none."""
        with self._file.transaction(write=False) as connection:
            row = connection.execute(f"{_ENTRIES} WHERE key = :key", {"key": gate.own_key(key)}).fetchone()
        return None if row is None else self._to_entry(row)

    def seal(self, entry: int, kind: Sealed, sha256: str) -> None:
        """Record durably the hash of something that was released for an entry; once, if it is recorded again."""
        with writing(self._file) as page:
            self._seal(page, entry, kind, sha256)

    def _seal(self, page: Page, entry: int, kind: Sealed, sha256: str) -> None:
        row = {"entry": entry, "kind": kind.value, "sha256": sha256, "at": datetime.now(UTC).isoformat()}
        same = "SELECT 1 FROM seals WHERE entry = :entry AND kind = :kind AND sha256 = :sha256"
        if page.connection.execute(same, row).fetchone() is None:
            page.insert("seals", row)

    def seals(self, entry: int | None = None, *, sha256: str | None = None) -> list[Seal]:
        """The seals of one entry, or with one hash, or all, oldest first."""
        wanted = {"entry": entry, "sha256": sha256}
        ours = " AND ".join(f"{name} = :{name}" for name, value in wanted.items() if value is not None) or "TRUE"
        with self._file.transaction(write=False) as connection:
            rows = connection.execute(f"SELECT * FROM seals WHERE {ours} ORDER BY number", wanted).fetchall()
        return [
            Seal(row["entry"], Sealed(row["kind"]), row["sha256"], datetime.fromisoformat(row["at"])) for row in rows
        ]

    def divided(self, dataset: str) -> bool:
        """Whether the budget has sub-budgets or rules."""
        with self._file.transaction(write=False) as connection:
            return acts.any_of(connection, dataset)

    @property
    def keeps_answers(self) -> bool:
        """Whether answers are kept in the ledger itself, for everybody who uses it: on a server they are."""
        return not isinstance(self.place, Path)

    def keep(self, entry: int, content: str) -> None:
        """Store what was released for an entry and record its hash, durably and in one step."""
        row: dict[str, object] = {"entry": entry, "sha256": sha256(content.encode()).hexdigest(), "content": content}
        with writing(self._file) as page:
            same = "SELECT 1 FROM answers WHERE entry = :entry AND sha256 = :sha256"
            if page.connection.execute(same, row).fetchone() is None:
                page.connection.execute("INSERT INTO answers VALUES (:entry, :sha256, :content)", row)
            self._seal(page, entry, Sealed.ANSWER, str(row["sha256"]))

    def kept(self, entry: int) -> list[str]:
        """What was stored for an entry."""
        with self._file.transaction(write=False) as connection:
            rows = connection.execute("SELECT content FROM answers WHERE entry = ?", (entry,)).fetchall()
        return [row["content"] for row in rows]

    def examine(self) -> Examined:
        """Compare every row with its record, every record with the next one, and the end with the witness."""
        remembered = witnesses(installation_key())
        with self._file.transaction(write=False) as connection:
            name = ledger_id(connection)
        head = None if name is None else remembered.read(name)  # first: a ledger may be ahead of it, and not behind
        others = registry.at(self.place) - {name or ""}
        with self._file.transaction(write=False) as connection:
            return examine(connection, head, key=remembered.public, replaced=bool(others), add_up=self.check)

    def hash_at(self, number: int) -> str | None:
        """The hash of a record of the chain."""
        with self._file.transaction(write=False) as connection:
            found = chain.record(connection, number)
        return None if found is None else found.hash

    def _revision(self) -> str | None:
        with self._file.transaction(write=False) as connection:
            return revision(connection, name=self._name)

    def _charge(
        self,
        page: Page,
        dataset: str,
        *,
        price: Promise,
        question: str,
        plan: str = "",
        description: str = "",
        written: str = "",
        coins: str = "",
        beside: tuple[Link, ...] = (),
        warrant: Warrant = DIRECT,
        lost: bool = False,
    ) -> tuple[Entry, Filter]:
        """Check the price and write it down; it counts when the transaction is committed.

        Nobody has to allow the charge for what was `lost`.
        """
        connection = page.connection
        account = self._account(connection, dataset)
        page.check_account(dataset)
        budget, now = self._filter(connection, account), datetime.now(UTC)
        charged = cast("Kept", budget.charge(price))
        if not lost:
            gate.check(
                connection,
                page.overseen(dataset),
                gate.Charge(dataset, charged, question, plan, description, warrant, now),
            )
        after = budget.consent(price)
        row = {"dataset": dataset, "price": write(charged), "question": question, **_signature(now)}
        sums = {"charges": after.charges, "paid": " ".join(map(str, after.paid))}
        links = json.dumps([astuple(link) for link in beside]) if beside else None
        rest = {"beside": links, "plan": plan or None, "description": description or None, "coins": coins or None}
        if written:
            plans.store(connection, plan, written)
        number = page.insert("entries", row | sums | rest | gate.columns(warrant))
        stored = connection.execute(f"{_ENTRIES} WHERE number = ?", (number,)).fetchone()
        return self._to_entry(stored), after

    def _find(self, connection: Connection, dataset: str) -> Account | None:
        row = connection.execute("SELECT * FROM accounts WHERE dataset = :dataset", {"dataset": dataset}).fetchone()
        return None if row is None else self._to_account(row)

    def _account(self, connection: Connection, dataset: str) -> Account:
        account = self._find(connection, dataset)
        if account is None:
            raise LedgerError(
                given=f"{self._name} has no account for {dataset}.",
                do="Open the data set with a promise first, or check its name and the path of the ledger.",
            )
        return account

    def _filter(self, connection: Connection, account: Account, *, last: int | None = None) -> Filter:
        """The budget, read from the last entry, which stores the sum of all: a charge is as fast in a long ledger.

        With a number, the budget right after that entry.

        An older version of Sitr may also write to this file. Its entries have no sum; then all entries are added up,
        and the next charge stores the sum again.
        """
        ours, of = "SELECT * FROM entries WHERE dataset = :dataset", {"dataset": account.dataset, "last": last}
        until = ours if last is None else f"{ours} AND number <= :last"
        found = connection.execute(f"{until} ORDER BY number DESC LIMIT 1", of).fetchone()
        if found is None or found["charges"] is None or found["paid"] is None:
            return self._rebuilt(connection, account, last=last)
        first = None
        if isinstance(account.promise, RandomDP):
            oldest = self._promise(connection.execute(f"{ours} ORDER BY number LIMIT 1", of).fetchone()["price"])
            first = Filter(account.promise).charge(oldest)
        try:
            paid = tuple(map(Fraction, found["paid"].split(" ")))
            return Filter(account.promise, found["charges"], paid, first if isinstance(first, RandomDP) else None)
        except (ValueError, ZeroDivisionError, IncompatiblePromises) as cause:
            raise LedgerError(
                given=f"{self._name} was changed by hand: the sum in its last entry is {found['paid']!r} after "
                f"{found['charges']!r} charges.",
                do="Restore it from a backup, and count all later charges as spent.",
            ) from cause

    def _rebuilt(self, connection: Connection, account: Account, *, last: int | None = None) -> Filter:
        """The budget, added up from all entries, oldest first: a random price comes first. Equal prices are counted."""
        counted = "SELECT min(number), price, count(*) FROM entries WHERE dataset = :dataset"
        until = counted if last is None else f"{counted} AND number <= :last"
        rows = connection.execute(f"{until} GROUP BY price", {"dataset": account.dataset, "last": last}).fetchall()
        # Through `charge` again, so that a row inserted by hand in another flavor cannot pass for a small number.
        budget = Filter(account.promise)
        charges = ((budget.charge(self._promise(price)), times) for _, price, times in sorted(rows, key=itemgetter(0)))
        return replay(account.promise, charges)

    def _to_account(self, row: LedgerRow) -> Account:
        opened = datetime.fromisoformat(row["opened"])
        return Account(row["dataset"], self._promise(row["promise"]), row["neighbors"], opened)

    def _to_entry(self, row: LedgerRow) -> Entry:
        price, at = self._promise(row["price"]), datetime.fromisoformat(row["at"])
        beside = self._links(row["beside"])
        hashes = (row["plan"] or "", row["description"] or "", row["hash"] or "", bool(row["second"]))
        own = (row["number"], row["dataset"], price, row["question"], at, row["by"], row["version"])
        return Entry(*own, beside, *hashes, row["share"] or "", row["request"] or 0, row["coins"] or "")

    def _links(self, text: str | None) -> tuple[Link, ...]:
        try:
            return tuple(
                Link(str(dataset), int(number), str(ledger)) for dataset, number, ledger in json.loads(text or "[]")
            )
        except (ValueError, TypeError) as cause:
            raise LedgerError(
                given=f"{self._name} was changed by hand: the entries beside one of its entries are {text!r}.",
                do="Restore it from a backup, and count all later charges as spent.",
            ) from cause

    def _promise(self, text: str) -> Kept:
        try:
            promise: Promise | None = parse(text)
        except InvalidPromise:
            promise = None
        if kept(promise):
            return promise
        raise LedgerError(
            given=f"{self._name} contains {text!r}, which this version of Sitr cannot read as a promise.",
            do="Upgrade Sitr; if that does not help, the ledger was changed by hand, so restore it from a backup.",
        )


def _is_second(connection: Connection, dataset: str) -> bool:
    """Whether it is recorded that the rows have another budget elsewhere."""
    found = "SELECT 1 FROM acts WHERE kind = ? AND dataset = ? LIMIT 1"
    return connection.execute(found, (SECOND, dataset)).fetchone() is not None


def check_terms(stored: Account, ledger: str, *, promise: Kept, neighbors: str) -> None:
    """Refuse to use an account that was opened with another promise or for other neighbors."""
    if (stored.promise, stored.neighbors) != (promise, neighbors):
        raise LedgerMismatch(
            wanted=f"the budget of {stored.dataset} in {ledger}, {write(stored.promise)} for each {stored.neighbors}",
            given=f"{write(promise)} for each {neighbors}",
            do="Repeat the stored budget and neighbors: a data set has one budget.",
        )


def _signature(at: datetime) -> dict[str, str]:
    """The time, the user and the Sitr version."""
    return {"at": at.isoformat(), "by": user(), "version": sitr_version()}


@cache
def sitr_version() -> str:
    """The version of Sitr, looked up once, because its files may be unreadable after a change of user."""
    return metadata.version("sitr")
