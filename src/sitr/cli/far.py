"""`sitr --server URL …`: the budget of a data set on a server takes the place of a description.

The token is in the variable SITR_TOKEN, or in the file that SITR_TOKEN_FILE names. It is never on the command line,
which other users of a machine can see.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.errors import BadUsage, FileError

if TYPE_CHECKING:
    from sitr.session.budget import Budget

OPTION = "--server"
TOKEN, FILE = "SITR_TOKEN", "SITR_TOKEN_FILE"

FAR = (
    *("ask", "preview", "histogram", "suggest", "synthesize", "publish"),
    *("request", "queue", "approve", "refuse"),
)
"""The commands that can ask a server."""

_server: ContextVar[str] = ContextVar("server", default="")


def taken(arguments: list[str]) -> tuple[str, list[str]]:
    """The address after --server, anywhere on the line, and the other arguments.

    >>> taken(["--server", "https://a.example", "ask", "visits"])
    ('https://a.example', ['ask', 'visits'])
    """
    address, left = "", []
    words = iter(arguments)
    for word in words:
        if word == "--":
            left += [word, *words]
        elif word == OPTION:
            address = next(words, "")
        elif word.startswith(f"{OPTION}="):
            address = word.removeprefix(f"{OPTION}=")
        else:
            left.append(word)
            continue
        if word != "--" and not address:
            raise BadUsage(
                given=f"{OPTION} needs an address.", do=f"Write for example {OPTION} https://sitr.hospital.example."
            )
    if address and left and left[0] not in FAR and not left[0].startswith("-"):
        raise BadUsage(
            given=f"sitr {left[0]} does not ask a server.", do=f"With {OPTION}, these commands do: {', '.join(FAR)}."
        )
    return address, left


@contextmanager
def asking(address: str) -> Iterator[None]:
    """Ask this server, if it is one."""
    token = _server.set(address)
    try:
        yield
    finally:
        _server.reset(token)


def asked_server() -> str:
    """The address of the server that is asked; empty if none is."""
    return _server.get()


def far(name: object, *local: object, environment: Mapping[str, str] = os.environ) -> Budget | None:
    """The budget of the data set of this name on the server that is asked; None if none is.

    `local` are the values of options that make no sense there.
    """
    if not _server.get():
        return None
    if any(each is not None and each is not False for each in local):
        raise BadUsage(
            given=f"Options about files, ledgers and budgets cannot be combined with {OPTION}.", do="Leave them out."
        )
    from sitr.client.connect import connect

    return connect(_server.get(), token=_token(environment), dataset=str(name))


def _token(environment: Mapping[str, str]) -> str:
    if (path := environment.get(FILE)) is None:
        return environment.get(TOKEN, "")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        raise FileError(given=f"Cannot read the token in {path}: {reason}.", do=f"Check {FILE}.") from None
