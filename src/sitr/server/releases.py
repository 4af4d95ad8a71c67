"""Every kind of question, paid for by somebody: what was sent becomes a request to a budget, and the session answers.

A client that has planned the question itself sends the hash of its plan. If the server's plan is another one, nothing
is charged: who pays knows what for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from sitr.errors import InvalidUse
from sitr.flavors.notation import parse
from sitr.ledger.looking import looking
from sitr.server.office import Office
from sitr.server.sent import check_plan
from sitr.server.users import User
from sitr.session.answer import Answer
from sitr.session.budget import Budget
from sitr.session.request import Preview, Request
from sitr.session.synthetic import Synthetic

Made = Callable[[Budget], Request[Any]]
"""Makes a request of what was sent."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is paid, from which account, by whose leave, and once under which key."""

    price: str
    account: str = ""
    period: str = ""
    request: int | None = None
    key: str | None = None
    fresh: bool = False
    plan: str | None = None
    """The hash of the plan that the client has made of the question; None if it has made none."""


def release(office: Office, user: User, name: str, make: Made, terms: Terms) -> Answer:
    """Charge the price and answer."""
    with office.acting_as(user, name) as found:
        with looking():
            budget = found.paying(terms.account, request=terms.request, key=terms.key, period=terms.period)
        asked, price = understood(make, budget), parse(terms.price)
        check_plan(asked, price, terms.plan)
        return cast("Answer", asked.release(price, fresh=terms.fresh))


def preview(office: Office, user: User, name: str, make: Made, terms: Terms) -> Preview:
    """What an answer would cost and how far off it would be. Reads no rows and spends nothing."""
    with office.acting_as(user, name) as found:  # others use their ledgers while it is planned
        asked = understood(make, found.paying(terms.account, period=terms.period))
        return asked.preview(parse(terms.price))


def understood(make: Made, budget: Budget) -> Request[Any]:
    """The request, if it is not too deep to be read."""
    try:
        return make(budget)
    except RecursionError:  # before any charge
        raise InvalidUse(given="The question is nested too deeply.", do="Write it with fewer brackets.") from None


MOST_ROWS = 100_000
"""The most synthetic rows that are sent at once."""


def drawn(answer: Answer, rows: int | None) -> dict[str, Any]:
    """Synthetic rows as columns and lists; at most `MOST_ROWS`. They are drawn from what was released: that is free."""
    assert isinstance(answer, Synthetic)
    table = answer.draw(rows) if rows is not None else answer.table.slice(0, MOST_ROWS)
    values = [each.to_pylist() for each in table.columns]
    return {
        "columns": table.column_names,
        "data": [[_plain(value) for value in row] for row in zip(*values, strict=True)],
    }


def model(answer: Answer, rows: int | None) -> str:
    """The file of a model in Base64: what was released, what was fitted to it, and public facts."""
    assert isinstance(answer, Synthetic)
    with TemporaryDirectory() as folder:
        return b64encode(replace(answer, rows=rows).save(Path(folder) / "model.sitr").read_bytes()).decode()


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else str(value)
