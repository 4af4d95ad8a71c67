"""The registry of an installation: which ledgers it has written to, and which data sources have budgets in them.

A data source that has a budget gets no second one unnoticed, under another name or in another ledger. The registry
holds keyed fingerprints of sources, never their names or rows: who reads it without the key of the installation learns
how many there are.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from sitr.errors import LedgerError, LedgerMismatch
from sitr.ledger.database import Place
from sitr.ledger.key import installation_key
from sitr.ledger.state import locked, state_folder, unwritable, write_durably


@dataclass(frozen=True, slots=True)
class Budgeted:
    """A budget that a source has: the ledger's own name, its path, and the account."""

    ledger: str
    path: str
    dataset: str


def remember(path: Place, ledger: str) -> None:
    """Remember which ledger lies at a path."""
    with _registry() as content:
        content["ledgers"] |= dict.fromkeys(_names(path), ledger)


def at(path: Place) -> set[str]:
    """The ledgers that were last seen at a path, and where it leads to."""
    ledgers = _seen(state_folder() / "registry.json")["ledgers"]
    return {str(ledgers[name]) for name in _names(path) if name in ledgers}


def knows(ledger: str) -> bool:
    """Whether this installation has written to a ledger, wherever it was."""
    content = _seen(state_folder() / "registry.json")
    budgets = (each["ledger"] for several in content["sources"].values() for each in several)
    return ledger in content["ledgers"].values() or ledger in budgets


def recognise(path: Place, ledger: str) -> bool:
    """Whether this ledger was at its path before; `LedgerError` if another one was."""
    known = at(path)
    if known and known != {ledger}:
        raise LedgerError(
            given=f"{path} is not the ledger that was there before.",
            do="Put the newest file back, or run sitr ledger resume; nothing was spent.",
        )
    return bool(known)


def refuse_known(path: Place) -> None:
    """Refuse to begin the chain of a ledger in use where one had begun: that one was taken out by hand."""
    if at(path):
        raise LedgerError(
            given=f"{path} was replaced by a ledger without a chain, but the one that was here had one.",
            do="Put the newest file back, or run sitr ledger resume; nothing was spent.",
        )


def _names(path: Place) -> tuple[str, ...]:
    """A path as it is called and where it leads to: neither may lead to another ledger later. An address as it is."""
    return (str(path.absolute()), str(path.resolve())) if isinstance(path, Path) else (path,)


def refuse_second(source: str, path: Place, dataset: str) -> None:
    """Refuse a second budget before a ledger is made for it."""
    with _registry() as content:
        budgets = _budgets(content, source)
    here = (_names(path)[0], dataset)
    if budgets and here not in ((each.path, each.dataset) for each in budgets):
        raise _second(budgets[0])
    if budgets and isinstance(path, Path) and not path.exists():
        raise _gone(*here)


def account_source(path: Place, dataset: str) -> str:
    """Where rows in memory are, as far as can be known: in the account that was opened for them."""
    return f"account {dataset} in {_names(path)[0]}"


def _gone(path: str, dataset: str) -> LedgerMismatch:
    return LedgerMismatch(
        given=f"The ledger {path}, which had a budget of {dataset}, is gone.",
        do="Put it back, or restore a backup with sitr ledger restore. If a second budget must begin, use "
        "--second-budget (in Python: second_budget=True): it is recorded, and each person is promised the sum of both. "
        "Nothing was spent.",
    )


def _second(other: Budgeted) -> LedgerMismatch:
    return LedgerMismatch(
        given=f"These rows already have a budget: {other.dataset} in {other.path}.",
        do="Ask there. If they must have a second budget, protect them with --second-budget (in Python: "
        "second_budget=True): it is recorded, and each person is promised the sum of both. Nothing was spent.",
    )


def claim(source: str, here: Budgeted, *, second: bool, lost: bool = False) -> list[Budgeted]:
    """Remember that a source has a budget here, and return its budgets elsewhere.

    If there are any, and this one is new, only `second` allows it: its people are then promised the sum of all. The
    same holds if it had a budget here, which was `lost` with the witness that knew of it.
    """
    with _registry() as content:
        budgets = _budgets(content, source)
        others = [each for each in budgets if lost or (each.ledger, each.dataset) != (here.ledger, here.dataset)]
        if others and len(others) == len(budgets) and not second:
            same = (others[0].path, others[0].dataset) == (here.path, here.dataset)
            raise _gone(here.path, here.dataset) if same else _second(others[0])
        names = [fingerprint(source), *([fingerprint(file[0])] if (file := _file(source)) else [])]
        content["sources"] |= {name: [asdict(each) for each in [*others, here]] for name in names}
    return others


def _budgets(content: Mapping[str, Any], source: str) -> list[Budgeted]:
    """The budgets of a source: by where it is, and for a file with several names, by the file itself."""
    names = [fingerprint(source), *([fingerprint(file[0])] if (file := _file(source)) and file[1] else [])]
    found = [Budgeted(**each) for name in names for each in content["sources"].get(name, [])]
    return list(dict.fromkeys(found))


def _file(source: str) -> tuple[str, bool] | None:
    """The device and number of a file, and whether it has another name, a hard link; None for other sources.

    The number of a file that is gone is soon that of another file. So a file is recognised by it only while it has
    several names; but it is remembered for every file, because the second name may be made later.
    """
    kind, _, path = source.partition(" ")
    if kind != "file":
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return f"device {found.st_dev} file {found.st_ino}", found.st_nlink > 1


def fingerprint(source: str) -> str:
    """Keyed, so that nobody without the key can find out whether a guessed source is registered."""
    installation_key()
    key = (state_folder() / "key").read_bytes()
    return hmac.new(key, b"sitr source\0" + source.encode(errors="surrogatepass"), sha256).hexdigest()


@contextmanager
def _registry() -> Iterator[dict[str, Any]]:
    """The registry, which is written back if it was changed."""
    path = state_folder() / "registry.json"
    try:
        with locked(path):
            content = _read(path)
            before = json.dumps(content, sort_keys=True)
            yield content
            if json.dumps(content, sort_keys=True) != before:
                write_durably(path, json.dumps(content, sort_keys=True, indent=1).encode())
    except OSError as cause:
        raise unwritable(path.parent) from cause


_latest: list[tuple[bytes, Mapping[str, Any]]] = []
"""The text of the registry that was read last, and what it says: before each charge it is mostly the same."""


def _seen(path: Path) -> Mapping[str, Any]:
    """The registry in a file, to look at."""
    text = _text(path)
    for known, content in tuple(_latest):  # other threads may read an older text meanwhile
        if known == text:
            return content
    found = _content(path, text)
    _latest[:] = [(text, found)]
    return found


def _read(path: Path) -> dict[str, Any]:
    """The registry in a file, to change it."""
    return _content(path, _text(path))


def _text(path: Path) -> bytes:
    """The text of the registry, which is put in place whole: to read it takes no lock."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b'{"ledgers": {}, "sources": {}}'
    except OSError as cause:
        raise unwritable(path.parent) from cause


def _content(path: Path, text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text)
        content["ledgers"], content["sources"]
    except (ValueError, TypeError, KeyError) as cause:
        raise LedgerError(
            given=f"The registry {path} cannot be read.",
            do="Restore it from a backup, or move it away: then second budgets of its sources go unnoticed.",
        ) from cause
    return cast("dict[str, Any]", content)
