"""A question before it is asked: what is written in the form, and what an answer would cost and look like."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sitr.dataset.schema import NUMERIC, Kind, Table
from sitr.errors import InvalidUse, SitrError, quoted
from sitr.flavors.notation import parse, write
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.spelling import identifier
from sitr.server.office import Office
from sitr.server.sent import SentQuestion, understood
from sitr.server.users import User
from sitr.session.imagined import imagined
from sitr.session.request import Preview

TARGETS = "n=100, total=5%"
"""How errors are written."""


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """What the form says."""

    sql: str = ""
    price: str = ""
    target: str = ""
    """The errors that the columns may have; they decide the price."""
    rows: int = 0
    """How many rows to imagine."""
    limits: dict[str, Any] = field(default_factory=dict)
    period: str = ""
    """The period whose rows are read and whose budget pays, if the data set has periods."""

    @property
    def asked(self) -> SentQuestion:
        """For the office."""
        return SentQuestion(self.sql, self.limits)

    def once(self, key: str, *more: str) -> str:
        """The key of a form with what is in it: sent twice, it is done once; changed and sent, it is something else."""
        price = self.price.strip()
        with suppress(SitrError):  # it is refused later
            price = write(parse(price))
        said = [key, self.sql.strip(), price, self.limits, self.period, *more]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class DrawnPreview:
    """What an answer would cost, what it could look like, and whether a steward must approve it."""

    preview: Preview
    imagined: Release | None
    approval: bool

    @property
    def price(self) -> str:
        """As it is written into the form."""
        return write(self.preview.offered or self.preview.price).replace(" ", "")


def drawn(office: Office, user: User, name: str, draft: DraftQuestion) -> DrawnPreview:
    """The preview of a question, with an answer about invented rows. Reads no rows and spends nothing."""
    with office.acting_as(user, name) as found:
        request = understood(found.paying(period=draft.period), draft.asked)
        if draft.target.strip():
            preview = request.preview(error=targets(draft.target))
        else:
            preview = request.preview(parse(draft.price))
        made = imagined(request, preview, rows=draft.rows) if draft.rows else None
        return DrawnPreview(preview, made, found.budget.rules().needs_approval(preview.standing.charge(preview.price)))


def targets(text: str) -> dict[str, float | str]:
    """Errors by column.

    >>> targets("n=100, total = 5%")
    {'n': 100.0, 'total': '5%'}
    """
    found: dict[str, float | str] = {}
    for part in filter(None, map(str.strip, text.replace("؛", ",").replace("،", ",").split(","))):
        name, equals, size = (each.strip() for each in part.rpartition("="))
        try:
            found[name.strip('"')] = size if size.endswith("%") else float(size)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InvalidUse(
                wanted=f"errors by column, such as {TARGETS}", given=quoted(text), do="Correct it; nothing was spent."
            )
    return found


def starters(table: Table) -> list[str]:
    """A few questions to begin with, made of public names only."""
    source = identifier(table.name)
    grouped = [each for each in table.columns if each.keys is not None]
    summed = [each for each in table.columns if each.quantised is not None and each.kind in NUMERIC]
    found = [f"SELECT COUNT(*) AS n\nFROM {source}"]
    for column in grouped[:1]:
        by = identifier(column.name)
        found.append(f"SELECT {by}, COUNT(*) AS n\nFROM {source}\nGROUP BY {by}")
        for number in summed[:1]:
            of = identifier(number.name)
            found.append(
                f"SELECT {by}, COUNT(*) AS n, AVG({of}) AS mean\nFROM {source}\nGROUP BY {by}\nORDER BY mean DESC"
            )
    found += [f"SELECT SUM({identifier(number.name)}) AS total\nFROM {source}" for number in summed[:1]]
    return found


def words_of(table: Table) -> list[str]:
    """What the editor completes: the public names of the data set, and their public keys."""
    keys = [key for column in table.columns if column.kind is Kind.TEXT for key in (column.keys or ())[:50]]
    literals = ["'" + key.replace("'", "''") + "'" for key in keys if isinstance(key, str)]
    return [identifier(table.name), *(identifier(column.name) for column in table.columns), *literals]
