"""What a program asks for with an Idempotency-Key is done once, however often it is sent.

Answers have keys in their ledger (`sitr.session.kept`), because a charge and its key must be one record. This is for
everything else that changes something: requests, decisions, and what a steward does. A key is remembered for a day, and
by nobody but who sent it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from pydantic import BaseModel

from sitr.errors import BackendFailure, InvalidUse, LedgerError, LedgerUncertain, SitrError
from sitr.server.access import Caller, Everybody
from sitr.server.office import Unknown
from sitr.server.tokens import hashed

KEPT = timedelta(days=1)

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class Once:
    """One request, which may have a key."""

    path: Path
    """The database of the server."""
    route: str
    key: str | None

    def __call__(self, caller: Caller, sent: BaseModel | None, act: Callable[[], Any]) -> Any:
        """Do it, and return what is answered; or only return it, if it was done before under this key.

        It is noted before it is done. If the server fails or ends in between, nobody knows whether it was done, and it
        is not done again. What was refused changed nothing, so it may be sent again.
        """
        if self.key is None:
            return act()
        mine = hashed(f"{caller.name}\n{self.route}\n{self.key}")
        body = sha256(b"" if sent is None else sent.model_dump_json().encode()).hexdigest()
        if (known := self._begun(mine, body)) is not None:
            return json.loads(_response(known, body))
        try:
            found = act()
        except (SitrError, Unknown) as error:
            if isinstance(error, BackendFailure | LedgerUncertain):  # a fault, as any other exception
                raise
            self._written("DELETE FROM keys WHERE hash = ?", mine)
            raise
        self._written("UPDATE keys SET response = ? WHERE hash = ?", json.dumps(found), mine)
        return found

    def _begun(self, mine: str, body: str) -> tuple[str, str | None] | None:
        """What was sent and answered under this key before; None if it begins now."""
        now = datetime.now(UTC)
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            connection.execute("DELETE FROM keys WHERE at < ?", ((now - KEPT).isoformat(),))
            statement = "INSERT INTO keys (hash, sent, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            if connection.execute(statement, (mine, body, now.isoformat())).rowcount:
                return None
            found: tuple[str, str | None] = connection.execute(
                "SELECT sent, response FROM keys WHERE hash = ?", (mine,)
            ).fetchone()
            return found

    def _written(self, statement: str, *values: str) -> None:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            connection.execute(statement, values)


def _response(known: tuple[str, str | None], body: str) -> str:
    """What was answered under a key, if the same was sent and it has ended."""
    sent, response = known
    if sent != body:
        raise InvalidUse(given="This key belongs to another request.", do="Choose a new key for a new request.")
    if response is None:
        raise LedgerError(
            given="A request with this key has begun, and has not ended.",
            do="Wait, or see whether it was done; then choose a new key.",
        )
    return response


async def _once(request: Request, people: Everybody, key: Key = None) -> Once:
    return Once(people.path, f"{request.method} {request.url.path}", key)


Onced = Annotated[Once, Depends(_once)]
