"""Previews that somebody had before, as they were sent.

A preview is a function of what is public: the description, the question, the price, and the records of the ledger. As
long as none of them changed, it is the same, and who moves a slider to and fro gets it at once. Of the condition after
WHERE it has nothing but the text: what follows from it, such as narrower bounds, is in the bound columns. So who types
a condition gets the rest of the preview from the one before.

Everybody has a store of their own: if it were shared, the time of a preview would tell whether somebody else had asked
about the same question. Nothing that depends on rows is in it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256
from threading import Lock
from typing import Any

from sitr.flavors.notation import parse
from sitr.language import digits, spoken
from sitr.ledger.looking import looking
from sitr.ledger.steward import newest
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.server.office import QUICK, DescribedPlace, Office
from sitr.server.sent import SentQuestion, understood
from sitr.server.users import User
from sitr.session.aggregate import AggregateRequest
from sitr.session.prices import released_sizes

MOST_KEYS = 1_000
"""The most keys of a question that is remembered without its condition."""

MOST_LETTERS = 20_000
"""The most letters in all of these keys: who sends them chooses how long they are, and they are kept."""


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


@dataclass(frozen=True, slots=True)
class PreviewPayment:
    """The price, and who would pay it."""

    price: str
    account: str = ""
    period: str = ""


def preview(
    previews: Previews, office: Office, user: User, name: str, asked: SentQuestion, paying: PreviewPayment
) -> bytes:
    """The preview of a question as JSON. Reads no rows and spends nothing."""
    short = asked.effort <= QUICK  # others wait for their ledgers while one looks
    with looking() if short else nullcontext():
        with looking():
            place = office.place(name)
            version = _version(place)

        def made() -> bytes:
            with office.acting_as(user, name, place=place) as found:
                request = understood(found.paying(paying.account, period=paying.period), asked)
                rest = shape(request)
                if rest is None or version is None:
                    return _written(request.preview(parse(paying.price)).to_dict())
                sizes = tuple(released_sizes(request.question.text(), request.at).items())
                key = (user, *version, paying, rest, sizes, spoken(), digits())
                other = previews.of(user.name, key, lambda: _rest(request, paying.price))
                question = json.dumps(request.question.text(), ensure_ascii=False).encode()
                return b'{"question":' + question + b"," + other[1:]

        if version is None:
            return made()
        sent = json.dumps([asked.sql, asked.limits, *astuple(paying)], sort_keys=True).encode()
        question = sha256(sent).digest()  # what is sent can be long, and is not kept
        return previews.of(user.name, (user, *version, question, spoken(), digits()), made)


def shape(request: AggregateRequest) -> BoundedQuery | None:
    """All of a question but its condition; None if it has many or long keys, or tables of others."""
    query = request.question.query
    keys = [each for key in query.keys for each in key.keys or ()]
    if request.at.beside or len(keys) > MOST_KEYS or sum(len(str(each)) for each in keys) > MOST_LETTERS:
        return None
    return replace(query, query=replace(query.query, where=None), view=replace(query.view, where=None))


def _rest(request: AggregateRequest, price: str) -> bytes:
    """A preview without its question."""
    found = request.preview(parse(price)).to_dict()
    del found["question"]
    return _written(found)


def _written(found: dict[str, Any]) -> bytes:
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _version(place: DescribedPlace) -> tuple[Hashable, ...] | None:
    """What changes whenever a preview could change; None if that is not known: public tables are files of others."""
    if place.dataset.public:
        return None
    return place.name, place.path, place.path.stat().st_mtime_ns, newest(place.budget.ledger)
