"""The plans of charges: each is stored once, under the hash that entries hold.

Entries are in the chain and plans are not. A plan whose text has another hash than the entry says is not believed, so a
chain of hashes over entries covers plans as well.
"""

from __future__ import annotations

from hashlib import sha256

from sitr.ledger.database import Connection


def store(connection: Connection, plan: str, written: str) -> None:
    """Store the text of a plan, unless it is there already."""
    assert plan == sha256(written.encode()).hexdigest()
    found = connection.execute("SELECT 1 FROM plans WHERE sha256 = ?", (plan,)).fetchone()
    if found is None:
        connection.execute("INSERT INTO plans VALUES (?, ?)", (plan, written))


def stored(connection: Connection, plan: str) -> str:
    """The text of a plan; empty if none was stored, or if it is not the one that was charged."""
    found = connection.execute("SELECT content FROM plans WHERE sha256 = ?", (plan,)).fetchone()
    text = "" if found is None else str(found["content"])
    return text if sha256(text.encode(errors="surrogatepass")).hexdigest() == plan else ""
