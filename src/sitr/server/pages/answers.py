"""Answers that were paid for: tables, charts, certificates and files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from sitr.errors import InvalidUse, SitrError
from sitr.ledger.roles import Duty
from sitr.questions.aggregate.release import Release
from sitr.report.difference import difference_table
from sitr.report.page.html import promised, shown
from sitr.report.paper import PaperTable
from sitr.server.access import Caller, Here
from sitr.server.office import Office, OpenedDataset
from sitr.server.pages.files import document, download, picture, written
from sitr.server.pages.routes import Reads, router, there
from sitr.server.render import inline, live, page, part, problems
from sitr.session.answer import Answer


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
    return answer_page(request, caller, opened, found, number)


def answer_page(
    request: Request, caller: Caller, opened: OpenedDataset, found: Answer, number: int, *, own: bool = True
) -> Any:
    """The page of an answer; of one that somebody else has paid for, without its files, which are theirs."""
    paper, entry = found.paper, found.receipt.entry
    return page(
        "answer.html",
        request,
        caller,
        opened=opened,
        tab="answers",
        number=number,
        entry=entry,
        question=paper.question,
        own=own,
        steward=own and opened.member is not None and opened.member.duty is Duty.STEWARD,
        flavored=own and paper.views is not None and paper.query is not None,
        sql=paper.question if isinstance(found.released, Release) else "",
        picture="" if paper.picture is None else inline(paper.picture()),
        sections=shown(paper, pictures=False),
    )


def answered(request: Request, caller: Caller, opened: OpenedDataset, found: Answer) -> Any:
    """Where an answer is seen that was asked for just now: at its address, or here if what is kept there is not theirs.

    An answer is free if somebody else has paid for it, or for the same numbers shown in another way.
    """
    entry = found.receipt.entry
    if opened.sees(entry) and not found.receipt.alike:
        return there(f"/datasets/{opened.name}/answers/{entry.number}")
    return answer_page(request, caller, opened, found, entry.number, own=False)


@router.get("/datasets/{name}/answers/{number}/flavors")
def flavors(request: Request, name: str, number: int, caller: Reads, office: Here) -> Any:
    """The promise of an answer through every flavor: a part of its page, or a page of its own without a script."""
    found = office.answer(caller.user, name, number)
    sections = [replace(each, picture=inline(each.picture)) for each in promised(found.paper)]
    if live(request):
        return part("shown.html", sections=sections)
    opened = office.open(caller.user, name)
    return page("flavors.html", request, caller, opened=opened, tab="answers", number=number, sections=sections)


@router.get("/datasets/{name}/compare")
def compare(request: Request, name: str, caller: Reads, office: Here, one: int = 0, other: int = 0) -> Any:
    """Two answers beside each other: each number of one minus the same number of the other, with its error. Free."""
    opened, entries = office.open(caller.user, name), office.entries(caller.user, name)
    values: dict[str, Any] = {"opened": opened, "tab": "answers", "entries": entries, "one": one, "other": other}
    values |= {"table": None}
    if one and other:
        try:
            values |= {"table": _difference(office, caller, name, one, other)}
        except SitrError as error:
            values |= problems(error)
    return page("compare.html", request, caller, **values)


def _difference(office: Office, caller: Caller, name: str, one: int, other: int) -> PaperTable:
    found = [office.answer(caller.user, name, number).released for number in (one, other)]
    if one == other or not all(isinstance(each, Release) for each in found):
        raise InvalidUse(
            given="Two different answers to questions in SQL can be compared.", do="Choose two of them; this is free."
        )
    return difference_table(*found)


@router.get("/datasets/{name}/answers/{number}/chart.svg")
def answer_chart(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The chart of an answer."""
    return picture(office.chart(caller.user, name, number))


@router.get("/datasets/{name}/answers/{number}/certificate")
def certificate(name: str, number: int, caller: Reads, office: Here) -> Response:
    """The page that explains and defends an answer."""
    return document(office.certificate(caller.user, name, number))


@router.get("/datasets/{name}/answers/{number}/answer.csv")
def answer_csv(name: str, number: int, caller: Reads, office: Here) -> Response:
    """An answer as CSV."""
    return download(
        written(office.answer(caller.user, name, number)), "text/csv; charset=utf-8", f"{name}-{number}.csv"
    )


@router.get("/datasets/{name}/answers/{number}/answer.json")
def answer_json(name: str, number: int, caller: Reads, office: Here) -> Response:
    """An answer as JSON."""
    content = office.answer(caller.user, name, number).to_dict()
    content["receipt"]["kept"] = content["receipt"]["kept"] is not None
    text = json.dumps(content, ensure_ascii=False, default=str)
    return download(text, "application/json", f"{name}-{number}.json")
