"""`sitr synthesize-together`: synthetic rows of several tables of the same people, from a file, for one charge."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.domain import domain_of
from sitr.cli.grouped import grouped
from sitr.cli.options import Json, Preview, Price, new_file, promise
from sitr.cli.papers import Exact, Fresh, Pages, unwritten, write_each
from sitr.cli.preview import show as show_preview
from sitr.cli.progress import advancing, working
from sitr.cli.question import condition
from sitr.cli.row_files import check_rows_file, companion, files_of, write_several
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage, no_description, unknown_name
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.session.several import SeveralSynthesis, SeveralSynthetic
    from sitr.session.synthesis import Synthesis

BINS = 64

LISTS = ("tables", "first", "everyone")
"""What a file has."""

FIELDS = ("description", "columns", "domain", "bins", "never", "rows_per_person", "people", "constant", "order")
"""What it says about a table."""

TablesPath = Annotated[
    Path, typer.Argument(metavar="TABLES", help="A YAML file with the tables, and how the rows of each are imitated.")
]


@grouped
def synthesize_together(
    tables: TablesPath,
    price: Price,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write each table to a file: rows.parquet names rows-visits.parquet, …."),
    ] = None,
    people: Annotated[
        int | None, typer.Option(min=0, help="The number of people; default the noisy number in the data.")
    ] = None,
    *,
    pages: Pages,
    model: Annotated[Path | None, typer.Option(help="Save the model to a .sitr file, for `sitr draw`.")] = None,
    fresh: Fresh = False,
    preview: Preview = False,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Make synthetic rows of several tables of the same people, drawn together.

    The same number stands for the same person in all tables. The price is charged to the budgets of all tables, or to
    none, and the noisy tables are kept, so the same request draws again at no charge, unless --fresh is given.

    Example: sitr synthesize-together tables.yaml --price 'zcdp(0.5)' -o rows.parquet
    """
    from sitr.flavors.price import affordable

    paid = affordable(promise(price))
    if output is None and not preview:
        raise BadUsage(
            given="No file is given for the rows.",
            do="Write for example -o synthetic.parquet, or ask for a --preview; nothing was spent.",
        )
    pages.check()
    asked = request(tables)
    if preview:
        show_preview(asked.preview(paid), as_json=as_json, exact=exact)
        return
    assert output is not None
    files = files_of(output, [each.table for each in asked.several.diaries.tables])
    _check(files, pages, model)
    with advancing("Reading, adding noise and fitting", quiet=as_json) as progress:
        made = asked.release(paid, people=people, fresh=fresh, progress=progress)
    with working("Drawing rows", quiet=as_json):
        rows = made.tables
    writers: dict[Path, Any] = {
        path: lambda path, name=name: write_several({path: partial(made.about, name)}, [{path: rows[name]}])
        for name, path in files.items()
    }
    more: tuple[tuple[Path | None, Any], ...] = (
        (model, made.save),
        (pages.certificate, partial(made.certificate, **pages.said)),
        (pages.label, partial(made.label, **pages.said)),
    )
    failed = write_each(writers | {path: write for path, write in more if path is not None})
    written = [*files.values(), *map(companion, files.values()), *(path for path, _ in more)]
    _show(made, [path for path in written if path is not None and path.exists()], as_json=as_json, exact=exact)
    if failed:
        raise unwritten(failed, "Repeat the command without --fresh and with other files: that costs nothing.")


def request(path: Path) -> SeveralSynthesis:
    """The request in a file."""
    import yaml

    from sitr.session.several import synthesize_together as together

    if not path.exists():
        raise no_description(path)
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        content = None
    except ValueError:  # the only values that YAML itself can refuse
        raise BadUsage(
            wanted="a YAML file with a list of tables, each with its description",
            given=f"{path}, where a date or time does not exist",
            do="Correct it.",
        ) from None
    listed = content.get("tables") if isinstance(content, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) and "description" in each for each in listed):
        raise BadUsage(
            wanted="a YAML file with a list of tables, each with its description",
            given=f"{path} without one",
            do="Write for example  tables: [{description: visits.sitr.yaml, people: true}, "
            "{description: patients.sitr.yaml}]",
        )
    for given, known in ((content, LISTS), *((each, FIELDS) for each in listed)):
        for name in given:
            if name not in known:
                raise unknown_name(str(name), list(known), lacks="The file of tables has no field")
    requests = [_request(each, path) for each in listed]
    return together(*requests, first=content.get("first", ()), everyone=content.get("everyone", ()))


def _request(given: dict[str, Any], path: Path) -> Synthesis:
    """The request for the rows of one table."""
    from sitr.session.dataset import open as open_description

    description = path.parent / str(given["description"])
    if not description.exists():
        raise no_description(description)
    at, public = open_description(description).budget(), domain_of(given.get("domain", {}), path)
    bins = given.get("bins", BINS)
    return at.synthesize(
        columns=given.get("columns"),
        bins={column.name: bins for column in at.table.columns} | public.bins,
        bounds=public.bounds(at.table),
        keys=public.keys,
        required=public.required,
        edges=public.edges(at.table),
        spikes=public.spikes,
        scales=public.scales,
        never=[condition(text) for text in given.get("never", ())],
        derived=public.derived,
        ordered=public.ordered,
        together=public.together,
        rows_per_person=given.get("rows_per_person"),
        people=given.get("people", False),
        constant=given.get("constant", ()),
        order=given.get("order"),
    )


def _check(files: dict[str, Path], pages: Pages, model: Path | None) -> None:
    """Refuse files that cannot be written, before the charge."""
    if len(set(files.values())) < len(files):
        raise BadUsage(
            given="Two tables would be written to the same file.",
            do="Protect one of them under another name.",
        )
    for file in files.values():
        check_rows_file(file, "--output")
    for path, option, ending in (
        (model, "--model", ".sitr"),
        (pages.certificate, "--certificate", ".html"),
        (pages.label, "--label", ".html"),
    ):
        if path is not None:
            new_file(path, option, (ending,))


def _show(made: SeveralSynthetic, written: list[Path], *, as_json: bool, exact: bool) -> None:
    from sitr.report.text.terminal import render, show

    rows = {name: table.num_rows for name, table in made.tables.items()}
    if as_json:
        from sitr.report.evidence.checksum import with_checksum
        from sitr.report.several import content_of_rows

        more = content_of_rows(made.agreement(), made.validity())
        say_json(with_checksum(made.to_dict() | more | {"drawn": rows, "written": list(map(str, written))}))
        return
    out = console()
    show(render(made.paper, exact=exact), out=out)
    files = ", ".join(map(str, written)) or said("nothing")
    out.print(said(f"{sum(rows.values()):,} rows drawn. Written: {files}"), soft_wrap=True)
    if made.receipt.kept is not None:
        out.print(
            said(f"Noisy tables kept in {made.receipt.kept}: the same command draws from them again, for free."),
            soft_wrap=True,
        )
