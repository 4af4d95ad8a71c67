"""The pages for people who are logged in. Every form carries a mark that only a page of this server can have."""

from __future__ import annotations

import csv
import io
import json
from decimal import ROUND_FLOOR, Context
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from sitr.errors import SitrError
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import parse, write
from sitr.flavors.random import RandomDP
from sitr.plans.prices import amount, flavored, with_amount
from sitr.report.figures import at_most
from sitr.report.page.html import shown
from sitr.report.words.words import in_words
from sitr.server.access import EVERYBODY, Allowed, Caller, Decided, Everybody, Here, Limits, check_form
from sitr.server.office import OpenedDataset, Unknown
from sitr.server.render import page, part, problems
from sitr.server.role import Scope, UserRole
from sitr.server.sent import SentQuestion
from sitr.server.tokens import new_token
from sitr.session.answer import Answer

router = APIRouter(include_in_schema=False)

READERS = (UserRole.STEWARD, UserRole.ANALYST, UserRole.AUDITOR)

Reads = Annotated[Caller, Depends(Allowed(READERS, page=True))]
Asks = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.ANALYST), page=True))]
Stewards = Annotated[Caller, Depends(Allowed((UserRole.STEWARD,), page=True))]
Audits = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.AUDITOR), page=True))]
Administers = Annotated[Caller, Depends(Allowed((UserRole.ADMINISTRATOR,), page=True))]
Anybody = Annotated[Caller, Depends(Allowed(EVERYBODY, page=True))]

Field = Annotated[str, Form()]
Optional = Annotated[str, Form()]

STEPS = 25
"""How many prices the slider has."""

DEAREST = 10.0
"""The highest price of the slider: a budget without a cap has no end."""

PICTURE = "default-src 'none'; style-src 'unsafe-inline'"
"""The policy of pictures, which have styles of their own and can do nothing."""

DOCUMENT = f"{PICTURE}; frame-ancestors 'none'; sandbox allow-downloads"
"""The policy of certificates, which are documents of their own."""


def there(path: str) -> RedirectResponse:
    """Go to a page after a form was sent."""
    return RedirectResponse(path, status_code=303)


# Data sets


@router.get("/")
def start(request: Request, caller: Anybody, office: Here) -> Any:
    """The data sets that one sees; an administrator sees people."""
    if caller.user.role is UserRole.ADMINISTRATOR:
        return there("/people")
    return page("datasets.html", request, caller, found=office.seen_by(caller.user))


@router.get("/datasets/{name}")
def dataset(request: Request, name: str, caller: Reads, office: Here) -> Any:
    """A data set: its budget, what is public, and the settings of its steward."""
    opened = office.open(caller.user, name)
    tree, own = opened.budget.accounts(), opened.share
    paths = [path for path in tree.shares if not own or path == own or path.startswith(f"{own}/")]
    return page(
        "dataset.html",
        request,
        caller,
        opened=opened,
        tab="dataset",
        drawn=bool(office.entries(caller.user, name)),
        accounts=[(path, tree.left(path)) for path in paths],
        rules=opened.budget.rules(),
        example=write(opened.budget.standing().remaining()),
    )


@router.get("/datasets/{name}/budget.svg")
def budget_chart(name: str, caller: Reads, office: Here) -> Response:
    """The budget as a picture."""
    return picture(office.budget_chart(caller.user, name))


@router.get("/datasets/{name}/spending.svg")
def spending_chart(name: str, caller: Reads, office: Here) -> Response:
    """What was spent over time."""
    return picture(office.spending_chart(caller.user, name))


def picture(svg: str) -> Response:
    """A picture."""
    return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": PICTURE})


@router.post("/datasets/{name}/take")
def take(request: Request, name: str, caller: Stewards, office: Here, mark: Field) -> Any:
    """Become the first steward."""
    check_form(request, mark)
    office.take(caller.user, name)
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/rules")
def rules(
    request: Request,
    name: str,
    caller: Stewards,
    office: Here,
    mark: Field,
    least: Optional = "",
    per_hour: Annotated[int, Form(ge=0)] = 0,
    approve_above: Optional = "",
) -> Any:
    """Set the rules."""
    check_form(request, mark)
    office.rule(caller.user, name, least=least.strip(), rate=per_hour, approval=approve_above.strip())
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/accounts")
def allot(
    request: Request, name: str, caller: Stewards, office: Here, mark: Field, account: Field, amount: Field
) -> Any:
    """Make a sub-budget, or change it."""
    check_form(request, mark)
    office.allot(caller.user, name, account.strip(), amount.strip())
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/members")
def assign(
    request: Request,
    name: str,
    caller: Stewards,
    office: Here,
    people: Everybody,
    mark: Field,
    user: Field,
    role: Field,
    account: Optional = "",
) -> Any:
    """Give somebody a role."""
    check_form(request, mark)
    if role not in ("steward", "analyst", "auditor", "none"):
        raise Unknown
    office.assign(caller.user, name, user.strip(), role, people=people, account=account.strip())
    return there(f"/datasets/{name}")


# Questions


def prices_of(opened: OpenedDataset) -> list[str]:
    """Prices from a thousandth of what is left of this person's account to all of it, for the slider."""
    standing, own = opened.budget.standing(), opened.share
    like, left = flavored(standing.promise), [standing.remaining()]
    if own:
        left.append(opened.budget.accounts().left(own))
    amounts = [amount(cast("Additive", each.inner if isinstance(each, RandomDP) else each)) for each in left]
    most, down = min(*amounts, DEAREST), Context(prec=2, rounding=ROUND_FLOOR)
    grid = [most * 10 ** (3 * (step / (STEPS - 1) - 1)) for step in range(STEPS)]
    return [write(with_amount(like, float(down.create_decimal(each)))) for each in grid if each > 0]


@router.get("/datasets/{name}/ask")
def ask_form(
    request: Request, name: str, caller: Asks, office: Here, number: Annotated[int, Query(alias="request")] = 0
) -> Any:
    """The form for a question; for an approved request, with what was approved."""
    opened = office.open(caller.user, name)
    approved = [each for each in office.queue(caller.user, name) if each.number == number]
    sql = approved[0].question if approved else ""
    price = approved[0].price if approved else ""
    return _form(request, caller, opened, sql, price, number=number if approved else 0)


def _form(
    request: Request, caller: Caller, opened: OpenedDataset, sql: str, price: str, *, number: int = 0, **values: Any
) -> Any:
    prices = [each.replace(" ", "") for each in prices_of(opened)]
    chosen = price or (prices[len(prices) // 2] if prices else "")
    place = prices.index(chosen) if chosen in prices else len(prices) // 2
    made: dict[str, Any] = {
        "prices": prices or [chosen],
        "place": place,
        "number": number,
        "key": new_token(),
        "tab": "ask",
    }
    return page("ask.html", request, caller, opened=opened, sql=sql, price=chosen, **made, **values)


@router.post("/datasets/{name}/preview")
def preview(
    request: Request,
    name: str,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    sql: Optional = "",
    price: Optional = "",
) -> Any:
    """Price and errors, before anything is spent: a part of the page, or all of it without a script."""
    check_form(request, mark)
    asked = SentQuestion(sql)
    limiter.count("preview", caller.name, most=settings.previews_per_minute, times=asked.effort)
    found: dict[str, Any]
    try:
        paper = office.preview(caller.user, name, asked, price).paper
        found = {"sections": shown(paper, pictures=False)}
    except SitrError as error:
        found = problems(error)
    if request.headers.get("hx-request") == "true":
        return part("shown.html", **found)
    return _form(request, caller, office.open(caller.user, name), sql, price, **found)


@router.post("/datasets/{name}/ask")
def ask(
    request: Request,
    name: str,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    key: Field,
    sql: Field,
    price: Field,
    number: Annotated[int, Form(alias="request")] = 0,
) -> Any:
    """Charge the price and answer. The form has a key, so that sending it twice is charged once."""
    check_form(request, mark)
    limiter.count("ask", caller.name, most=settings.answers_per_minute)
    try:
        with limiter.running(caller.name, most=settings.answers_at_once):
            answer = office.ask(caller.user, name, SentQuestion(sql), price, request=number or None, key=key)
    except SitrError as error:
        return _form(request, caller, office.open(caller.user, name), sql, price, number=number, **problems(error))
    opened, number = office.open(caller.user, name), answer.receipt.entry.number
    if not opened.sees(answer.receipt.entry):  # it was free, because somebody else has paid for it
        return _answer(request, caller, opened, answer, number, own=False)
    return there(f"/datasets/{name}/answers/{number}")


@router.post("/datasets/{name}/request")
def propose(
    request: Request,
    name: str,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    sql: Field,
    price: Field,
    reason: Optional = "",
) -> Any:
    """Ask a steward to approve the question."""
    check_form(request, mark)
    limiter.count("request", caller.name, most=settings.answers_per_minute)
    try:
        office.propose(caller.user, name, SentQuestion(sql), price, reason=reason)
    except SitrError as error:
        return _form(request, caller, office.open(caller.user, name), sql, price, **problems(error))
    return there("/queue")


# Answers


@router.get("/datasets/{name}/answers")
def answers(request: Request, name: str, caller: Reads, office: Here) -> Any:
    """The answers that one sees."""
    opened = office.open(caller.user, name)
    return page(
        "answers.html", request, caller, opened=opened, tab="answers", entries=office.entries(caller.user, name)
    )


@router.get("/datasets/{name}/answers/{number}")
def answer(request: Request, name: str, number: int, caller: Reads, office: Here) -> Any:
    """A kept answer."""
    opened, found = office.open(caller.user, name), office.answer(caller.user, name, number)
    return _answer(request, caller, opened, found, number)


def _answer(
    request: Request, caller: Caller, opened: OpenedDataset, found: Answer, number: int, *, own: bool = True
) -> Any:
    """The page of an answer; of one that somebody else has paid for, without its files, which are theirs."""
    return page(
        "answer.html",
        request,
        caller,
        opened=opened,
        tab="answers",
        number=number,
        question=found.paper.question,
        own=own,
        drawn=own and found.paper.picture is not None,
        sections=shown(found.paper, pictures=False),
    )


@router.get("/datasets/{name}/answers/{number}/chart.svg")
def answer_chart(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The chart of an answer."""
    return picture(office.chart(caller.user, name, number))


@router.get("/datasets/{name}/answers/{number}/certificate")
def certificate(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The page that explains and defends an answer."""
    text = office.certificate(caller.user, name, number)
    headers = {"content-security-policy": DOCUMENT}
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/datasets/{name}/answers/{number}/answer.csv")
def answer_csv(name: str, number: int, caller: Reads, office: Here) -> Response:
    """An answer as CSV."""
    return _file(written(office.answer(caller.user, name, number)), "text/csv; charset=utf-8", f"{name}-{number}.csv")


@router.get("/datasets/{name}/answers/{number}/answer.json")
def answer_json(name: str, number: int, caller: Reads, office: Here) -> Response:
    """An answer as JSON."""
    content = office.answer(caller.user, name, number).to_dict()
    content["receipt"]["kept"] = content["receipt"]["kept"] is not None
    text = json.dumps(content, ensure_ascii=False, default=str)
    return _file(text, "application/json", f"{name}-{number}.json")


def _file(text: str, media: str, name: str) -> Response:
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-._") else "_" for sign in name)
    return Response(text, media_type=media, headers={"content-disposition": f'attachment; filename="{safe}"'})


def written(answer: Answer) -> str:
    """An answer with its intervals as CSV. An apostrophe stands before what a spreadsheet would take for a formula."""
    table, text = answer.intervals(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        writer.writerow([_harmless(value) for value in row.values()])
    return text.getvalue()


def _harmless(value: object) -> object:
    """A cell that no spreadsheet runs.

    >>> _harmless("=1+1"), _harmless(-3)
    ("'=1+1", -3)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


# Requests and the books


@router.get("/queue")
def queue(request: Request, caller: Reads, office: Here) -> Any:
    """The requests that one sees, of all data sets."""
    found = [(each.name, one) for each in office.seen_by(caller.user) for one in office.queue(caller.user, each.name)]
    words = in_words()

    def price(notation: str, left: bool = False) -> str:
        kept: Any = parse(notation)
        return words.notation(kept, left=left)

    return page("queue.html", request, caller, found=found, price=price, rounded=lambda error: at_most(error, digits=2))


@router.post("/datasets/{name}/requests/{number}")
def decide(
    request: Request,
    name: str,
    number: int,
    caller: Stewards,
    office: Here,
    mark: Field,
    approve: Field,
    reason: Optional = "",
) -> Any:
    """Approve or refuse a request."""
    check_form(request, mark)
    office.decide(caller.user, name, number, approve=approve == "yes", reason=reason)
    return there("/queue")


@router.get("/datasets/{name}/ledger")
def ledger(request: Request, name: str, caller: Audits, office: Here) -> Any:
    """The books of a data set, verified now."""
    opened = office.books(caller.user, name)
    examined, entries = office.examine(caller.user, name), office.entries(caller.user, name)
    return page("ledger.html", request, caller, opened=opened, tab="ledger", examined=examined, entries=entries)


# Users


@router.get("/people")
def everybody(request: Request, caller: Administers, people: Everybody) -> Any:
    """All accounts."""
    return page("people.html", request, caller, users=people.users(), roles=tuple(UserRole), link="")


@router.post("/people")
def invite(
    request: Request, caller: Administers, people: Everybody, settings: Decided, mark: Field, name: Field, role: Field
) -> Any:
    """Invite somebody, and show the link once."""
    check_form(request, mark)
    if role not in {each.value for each in UserRole}:
        raise Unknown
    token = people.invite(name.strip(), UserRole(role), by=caller.name)
    link = f"{'https' if settings.tls else 'http'}://{request.headers['host']}/invitation/{token}"
    return page("people.html", request, caller, users=people.users(), roles=tuple(UserRole), link=link)


@router.post("/people/{name}")
def enable(request: Request, name: str, caller: Administers, people: Everybody, mark: Field, enabled: Field) -> Any:
    """Allow or forbid somebody to log in."""
    check_form(request, mark)
    assert caller
    people.enable(name, enabled=enabled == "yes")
    return there("/people")


# One's own account


@router.get("/account")
def account(request: Request, caller: Anybody, people: Everybody) -> Any:
    """One's own tokens and password."""
    return page("account.html", request, caller, tokens=people.tokens(caller.name), token="", scopes=tuple(Scope))


@router.post("/account/tokens")
def make_token(
    request: Request,
    caller: Anybody,
    people: Everybody,
    mark: Field,
    label: Field,
    scope: Field,
    days: Annotated[int, Form()],
) -> Any:
    """Make an API token, and show it once."""
    check_form(request, mark)
    if scope not in {each.value for each in Scope}:
        raise Unknown
    token = people.new_token(caller.user, label, Scope(scope), days=days)
    return page("account.html", request, caller, tokens=people.tokens(caller.name), token=token, scopes=tuple(Scope))


@router.post("/account/tokens/{number}")
def revoke(request: Request, number: int, caller: Anybody, people: Everybody, mark: Field) -> Any:
    """Revoke an API token."""
    check_form(request, mark)
    people.revoke(number, of=caller.name)
    return there("/account")


@router.post("/account/password")
def change_password(
    request: Request,
    caller: Anybody,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    old: Field,
    new: Field,
) -> Any:
    """Change one's password. All sessions end."""
    check_form(request, mark)
    limiter.count("login", caller.name, most=settings.logins_per_minute)
    people.change_password(caller.name, old, new)
    return there("/login")
