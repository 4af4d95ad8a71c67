"""To register a data set: a file in a folder that the operator allowed, and what a steward declares about it.

Of the file, a steward sees the names and types of its columns, as with `sitr protect`. Files are named by the number of
their folder and their own name. A link is no file here, wherever it points, and nothing else can be named.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import InvalidUse, SitrError, quoted
from sitr.flavors.price import price_of
from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.server.office import Office, Unknown
from sitr.server.settings import Settings
from sitr.server.users import User, Users
from sitr.session.dataset import Unprotected, look
from sitr.session.dataset import open as open_description

log = logging.getLogger("sitr.server")

ENDINGS = (".parquet", ".csv")
"""The files that can be registered."""

MOST_DIGITS = 18
"""The longest cap. Python refuses to read numbers of thousands of digits."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""The names of data sets."""


@dataclass(frozen=True, slots=True)
class AllowedFile:
    """A file that may be registered."""

    label: str
    """By which it is chosen: the number of its folder, and its name."""
    name: str
    folder: str
    """The last part of the path of its folder."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a steward declares. Bounds, steps and keys are texts, by column."""

    name: str
    unit: str = ""
    """The column that identifies a person; empty if each row is somebody else."""
    relation: Relation = Relation.ADD_REMOVE
    max_groups: str = ""
    max_rows_per_group: str = ""
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    steps: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    promise: str = ""
    confirmed: bool = False
    """Whether the steward confirms the types that were detected in a CSV file."""


def files(settings: Settings) -> list[AllowedFile]:
    """The files in all allowed folders, by name."""
    return [
        AllowedFile(f"{number}/{path.name}", path.name, root.name)
        for number, root in enumerate(settings.folders)
        for path in (sorted(root.iterdir()) if root.is_dir() else ())
        if path.suffix in ENDINGS and path.is_file() and not path.is_symlink()
    ]


def chosen(settings: Settings, label: str) -> Path:
    """The file of a label, if it lies in an allowed folder itself; `Unknown` for anything else."""
    if label not in {each.label for each in files(settings)}:
        raise Unknown
    number, _, name = label.partition("/")
    root = settings.folders[int(number)].resolve()
    path = root / name
    if path.is_symlink() or path.resolve().parent != root:
        raise Unknown
    return path


def looked(settings: Settings, label: str) -> Unprotected:
    """The names and types of the columns of a file."""
    path = chosen(settings, label)
    with _discreet(path):
        return look(path)


def register(settings: Settings, office: Office, people: Users, user: User, label: str, declared: Declaration) -> str:
    """Protect a file, open its budget in a ledger of its own, and make this person its steward. Returns its name."""
    path, name = chosen(settings, label), declared.name.strip().casefold()
    if NAME.fullmatch(name) is None:
        raise InvalidUse(
            wanted="a name of letters, digits and underscores for the data set",
            given=quoted(name),
            do="Choose another one.",
        )
    if name in office.names():
        raise InvalidUse(given=f"There is a data set {name} already.", do="Choose another name.")
    folder = settings.state.resolve() / "datasets"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    promise = price_of(declared.promise)
    target = folder / f"{name}.sitr.yaml"
    with people.registering(name, target, by=user.name), acting(user.name), _discreet(path, folder):
        found = look(path)
        if not found.confirmed and not declared.confirmed:
            raise InvalidUse(
                given="The types of a CSV file are detected from its rows, and they become public.",
                do="Look at the types, and confirm them.",
            )
        dataset = found.protect(**_said(found, declared), name=name, public={})
        dataset.save(target, promise=promise, ledger=folder / f"{name}.db")
        open_description(target).budget().assign(user.name, Duty.STEWARD)
    return name


def _said(found: Unprotected, declared: Declaration) -> dict[str, Any]:
    """What `Unprotected.protect` takes."""
    kinds = found.backend.kinds()
    bounds = {name: tuple(_end(end, kinds[name]) for end in ends) for name, ends in declared.bounds.items()}
    return {
        "unit": Person(declared.unit) if declared.unit else Row(),
        "relation": declared.relation,
        "max_groups": _whole(declared.max_groups) if declared.unit else None,
        "max_rows_per_group": _whole(declared.max_rows_per_group) if declared.unit else None,
        "bounds": bounds,
        "granularity": {name: _number(step) for name, step in declared.steps.items()},
        "keys": {name: [_key(each, kinds[name]) for each in _parts(text)] for name, text in declared.keys.items()},
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.replace("،", ",").split(",") if part.strip()]


def _whole(text: str) -> int:
    if not text.strip().isdecimal() or len(text.strip()) > MOST_DIGITS:
        raise InvalidUse(wanted="a whole number for each cap", given=quoted(text), do="Fill in both caps.")
    return int(text)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InvalidUse(wanted="a number", given=quoted(text), do="Correct it.") from None


def _end(text: str, kind: Kind) -> int | float | str:
    """A bound in the type of its column: dates stay text."""
    return _number(text) if kind in NUMERIC else text


def _key(text: str, kind: Kind) -> str | int | bool | date | None:
    """A public value in the type of its column; NULL is no value.

    >>> _key("NULL", Kind.TEXT), _key("3", Kind.INTEGER), _key("true", Kind.BOOLEAN)
    (None, 3, True)
    """
    try:
        match kind:
            case _ if text == "NULL":
                return None
            case Kind.INTEGER:
                return int(text)
            case Kind.BOOLEAN:
                return {"true": True, "false": False}[text.lower()]
            case Kind.DATE:
                return date.fromisoformat(text)
    except (ValueError, KeyError):
        raise InvalidUse(wanted=f"a key of type {kind.value}", given=quoted(text), do="Correct it.") from None
    return text


@contextmanager
def _discreet(*paths: Path) -> Iterator[None]:
    """Keep to ourselves where files of the server are."""
    try:
        yield
    except SitrError as error:
        if not any(str(place) in error.message for path in paths for place in (path, path.parent)):
            raise
        log.error("%s", json.dumps({"unreadable": paths[0].name, "failure": type(error).__name__}))
    else:
        return
    raise InvalidUse(
        given=f"The file {paths[0].name} cannot be registered: it cannot be read, or it has a budget already.",
        do="Ask the operator of the server, whose log says why.",
    )
