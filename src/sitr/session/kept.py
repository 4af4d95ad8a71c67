"""What was released, on disk: written after the noise and before anything is shown, so that no paid answer is lost.

The same question at the same price is answered from here, for free: see `again`. "The same" means

- the same data set in the same ledger, with the same public description, and the same name and format of its file; the
  same holds for other protected tables that are joined with it, and for the rows of public ones;
- the same plan: every bound, cap, cell, noise and the price, as text. A plan with a function of your own has no text,
  so it is asked anew every time;
- the same version of Sitr; answers of other versions stay on disk and are ignored;
- private coins, both then and now.

Whether the rows have changed does not matter, and Sitr does not look: a hash, a size or a time of the file depends on
the rows, so a free answer for one state of them and a charge for another would reveal exactly, and for nothing, whether
they differ. Whoever wants an answer about new rows asks for a fresh one, or gives the file a new name.

A file holds what was released and nothing else: the plan, the noisy numbers and the charge. No exact number is ever
written. It lies in a folder beside the ledger, `sitr.answers` for `sitr.db`, and can be deleted like any other answer.
A ledger on a PostgreSQL server keeps the same texts itself, in a table, so that a question is free for the whole team.
The ledger records the SHA-256 of the file, which is the hash of the answer. A changed file is never returned.

The order is: charge durable, rows read, noise added, deadline waited for where there is one (`sitr.session.deadline`),
file durable, hash recorded, answer shown. So nobody gets an answer from here before its deadline. If the process dies
before the file is durable, the charge stays spent and asking again costs again. If it dies between file and hash, the
hash is recorded when the same question is asked again: until then, the file is as trustworthy as its folder. A second
stage whose hash was not recorded is lost: only the first stage, whose hash is known, is returned.

Two processes that ask the same question at the same time may both pay: neither waits for the other.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.dataset.database import is_database
from sitr.errors import FileError, InvalidUse, LedgerError, NotAllowed, NotKept
from sitr.ledger.departure import Departure
from sitr.ledger.entry import Entry, Sealed
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.receipt import Paid, Receipt
from sitr.ledger.sql import SqlLedger, sitr_version
from sitr.namespace import Later
from sitr.noise.coins import Coins, Provenance
from sitr.plans.plan import Plan
from sitr.session.desk import Desk
from sitr.session.plain import built, plain, text

if TYPE_CHECKING:
    from sitr.session import public as published
else:  # it loads the backend, which a preview does not need
    published = Later("sitr.session.public")

VERSION = 3
"""The version of the format."""

UNREADABLE = (
    *(ValueError, TypeError, ArithmeticError, LookupError),
    *(AttributeError, AssertionError, ImportError, RecursionError),
)
"""What reading a file can raise that was damaged or made up."""

KEYS = {"sitr", "entry", "at", "question", "dataset", "description", "private", "plan", "released"}
"""What every file holds."""


@dataclass(frozen=True)
class WrittenPlan:
    """A plan and its text, which is made once: it is compared, hashed, recorded and kept."""

    plan: Plan

    @cached_property
    def content(self) -> Any:
        """The plan as JSON; None if a part of it has none, such as a function of your own."""
        try:
            return plain(self.plan)
        except InvalidUse:
            return None

    @cached_property
    def text(self) -> str:
        """The text of the plan; empty if it has none."""
        return "" if self.content is None else json.dumps(self.content, sort_keys=True)

    @property
    def hash(self) -> str:
        """The hash of the plan; empty if a part of it has no text."""
        return sha256(self.text.encode()).hexdigest() if self.text else ""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A file that belongs to an entry, as it was read."""

    path: Path | str
    """The file, or the address of the ledger that keeps it."""
    content: dict[str, Any]
    sha256: str
    entry: Entry

    @property
    def private(self) -> bool:
        """False if it was made with test coins."""
        return self.content["private"] is True

    @property
    def coins(self) -> Provenance:
        """Where its noise came from."""
        try:
            return Provenance(self.content.get("coins", Provenance.KEYED.value))
        except ValueError:
            raise changed(self) from None

    @property
    def departures(self) -> tuple[Departure, ...]:
        """When it left."""
        try:
            return tuple(Departure(float(seconds), int(times)) for seconds, times in self.content.get("deadlines", ()))
        except UNREADABLE:
            raise changed(self) from None

    def released(self, plan: Plan) -> Any:
        """What was released under this plan."""
        try:
            released = built(self.content["released"], plan=plan)
            if released.possible():
                return released
        except UNREADABLE:
            pass
        raise changed(self)


def keep(receipt: Receipt, plan: WrittenPlan, released: Any, *, at: Desk) -> Receipt:
    """The receipt, after what was released is durable and its hash is recorded; a warning where this is impossible.

    The file of a second stage replaces the file of the first, and holds its numbers too.
    """
    try:
        content = _content(receipt, plan, released, at).encode()
    except InvalidUse as unwritable:
        _warn(f"The answer cannot be kept, because it holds {unwritable.given}. Save it before this process ends.")
        return receipt
    made = replace(receipt, sha256=sha256(content).hexdigest())
    if at.keep and (store := _store(at.ledger)) is not None:
        try:
            store.keep(receipt.entry.number, content.decode())
            made = replace(made, kept=str(store.place))
        except LedgerError as failure:
            _warn(f"The answer could not be kept in {store.place} ({failure}). Save it before this process ends.")
    elif at.keep and (folder := _folder(at.ledger)) is not None:
        try:
            _write(path := _place(folder, receipt.entry), content)
            made = replace(made, kept=path)
        except OSError as failure:
            _warn(f"The answer could not be kept in {folder} ({failure.strerror}). Save it before this process ends.")
    try:
        at.ledger.seal(made.entry.number, Sealed.ANSWER, made.sha256)
        for paid in made.beside:
            if paid.ledger is not None:
                paid.ledger.seal(paid.entry.number, Sealed.ANSWER, made.sha256)
    except LedgerError as failure:  # a file of the first stage, whose hash is recorded, stays
        _warn(f"The hash of the answer could not be recorded, so its certificate cannot be verified: {failure}")
        return made
    if isinstance(receipt.kept, Path) and made.kept != receipt.kept:
        receipt.kept.unlink(missing_ok=True)
    return made


def hashes(plan: WrittenPlan, *, at: Desk) -> dict[str, str]:
    """The hashes of a plan and of the public description that it is for, which stand in the entry of its charge."""
    return {"plan": plan.hash, "description": _described(at)}


def recorded(plan: WrittenPlan, coins: Coins, *, at: Desk) -> dict[str, str]:
    """What the ledger records of a charge: these hashes, the text of the plan, and whether its coins are for tests."""
    provenance = Provenance.of(coins)
    tests = provenance.value if provenance is Provenance.TEST else ""
    return {**hashes(plan, at=at), "written": plan.text, "coins": tests}


def again(plan: WrittenPlan, *, at: Desk) -> tuple[Any, Receipt] | None:
    """What was released for the same plan before, the newest if there are several; None if nothing is kept.

    Nothing is charged and no rows are read. `FileError` if the file was changed. If another plan with the same
    measurements was paid for, what it released is shown as this plan shows it, with the receipt of that charge.
    """
    if (found := _newest(plan, at)) is not None:
        return found
    for other in plan.plan.alike():
        if (found := _newest(WrittenPlan(other), at)) is not None:
            released, receipt = found
            return released.under(plan.plan), replace(receipt, alike=True)
    return None


def _newest(plan: WrittenPlan, at: Desk) -> tuple[Any, Receipt] | None:
    if not at.keep or plan.content is None:
        return None
    for entry in at.ledger.paid(at.account, price=plan.plan.price, question=plan.plan.text):
        found = find(at.ledger, entry)
        if found is None or not found.private:
            continue
        if (found.content["plan"], found.content["description"]) == (plan.content, _described(at)):
            return opened(found, plan.plan, ledger=at.ledger)
    return None


def repeated(plan: WrittenPlan, *, at: Desk) -> tuple[Any, Receipt] | None:
    """What was released for the charge that this user made under the same key; None if there was no such charge.

    A key belongs to one plan. A charge without a kept answer stays spent and is never drawn again: a second draw would
    be a second release for one price.
    """
    wanted = hashes(plan, at=at)
    if not wanted["plan"]:
        raise InvalidUse(
            given="A question with a function of your own has no key, because nobody can say whether it is the same.",
            do="Leave the key out; nothing was spent.",
        )
    entry = at.ledger.keyed(at.warrant.key)
    if entry is None:
        return None
    if (entry.dataset, entry.plan, entry.description) != (at.account, wanted["plan"], wanted["description"]):
        raise NotAllowed(
            given=f"This key belongs to another question or price, that of entry {entry.number}.",
            do="Choose a new key for a new question; nothing was spent.",
        )
    if (found := find(at.ledger, entry)) is None:
        raise NotAllowed(
            given=f"Entry {entry.number} was charged under this key, and no answer to it is kept.",
            do="If nobody is computing it now, it stays spent and is never drawn again; choose a new key to pay for a "
            "new answer.",
        )
    return opened(found, plan.plan, ledger=at.ledger)


def opened(found: KeptAnswer, plan: Plan, *, ledger: Ledger) -> tuple[Any, Receipt]:
    """What a file holds, with its receipt; the ledger records its hash if a crash left that out."""
    released, neighbors = found.released(plan), ledger.account(found.entry.dataset).neighbors
    if found.sha256 not in _hashes(ledger, found.entry):  # looking first: a ledger that is only read answers, too
        ledger.seal(found.entry.number, Sealed.ANSWER, found.sha256)
    receipt = Receipt(
        found.content["dataset"],
        neighbors,
        *ledger.charged(found.entry.number),
        private=found.private,
        kept=found.path,
        sha256=found.sha256,
        again=True,
        ledger=ledger,
        beside=_beside(ledger, found.entry),
        coins=found.coins,
        departures=found.departures,
    )
    return released, receipt


def _beside(ledger: Ledger, entry: Entry) -> tuple[Paid, ...]:
    """What was charged together with an entry, in the same ledger or in another."""
    found: list[Paid] = []
    for link in entry.beside:
        other = SqlLedger(_linked(ledger, link.ledger), create=False) if link.ledger else ledger
        account = other.account(link.dataset)
        found.append(Paid(account.dataset, account.neighbors, *other.charged(link.number), other))
    return tuple(found)


def _linked(ledger: Ledger, other: str) -> str | Path:
    """Where another ledger is that an entry names."""
    assert isinstance(ledger, SqlLedger | LazyLedger)
    here = ledger.place if isinstance(ledger, SqlLedger) else ledger.path
    return here.parent / other if isinstance(here, Path) and not is_database(other) else other


def find(ledger: Ledger, entry: Entry) -> KeptAnswer | None:
    """The file with the newest recorded hash, or with none if none is recorded; `FileError` if it was changed.

    A ledger that keeps answers itself records each together with its hash, so what has none there is not believed.
    """
    store, folder = _store(ledger), _folder(ledger)
    if (store is None and folder is None) or entry.version != sitr_version():
        return None
    hashes, files = _hashes(ledger, entry), list(_files(_stored(store, entry) or _in_folder(folder, entry), entry))
    sealed = [file for file in files if file.sha256 in hashes]
    if sealed:
        return max(sealed, key=lambda file: hashes.index(file.sha256))
    if files and (hashes or (store is None and not files[0].content)):
        raise changed(files[0])
    return files[0] if files and store is None else None


def _hashes(ledger: Ledger, entry: Entry) -> list[str]:
    """The recorded hashes of an answer, oldest first."""
    return [seal.sha256 for seal in ledger.seals(entry.number) if seal.kind is Sealed.ANSWER]


def _store(ledger: Ledger) -> SqlLedger | None:
    """The ledger, if it keeps answers itself."""
    if isinstance(ledger, LazyLedger) and not isinstance(ledger.path, Path) and ledger.accounts():
        ledger = SqlLedger(ledger.path, create=False)
    return ledger if isinstance(ledger, SqlLedger) and ledger.keeps_answers else None


def _stored(store: SqlLedger | None, entry: Entry) -> Iterable[tuple[str, bytes]]:
    """What a ledger keeps itself for an entry."""
    return [] if store is None else [(str(store.place), each.encode()) for each in store.kept(entry.number)]


def _in_folder(folder: Path | None, entry: Entry) -> Iterator[tuple[Path, bytes]]:
    """The files for entries of this number."""
    names = (f"entry-{entry.number}.json", f"entry-{entry.number}-*.json")
    for path in sorted(path for name in names for path in ([] if folder is None else folder.glob(name))):
        with suppress(OSError):  # another user's file, or one that was deleted just now
            yield path, path.read_bytes()


def _files(texts: Iterable[tuple[Path | str, bytes]], entry: Entry) -> Iterator[KeptAnswer]:
    """The files that belong to an entry, and unreadable ones, without content, which may."""
    for path, data in texts:
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not content.keys() >= KEYS:
            yield KeptAnswer(path, {}, "", entry)
        # A ledger that was lost and made again has entries of the same number, at another time.
        elif content["sitr"] == VERSION and (content["entry"], content["at"]) == (entry.number, entry.at.isoformat()):
            yield KeptAnswer(path, content, sha256(data).hexdigest(), entry)


def _content(receipt: Receipt, plan: WrittenPlan, released: Any, at: Desk) -> str:
    """The file, byte by byte the same for the same answer."""
    content = {
        "sitr": VERSION,
        "entry": receipt.entry.number,
        "at": receipt.entry.at.isoformat(),
        "question": receipt.entry.question,
        "dataset": receipt.dataset,
        "description": _described(at),
        "private": receipt.private,
        "coins": receipt.provenance.value,
        "plan": plan.content,
        "released": plain(released, without="plan"),
    }
    if receipt.departures:
        content["deadlines"] = [[each.seconds, each.multiple] for each in receipt.departures]
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _described(at: Desk) -> str:
    """The version of the public description: its hash, with the name and the format of the file of rows."""
    others = tuple((other.table, other.source) for other in at.beside)
    public = tuple((name, published.fingerprint(source)) for name, source in sorted(at.public.items()))
    return sha256(text((at.table, at.source, *others, *public)).encode()).hexdigest()


def _folder(ledger: Ledger) -> Path | None:
    """The folder beside a ledger; None for a ledger that is not in a file."""
    if not isinstance(ledger, SqlLedger | LazyLedger) or _store(ledger) is not None:
        return None
    return ledger.path.with_name(f"{ledger.path.stem}.answers") if isinstance(ledger.path, Path) else None


def _place(folder: Path, entry: Entry) -> Path:
    """A new file: what another ledger of the same name paid for is not overwritten."""
    names = chain([f"entry-{entry.number}.json"], (f"entry-{entry.number}-{copy}.json" for copy in count(2)))
    return next(path for name in names if not (path := folder / name).exists())


def _write(path: Path, content: bytes) -> None:
    """Durably: the file is whole when it appears under its name, and on disk when this returns."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
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


def changed(found: KeptAnswer) -> FileError:
    """The error for a file that does not hold what was released."""
    return FileError(
        given=f"The kept answer of entry {found.entry.number}, {found.path}, was changed or is damaged.",
        do="Restore it, or ask with fresh=True (--fresh) to pay for a new answer; nothing was spent.",
    )


def _warn(message: str) -> None:
    warnings.warn(message, NotKept, stacklevel=5)
