"""Errors that do not say where the files of the server are, or the databases: nobody who calls it needs to know."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sitr.errors import BackendFailure, LedgerBusy, SitrError
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.sql import SqlLedger
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

log = logging.getLogger("sitr.server")


class NamedPlaces(Protocol):
    """A data set whose files are somewhere."""

    @property
    def name(self) -> str:
        """Its name, which everybody may know."""

    @property
    def places(self) -> frozenset[str]:
        """Where its files are, which nobody needs to know."""


def places_of(path: Path, dataset: Dataset, budget: Budget) -> frozenset[str]:
    """The folders of the description and of its rows, and the place of its ledger, or the addresses of databases."""
    source, kept = dataset.source, budget.ledger
    rows = [source.parent] if isinstance(source, Path) else [getattr(source, name, "") for name in ("place", "url")]
    ledger: list[object] = [kept.path] if isinstance(kept, LazyLedger) else []
    ledger += [kept.place, kept.where] if isinstance(kept, SqlLedger) else []
    found = {str(each) for each in (path.parent, path.resolve().parent, *rows, *ledger)}
    return frozenset(found - {"", ".", "/"})


@contextmanager
def discreet(found: NamedPlaces) -> Iterator[None]:
    """Errors about a data set do not say where its files are."""
    try:
        yield
    except SitrError as error:
        if not _tells(error, found.places):
            raise
        failure = error
    else:
        return
    raise without_places(failure, found.name, found.places)


def without_places(error: SitrError, name: str, places: frozenset[str]) -> SitrError:
    """The error, or another one if it names one of these places; then the log says which it was."""
    if not _tells(error, places):
        return error
    log.error("%s", json.dumps({"unreadable": name, "failure": type(error).__name__}))
    if isinstance(error, LedgerBusy):
        return busy(name)
    return BackendFailure(given=f"The files of {name} cannot be read on the server.", do="Tell a steward.")


def _tells(error: SitrError, places: frozenset[str]) -> bool:
    return any(place in error.message for place in places)


def busy(name: str) -> LedgerBusy:
    """Another program holds the ledger of a data set."""
    return LedgerBusy(
        given=f"Another program is writing to the ledger {name}.", do="Try again in a moment; nothing was spent."
    )
