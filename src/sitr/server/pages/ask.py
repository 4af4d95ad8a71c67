"""Questions: what an answer would cost and look like, to ask it, or to request it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import ROUND_FLOOR, Context
from functools import partial
from typing import Annotated, Any, cast

from fastapi import Depends, Form, Query, Request

from sitr.errors import InvalidUse, SitrError
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import parse, write
from sitr.flavors.random import RandomDP
from sitr.neighbors.period import example
from sitr.plans.prices import amount, flavored, with_amount
from sitr.report.chart.aggregate import chart
from sitr.report.imagined import imagined_table
from sitr.report.page.html import shown as sections_of
from sitr.server.access import Caller, Decided, Everybody, Here
from sitr.server.asking import DraftQuestion, DrawnPreview, drawn, starters, words_of
from sitr.server.office import OpenedDataset
from sitr.server.once import Once
from sitr.server.pages.answers import answered
from sitr.server.pages.forms import Sent
from sitr.server.pages.routes import Asks, Field, Optional, router, there
from sitr.server.releases import Terms, release
from sitr.server.render import inline, live, page, part, problems
from sitr.server.sent import MOST_LETTERS, understood
from sitr.server.similar import MOST
from sitr.server.tokens import new_token

STEPS = 25
"""How many prices the slider has."""

FEW = 100_000
"""How many rows are imagined where the operator declared no number."""

MOST_DIGITS = 18
"""The longest cap."""

DEAREST = 10.0
"""The highest price of the slider: a budget without a cap has no end."""


def prices_of(opened: OpenedDataset, period: str = "") -> list[str]:
    """Prices from a thousandth of what is left of this person's account to all of it, for the slider."""
    budget = opened.paying()
    with suppress(SitrError):  # while a period is typed, there is none of its name
        budget = opened.paying(period=period)
    like, left = flavored(budget.promise), budget.remaining()
    payable = amount(cast("Additive", left.inner if isinstance(left, RandomDP) else left))
    most, down = min(payable, DEAREST), Context(prec=2, rounding=ROUND_FLOOR)
    grid = [most * 10 ** (3 * (step / (STEPS - 1) - 1)) for step in range(STEPS)]
    return [write(with_amount(like, float(down.create_decimal(each)))) for each in grid if each > 0]


MOST_BARS = 12
"""How many bars of an imagined answer are drawn for each column."""


def draft(
    settings: Decided,
    sql: Optional = "",
    price: Optional = "",
    target: Optional = "",
    rows: Annotated[int, Form(ge=0, le=10**12)] = 0,
    max_groups: Optional = "",
    max_rows_per_group: Optional = "",
    bias: Optional = "",
    caps: Optional = "",
    period: Annotated[str, Form(max_length=MOST_DIGITS)] = "",
) -> DraftQuestion:
    """What is in the form. Limits that are not given are those of the description."""
    written = {"max_groups": max_groups.strip(), "max_rows_per_group": max_rows_per_group.strip()}
    numbers = {name: given for name, given in written.items() if given.isdecimal() and len(given) <= MOST_DIGITS}
    limits: dict[str, Any] = {name: int(given) for name, given in numbers.items()}
    limits |= {"bias": "off"} if bias == "off" else {}
    limits |= {"caps": "auto"} if caps == "auto" else {}
    return DraftQuestion(sql, price, target, rows or settings.answer_rows or FEW, limits, period.strip())


Draft = Annotated[DraftQuestion, Depends(draft)]


@router.get("/datasets/{name}/ask")
def ask_form(
    request: Request,
    name: str,
    caller: Asks,
    office: Here,
    settings: Decided,
    number: Annotated[int, Query(alias="request")] = 0,
    sql: Annotated[str, Query(max_length=MOST_LETTERS)] = "",
) -> Any:
    """The form for a question; for an approved request, with what was approved."""
    opened = office.open(caller.user, name)
    approved = [each for each in office.queue(caller.user, name) if each.number == number]
    made = DraftQuestion(sql, rows=settings.answer_rows or FEW)
    if approved:
        period = approved[0].dataset.partition("@")[2].upper()
        made = replace(made, sql=approved[0].question, price=approved[0].price, period=period)
    return _form(request, caller, opened, made, number=number if approved else 0)


def _form(
    request: Request, caller: Caller, opened: OpenedDataset, draft: DraftQuestion, *, number: int = 0, **values: Any
) -> Any:
    table = opened.budget.table
    made: dict[str, Any] = {"draft": draft, "number": number, "key": new_token(), "tab": "ask", "found": None}
    made |= {"starters": starters(table), "completed": words_of(table), "caps": table, "approval": False}
    length = None if table.period is None else table.period.length
    made |= {"length": length, "period_example": "" if length is None else example(length)}
    made |= slider(opened, values.pop("price", "") or draft.price, draft.period) | values
    return page("ask.html", request, caller, opened=opened, **made)


def slider(opened: OpenedDataset, price: str, period: str = "") -> dict[str, Any]:
    """The prices of the slider, and where it stands: at the price, or at the nearest one that is not dearer."""
    prices = [each.replace(" ", "") for each in prices_of(opened, period)]
    chosen = price or (prices[len(prices) // 2] if prices else "")
    return {"prices": prices or [chosen], "price": chosen, "place": _place(prices, chosen)}


def _place(prices: list[str], chosen: str) -> int:
    if chosen in prices:
        return prices.index(chosen)
    with suppress(SitrError, TypeError, AttributeError):
        most = parse(chosen).coordinates()
        return max(0, sum(parse(each).coordinates() <= most for each in prices) - 1)
    return len(prices) // 2


def _shown(found: DrawnPreview) -> dict[str, Any]:
    """What a page shows of a preview."""
    paper = found.preview.paper
    first, *rest = sections_of(paper, pictures=False)
    made = found.imagined
    return {
        "found": found,
        "approval": found.approval,
        "price": found.price,
        "errors": paper.table,
        "sections": rest,
        "first": first,
        "picture": "" if made is None else inline(chart(made, most=MOST_BARS)),
        "rows": None if made is None else imagined_table(made),
    }


@router.post("/datasets/{name}/preview")
def preview(
    name: str,
    caller: Asks,
    at: Sent,
    draft: Draft,
    number: Annotated[int, Form(alias="request")] = 0,
    shown: Optional = "ask",
) -> Any:
    """Price, errors and an invented answer, before anything is spent: a part of the page, or all without a script."""
    at.count_preview(draft.asked.effort)
    found: dict[str, Any]
    try:
        made = drawn(at.office, caller.user, name, draft)
        known = [each for each in at.office.entries(caller.user, name) if each.question == made.preview.plan.text]
        found = _shown(made) | {"known": known[:MOST]}
    except SitrError as error:
        found = problems(error)
    opened = at.office.open(caller.user, name)
    if not live(at.request):
        return _form(at.request, caller, opened, draft, number=number, **found)
    by_target = (
        slider(opened, found["price"], draft.period) if draft.target.strip() and "price" in found else {"prices": ()}
    )
    whole = {"found": None, "approval": False, "number": number, "opened": opened} | found | by_target
    return part("drawn.html", **whole, changed=whole["approval"] is not (shown == "approval"))


@router.post("/datasets/{name}/ask")
def ask(
    name: str,
    caller: Asks,
    at: Sent,
    key: Field,
    draft: Draft,
    number: Annotated[int, Form(alias="request")] = 0,
) -> Any:
    """Charge the price and answer. The form has a key, so that sending it twice is charged once."""
    terms = Terms(draft.price, period=draft.period, request=number or None, key=draft.once(key))
    try:
        with at.paying():
            answer = release(at.office, caller.user, name, partial(understood, asked=draft.asked), terms)
    except SitrError as error:
        opened = at.office.open(caller.user, name)
        return _form(at.request, caller, opened, draft, number=number, **problems(error))
    return answered(at.request, caller, at.office.open(caller.user, name), answer)


@router.post("/datasets/{name}/request")
def propose(
    name: str, caller: Asks, at: Sent, people: Everybody, key: Field, draft: Draft, reason: Optional = ""
) -> Any:
    """Ask a steward to approve the question, with the caps of the description: what is approved is the question.

    Sending the form twice is one request.
    """
    at.limiter.count("request", caller.name, most=at.settings.answers_per_minute)
    try:
        if draft.limits:
            raise InvalidUse(
                given="A request on the page has the caps of the description.",
                do="Empty the fields for caps and bias; nothing was spent.",
            )
        said: dict[str, Any] = {"reason": reason, "period": draft.period}
        once = Once(people.path, at.request.url.path, draft.once(key, reason.strip()))
        once(caller, None, lambda: at.office.propose(caller.user, name, draft.asked, draft.price, **said).number)
    except SitrError as error:
        return _form(at.request, caller, at.office.open(caller.user, name), draft, **problems(error))
    return there("/queue")
