"""Public pages: answers that a steward has published, as they were at that moment.

What is shown to everybody is written once, when it is published, so that a visitor reaches no ledger and no data set.
An address is a name that the steward chose, or a random one that nobody can guess.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from sitr.errors import InvalidUse, quoted
from sitr.server.tokens import new_token

ADDRESS = re.compile(r"[a-z0-9][a-z0-9-]{2,59}")
"""The addresses that a steward can choose."""


@dataclass(frozen=True, slots=True)
class PublicPage:
    """A published answer, in both languages."""

    address: str
    dataset: str
    number: int
    by: str
    at: str
    question: str
    english: str
    arabic: str
    english_certificate: str
    arabic_certificate: str
    csv: str


COLUMNS = ", ".join(
    f"{each.name} {'INTEGER' if each.name == 'number' else 'TEXT'} NOT NULL" for each in fields(PublicPage)
)
TABLE = f"CREATE TABLE IF NOT EXISTS public_pages ({COLUMNS}, PRIMARY KEY (address))"


@dataclass(frozen=True, slots=True)
class PublicPages:
    """All public pages of a server, in its own database."""

    path: Path

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30)
        connection.execute(TABLE)
        return connection

    def find(self, address: str) -> PublicPage | None:
        """The page at an address."""
        with closing(self._connected()) as connection:
            row = connection.execute("SELECT * FROM public_pages WHERE address = ?", (address,)).fetchone()
        return None if row is None else PublicPage(*row)

    def of(self, dataset: str) -> list[PublicPage]:
        """The pages of a data set, oldest first."""
        with closing(self._connected()) as connection:
            rows = connection.execute("SELECT * FROM public_pages WHERE dataset = ? ORDER BY at", (dataset,)).fetchall()
        return [PublicPage(*row) for row in rows]

    def publish(self, page: PublicPage) -> None:
        """Show a page to everybody."""
        marks = ", ".join("?" * len(fields(PublicPage)))
        with closing(self._connected()) as connection, connection:
            try:
                connection.execute(f"INSERT INTO public_pages VALUES ({marks})", astuple(page))
            except sqlite3.IntegrityError:
                raise InvalidUse(
                    given=f"There is a public page {page.address} already.", do="Choose another address."
                ) from None

    def withdraw(self, address: str, *, dataset: str) -> None:
        """Show a page no longer. Whoever has seen it keeps what they saw."""
        with closing(self._connected()) as connection, connection:
            connection.execute("DELETE FROM public_pages WHERE address = ? AND dataset = ?", (address, dataset))


def address_of(given: str) -> str:
    """The address that a steward chose, or a random one."""
    if not given:
        return new_token()
    if ADDRESS.fullmatch(given) is None:
        raise InvalidUse(
            wanted="an address of 3 to 60 small letters, digits and hyphens",
            given=quoted(given),
            do="Choose another one.",
        )
    return given
