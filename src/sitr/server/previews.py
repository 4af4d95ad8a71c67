"""Previews that somebody had before, as they were sent.

A preview is a function of what is public: the description, the question, the price, and the records of the ledger. As
long as none of them changed, it is the same, and who moves a slider to and fro gets it at once. Everybody has a store
of their own: if it were shared, the time of a preview would tell whether somebody else had asked about the same
question. Nothing that depends on rows is in it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

from sitr.language import digits, spoken
from sitr.ledger.looking import looking
from sitr.ledger.steward import newest
from sitr.server.office import Office
from sitr.server.sent import SentQuestion
from sitr.server.users import User


@dataclass(frozen=True, slots=True)
class Previews:
    """The last previews of those who previewed last, in this process."""

    most: int = 300
    """How many previews of one person are kept."""
    octets: int = 50_000
    """The longest preview that is kept."""
    people: int = 50
    """Of how many people."""
    _kept: OrderedDict[str, OrderedDict[Hashable, bytes]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, who: str, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What this person had under this key, or else what is made now."""
        with self._lock:
            own = self._kept.setdefault(who, OrderedDict())
            self._kept.move_to_end(who)
            if len(self._kept) > self.people:
                self._kept.popitem(last=False)
            if key in own:
                own.move_to_end(key)
                return own[key]
        made = make()
        if len(made) > self.octets:
            return made
        with self._lock:
            own[key] = made
            if len(own) > self.most:
                own.popitem(last=False)
        return made


def preview(
    previews: Previews, office: Office, user: User, name: str, asked: SentQuestion, price: str, *, account: str = ""
) -> bytes:
    """The preview of a question as JSON; see `Office.preview`."""

    def made() -> bytes:
        found = office.preview(user, name, asked, price, account=account).to_dict()
        return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    with looking():
        version = _version(office, name)
    if version is None:
        return made()
    sent = json.dumps([asked.sql, asked.limits, price, account], sort_keys=True).encode()
    question = sha256(sent).digest()  # what is sent can be long, and is not kept
    key = (user, name.casefold(), *version, question, spoken(), digits())
    return previews.of(user.name, key, made)


def _version(office: Office, name: str) -> tuple[Hashable, ...] | None:
    """What changes whenever a preview could change; None if that is not known: public tables are files of others."""
    path = office.path(name)
    dataset, budget = office.described(name, path)
    return None if dataset.public else (path, path.stat().st_mtime_ns, newest(budget.ledger))
