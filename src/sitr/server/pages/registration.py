"""To register a data set, step by step: choose a file, see its columns, and declare what is public about it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request
from starlette.datastructures import FormData

from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.server.access import Caller, Decided, Everybody, Here, Limits, check_form
from sitr.server.pages.routes import Field, Stewards, router, there
from sitr.server.registration import Declaration, files, looked, register
from sitr.server.render import page, problems
from sitr.server.settings import Settings

BOUNDED = (*NUMERIC, Kind.DATE)
KEYED = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE)


async def sent(request: Request) -> FormData:
    """All fields of the form: those of columns have numbers."""
    return await request.form(max_fields=5_000)


@router.get("/register")
def choose(
    request: Request, caller: Stewards, limiter: Limits, settings: Decided, file: Annotated[str, Query()] = ""
) -> Any:
    """The files that may be registered; of a chosen one, the names and types of its columns."""
    limiter.count("preview", caller.name, most=settings.previews_per_minute)
    return _form(request, caller, settings, file, {})


def _form(request: Request, caller: Caller, settings: Settings, file: str, given: dict[str, str], **values: Any) -> Any:
    columns: list[tuple[str, Kind]] = []
    confirmed = True
    if file:
        found = looked(settings, file)
        columns, confirmed = list(found.backend.kinds().items()), found.confirmed
    suggested = file.partition("/")[2].partition(".")[0].lower()
    given = {"name": suggested, "promise": "zcdp(0.5)"} | given
    made: dict[str, Any] = {
        "files": files(settings),
        "file": file,
        "columns": columns,
        "confirmed": confirmed,
        "given": given,
    }
    return page("register.html", request, caller, **made, bounded=BOUNDED, keyed=KEYED, relations=[*Relation], **values)


@router.post("/register")
def protect(
    request: Request,
    caller: Stewards,
    office: Here,
    people: Everybody,
    limiter: Limits,
    settings: Decided,
    mark: Field,
    form: Annotated[FormData, Depends(sent)],
) -> Any:
    """Protect the file as declared, and open its budget."""
    check_form(request, mark)
    limiter.count("ask", caller.name, most=settings.answers_per_minute)
    given = {name: value for name, value in form.items() if isinstance(value, str) and name != "mark"}
    file = given.get("file", "")
    columns = list(looked(settings, file).backend.kinds())
    try:
        name = register(settings, office, people, caller.user, file, _declared(given, columns))
    except SitrError as error:
        return _form(request, caller, settings, file, given, **problems(error))
    return there(f"/datasets/{name}")


def _declared(given: dict[str, str], columns: list[str]) -> Declaration:
    """What the form says. Columns have numbers in it, because their names can be anything."""

    def of(field: str) -> dict[str, str]:
        found = {name: given.get(f"{field}-{place}", "").strip() for place, name in enumerate(columns)}
        return {name: text for name, text in found.items() if text}

    low, high = of("low"), of("high")
    return Declaration(
        name=given.get("name", ""),
        unit=given.get("unit", ""),
        relation=next((each for each in Relation if each.value == given.get("relation")), Relation.ADD_REMOVE),
        max_groups=given.get("max_groups", ""),
        max_rows_per_group=given.get("max_rows_per_group", ""),
        bounds={name: (low.get(name, ""), high.get(name, "")) for name in columns if name in low or name in high},
        steps=of("step"),
        keys=of("keys"),
        promise=given.get("promise", ""),
        confirmed=given.get("confirmed") == "yes",
    )
