"""Go on after a ledger was lost: everything that its witness remembers counts as spent.

An old copy of a ledger, or one whose end was cut off, is refused because nobody can say what was answered since. The
witness can: it holds the total of every account. The difference is charged to each account, as an entry that says so,
and accounts that were opened since are opened again, with the roles and rules that they had. Without a witness nothing
is known, so every account is exhausted. Either way, no budget comes back, and the act is recorded. Requests that were
not answered in what is left have expired: they may have been answered in what is lost.

Only a steward goes on. Where data sets in one ledger have different stewards, each goes on with their own: the others
are not charged until their own steward has gone on, and the act keeps what must be counted then.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from tempfile import mkstemp

from sitr.errors import BudgetExceeded, LedgerError, NotAllowed
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.flavors.random import RandomDP
from sitr.ledger import chain, registry
from sitr.ledger.acts import ALLOT, RESERVE, ROLE, RULES, rules_body
from sitr.ledger.book import Page, ledger_id
from sitr.ledger.database import Connection
from sitr.ledger.follow import JOINED, altered, follow, signers
from sitr.ledger.gate import LOST
from sitr.ledger.key import installation_key
from sitr.ledger.migrate import as_made
from sitr.ledger.proposals import RESUMED
from sitr.ledger.roles import Duty, check_steward
from sitr.ledger.spent import Spent, Waiting, exhausted, overseen
from sitr.ledger.sql import SqlLedger
from sitr.ledger.sqlite import sqlite_file
from sitr.ledger.state import PATIENCE, write_durably
from sitr.ledger.who import user
from sitr.ledger.witness import Head, witnesses


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was charged to an account for what was lost."""

    dataset: str
    price: Kept | None
    """None if nothing was lost."""
    exhausted: bool
    """Whether all that was left was charged, because nothing is known."""
    waiting: bool = False
    """Whether nothing was charged yet, because its own steward has to go on."""


def resume(ledger: SqlLedger) -> list[Resumed]:
    """Count what was lost as spent, and let the ledger go on; `LedgerError` if nothing is lost, or it was altered."""
    key, name = installation_key(), str(ledger.place)
    remembered, here = witnesses(key), registry.at(ledger.place)
    with ledger._file.transaction(write=True) as connection:
        own, first = ledger_id(connection), chain.record(connection, 1)
        if not as_made(connection) or own is None or first is None or not chain.signed(first):
            raise altered(name, "the beginning of its chain is missing, or its triggers are not those that Sitr made")
        head = remembered.read(own)
        if head is not None and here <= {own} and _whole(connection, head):
            now = follow(connection, head, name=name)
            unknown = head.unknown
            found = _go_on(ledger, Page(connection, key, now, name))
        else:
            now = follow(connection, Head(own, 1, first.hash), name=name)
            unknown = head is None or head.unknown
            _check_opened(now, head, name)
            others = [remembered.read(other) for other in sorted(here - {own})]
            if head is not None and (beside := head.beside) is not None and not _whole(connection, beside):
                others.append(beside)  # what two places remember may both have been answered
            found = _count_all(ledger, Page(connection, key, now, name), head, others)
        after = replace(follow(connection, now, name=name), unknown=unknown)
    remembered.advance(after, key, back=True)
    registry.remember(ledger.place, after.ledger)
    return found


def _count_all(ledger: SqlLedger, page: Page, head: Head | None, others: Sequence[Head | None]) -> list[Resumed]:
    """Count what was lost of all accounts whose steward goes on; those of others wait."""
    alone = signers(page.connection) <= {page.key.public}
    # The ledgers that were in its place have answered too.
    seen = [(each, alone and each is head) for each in (head, *others) if each is not None]
    names = dict.fromkeys([*(name for each, _ in seen for name in each.accounts), *page.head.accounts])
    unlisted = set(page.head.accounts) - set(head.accounts) if head is not None and head.unknown else set()
    unknown = head is None or None in others
    lost = {
        name: Waiting(
            tuple((replace(each.accounts[name], seen=each.hash), own) for each, own in seen if name in each.accounts),
            unknown or name in unlisted,
        ).with_earlier(*([page.head.accounts[name]] if name in page.head.accounts else []), alone=alone)
        for name in names
    }
    accounts = {name: _known(page.head.accounts.get(name), each) for name, each in lost.items()}
    own = _own(accounts)
    for name in names:
        _open_again(page, name, lost[name])
    said = {"from": page.head.number, "witness": 0 if head is None else head.number}
    waiting = {name: each.written() for name, each in lost.items() if name not in own}
    page.act(RESUMED, said | ({"waiting": waiting} if waiting else {}))
    if page.key.public not in signers(page.connection):
        page.act(JOINED, {"public": page.key.public})
    return [
        *_counted(ledger, page, {name: each for name, each in lost.items() if name in own}),
        *(Resumed(name, None, exhausted=False, waiting=True) for name in waiting),
    ]


def _go_on(ledger: SqlLedger, page: Page) -> list[Resumed]:
    """Count what was lost of accounts that wait for who goes on now, after somebody else did."""
    waiting = {name: spent for name, spent in page.head.accounts.items() if spent.waiting}
    if not waiting:
        raise LedgerError(given=f"Nothing of {page.name} is lost.", do="Use it as it is.")
    own = _own(waiting, among=page.head.accounts)
    page.act(RESUMED, {"datasets": own})
    if page.key.public not in signers(page.connection):
        page.act(JOINED, {"public": page.key.public})
    return _counted(ledger, page, {name: Waiting.of(waiting[name].waiting) for name in own})


def _counted(ledger: SqlLedger, page: Page, lost: Mapping[str, Waiting]) -> list[Resumed]:
    """Charge to accounts what must be counted, and put back their rules and roles."""
    found = []
    for name, each in lost.items():
        found += [_count(ledger, page, name, spent, alone) for spent, alone in each.in_order()]
        found += [_exhaust(ledger, page, name)] if each.unknown else []
    accounts = follow(page.connection, page.head, name=page.name).accounts
    # Periods come first: the roles of all periods may make somebody else the steward.
    for name in sorted(lost, key=lambda name: -len(overseen(accounts, name))):
        for spent, _ in lost[name].remembered[:1]:
            _reinstate(page, name, spent)
    return found


def _known(left: Spent | None, lost: Waiting) -> Spent:
    """What is left of an account, as one that waits."""
    return replace(left or Spent(""), waiting=lost.written())


def _own(accounts: Mapping[str, Spent], *, among: Mapping[str, Spent] | None = None) -> list[str]:
    """The accounts with which this user may go on: of what is left, or where that has no roles, of what is remembered.

    Without one, nobody goes on.
    """
    known, own = among or accounts, []
    for name in accounts:
        with suppress(NotAllowed):
            _check_own(known, name)
            own.append(name)
    if not own:
        for name in accounts:
            _check_own(known, name)
    return own


def _check_own(accounts: Mapping[str, Spent], name: str) -> None:
    for spent in overseen(accounts, name):
        check_steward(spent.stewards(), user())


def _open_again(page: Page, dataset: str, lost: Waiting) -> None:
    """Open an account again that was opened after the copy that is left."""
    if page.connection.execute("SELECT 1 FROM accounts WHERE dataset = ?", (dataset,)).fetchone() is None:
        spent, _ = lost.remembered[0]
        row = {"dataset": dataset, "promise": spent.promise, "neighbors": spent.neighbors}
        page.insert("accounts", row | {"opened": datetime.now(UTC).isoformat()})


def _reinstate(page: Page, dataset: str, spent: Spent) -> None:
    """Put back the rules and roles that the witness remembers: an old copy frees nobody from them.

    Whoever acts must be a steward, so other stewards come first, and the role of who acts comes last. Only if nobody
    has a role yet, who acts comes first.
    """
    now = page.check_account(dataset)
    tree, me = now.tree(dataset), user()
    if spent.rules != now.rules:
        page.act(RULES, rules_body(spent.rules), dataset=dataset)
    if not spent.members or spent.members == now.members:
        return
    nothing = write(tree.promise.with_coordinates([Fraction(0) for _ in tree.paid], up=True))
    for path in sorted(spent.shares.keys() - tree.shares.keys()):  # an analyst may have one: nothing is left of it
        page.act(ALLOT, {"share": path, "amount": nothing}, dataset=dataset)
    first = me if not now.members else ""
    names = sorted(spent.members, key=lambda name: (name != first, spent.members[name].duty is not Duty.STEWARD, name))
    names += sorted(now.members.keys() - spent.members.keys())
    for name in sorted(names, key=lambda name: name == me and not first):  # which keeps their order otherwise
        member = spent.members.get(name)
        role, share = ("", "") if member is None else (member.duty.value, member.share)
        if member != now.members.get(name):
            page.act(ROLE, {"user": name, "role": role, "share": share}, dataset=dataset)


def _check_opened(now: Head, head: Head | None, name: str) -> None:
    """The accounts that are left must be those that were opened: a promise is never raised.

    An account may have been opened twice: again after a loss, from a copy that lacked it, and before in a newer copy.
    Its terms must be the same, and the witness counts what was charged to both.
    """
    for dataset, spent in now.accounts.items():
        known = None if head is None else head.accounts.get(dataset)
        if known is None or known.opened == spent.opened:
            continue
        if not known.promise or (known.promise, known.neighbors) != (spent.promise, spent.neighbors):
            raise altered(name, f"the account of {dataset} is not the one that was opened")


def _whole(connection: Connection, head: Head) -> bool:
    try:
        follow(connection, head, name="")
    except LedgerError:
        return False
    return True


def _count(ledger: SqlLedger, page: Page, dataset: str, spent: Spent, alone: bool) -> Resumed:
    """Charge what the witness remembers of an account, and the ledger does not.

    If only this installation ever wrote to the ledger, what is left of it is the beginning of what the witness saw.
    Otherwise somebody may have gone on from an old copy, and both may have been answered: then all of it counts again.
    """
    _close_shares(page, dataset)
    account = ledger._account(page.connection, dataset)
    budget = ledger._filter(page.connection, account)
    if isinstance(budget.promise, RandomDP):  # which of its charges was random is not known
        return _exhaust(ledger, page, dataset)
    if spent.charges and not spent.paid:  # an old version of Sitr wrote no sums
        return _exhaust(ledger, page, dataset)
    if not spent.counts_in(budget, account.neighbors):  # another ledger may have had other terms
        return _exhaust(ledger, page, dataset)
    seen = tuple(map(Fraction, spent.paid.split())) if spent.paid else tuple(Fraction(0) for _ in budget.paid)
    lost = tuple(max(Fraction(0), each - (paid if alone else 0)) for each, paid in zip(seen, budget.paid, strict=True))
    if not any(lost):
        return Resumed(dataset, None, exhausted=False)
    price = budget.promise.with_coordinates(lost, up=True)
    try:
        budget.consent(price)
    except BudgetExceeded:
        return _exhaust(ledger, page, dataset)
    entry, _ = ledger._charge(page, dataset, price=price, question=LOST, lost=True)
    return Resumed(dataset, entry.price, exhausted=False)


def _close_shares(page: Page, dataset: str) -> None:
    """Nothing is left of sub-budgets, because who spent what was lost is not known: the steward divides again."""
    tree = page.check_account(dataset).tree(dataset)
    nothing = tree.promise.with_coordinates([Fraction(0) for _ in tree.paid], up=True)
    for path, share in tree.shares.items():
        if any(share.reserve):
            page.act(RESERVE, {"share": path, "amount": write(nothing)}, dataset=dataset)
    for path, share in tree.shares.items():  # only now: a reserve is never more than the cap above it
        used = tree.promise.with_coordinates(share.paid, up=True)
        if share.cap != used.coordinates():
            page.act(ALLOT, {"share": path, "amount": write(used)}, dataset=dataset)


def _exhaust(ledger: SqlLedger, page: Page, dataset: str) -> Resumed:
    """Charge all that is left.

    What is left is rounded down, so that a little may remain: until no price is small enough for it.
    """
    _close_shares(page, dataset)
    budget = ledger._filter(page.connection, ledger._account(page.connection, dataset))
    left = budget.remaining()
    price = left.inner if isinstance(left, RandomDP) and budget.charges else left
    entry, after = ledger._charge(page, dataset, price=price, question=LOST, lost=True)
    while not exhausted(after):
        rest = after.remaining()
        price = rest.inner if isinstance(rest, RandomDP) else rest
        _, after = ledger._charge(page, dataset, price=price, question=LOST, lost=True)
    return Resumed(dataset, entry.price, exhausted=True)


def back_up(ledger: SqlLedger, target: Path) -> int:
    """Copy the file of a ledger in use, with SQLite's own online backup; returns the number of its last record."""
    if target.exists():
        raise LedgerError(given=f"{target} is there already.", do="Name a new file.")
    file = sqlite_file(ledger.path, patience=PATIENCE)
    handle, unfinished = mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        with file.connection() as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            copy.row_factory = sqlite3.Row
            newest = chain.last(copy)
        write_durably(target, Path(unfinished).read_bytes())
    finally:
        Path(unfinished).unlink(missing_ok=True)
    return 0 if newest is None else newest.number


def restore(backup: Path, path: Path) -> list[Resumed]:
    """Put a backup in the place of a ledger that is gone, and count what was charged since as spent."""
    if path.exists():
        raise LedgerError(
            given=f"{path} is there already.",
            do="Move it and its -wal file away first, and keep both: they may be newer than the backup.",
        )
    SqlLedger(backup, create=False)  # refuses what is no ledger
    whole = f"{backup.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(whole, uri=True)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    try:
        return _resumed(SqlLedger(path, create=False), path)
    except BaseException:  # who may not go on leaves nothing in the place of the ledger
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def _resumed(ledger: SqlLedger, path: Path) -> list[Resumed]:
    """What was charged since a copy that was just put in place; nothing if it is the newest."""
    with ledger._file.transaction(write=False) as connection:
        own = ledger_id(connection)
        head = None if own is None else witnesses(installation_key()).read(own)
        if own is not None and registry.at(path) <= {own} and head is not None and _whole(connection, head):
            registry.remember(path, own)
            return []
    return resume(ledger)
