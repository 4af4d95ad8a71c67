"""The questions of the corpus: what each asks, whether it is refused, and what a plain engine answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ENTRY = re.compile(r"--(?P<kind>[^\n]*)\n(?P<sql>[A-Z][^;]+);(?P<notes>(?:\n-- (?:plain|within|refused)[^\n]*)*)")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. `within` is how far its quantiles may be off: they are chosen, and ranks lie apart."""

    schema: str
    kind: str
    sql: str
    plain: str
    within: float | None
    refused: bool


def asked(schema: str) -> Iterator[Asked]:
    """The questions of one file."""
    text = (Path(__file__).parent / f"{schema}.sql").read_text(encoding="utf-8")
    for entry in _ENTRY.finditer(text):
        notes = dict(re.findall(r"-- (plain|within|refused):? ?([^\n]*)", entry["notes"]))
        sql = " ".join(entry["sql"].split())
        within = float(notes["within"]) if "within" in notes else None
        yield Asked(schema, entry["kind"].strip(), sql, notes.get("plain", sql), within, "refused" in notes)
