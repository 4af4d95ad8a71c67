"""What stands against a price, together with what is wrong with the question: all obstacles are shown at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sitr.errors import SitrError
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import fit
from sitr.session.desk import Desk


def obstacles_of_price(price: Promise | None, query: BoundedQuery | None, desks: Sequence[Desk]) -> list[SitrError]:
    """Why this price cannot pay: its kind, what is left of each budget, or keys that need a δ.

    The `query` is the question, or one that can be asked in its place; None if there is none. Without a price, the
    promise of the budget decides whether there is a δ.
    """
    return list({error.message: error for error in _found(price, query, desks)}.values())


def _found(price: Promise | None, query: BoundedQuery | None, desks: Sequence[Desk]) -> Iterator[SitrError]:
    if price is not None:
        checks: list[Callable[[], Any]] = [lambda: affordable(price)]
        checks += [lambda desk=desk: desk.ledger.standing(desk.account).consent(price) for desk in desks]  # type: ignore[misc]
        yield from filter(None, map(_error, checks))
    paid = price if price is not None else desks[0].ledger.standing(desks[0].account).promise
    if query is not None and (error := _error(lambda: fit(query, paid))) is not None:
        yield error


def _error(check: Callable[[], Any]) -> SitrError | None:
    try:
        check()
    except SitrError as found:
        return found
    return None
