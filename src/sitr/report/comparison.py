"""Composition theorems side by side: as a table for people, as a dictionary for machines.

A comparison is of a schedule, fixed in advance, or of what a ledger has `recorded`: releases that were chosen one after
another. For recorded releases, only theorems that are valid under adaptive choice compete for the tightest.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.accounting.compare import Comparison, TheoremResult, infinite_mass
from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.report.figures import at_most
from sitr.report.paper import Facts, PaperColumn, PaperTable
from sitr.report.text import terminal
from sitr.report.words.words import Words, in_words


def render(comparison: Comparison, *, recorded: bool = False, words: Words | None = None) -> RenderableType:
    """For a terminal: a line for every theorem that applies, why the others do not, and what all have in common."""
    words = in_words(words)
    say, best = words.accounting, tightest(comparison, recorded=recorded)
    proved: list[tuple[str, ...]] = []
    silent: dict[str, list[str]] = {}
    for row in comparison.rows:
        name = say.theorem(row.theorem.name)
        if isinstance(row.outcome, Total):
            marked = words.label(" ← tightest") if row == best else ""
            proved.append((name, say.total(row.outcome) + marked, say.adaptively(row)))
        else:
            silent.setdefault(row.outcome, []).append(name)
    headings = (
        words.label("theorem"),
        f"ε ({words.label('at')} {words.formula(f'δ = {at_most(comparison.delta)}')})",
        words.label("valid when parameters are chosen adaptively?"),
    )
    table = PaperTable(tuple(map(PaperColumn, headings)), lambda: proved, len(proved))
    reasons = (("cannot say", f"{' · '.join(names)} — {say.reason(reason)}") for reason, names in silent.items())
    below = terminal.facts((*reasons, *facts(comparison, recorded=recorded, words=words)), words=words)
    return Group(terminal.grid(table), Text(), below) if proved else below


def facts(comparison: Comparison, *, recorded: bool = False, words: Words | None = None) -> Facts:
    """What all theorems share: the releases, how they were chosen, outright exposure, and γ."""
    words = in_words(words)
    say, schedule, random = words.accounting, comparison.schedule, comparison.gamma is not None
    return (
        ("releases", say.releases(schedule)),
        *((("adaptive", say.adaptive()),) if recorded else ()),
        ("outright", say.outright(_mass(comparison), delta=comparison.delta, random=random)),
        *((("random", say.random(schedule)),) if random else ()),
    )


def random_dict(schedule: Schedule) -> dict[str, object]:
    """The basis and the parts of the γ of a schedule, for machines."""
    whole = schedule.exceptions
    return {"gamma_basis": whole.basis.value, "gamma_parts": dict(whole.parts)}


def _mass(comparison: Comparison) -> float:
    """The largest possible P(L = +∞); at most δ if some ε holds at δ."""
    mass = infinite_mass(comparison.schedule)
    return mass if comparison.tightest is None else min(mass, comparison.delta)


def tightest(comparison: Comparison, *, recorded: bool) -> TheoremResult | None:
    """The row with the least upper bound; for recorded releases, the least that is valid for them."""
    rows = [row for row in comparison.rows if isinstance(row.outcome, Total) and (row.adaptive.valid or not recorded)]
    return min(rows, key=_upper, default=None)


def _upper(row: TheoremResult) -> float:
    return row.outcome.upper if isinstance(row.outcome, Total) else float("inf")


def to_dict(comparison: Comparison, *, recorded: bool = False) -> dict[str, object]:
    """For machines: exact bounds, not rounded."""
    best = tightest(comparison, recorded=recorded)
    return {
        "delta": comparison.delta,
        "gamma": comparison.gamma,
        **(random_dict(comparison.schedule) if comparison.gamma is not None else {}),
        "releases": comparison.schedule.releases,
        "recorded": recorded,
        "infinite_mass": _mass(comparison),
        "tightest": best.theorem.name if best is not None else None,
        "rows": [_row(row) for row in comparison.rows],
    }


def _row(row: TheoremResult) -> dict[str, object]:
    bounds = row.outcome if isinstance(row.outcome, Total) else None
    interval = {"lower": bounds.lower, "upper": bounds.upper, "two_sided": bounds.two_sided} if bounds else None
    return {
        "theorem": row.theorem.name,
        "source": row.theorem.source.strip("[]"),
        "epsilon": interval,
        "reason": row.outcome if isinstance(row.outcome, str) else None,
        "adaptive": {"valid": row.adaptive.valid, "condition": row.adaptive.condition or None},
    }
