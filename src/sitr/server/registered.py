"""A steward registers a data set: a file in a folder that the operator has opened, a description, and a budget.

The description, the ledger and the kept answers are in the folder of the server's state. The steward who registers a
data set becomes its first steward. Whatever is wrong is refused before the budget is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from sitr.backends.backend import check_unchanged
from sitr.errors import DescriptionError, InvalidUse, NotAllowed, SitrError, quoted
from sitr.flavors.notation import parse
from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.office import Office
from sitr.server.settings import Settings
from sitr.server.users import User, Users, check_name
from sitr.session.dataset import open as open_description

PLACE = "datasets"
"""The folder of registered data sets, in the state folder of the server."""

REFUSED = ("budget", "public", "table")
"""What a description must not have that is sent: these name places on the server, or elsewhere."""


@dataclass(frozen=True, slots=True)
class Registered:
    """What a steward sends."""

    name: str
    description: str
    """As `sitr protect` writes it, without a budget; `source` is a path within an open folder."""
    budget: str


def register(office: Office, people: Users, settings: Settings, user: User, sent: Registered) -> None:
    """Open the budget of a new data set, and remember where it is."""
    check_name(sent.name)
    if not settings.folders:
        raise NotAllowed(
            given="The operator has opened no folder from which data sets can be registered.",
            do="Ask for a folder in the settings of the server: folders = […].",
        )
    if (
        sent.name in office.descriptions() or set("@.") & set(sent.name) or not sent.name[0].isalnum()
    ):  # it becomes a path
        raise InvalidUse(given=f"The name {sent.name} cannot be used.", do="Choose another name.")
    promise, content = parse(sent.budget), _content(sent.description)
    content["source"] = str(_source(content.get("source"), settings.folders))
    path = settings.state / PLACE / sent.name / f"{sent.name}.sitr.yaml"
    with people.registering(sent.name, path, by=user.name), acting(user.name), _discreet(settings):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(content, path, promise)
        open_description(path).budget().assign(user.name, Duty.STEWARD)


def _write(content: dict[str, Any], path: Path, promise: Any) -> None:
    """Write the description, after its budget was opened. Every value is read once, as by `protect`."""
    with TemporaryDirectory(dir=path.parent) as draft:
        written = Path(draft) / path.name
        written.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
        dataset = open_description(written)
        rows = dataset._rows()
        check_unchanged(rows, dataset.table)
        rows.verify()
        dataset.save(path, promise=promise, ledger=path.parent / "ledger.db")


class _Plain(yaml.SafeLoader):
    """Reads YAML without references: a short text with them can stand for a very long one."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise DescriptionError(
                given="The description refers to parts of itself, by & and *.", do="Write every part out."
            )
        return super().compose_node(parent, index)


def _content(text: str) -> dict[str, Any]:
    try:
        found = yaml.load(text, Loader=_Plain)
        yaml.safe_dump(found)  # what is nested too deeply cannot be written either
    except DescriptionError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise DescriptionError(given="The description is not YAML.", do="Send a description that sitr protect wrote.")
    if named := [field for field in REFUSED if field in found]:
        raise DescriptionError(
            given=f"A description that is registered on a server has no {named[0]}.",
            do="Leave it out; the budget is sent beside the description.",
        )
    return found


def _source(given: object, folders: tuple[Path, ...]) -> Path:
    """The file in one of the folders, after all links. Whether there is a file elsewhere is not said."""
    if isinstance(given, str) and given and given.isprintable():
        for folder in folders:
            whole = folder.resolve()
            try:
                found = (whole / given).resolve()
                if found.is_relative_to(whole) and found.is_file():
                    return found
            except OSError:
                continue
    raise DescriptionError(
        wanted="the path of a file in a folder that the operator has opened",
        given=quoted(given),
        do="Ask the operator where files belong, and name the file as source.",
    )


@contextmanager
def _discreet(settings: Settings) -> Iterator[None]:
    """Messages do not say where files of the server are."""
    folders = (*settings.folders, settings.state)
    places = {str(place) for folder in folders for place in (folder, folder.resolve())}
    try:
        yield
    except OSError:
        failed = True
    except SitrError as failure:
        failed = any(place in failure.message for place in places)
        if not failed:
            raise
    else:
        failed = False
    if failed:
        raise InvalidUse(
            given="The file of this data set cannot be registered: it cannot be read as described, or has a budget.",
            do="Check the description with sitr protect where the file is.",
        )
