"""Synthetic rows in words and for machines: what was measured, what it cost, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import escape
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Rule, size
from sitr.ledger.receipt import Receipt
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.questions.synthetic.plan import MOST_PAIRS, Method, SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.report import envelope
from sitr.report.envelope import after_paying, promise_dict
from sitr.report.figures import about, number, shortened, visible
from sitr.report.headline import headline
from sitr.report.text.terminal import as_text, entry, facts, promised
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation


def preview(plan: SynthesisPlan, budget: Filter) -> RenderableType:
    """The tables that will be measured and how noisy each count is; `budget` is the filter as it stands."""
    table = _table("table", "cells", "95% error of a count")
    division = plan.division
    for name, cells, error in division.errors():
        table.add_row(Text(shortened(visible(name), most=60)), number(cells), f"± {about(error)}")
    if (coarse := division.pair_error()) is not None:
        table.add_row(f"{min(division.pairs, MOST_PAIRS)} pairs of columns, by groups", "", f"about ± {about(coarse)}")
    if plan.quality is not None:
        table.add_row("quality: each distance, in rows", "", f"± {about(float(plan.quality.distances.error()))}")
    after = after_paying(plan, budget)
    return Group(
        table,
        facts(
            ("price", _price(plan)),
            *promised(headline(plan), plan.sheet),
            ("caps", _caps(plan)),
            ("left now", notation(budget.remaining(), left=True)),
            ("left then", notation(after.remaining(), left=True) if after else "the budget cannot pay this"),
        ),
    )


def answer(portrait: Portrait, receipt: Receipt) -> RenderableType:
    """What was made and what it cost."""
    band = () if receipt.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    measured = portrait.measured
    tables = len(measured.alone) + len(measured.chosen_by) + len(measured.pairs)
    return Group(
        *band,
        facts(
            ("columns", ", ".join(visible(name) for name in portrait.plan.sheet.names)),
            ("tables", f"{tables}, each count with its noise; rows drawn from them cost nothing more"),
            ("rows", f"about {number(portrait.size)} in the data set, by noisy counts"),
            *([("fit", _missed(portrait))] if portrait.missed else []),
            *([("price", _price(portrait.plan))] if portrait.plan.quality else []),
            *promised(headline(portrait.plan), portrait.plan.sheet),
            ("caps", _caps(portrait.plan)),
            *entry(receipt),
        ),
    )


def quality(found: Quality, receipt: Receipt | None, *, private: bool) -> RenderableType:
    """The means, and the worst of each kind; `receipt` is None where nothing was charged."""
    band = () if private else (Text(ENGLISH.not_private(), style="bold white on red"),)
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
        if found.plan is None
        else f"the data, for {notation(found.plan.price)}"
    )
    told = [("compared", f"with {with_what}")]
    if found.scores is not None:
        ours, theirs = found.scores
        told.append(("accuracy", f"{ours:.3f} when trained on synthetic rows, {theirs:.3f} when trained on real ones"))
    if receipt is not None:
        told.extend(entry(receipt))
    return Group(*band, table, facts(*told))


def to_dict(portrait: Portrait, receipt: Receipt) -> dict[str, Any]:
    """For machines: the envelope, what was measured, and with how much noise."""
    measured = portrait.measured
    return envelope.of_answer("synthetic rows", portrait.plan, receipt) | {
        **_plan(portrait.plan),
        "rows": measured.total,
        "tables": [
            {
                "columns": [portrait.plan.sheet.names[place] for place in table.columns],
                "shape": list(table.counts.shape),
                "deviation": table.deviation,
            }
            for table in (*measured.alone, *measured.chosen_by, *measured.pairs)
        ],
        "missed": [list(pair) for pair in portrait.missed],
    }


def preview_dict(plan: SynthesisPlan, standing: Filter) -> dict[str, Any]:
    """For machines: no rows were read."""
    division = plan.division
    errors = [{"table": name, "cells": cells, "error_95": error} for name, cells, error in division.errors()]
    pairs = {"number": division.pairs, "error_95": division.pair_error()} if plan.method is Method.MARGINALS else None
    distance = None if plan.quality is None else {"distance_error_95": float(plan.quality.distances.error())}
    return envelope.of_preview("synthetic rows", plan, standing) | {
        **_plan(plan),
        "errors": errors,
        "pairs": pairs,
        "quality": distance,
    }


def fragment(portrait: Portrait, receipt: Receipt) -> str:
    """For a notebook."""
    return f"<pre>{escape(as_text(answer(portrait, receipt)))}</pre>"


def preview_fragment(plan: SynthesisPlan, standing: Filter) -> str:
    """For a notebook."""
    return f"<pre>{escape(as_text(preview(plan, standing)))}</pre>"


def quality_dict(found: Quality, receipt: Receipt | None, *, private: bool) -> dict[str, Any]:
    """For machines; `receipt` is None where nothing was charged."""

    def listed(figures: Sequence[Figure]) -> list[dict[str, Any]]:
        return [{"columns": list(f.columns), "found": f.found, "error_95": f.error} for f in figures]

    kind = "quality of synthetic rows"
    paid = found.plan is not None and receipt is not None
    return (
        envelope.of_answer(kind, found.plan, receipt)  # type: ignore[arg-type]
        if paid
        else {"kind": kind, "receipt": None}
    ) | {
        "private": private,
        "public_table": found.holdout,
        "mean_single": found.mean_single,
        "mean_pairs": found.mean_pairs,
        "single": listed(found.single),
        "pairs": listed(found.pairs),
        "ranges": listed(found.ranges),
        "correlations": listed(found.correlations),
        "scores": None if found.scores is None else dict(zip(("synthetic", "real"), found.scores, strict=True)),
    }


def _plan(plan: SynthesisPlan) -> dict[str, Any]:
    return {
        "method": plan.method.value,
        "prices": {
            "rows": promise_dict(plan.division.price),
            "quality": None if plan.quality is None else promise_dict(plan.quality.price),
        },
        "relation": plan.sheet.relation.value,
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


def _missed(portrait: Portrait) -> str:
    """Which pairs the rows follow less closely than the noise alone would explain; the first few by name."""
    names = [" and ".join(map(visible, pair)) for pair in portrait.missed]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"the model misses {len(names)} of {len(portrait.measured.pairs)} pairs: {'; '.join(names[:3])}{more}"


def _price(plan: SynthesisPlan) -> str:
    """The one charge, and its parts."""
    if plan.quality is None:
        return notation(plan.price)
    rows, quality = notation(plan.division.price), notation(plan.quality.price)
    return f"{notation(plan.price)}: {rows} for the rows, and {quality} to measure their quality"


def _caps(plan: SynthesisPlan) -> str:
    most = plan.sheet.most_rows
    return "each row counts once" if most == 1 else f"at most {most} rows of one person count, chosen at random"


def _figure(figure: Figure) -> str:
    return f"{figure.found:.4f}" + (f" ± {figure.error:.4f}" if figure.error else "")


def _table(*headings: str) -> Table:
    return Table(*headings, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
