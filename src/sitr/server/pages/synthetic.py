"""Synthetic rows: choose columns, see how good they would be, release them, and take them along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import FormData

from sitr.dataset.schema import Table
from sitr.errors import SitrError
from sitr.flavors.notation import parse
from sitr.neighbors.unit import Person
from sitr.report.page.html import shown
from sitr.server.access import Caller, Here
from sitr.server.office import OpenedDataset
from sitr.server.pages.ask import slider
from sitr.server.pages.files import download, spreadsheet
from sitr.server.pages.forms import Sent
from sitr.server.pages.registration import sent
from sitr.server.pages.routes import Asks, router
from sitr.server.releases import MOST_ROWS
from sitr.server.render import live, page, part, problems
from sitr.session.budget import Budget
from sitr.session.synthesis import Synthesis
from sitr.session.synthetic import Synthetic

FIRST = 12
"""How many rows the page shows."""

Form = Annotated[FormData, Depends(sent)]


@dataclass(frozen=True, slots=True)
class Imitation:
    """Which rows are wanted."""

    columns: tuple[str, ...]
    rows: int
    price: str

    @classmethod
    def of(cls, form: FormData) -> Imitation:
        """What the form says."""
        rows = str(form.get("rows", ""))
        number = min(int(rows), MOST_ROWS) if rows.isdecimal() and len(rows) < 10 else 1_000
        return cls(tuple(map(str, form.getlist("column"))), number, str(form.get("price", "")))

    def request(self, budget: Budget) -> Synthesis:
        """As a question."""
        return budget.synthesize(columns=self.columns or None)


def possible(table: Table) -> list[str]:
    """The columns whose values are public, which can be imitated."""
    person = table.unit.column if isinstance(table.unit, Person) else ""
    return [each.name for each in table.columns if (each.keys or each.quantised) and each.name != person]


@router.get("/datasets/{name}/synthetic")
def imitate(request: Request, name: str, caller: Asks, office: Here) -> Any:
    """The form for synthetic rows."""
    opened = office.open(caller.user, name)
    return _form(request, caller, opened, Imitation(tuple(possible(opened.budget.table)), 1_000, ""))


def _form(request: Request, caller: Caller, opened: OpenedDataset, made: Imitation, **values: Any) -> Any:
    start: dict[str, Any] = {"rows": (), "names": (), "free": False}
    values = start | slider(opened, made.price) | values
    known = possible(opened.budget.table)
    return page("synthetic.html", request, caller, opened=opened, tab="synthetic", made=made, known=known, **values)


@router.post("/datasets/{name}/synthetic/preview")
def preview_rows(name: str, caller: Asks, at: Sent, form: Form) -> Any:
    """What the rows would cost, and how far off the counts would be that they are made from."""
    made = Imitation.of(form)
    found = at.previewed(name, made)
    if live(at.request):
        return part("shown.html", **found)
    return _form(at.request, caller, at.office.open(caller.user, name), made, **found)


@router.post("/datasets/{name}/synthetic")
def release_rows(name: str, caller: Asks, at: Sent, form: Form) -> Any:
    """Pay for noisy tables and draw rows; as a file, if that is wanted. The same again is free."""
    made = Imitation.of(form)
    try:
        with at.paying(), at.office.acting_as(caller.user, name) as opened:
            answer: Synthetic = made.request(opened.paying()).release(parse(made.price), rows=made.rows)
            table = answer.table
    except SitrError as error:
        return _form(at.request, caller, at.office.open(caller.user, name), made, **problems(error))
    if form.get("file") == "csv":
        return download(
            spreadsheet(table.column_names, table.to_pylist()), "text/csv; charset=utf-8", f"{name}-synthetic.csv"
        )
    found = shown(answer.paper, pictures=False)
    opened = at.office.open(caller.user, name)
    rows = [
        tuple("" if value is None else str(value) for value in row.values())
        for row in table.slice(0, FIRST).to_pylist()
    ]
    return _form(at.request, caller, opened, made, sections=found, rows=rows, names=table.column_names, free=True)
