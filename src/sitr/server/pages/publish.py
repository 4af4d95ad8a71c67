"""Publications: compose tables, see the error of each before paying, and show an answer to everybody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import FormData

from sitr.dataset.schema import NUMERIC, Table
from sitr.errors import InvalidUse, NotAllowed, SitrError
from sitr.flavors.notation import parse
from sitr.language import Language, speaking
from sitr.ledger.roles import Duty
from sitr.report.page.html import shown
from sitr.server.access import Caller, Everybody, Here, check_form
from sitr.server.office import Office, OpenedDataset
from sitr.server.pages.answers import answered
from sitr.server.pages.ask import slider
from sitr.server.pages.files import written
from sitr.server.pages.forms import Sent
from sitr.server.pages.registration import sent
from sitr.server.pages.routes import Asks, Field, Optional, Stewards, router, there
from sitr.server.publications import PublicPage, PublicPages, address_of
from sitr.server.render import inline, live, page, part, problems
from sitr.server.users import Users
from sitr.session.answer import Answer
from sitr.session.budget import Budget
from sitr.session.request import Request as Asked

TABLES = 4
"""How many tables can be composed on the page."""

BINS = 10
"""The number of cells of a column of numbers, unless another is chosen."""

Form = Annotated[FormData, Depends(sent)]


@dataclass(frozen=True, slots=True)
class Composition:
    """Which tables were composed."""

    tables: tuple[tuple[str, ...], ...]
    measures: tuple[str, ...]
    bins: int
    price: str

    @classmethod
    def of(cls, form: FormData) -> Composition:
        """What the form says."""
        each = [tuple(map(str, form.getlist(f"table-{place}"))) for place in range(TABLES)]
        bins = str(form.get("bins", ""))
        return cls(
            tuple(filter(None, each)),
            tuple(map(str, form.getlist("measure"))),
            int(bins) if bins.isdecimal() and len(bins) < 5 and 0 < int(bins) <= 1000 else BINS,
            str(form.get("price", "")),
        )

    def request(self, budget: Budget) -> Asked[Any]:
        """The tables as one question."""
        if not self.tables:
            raise InvalidUse(given="No table has a column yet.", do="Choose the columns of at least one table.")
        named = {name for table in self.tables for name in table}
        cut = [each.name for each in budget.table.columns if each.name in named and each.keys is None]
        bins: dict[str, Any] = {"bins": dict.fromkeys(cut, self.bins)} if cut else {}
        return budget.tables(self.tables, measures=self.measures or ("count",), **bins)


def cut_columns(table: Table) -> list[str]:
    """The columns whose cells are public."""
    return [each.name for each in table.columns if each.keys is not None or (each.quantised and each.kind in NUMERIC)]


def measures_of(table: Table) -> list[str]:
    """What can be tabulated."""
    summed = [each.name for each in table.columns if each.quantised is not None and each.kind in NUMERIC]
    return ["count", *(f"{what}({name})" for name in summed for what in ("sum", "mean"))]


@router.get("/datasets/{name}/publish")
def compose(request: Request, name: str, caller: Asks, office: Here, people: Everybody) -> Any:
    """The form for tables, and the public pages of the data set."""
    opened = office.open(caller.user, name)
    return _form(request, caller, people, opened, Composition((), ("count",), BINS, ""))


def _form(
    request: Request, caller: Caller, people: Users, opened: OpenedDataset, made: Composition, **values: Any
) -> Any:
    table = opened.budget.table
    values = {"found": None} | slider(opened, made.price) | values
    values |= {"columns": cut_columns(table), "measures": measures_of(table), "count": TABLES, "tab": "publish"}
    steward = opened.member is not None and opened.member.duty is Duty.STEWARD
    values |= {"published": PublicPages(people.path).of(opened.name), "steward": steward}
    return page("publish.html", request, caller, opened=opened, made=made, **values)


@router.post("/datasets/{name}/publish/preview")
def preview_tables(name: str, caller: Asks, at: Sent, people: Everybody, form: Form) -> Any:
    """The error of every table, before anything is spent."""
    made = Composition.of(form)
    found = at.previewed(name, made)
    if live(at.request):
        return part("shown.html", **found)
    return _form(at.request, caller, people, at.office.open(caller.user, name), made, **found)


@router.post("/datasets/{name}/publish")
def release_tables(name: str, caller: Asks, at: Sent, people: Everybody, form: Form) -> Any:
    """Pay for the tables."""
    made = Composition.of(form)
    try:
        with at.paying(), at.office.acting_as(caller.user, name) as opened:
            answer = made.request(opened.paying()).release(parse(made.price))
    except SitrError as error:
        return _form(at.request, caller, people, at.office.open(caller.user, name), made, **problems(error))
    return answered(at.request, caller, at.office.open(caller.user, name), answer)


@router.post("/datasets/{name}/answers/{number}/public")
def make_public(
    request: Request,
    name: str,
    number: int,
    caller: Stewards,
    office: Here,
    people: Everybody,
    mark: Field,
    address: Optional = "",
) -> Any:
    """Show an answer to everybody, at an address that was chosen or that nobody can guess."""
    check_form(request, mark)
    _check_steward(office, caller, name)
    made = _frozen(office, caller, name.casefold(), number, address_of(address.strip()))
    PublicPages(people.path).publish(made)
    return there(f"/datasets/{name}/publish")


@router.post("/datasets/{name}/public")
def withdraw(
    request: Request, name: str, caller: Stewards, office: Here, people: Everybody, mark: Field, address: Field
) -> Any:
    """Show a page to nobody any more."""
    check_form(request, mark)
    _check_steward(office, caller, name)
    PublicPages(people.path).withdraw(address, dataset=name.casefold())
    return there(f"/datasets/{name}/publish")


def _check_steward(office: Office, caller: Caller, name: str) -> None:
    """Only a steward of this data set, by its ledger, shows anything to everybody."""
    member = office.open(caller.user, name).member
    if member is None or member.duty is not Duty.STEWARD:
        raise NotAllowed(given="Only a steward of the data set publishes its answers.", do="Ask a steward.")


def _frozen(office: Office, caller: Caller, name: str, number: int, address: str) -> PublicPage:
    """The page in both languages, as it is now."""
    found = office.answer(caller.user, name, number)
    texts: dict[str, str] = {}
    for language in (Language.ENGLISH, Language.ARABIC):
        with speaking(language):
            answer: Answer = office.answer(caller.user, name, number)  # its paper is in one language
            paper = answer.paper
            picture = "" if paper.picture is None else inline(paper.picture())
            made = part("published.html", picture=picture, sections=shown(paper, pictures=False))
            texts[language.name.lower()] = bytes(made.body).decode()
            texts[f"{language.name.lower()}_certificate"] = office.certificate(caller.user, name, number)
    return PublicPage(
        address=address,
        dataset=name,
        number=number,
        by=caller.name,
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        question=found.paper.question,
        csv=written(found),
        **texts,
    )
