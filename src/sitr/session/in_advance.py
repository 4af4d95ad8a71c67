"""What the charges of a ledger would cost if all questions had been fixed in advance, from their kept plans."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from sitr.accounting.in_advance import MOST, InAdvance, total_in_advance
from sitr.accounting.schedule import Part
from sitr.errors import SitrError
from sitr.flavors.arrows import Kept
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.loss.loss import Loss
from sitr.plans.plan import Plan
from sitr.report.headline import READING_DELTA, Headline
from sitr.session.kept import UNREADABLE, find
from sitr.session.plain import built


def in_advance(ledger: Ledger, dataset: str, *, most: int | None = MOST) -> InAdvance | None:
    """The tightest total of all charges of an account; None before the first one.

    The plan of an answer is kept with it, and its hash is in the entry of the charge, which is part of the chain. So a
    plan that was changed is not believed. A charge whose plan is not kept, or was made with test coins, counts with the
    worst that its price allows.

    δ is the one at which reports read what is spent. More different plans than `most` are not added up.
    """
    entries = ledger.entries(dataset)
    if not entries:
        return None
    spent = ledger.standing(dataset).spent()
    groups: dict[tuple[str, Kept], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.plan, entry.price), []).append(entry)
    few = most is None or len(groups) <= most  # otherwise no plan is looked for
    parts = [
        Part((price,), len(group), known=_loss(ledger, group) if plan and few else None)
        for (plan, price), group in groups.items()
    ]
    headline = Headline.of(spent)
    found = total_in_advance(parts, delta=headline.delta or READING_DELTA, most=most)
    if found.epsilon is None:
        return found
    # What the sum implies is valid for a fixed plan as well, and where no loss is known it may be the least.
    return replace(found, epsilon=min(found.epsilon, headline.implied), summed=headline.implied)


def all_in_advance(ledger: Ledger, datasets: Iterable[str]) -> dict[str, InAdvance]:
    """The totals of several accounts by name, without those to which nothing was charged."""
    found = ((dataset, in_advance(ledger, dataset)) for dataset in datasets)
    return {dataset: total for dataset, total in found if total is not None}


def _loss(ledger: Ledger, entries: list[Entry]) -> Loss | None:
    """The loss of a plan, if one of the answers to it is kept."""
    for entry in entries:
        with suppress(SitrError, *UNREADABLE):
            found = find(ledger, entry)
            if found is None or not found.private:
                continue
            written = found.content["plan"]
            if sha256(json.dumps(written, sort_keys=True).encode()).hexdigest() != entry.plan:
                continue
            plan = built(written)
            if isinstance(plan, Plan):
                return plan.loss()
    return None
