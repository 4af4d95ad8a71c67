"""Composition theorems side by side: as a table for people, as a dictionary for machines.

A comparison is of a schedule, fixed in advance, or of what a ledger has `recorded`: releases that were chosen one after
another. For recorded releases, only theorems that are valid under adaptive choice compete for the tightest.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.compare import Comparison, Row, infinite_mass
from sitr.accounting.schedule import Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.report.figures import about, at_least, at_most, chance, counted, visible
from sitr.report.words.notation import exceptions

LABELS: Mapping[str, str] = {
    "basic": "basic",
    "advanced": "advanced (DRV 2010)",
    "halved": "advanced, halved (DR 2016)",
    "optimal_equal": "optimal, equal steps (KOV)",
    "optimal_mixed": "optimal, mixed steps (MV)",
    "concentrated": "concentrated (μ, τ)",
    "zero_concentrated": "zero-concentrated",
    "renyi": "Rényi / moments accountant",
    "renyi_as_published": "Rényi, as published in 2016",
    "gaussian": "Gaussian",
    "profile": "several (ε, δ) at once",
    "loss": "privacy-loss distribution",
    "random_union": "random, union bound",
}


def label(name: str) -> str:
    """The name of a theorem in tables and charts.

    >>> label("halved")
    'advanced, halved (DR 2016)'
    """
    return LABELS.get(name, name.replace("_", " "))


def epsilon(bounds: Total) -> str:
    """The total in four digits, rounded outward; an interval if both ends are known and differ in these digits.

    >>> epsilon(Total(4.3296371, 4.3296372, two_sided=True)), epsilon(Total(0.0, 4.32961, two_sided=False))
    ('4.33', '4.33')
    >>> epsilon(Total(4.1, 4.15, two_sided=True))
    '[4.1, 4.15]'
    """
    if bounds.two_sided and about(bounds.lower, digits=4) != about(bounds.upper, digits=4):
        return f"[{at_least(bounds.lower)}, {at_most(bounds.upper)}]"
    return at_most(bounds.upper)


def adaptively(row: Row) -> str:
    """Whether this total is valid when parameters are chosen adaptively: yes, no, or the condition."""
    return "yes" if row.adaptive.valid else row.adaptive.condition or "no"


def render(comparison: Comparison, *, recorded: bool = False) -> RenderableType:
    """For a terminal: a line for every theorem that applies, why the others do not, and what all have in common."""
    best = tightest(comparison, recorded=recorded)
    proved = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    proved.add_column("theorem", no_wrap=True)
    proved.add_column(f"ε (at δ = {at_most(comparison.delta)})", no_wrap=True)
    proved.add_column("valid when parameters are chosen adaptively?")
    silent: dict[str, list[str]] = {}
    for row in comparison.rows:
        name = label(row.theorem.name)
        if isinstance(row.outcome, Total):
            total = epsilon(row.outcome) + (" ← tightest" if row == best else "")
            proved.add_row(*map(Text, (name, total, adaptively(row))), style="bold" if row == best else None)
        else:
            silent.setdefault(row.outcome, []).append(name)
    below = Table.grid(padding=(0, 2))
    below.add_column(style="dim", no_wrap=True)
    below.add_column()
    for reason, names in silent.items():
        below.add_row("cannot say", Text(f"{' · '.join(names)} — {visible(reason)}"))
    for name, sentence in facts(comparison, recorded=recorded):
        below.add_row(name, Text(sentence))
    return Group(proved, Text(), below) if proved.row_count else below


def facts(comparison: Comparison, *, recorded: bool = False) -> tuple[tuple[str, str], ...]:
    """What all theorems share: the releases, how they were chosen, outright exposure, and γ."""
    schedule = comparison.schedule
    shared = [("releases", f"{counted(schedule.releases, 'release')} in {counted(len(schedule.parts), 'step')}.")]
    if recorded:
        shared.append(("adaptive", ADAPTIVE))
    random = comparison.gamma is not None
    shared.append(("outright", outright(_mass(comparison), delta=comparison.delta, random=random)))
    if random:
        shared.append(("random", random_words(comparison.schedule)))
    return tuple(shared)


ADAPTIVE = (
    "A ledger's releases are chosen one after another, in view of earlier answers. Only a row that says yes may be "
    "used as their total, against a limit fixed in advance, and only if that row was chosen before the first release. "
    "A row with a condition may be used only if the condition was met by then, too."
)
RANDOM = (
    "every ε here holds except for this fraction of data. This is random differential privacy: it assumes exchangeable "
    "data, protects a random newcomer and not you, promises nothing to the others in the data, and holds only if every "
    "random mechanism was fixed in advance."
)


def random_dict(schedule: Schedule) -> dict[str, object]:
    """The basis and the parts of the γ of a schedule, for machines."""
    whole = schedule.exceptions
    return {"gamma_basis": whole.basis.value, "gamma_parts": dict(whole.parts)}


def random_words(schedule: Schedule) -> str:
    """The γ of a schedule, its parts, its basis and its meaning."""
    whole = schedule.exceptions
    return f"{exceptions(whole.gamma, whole.basis, whole.parts)}: {RANDOM}"


def outright(mass: float, *, delta: float, random: bool = False) -> str:
    """P(L = +∞), separate from the finite tail. A random promise speaks only of the newcomer.

    >>> outright(0.0, delta=1e-6)
    'Nobody can be exposed outright: no promise here allows an infinite loss. All of δ is finite tail.'
    """
    if mass == 0.0:
        nobody = (
            "Except in the fraction γ, no newcomer can be exposed outright"
            if random
            else "Nobody can be exposed outright"
        )
        return f"{nobody}: no promise here allows an infinite loss. All of δ is finite tail."
    somebody = (
        "A newcomer may be exposed outright beyond the fraction γ" if random else "Somebody may be exposed outright"
    )
    exposed = f"{somebody}: an infinite loss is allowed with probability up to {at_most(mass)} ({chance(mass)})."
    if mass <= delta:
        return f"{exposed} This is the part of δ that no ε removes; only the rest of δ is finite tail."
    return f"{exposed} This is more than δ = {at_most(delta)}: no ε follows at this δ, whatever the theorem."


def _mass(comparison: Comparison) -> float:
    """The largest possible P(L = +∞); at most δ if some ε holds at δ."""
    mass = infinite_mass(comparison.schedule)
    return mass if comparison.tightest is None else min(mass, comparison.delta)


def tightest(comparison: Comparison, *, recorded: bool) -> Row | None:
    """The row with the least upper bound; for recorded releases, the least that is valid for them."""
    rows = [row for row in comparison.rows if isinstance(row.outcome, Total) and (row.adaptive.valid or not recorded)]
    return min(rows, key=_upper, default=None)


def _upper(row: Row) -> float:
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


def _row(row: Row) -> dict[str, object]:
    bounds = row.outcome if isinstance(row.outcome, Total) else None
    interval = {"lower": bounds.lower, "upper": bounds.upper, "two_sided": bounds.two_sided} if bounds else None
    return {
        "theorem": row.theorem.name,
        "source": row.theorem.source.strip("[]"),
        "epsilon": interval,
        "reason": row.outcome if isinstance(row.outcome, str) else None,
        "adaptive": {"valid": row.adaptive.valid, "condition": row.adaptive.condition or None},
    }
