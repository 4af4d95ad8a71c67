"""`sitr registry`: a record of each budget for the OpenDP deployments registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Place, check_file, ledger_place
from sitr.cli.papers import Caveat, Contact, Organisation, Purpose, Title
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage, DescriptionError
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.dataset.publication import Publication
    from sitr.report.registry import Deployment

SUFFIXES = (".yaml", ".yml")


def registry(
    sources: Annotated[
        list[Place], typer.Argument(parser=ledger_place, metavar="SOURCE…", help="Descriptions or ledgers.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .yaml file, or a folder for several records.")],
    title: Title = None,
    organisation: Organisation = None,
    contact: Contact = None,
    purpose: Purpose = None,
    caveat: Caveat = None,
    region: Annotated[str | None, typer.Option(help="The region that the data describe.")] = None,
    sector: Annotated[str | None, typer.Option(help="Technology, Healthcare, Education, Government, …")] = None,
    as_json: Json = False,
) -> None:
    """Write a record for the OpenDP deployments registry.

    The record says of a budget what was promised, to whom, and how much is spent. It is a draft: read it, complete it,
    and submit it to the registry yourself. What the options leave out comes from the description.

    Example: sitr registry visits.sitr.yaml --organisation 'City hospital' --purpose 'Planning beds' --region Jordan
    -o city_hospital_visits_2026.yaml
    """
    from sitr.dataset.publication import Publication

    given = Publication().changed(
        title=title,
        organisation=organisation,
        contact=contact,
        purpose=purpose,
        caveats=caveat,
        region=region,
        sector=sector,
    )
    records = [found.record() for source in sources for found in _deployments(source, given)]
    placed = _placed(records, output)
    for path, record in placed.items():
        path.write_text(_yaml(record), encoding="utf-8")
    if as_json:
        say_json({"written": [*map(str, placed)], "records": records})
    else:
        console().print(said(f"Written: {', '.join(map(str, placed))}"), soft_wrap=True)


def _deployments(source: Place, given: Publication) -> Iterator[Deployment]:
    """The budget of a description, or all budgets of a ledger."""
    from sitr.dataset.description import load
    from sitr.dataset.publication import Publication
    from sitr.ledger.sql import SqlLedger
    from sitr.report.registry import Deployment

    described = load(source) if isinstance(source, Path) and source.suffix in SUFFIXES else None
    if described is not None and described.ledger is None:
        raise DescriptionError(
            given=f"{source} names no budget, so there is no ledger to report.",
            do="Give the ledger itself, or write the description again with --budget and --ledger.",
        )
    where = described.ledger if described is not None and described.ledger is not None else source
    ledger = SqlLedger(where, create=False)
    accounts = ledger.accounts() if described is None else [ledger.account(described.table.account)]
    known = Publication() if described is None else described.publication
    for account in accounts:
        yield Deployment(
            account,
            ledger.check(account.dataset),
            ledger.entries(account.dataset),
            known.changed(**given.content()),
            None if described is None else described.table,
        )


def _placed(records: list[dict[str, object]], output: Path) -> dict[Path, dict[str, object]]:
    """The file of each record. The registry wants names in lower case with underscores."""
    if output.is_dir():
        return {output / f"{str(record['url_slug']).replace('-', '_')}.yaml": record for record in records}
    check_file(output, "--output", SUFFIXES)
    if len(records) != 1:
        raise BadUsage(
            wanted="a folder for --output, because each budget has a record of its own",
            given=f"the file {output} for {len(records)} budgets",
            do="Name a folder that exists.",
        )
    return {output: records[0]}


def _yaml(record: dict[str, object]) -> str:
    import yaml

    return str(yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=10**6))
