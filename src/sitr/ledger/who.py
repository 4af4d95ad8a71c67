"""Who acts: the user of this process, or somebody in whose name a server acts after a login."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sitr.errors import InvalidUse, quoted

_named: ContextVar[str] = ContextVar("user", default="")


def user() -> str:
    """The name of the user as the system knows it; an environment variable can be forged."""
    if name := _named.get():
        return name
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a number without a name
        return f"uid {os.getuid()}"


@contextmanager
def acting(name: str) -> Iterator[None]:
    """Act in the name of somebody. Only for a server that knows who they are: what is recorded is this name.

    >>> with acting("ana"):
    ...     user()
    'ana'
    """
    if not isinstance(name, str) or not name.strip():  # it would be the user of the server
        raise InvalidUse(wanted="the name of a user", given=quoted(name), do="Correct it; nothing was changed.")
    token = _named.set(name)
    try:
        yield
    finally:
        _named.reset(token)
