"""One data set, one budget: which terms a description has fixed, and whether others would open a second budget.

Two budgets for the same people add up, and whoever can open a second one can ask forever. So a description that names a
budget admits that budget only, whether the data set was opened by it or its file was protected anew beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sitr.dataset.description import Description, load
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.ledger.sqlite import sqlite_file
from sitr.session.desk import account_name
from sitr.session.public import Source

Where = str | Path | Ledger

SUFFIXES = (".yaml", ".yml")
"""Of descriptions: others are not found beside a data set."""


def fixed_terms(source: Path | None, described: Description | None) -> Description | None:
    """The description that names the budget of this data set: its own, or one in the same folder as its file."""
    if described is not None and described.promise is not None:
        return described
    if source is None or not source.exists():
        return None
    folders = {source.parent, source.resolve().parent} if source.is_symlink() else {source.parent}
    for path in sorted(found for folder in folders for found in folder.iterdir() if _is_description(found)):
        beside = load(path)
        if beside.promise is not None and beside.source.exists() and beside.source.samefile(source):
            return beside
    return None


def _is_description(path: Path) -> bool:
    """A YAML file that names the version of Sitr's format, in any way in which YAML writes it; one that cannot be read
    says nothing."""
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
    """Refuse another name, promise or ledger than the description has fixed; None is as good as the same."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    others = []
    if account_name(table) != account_name(fixed.table):
        others.append(f"the name {table.name}")
    if promise is not None and promise != fixed.promise:
        others.append(f"the promise {write(promise)}")
    if ledger is not None and not _same_file(ledger, fixed.ledger):
        others.append(f"the ledger {_named(ledger)}")
    if others:
        raise DescriptionError(
            wanted=f"{fixed.path} names the one budget of this data set: {write(fixed.promise)} in {fixed.ledger}.",
            given=f"Another was requested, with {' and '.join(others)}.",
            do=f"Use {fixed.path} and the budget that it names; nothing was spent.",
        )


def check_public(fixed: Description, public: Mapping[str, Source]) -> None:
    """Refuse public tables that the description has not declared: comparisons with them would be free and exact."""
    declared = {name: file.resolve() for name, file in fixed.public.items()}
    for name, source in public.items():
        if not isinstance(source, Path) or source.resolve() != declared.get(name):
            raise DescriptionError(
                wanted=f"{fixed.path} fixes the public tables of this data set: {', '.join(declared) or 'none'}.",
                given=f"Another was declared as {name}.",
                do="Leave it out. Nothing was spent.",
            )


def check_overwrite(path: Path, new: Description) -> None:
    """Refuse to replace a description that names a budget by one that names another, none, or other public tables.

    A description that cannot be read, such as one of a newer version of Sitr, may name a budget: it is not replaced.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DescriptionError(
            wanted="A description is a file ending in .yaml, so that it is found beside its data set.",
            given=f"{path} was given.",
            do="Give it such a name.",
        )
    if not _is_description(path):
        return
    old = load(path)
    if old.promise is None:
        return
    check_terms(old, new.table, new.promise, new.ledger)
    if new.promise is None:
        raise DescriptionError(
            wanted=f"{path} names the budget {write(old.promise)} in {old.ledger}.",
            given="The new description names no budget, so that a second one could be opened.",
            do="Give the same budget and ledger again, or write the description to another file.",
        )
    before, after = ({name: file.resolve() for name, file in each.public.items()} for each in (old, new))
    if before != after:
        raise DescriptionError(
            wanted=f"The public tables of {path} were fixed when its budget was opened: {', '.join(before) or 'none'}.",
            given=f"The new description declares {', '.join(after) or 'none'}, or other files.",
            do="Declare the same tables again.",
        )


def _same_file(ledger: Where, fixed: Path) -> bool:
    """Do both lead to one file? A ledger that is kept elsewhere than in a file is another one."""
    if isinstance(ledger, SqlLedger):
        path = ledger.path
    elif isinstance(ledger, str | Path):
        path = sqlite_file(ledger, patience=0.0).path
    else:
        return False
    return path.resolve() == fixed.resolve() or (path.exists() and fixed.exists() and path.samefile(fixed))


def _named(ledger: Where) -> str:
    if isinstance(ledger, SqlLedger):
        return str(ledger.path)
    return str(ledger) if isinstance(ledger, str | Path) else f"of type {type(ledger).__name__}"
