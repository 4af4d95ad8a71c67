"""What the charges of a ledger would cost if all questions had been fixed in advance, from their plans."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

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
from sitr.session.plain import built, plain


def in_advance(ledger: Ledger, dataset: str, *, most: int | None = MOST) -> InAdvance | None:
    """The tightest total of all charges of an account; None before the first one.

    The ledger stores the plan of a charge under its hash, which is in the entry, and so in the chain. A plan that was
    changed is not believed. A charge that has no plan, because its question has no text or an older version of Sitr
    made it and the answer is not kept, counts with the worst that its price allows; so does one made with test coins.

    δ is the one at which reports read what is spent. More different plans than `most` are not added up.
    """
    entries = ledger.entries(dataset)
    if not entries:
        return None
    spent = ledger.standing(dataset).spent()
    groups: dict[tuple[str, Kept, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.plan, entry.price, entry.coins), []).append(entry)
    few = most is None or len(groups) <= most  # otherwise no plan is looked for
    parts = [
        Part((price,), len(group), known=_loss(ledger, group) if plan and few and not coins else None)
        for (plan, price, coins), group in groups.items()
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
    """The loss of the plan that these charges have in common, if it is stored or one of the answers to it is kept."""
    with suppress(SitrError, *UNREADABLE):  # whoever may charge may store any text
        if (text := ledger.plan(entries[0].plan)) and (plan := _read(json.loads(text))) is not None:
            return plan.loss()
    for entry in entries:
        with suppress(SitrError, *UNREADABLE):
            found = find(ledger, entry)
            if found is None or not found.private:
                continue
            written = found.content["plan"]
            if sha256(json.dumps(written, sort_keys=True).encode()).hexdigest() != entry.plan:
                continue
            if (plan := _read(written)) is not None:
                return plan.loss()
    return None


def _read(written: Any) -> Plan | None:
    """A plan that another version of Sitr may have written; None if this version would not write the same."""
    with suppress(SitrError, *UNREADABLE):
        plan = built(written)
        return plan if isinstance(plan, Plan) and plain(plan) == written else None
    return None
