"""Synthetic rows in words and for machines: what was measured, what it cost, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Rule, size
from sitr.errors import BudgetExceeded
from sitr.flavors.notation import write
from sitr.questions.synthetic.plan import MOST_PAIRS, Method, SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.quality import Figure, Quality
from sitr.report.english import ENGLISH
from sitr.report.figures import about, number, shortened, visible
from sitr.report.headline import of_synthetic
from sitr.report.text import facts, promised
from sitr.report.words import notation


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the ledger has written down, and the budget right after it."""

    dataset: str
    entry: int
    at: datetime
    by: str
    version: str
    budget: Filter


def preview(plan: SynthesisPlan, budget: Filter) -> RenderableType:
    """The tables that will be measured and how noisy each count is; `budget` is the filter as it stands."""
    table = _table("table", "cells", "95% error of a count")
    for name, cells, error in plan.errors():
        table.add_row(Text(shortened(visible(name), most=60)), number(cells), f"± {about(error)}")
    if (coarse := plan.pair_error()) is not None:
        table.add_row(f"{min(plan.pairs, MOST_PAIRS)} pairs of columns, by groups", "", f"about ± {about(coarse)}")
    after = _after(plan, budget)
    return Group(
        table,
        facts(
            ("price", notation(plan.price)),
            *promised(of_synthetic(plan), plan.sheet),
            ("caps", _caps(plan)),
            ("left now", notation(budget.remaining(), left=True)),
            ("left then", notation(after.remaining(), left=True) if after else "the budget cannot pay this"),
        ),
    )


def answer(portrait: Portrait, receipt: Receipt) -> RenderableType:
    """What was made and what it cost."""
    band = () if portrait.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    measured = portrait.measured
    tables = len(measured.alone) + len(measured.chosen_by) + len(measured.pairs)
    return Group(
        *band,
        facts(
            ("columns", ", ".join(visible(name) for name in portrait.plan.sheet.names)),
            ("tables", f"{tables}, each count with its noise; rows drawn from them cost nothing more"),
            ("rows", f"about {number(portrait.size)} in the data set, by noisy counts"),
            *([("fit", _missed(portrait))] if portrait.missed else []),
            *promised(of_synthetic(portrait.plan), portrait.plan.sheet),
            ("caps", _caps(portrait.plan)),
            *_entry(receipt),
        ),
    )


def quality(found: Quality, receipt: Receipt | None) -> RenderableType:
    """The means, and the worst of each kind; `receipt` is None where nothing was charged."""
    band = () if found.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    table = _table("error", "mean", "worst", "of")
    kinds = (
        ("share of each value, Σ|p − q|", found.single),
        ("share of each pair of values, Σ|p − q|", found.pairs),
        ("share of any range", found.ranges),
        ("correlation", found.correlations),
    )
    for name, figures in kinds:
        if figures:
            worst = max(figures, key=lambda figure: abs(figure.found))
            mean = sum(abs(figure.found) for figure in figures) / len(figures)
            names = " and ".join(map(visible, worst.columns))
            table.add_row(name, f"{mean:.4f}", Text(_figure(worst)), Text(names))
    with_what = (
        f"the public table {visible(found.holdout or '')}"
        if found.paid is None
        else f"the data, for {notation(found.paid)}"  # type: ignore[arg-type]
    )
    told = [("compared", f"with {with_what}")]
    if found.scores is not None:
        ours, theirs = found.scores
        told.append(("accuracy", f"{ours:.3f} when trained on synthetic rows, {theirs:.3f} when trained on real ones"))
    if receipt is not None:
        told.extend(_entry(receipt))
    return Group(*band, table, facts(*told))


def to_dict(portrait: Portrait, receipt: Receipt) -> dict[str, Any]:
    """For machines: what was measured, and with how much noise."""
    plan, measured = portrait.plan, portrait.measured
    return {
        "kind": "synthetic",
        **_signed(receipt),
        "private": portrait.private,
        **_plan(plan),
        "rows": measured.total,
        "tables": [
            {
                "columns": [plan.sheet.names[place] for place in table.columns],
                "shape": list(table.counts.shape),
                "deviation": table.deviation,
            }
            for table in (*measured.alone, *measured.chosen_by, *measured.pairs)
        ],
        "missed": [list(pair) for pair in portrait.missed],
        "budget": _budget(receipt.budget),
    }


def preview_dict(plan: SynthesisPlan, budget: Filter) -> dict[str, Any]:
    """For machines: no data were read."""
    after = _after(plan, budget)
    errors = [{"table": name, "cells": cells, "error_95": error} for name, cells, error in plan.errors()]
    return {
        "kind": "preview of synthetic rows",
        **_plan(plan),
        "errors": errors,
        "pairs": {"number": plan.pairs, "error_95": plan.pair_error()} if plan.method is Method.MARGINALS else None,
        "budget": _budget(budget) | {"after": after and write(after.remaining())},
    }


def quality_dict(found: Quality, receipt: Receipt | None) -> dict[str, Any]:
    """For machines; `receipt` is None where nothing was charged."""

    def told(figures: Sequence[Figure]) -> list[dict[str, Any]]:
        return [{"columns": list(f.columns), "found": f.found, "error_95": f.error} for f in figures]

    return {
        "kind": "quality of synthetic rows",
        **({} if receipt is None else _signed(receipt)),
        "private": found.private,
        "paid": None if found.paid is None else write(found.paid),
        "public_table": found.holdout,
        "mean_single": found.mean_single,
        "mean_pairs": found.mean_pairs,
        "single": told(found.single),
        "pairs": told(found.pairs),
        "ranges": told(found.ranges),
        "correlations": told(found.correlations),
        "scores": None if found.scores is None else dict(zip(("synthetic", "real"), found.scores, strict=True)),
        "budget": None if receipt is None else _budget(receipt.budget),
    }


def _entry(receipt: Receipt) -> tuple[tuple[str, str], ...]:
    return (
        ("left", f"{notation(receipt.budget.remaining(), left=True)} of {notation(receipt.budget.promise)}"),
        ("entry", f"{receipt.entry}, {visible(receipt.dataset)}, {receipt.at:%Y-%m-%d %H:%M:%S} UTC"),
    )


def _signed(receipt: Receipt) -> dict[str, Any]:
    return {
        "dataset": receipt.dataset,
        "entry": receipt.entry,
        "at": receipt.at.isoformat(),
        "by": receipt.by,
        "version": receipt.version,
    }


def _plan(plan: SynthesisPlan) -> dict[str, Any]:
    return {
        "method": plan.method.value,
        "price": write(plan.price),
        "headline": of_synthetic(plan).to_dict(),
        "neighbors": plan.sheet.relation.value,
        "rows_per_unit": plan.sheet.most_rows,
        "columns": [
            {
                "name": axis.column.name,
                "type": axis.column.kind.value,
                "cells": size(axis),
                "null": axis.missing is Rule.CELL,
            }
            for axis in plan.sheet.axes
        ],
    }


def _budget(budget: Filter) -> dict[str, Any]:
    return {"promise": write(budget.promise), "spent": write(budget.spent()), "remaining": write(budget.remaining())}


def _after(plan: SynthesisPlan, budget: Filter) -> Filter | None:
    try:
        return budget.consent(plan.price)
    except BudgetExceeded:
        return None


def _missed(portrait: Portrait) -> str:
    """Which pairs the rows follow less closely than the noise alone would explain; the first few by name."""
    names = [" and ".join(map(visible, pair)) for pair in portrait.missed]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"the model misses {len(names)} of {len(portrait.measured.pairs)} pairs: {'; '.join(names[:3])}{more}"


def _caps(plan: SynthesisPlan) -> str:
    most = plan.sheet.most_rows
    return "each row counts once" if most == 1 else f"at most {most} rows of one person count, chosen at random"


def _figure(figure: Figure) -> str:
    return f"{figure.found:.4f}" + (f" ± {figure.error:.4f}" if figure.error else "")


def _table(*headings: str) -> Table:
    return Table(*headings, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
