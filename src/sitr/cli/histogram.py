"""`sitr histogram`: charge the price, count the rows in public cells and add noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.grouped import grouped
from sitr.cli.one_off import SourceCommand, Who, opened
from sitr.cli.options import (
    Budget,
    Items,
    Json,
    Keys,
    Ledger,
    Preview,
    Price,
    Source,
    keys_of,
    named,
    number,
    promise,
)
from sitr.cli.papers import Exact, Fresh, Output, Pages, Plot, publish, writers
from sitr.cli.paying import Paying
from sitr.cli.preview import show as show_preview
from sitr.cli.progress import working
from sitr.cli.question import condition
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.dataset.schema import Kind, Table
    from sitr.flavors.arrows import Kept
    from sitr.questions.histogram.methods import Method
    from sitr.session.histogram import HistogramAnswer
    from sitr.session.request import Request

METHODS = ("flat", "tree", "prefixes", "ranges", "buckets", "sparse")
FORMS = ("rising", "falling", "one-peak")
AFTERWARDS = ("lattice", "simplex", "nonnegative", *FORMS)


@grouped
def histogram(
    source: Source,
    column: Annotated[list[str], typer.Option(help="The column to count by. Repeatable.")],
    price: Price,
    bins: Annotated[
        Items, typer.Option(help="The number of bins: 20, COLUMN=20, or 5,10,20,40 for a private choice.")
    ] = None,
    bounds: Annotated[
        Items, typer.Option(help="COLUMN=LOW:HIGH of the bins, numbers or dates; LOW HIGH for one column. Repeatable.")
    ] = None,
    edges: Annotated[Items, typer.Option(help="COLUMN=0,18,65,120, instead of bins and bounds. Repeatable.")] = None,
    keys: Keys = None,
    every: Annotated[str | None, typer.Option(help="The width of date bins: day, week, month or year.")] = None,
    outside: Annotated[
        str | None, typer.Option(help="What to do with values outside: clamp, cell, missing or drop.")
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="What to do with missing values: cell or drop. Default: cell; drop for keys without NULL."),
    ] = None,
    where: Annotated[str | None, typer.Option(help="Count only these rows, such as 'days > 3'.")] = None,
    method: Annotated[
        str | None, typer.Option(help=f"{', '.join(METHODS)}; default flat, or sparse for a random price.")
    ] = None,
    after: Annotated[Items, typer.Option("--then", help=f"Free post-processing: {', '.join(AFTERWARDS)}.")] = None,
    total: Annotated[int | None, typer.Option(help="A public total, for lattice and simplex.")] = None,
    ties: Annotated[
        str | None, typer.Option(help="The choice among nearest lattice points, such as 'by index'.")
    ] = None,
    *,
    who: Who,
    output: Output = None,
    pages: Pages,
    paying: Paying,
    plot: Plot = None,
    fresh: Fresh = False,
    preview: Preview = False,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Count rows in public cells, with noise.

    Charges the price, counts the rows, adds noise, and keeps the answer beside the ledger. Bounds, edges and keys must
    come from public knowledge, never from the rows. For a Parquet file without a description, --unit or --unit-row
    says who is protected. The same histogram at the same price is shown again at no charge, unless --fresh is given.

    Example: sitr histogram visits.sitr.yaml --column cost --bins 20 --price 'zcdp(0.05)' --plot costs.svg
    """
    from sitr.questions import Rule, Step

    paid = promise(price)
    files = writers(output, plot, pages)
    steps = [_afterwards(name, total=total, ties=ties) for name in after or ()]
    at = opened(source, who, paid, budget=budget, ledger=ledger).paying(**paying.given())
    selected: Any = at if where is None else at.where(condition(where))
    asked = selected.histogram(
        *column,
        bins=_bins(bins),
        bounds=_bounds(bounds, at.table, dates=every is not None),
        edges=named("--edges", edges, lambda _, text: tuple(map(number, text.split(",")))) or None,
        keys=named("--keys", keys, lambda name, text: keys_of(text.split(","), _kind(at.table, name), column=name))
        or None,
        every=_one_of(Step, every, "--every"),
        outside=_one_of(Rule, outside, "--outside"),
        missing=_one_of(Rule, missing, "--missing"),
        method=_method(method, paid),
    )
    _check_afterwards(asked, after or (), total)
    if preview:
        show_preview(asked.preview(paid), as_json=as_json, exact=exact)
        return
    with working("Counting and adding noise", quiet=as_json):
        answer = asked.release(paid, fresh=fresh)
    for step in steps:
        answer = step(answer)
    publish(answer, files, as_json=as_json, whole=output is None, exact=exact)


def _bins(items: Items) -> int | tuple[int, ...] | dict[str, int] | None:
    """One number, several to choose from, or one by column."""
    if not items:
        return None
    try:
        if "=" in items[0]:
            return {name: int(text) for name, _, text in (item.partition("=") for item in items)}
        (only,) = items
        numbers = tuple(map(int, only.split(",")))
    except ValueError:
        raise BadUsage(
            wanted="--bins as 20, as COLUMN=20 for each column, or as 5,10,20,40 to choose among them",
            given=" ".join(items),
            do="Correct the value; nothing was spent.",
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers


class HistogramCommand(SourceCommand):
    """Both spellings of bounds: `--bounds age=0:120`, as in `sitr protect`, and `--bounds 0 120`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, joined(args))


KIND = HistogramCommand
"""The class of the command."""


def joined(words: Sequence[str]) -> list[str]:
    """The words of a command, with `--bounds LOW HIGH` as one value.

    >>> joined(["--bounds", "-5", "30", "--bounds", "age=0:120"])
    ['--bounds', '-5:30', '--bounds', 'age=0:120']
    """
    found: list[str] = []
    for word in words:
        alone = found[-2:-1] == ["--bounds"] and not any(mark in found[-1] for mark in "=:")
        if alone and not word.startswith("--"):
            found[-1] += f":{word}"
        else:
            found.append(word)
    return found


def _bounds(items: Items, table: Table, *, dates: bool) -> tuple[Any, Any] | dict[str, tuple[Any, Any]] | None:
    """One pair for all columns, or one for each named column; without names, `dates` says what is bounded."""
    if not items:
        return None
    if len(items) > 1 or "=" in items[0]:
        from sitr.dataset.schema import Kind

        moments = (Kind.DATE, Kind.TIMESTAMP)
        return named("--bounds", items, lambda name, text: _ends(text, dates=_kind(table, name) in moments))
    try:
        return _ends(items[0], dates=dates)
    except ValueError:
        raise BadUsage(
            wanted="--bounds with two numbers, or with --every two dates such as 2024-01-31",
            given=items[0].replace(":", " "),
            do="Write for example --bounds 0 120, or --bounds COLUMN=0:120.",
        ) from None


def _ends(text: str, *, dates: bool) -> tuple[Any, Any]:
    low, high = map(date.fromisoformat if dates else number, text.split(":"))
    return low, high


def _kind(table: Table, name: str) -> Kind | None:
    column = table.find(name)
    return column.kind if column else None


def _method(name: str | None, paid: Kept) -> Method | None:
    """The method; None if the bins and categories decide."""
    from sitr.flavors.random import RandomDP
    from sitr.questions.histogram.methods import Buckets, Prefixes, Ranges, Sparse, Tree

    match name:
        case None:
            return Sparse() if isinstance(paid, RandomDP) else None
        case "flat":
            return None
        case "tree":
            return Tree()
        case "prefixes":
            return Prefixes()
        case "ranges":
            return Ranges()
        case "buckets":
            return Buckets()
        case "sparse":
            return Sparse()
    raise _not_among("--method", name, METHODS)


def _afterwards(name: str, *, total: int | None, ties: str | None) -> Callable[[HistogramAnswer], HistogramAnswer]:
    """One step of post-processing."""
    from sitr.questions.histogram.isotonic import Form
    from sitr.questions.histogram.projection import Ties

    rule = _one_of(Ties, ties, "--ties")
    forms = dict(zip(FORMS, (Form.RISING, Form.FALLING, Form.ONE_PEAK), strict=True))
    match name:
        case "lattice":
            return lambda answer: answer.lattice(total=total, ties=rule)
        case "simplex":
            return lambda answer: answer.simplex(total=total)
        case "nonnegative":
            return lambda answer: answer.nonnegative()
        case _ if name in forms:
            return lambda answer: answer.isotonic(forms[name])
    raise _not_among("--then", name, AFTERWARDS)


def _check_afterwards(asked: Request[HistogramAnswer], steps: Sequence[str], total: int | None) -> None:
    """Refuse post-processing that does not suit these cells, before anything is spent."""
    from sitr.questions.histogram.question import HistogramQuestion

    assert isinstance(asked.question, HistogramQuestion)
    grid = asked.question.tally.grid
    if any(name in FORMS for name in steps) and (grid is None or grid.line is None):
        raise BadUsage(
            wanted=f"cells in a line for {', '.join(FORMS)}, of one column of numbers or dates",
            given="categories, or several columns",
            do="Leave the form out; nothing was spent.",
        )
    if total is not None and total < 0:
        raise BadUsage(
            wanted="a public --total of at least 0",
            given=f"{total}",
            do="Leave it out to use the estimated total; nothing was spent.",
        )


def _one_of(kind: Any, text: str | None, option: str) -> Any:
    """The member of an enumeration with this value; None if the option is left out."""
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        raise _not_among(option, text, tuple(member.value for member in kind)) from None


def _not_among(option: str, given: str, allowed: tuple[str, ...]) -> BadUsage:
    return BadUsage(
        wanted=f"{option} to be one of {', '.join(allowed)}",
        given=f"{given!r}",
        do="Choose one of those; nothing was spent.",
    )
