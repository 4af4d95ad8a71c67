"""Data sets: what is public about them, their budgets, and what a steward settles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import Response

from sitr.dataset.schema import Column, Key, Table
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import parse, write
from sitr.ledger.proposals import Proposal, Status
from sitr.ledger.roles import Duty
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.spending import chart as spending
from sitr.report.figures import about
from sitr.report.words.words import in_words
from sitr.server.access import Decided, Everybody, Here, Limits, check_form
from sitr.server.office import Office, OpenedDataset, Unknown
from sitr.server.pages.files import picture
from sitr.server.pages.routes import Anybody, Asks, Field, Optional, Reads, Stewards, router, there
from sitr.server.render import inline, page
from sitr.server.role import UserRole
from sitr.server.sent import SentQuestion, check_length
from sitr.server.users import User

HOUR = 3600

MOST_NEWS = 5
"""How many requests the first page shows."""

FEW_KEYS = 12
"""How many public keys of a column are shown."""


@router.get("/")
def start(request: Request, caller: Anybody, office: Here, settings: Decided) -> Any:
    """The data sets that one sees; an administrator sees people."""
    if caller.user.role is UserRole.ADMINISTRATOR:
        return there("/people")
    found = [(each, inline(budget_bar(each.budget.standing()))) for each in office.seen_by(caller.user)]
    news = news_for(office, caller.user)
    return page("datasets.html", request, caller, found=found, registers=bool(settings.folders), news=news)


def news_for(office: Office, user: User) -> list[tuple[str, Proposal]]:
    """The requests that wait for this person: to be decided, or, once decided, to be asked or read. Newest first."""
    steward = user.role is UserRole.STEWARD
    found = [(each.name, one) for each in office.seen_by(user) for one in office.queue(user, each.name)]
    wanted = (Status.ASKED,) if steward else (Status.APPROVED, Status.REFUSED)
    return [(name, each) for name, each in found if each.status in wanted and (each.by != user.name) is steward][
        :MOST_NEWS
    ]


@router.get("/datasets/{name}")
def dataset(request: Request, name: str, caller: Reads, office: Here) -> Any:
    """A data set: its budget, what is public, and the settings of its steward."""
    opened, budget = office.open(caller.user, name), office.open(caller.user, name).budget
    entries = office.entries(caller.user, name)
    return page(
        "dataset.html",
        request,
        caller,
        opened=opened,
        tab="dataset",
        bar=inline(budget_bar(budget.standing())),
        spending=inline(spending(*opened.spent())) if entries else "",
        accounts=tree_of(opened),
        rules=budget.rules(),
        hour=HOUR,
        columns=described(budget.table),
        example=write(budget.standing().remaining()),
        steward=opened.member is not None and opened.member.duty is Duty.STEWARD,
    )


@dataclass(frozen=True, slots=True)
class AccountBranch:
    """An account in the tree below a budget."""

    path: str
    name: str
    depth: int
    left: Kept
    share: float
    """Which part of its cap could still be charged."""


def tree_of(opened: OpenedDataset) -> list[AccountBranch]:
    """The accounts that this person sees, each below the one it belongs to."""
    tree, own = opened.budget.accounts(), opened.share
    found = []
    for path in sorted(tree.shares):
        if own and path != own and not path.startswith(f"{own}/"):
            continue
        cap, left = tree.share(path).cap, tree.left(path)
        parts = zip(left.coordinates(), cap, strict=True)
        share = min((float(rest / whole) for rest, whole in parts if whole), default=0.0)
        found.append(AccountBranch(path, path.rpartition("/")[2], path.count("/"), left, share))
    return found


def described(table: Table) -> list[tuple[Column, str, tuple[Key, ...]]]:
    """The columns with their bounds, as text, and their first public keys."""
    found = []
    for column in table.columns:
        low, high = ("", "") if column.bounds is None else (_end(end) for end in column.bounds)
        found.append((column, in_words().interval(low, high) if low else "", (column.keys or ())[:FEW_KEYS]))
    return found


def _end(end: object) -> str:
    return about(end, digits=15) if isinstance(end, Fraction) else str(end)


@router.post("/datasets/{name}/suggest")
def suggest(
    request: Request,
    name: str,
    caller: Asks,
    office: Here,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    question: Field,
    price: Field,
) -> Any:
    """Pay for caps and bounds that fit a question, chosen privately."""
    check_form(request, mark)
    limiter.count("ask", caller.name, most=settings.answers_per_minute)
    with limiter.running(caller.name, most=settings.answers_at_once), office.acting_as(caller.user, name) as found:
        check_length([SentQuestion(question)])
        answer = found.paying().suggest(question.strip()).release(parse(price))
    return there(f"/datasets/{name}/answers/{answer.receipt.entry.number}")


@router.get("/datasets/{name}/budget.svg")
def budget_chart(name: str, caller: Reads, office: Here) -> Response:
    """The budget as a picture."""
    return picture(office.budget_chart(caller.user, name))


@router.get("/datasets/{name}/spending.svg")
def spending_chart(name: str, caller: Reads, office: Here) -> Response:
    """What was spent over time."""
    return picture(office.spending_chart(caller.user, name))


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
    questions: Annotated[int, Form(ge=0)] = 0,
    seconds: Annotated[int, Form(ge=1)] = HOUR,
    approve_above: Optional = "",
) -> Any:
    """Set the rules."""
    check_form(request, mark)
    office.rule(caller.user, name, least=least.strip(), rate=(questions, seconds), approval=approve_above.strip())
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/accounts")
def allot(
    request: Request, name: str, caller: Stewards, office: Here, mark: Field, account: Field, amount: Field
) -> Any:
    """Make a sub-budget, or change it."""
    check_form(request, mark)
    office.allot(caller.user, name, account.strip(), amount.strip())
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/accounts/reserve")
def reserve(
    request: Request, name: str, caller: Stewards, office: Here, mark: Field, account: Field, amount: Field
) -> Any:
    """Set an amount aside for a sub-budget."""
    check_form(request, mark)
    office.reserve(caller.user, name, account.strip(), amount.strip())
    return there(f"/datasets/{name}")


@router.post("/datasets/{name}/accounts/move")
def move(
    request: Request,
    name: str,
    caller: Stewards,
    office: Here,
    mark: Field,
    source: Field,
    target: Field,
    amount: Field,
) -> Any:
    """Move a part of a sub-budget to another."""
    check_form(request, mark)
    office.move(caller.user, name, source.strip(), target.strip(), amount.strip())
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
