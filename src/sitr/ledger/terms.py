"""One data set, one budget: the terms that a description fixes, and the refusal of any other terms.

Two budgets for the same people add up, and anyone who can open a second one can ask forever. So if a description names
a budget, no other budget can be opened, neither through the description nor by protecting its file again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sitr import arguments
from sitr.dataset.database import Address, DatabaseTable
from sitr.dataset.description import Description, load
from sitr.dataset.file_table import FileTable
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.flavors.random import RandomDP
from sitr.ledger import registry
from sitr.ledger.ledger import Ledger
from sitr.ledger.located import Where as At
from sitr.ledger.located import addressed, located
from sitr.ledger.sql import SqlLedger
from sitr.neighbors.relation import Relation

Where = At | Ledger

SUFFIXES = (".yaml", ".yml")
"""Endings of descriptions. Files with other endings are not found beside a data set."""


def fixed_terms(source: Path | DatabaseTable | FileTable | None, described: Description | None) -> Description | None:
    """The description that names the budget of this data set: its own, or one in the folder of its file."""
    if described is not None and described.promise is not None:
        return described
    file = source.path if isinstance(source, FileTable) else source
    if not isinstance(file, Path) or not file.exists():
        return None
    folders = {file.parent, file.resolve().parent} if file.is_symlink() else {file.parent}
    for path in sorted(found for folder in folders for found in folder.iterdir() if is_description(found)):
        beside = load(path)
        if beside.promise is not None and _same_rows(beside.source, source):
            return beside
    return None


def _same_rows(one: Path | DatabaseTable | FileTable, other: Path | DatabaseTable | FileTable | None) -> bool:
    """Are both the same file, or the same table in a file?"""
    if isinstance(one, FileTable) and isinstance(other, FileTable):
        return one.same(other)
    return isinstance(one, Path) and isinstance(other, Path) and one.exists() and one.samefile(other)


def is_description(path: Path) -> bool:
    """Is this a readable YAML file that names the version of Sitr's format, in any notation?"""
    if path.suffix.lower() not in SUFFIXES:
        return False
    try:
        return (
            re.search(rb"""(?:^(?:\xef\xbb\xbf)?|[{,])\s*["']?sitr["']?\s*:""", path.read_bytes(), re.MULTILINE)
            is not None
        )
    except OSError:
        return False


def check_terms(fixed: Description, table: Table, promise: Kept | None, ledger: Where | None) -> None:
    """Refuse a name, promise or ledger that differs from the description; None counts as the same."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    others = []
    if table.account != fixed.table.account:
        others.append(f"the name {table.name}")
    if promise is not None and promise != fixed.promise:
        others.append(f"the promise {write(promise)}")
    if ledger is not None and not _same_place(ledger, fixed.ledger):
        others.append(f"the ledger {_named(ledger)}")
    if others:
        raise DescriptionError(
            wanted=f"the budget that {fixed.path} names, {write(fixed.promise)} in {fixed.ledger}",
            given=" and ".join(others),
            do=f"Use {fixed.path} and its budget; nothing was spent.",
        )


def check_undescribed(source: Path | DatabaseTable | FileTable | None) -> None:
    """Refuse a file whose budget is named by a description beside it."""
    if (fixed := fixed_terms(source, None)) is not None:
        raise DescriptionError(
            given=f"{source} already has a budget, which {fixed.path} names.",
            do=f"Use {fixed.path} instead of the file; nothing was spent.",
        )


def check_pair(promise: Kept | None, ledger: At | None) -> None:
    """Refuse a budget without a ledger, a ledger without a budget, and a place where no ledger can be."""
    if (promise is None) != (ledger is None):
        raise DescriptionError(
            wanted="a budget together with its ledger, or neither",
            given="only a ledger" if promise is None else "only a budget",
            do="Give both here, such as --budget 'zcdp(0.5)' --ledger sitr.db "
            '(in Python: rho=0.5, ledger="sitr.db"), or both with each question.',
        )
    place = None if ledger is None else located(ledger, patience=0.0).place
    if isinstance(place, Path) and place.exists():
        SqlLedger(place, create=False)


def check_public(fixed: Description, public: Mapping[str, object]) -> None:
    """Refuse public tables that the description does not declare: comparisons with them would be free and exact."""
    declared = {name: _resolved(file) for name, file in fixed.public.items()}
    for name, source in public.items():
        if not isinstance(source, Path | DatabaseTable | FileTable) or _resolved(source) != declared.get(name):
            raise DescriptionError(
                wanted=f"only the public tables that {fixed.path} declares ({', '.join(declared) or 'none'})",
                given=f"another one as {name!r}",
                do="Leave it out; nothing was spent.",
            )


def check_unprotected(public: Mapping[str, object]) -> None:
    """Refuse a public table whose file has a budget of its own, which a description beside it names."""
    for name, source in public.items():
        if isinstance(source, Path | FileTable) and (fixed := fixed_terms(source, None)) is not None:
            raise DescriptionError(
                given=f"The public table {name} is {source}, a protected file: {fixed.path} names its budget.",
                do="Declare a table that is public, or join the protected table: budget.beside(…), or --with.",
            )


def check_overwrite(path: Path, new: Description) -> None:
    """Refuse to replace a description that names a budget by one with another budget, none, or other public tables.

    A description that cannot be read, for example from a newer version of Sitr, may name a budget and is not replaced.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DescriptionError(
            wanted="a description whose name ends in .yaml",
            given=f"{path}",
            do="Change the ending: Sitr looks for such files beside the data.",
        )
    if not is_description(path):
        return
    old = load(path)
    if old.promise is None:
        return
    check_terms(old, new.table, new.promise, new.ledger)
    if new.promise is None:
        raise DescriptionError(
            wanted=f"a description with the budget that {path} names, {write(old.promise)} in {old.ledger}",
            given="one without a budget, which would allow a second one",
            do="Give the same budget and ledger again, or write the description to another file.",
        )
    before, after = ({name: _resolved(file) for name, file in each.public.items()} for each in (old, new))
    if before != after:
        raise DescriptionError(
            wanted=f"the public tables that {path} declared when its budget was opened ({', '.join(before) or 'none'})",
            given=f"{', '.join(after) or 'none'}" + (" in other files" if before.keys() == after.keys() else ""),
            do="Declare the same tables again.",
        )


def _resolved(source: Path | DatabaseTable | FileTable) -> Path | DatabaseTable | FileTable:
    if isinstance(source, FileTable):
        return source.resolved()
    return source.resolve() if isinstance(source, Path) else source


def _same_place(ledger: Where, fixed: Path | Address) -> bool:
    """Are both the same file, or the same schema of a server? Another kind of ledger is another ledger."""
    if isinstance(ledger, SqlLedger):
        path = ledger.place
    elif isinstance(ledger, str | Path | Address):
        path = located(ledger, patience=0.0).place
    else:
        return False
    if isinstance(fixed, Address) or not isinstance(path, Path):
        return path == located(fixed, patience=0.0).place
    return path.resolve() == fixed.resolve() or (path.exists() and fixed.exists() and path.samefile(fixed))


def _named(ledger: Where) -> str:
    if isinstance(ledger, SqlLedger):
        return str(ledger.place)
    return str(addressed(ledger)) if isinstance(ledger, str | Path | Address) else f"of type {type(ledger).__name__}"


def opened(table: Table, promise: Kept, ledger: str | Path | Address | Ledger, *, source: str, second: bool) -> Ledger:
    """The ledger, with an account of this data set on these terms."""
    allowed(table.relation, promise)
    if not isinstance(ledger, str | Address) and not hasattr(ledger, "charge"):
        arguments.path(ledger, of="sitr.db")
    account, neighbors = table.account, table.neighbors()
    if not isinstance(ledger, str | Path | Address | SqlLedger):
        ledger.open(account, promise=promise, neighbors=neighbors)
        return ledger
    place = ledger.place if isinstance(ledger, SqlLedger) else located(ledger, patience=0.0).place
    if not second:  # before a file is made
        registry.refuse_second(source or registry.account_source(place, account), place, account)
    keeper = ledger if isinstance(ledger, SqlLedger) else SqlLedger(ledger)
    keeper.open(account, promise=promise, neighbors=neighbors, source=source, second=second)
    return keeper


def reopened(table: Table, fixed: Description) -> Ledger:
    """The ledger that a description names, which must still have the account of this data set."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    promise, neighbors = allowed(table.relation, fixed.promise), table.neighbors()
    keeper = SqlLedger(fixed.ledger, create=False)
    keeper.open(table.account, promise=promise, neighbors=neighbors, create=False)
    return keeper


def allowed(relation: Relation, promise: Kept) -> Kept:
    """The promise, if a budget can keep it for neighbours that differ like this."""
    if isinstance(promise, RandomDP) and relation is not Relation.REPLACE_ONE:
        raise DescriptionError(
            wanted="neighbours that replace one person, because a budget with a γ is about a random newcomer",
            given=f"{relation.value} neighbours",
            do="Protect the data set with relation=sitr.Relation.REPLACE_ONE (--relation replace-one).",
        )
    return promise
