"""The JSON that all previews and answers share: question, price, promise, budget and receipt.

=============  =========================================================================================================
kind           the kind of question; "preview of …" if nothing was charged
question       one line, as recorded in the ledger
price          what this answer may cost
promise        what the measurements guarantee, within the price
headline       the promise as (ε, δ), see `sitr.report.headline`
delta          `infinite_mass`: somebody exposed outright; `finite_tail`: losses above ε, null if moments bound them
budget         `promise`, `charge`, and `before` and `after` with `spent` and `remaining`; `after` is null in a preview
               that the budget cannot pay
receipt        `dataset`, `neighbors`, `entry`, `at` (ISO 8601), `by`, `version`, `private`, `kept`, `sha256` of the
               release, and `again`: true for a kept answer, for which nothing was spent; null in a preview. The JSON of
               an answer also has `figures_sha256`, see `sitr.report.evidence.checksum`. `coins`
               says where the noise came from ("keyed generator", "hardware" or "test coins"), and `guarantee` is the
               promise as these coins keep it: computational for a keyed generator, null for test coins. `deadlines`
               are the times after the charge at which the answer left, one for each stage: fixed before any row was
               read, unless one is `late`; none if nothing is promised about time
=============  =========================================================================================================

The JSON of previews and answers also has the `plan`: see `sitr.report.evidence.evidence`.

A question that joins protected tables has a `join`, too: see `sitr.report.joined`.

Every promise is an object with its `notation`, its `flavor` and its parameters. JSON is always in English.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import NAMES, write
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.report.headline import Headline
from sitr.report.words.english.english import ENGLISH


def of_preview(kind: str, plan: Plan, headline: Headline, standing: Filter) -> dict[str, Any]:
    """The envelope of a preview; `standing` is the budget now."""
    after = after_paying(plan, standing)
    return {
        "kind": f"preview of {kind}",
        **_plan(plan, headline),
        "budget": budget_dict(standing.charge(plan.price), standing, after),
        "receipt": None,
    }


def of_answer(kind: str, plan: Plan, headline: Headline, receipt: Receipt) -> dict[str, Any]:
    """The envelope of an answer."""
    entry = receipt.entry
    return {
        "kind": kind,
        **_plan(plan, headline),
        "budget": budget_dict(entry.price, receipt.before(), receipt.standing),
        "receipt": {
            "dataset": receipt.dataset,
            "neighbors": receipt.neighbors,
            "entry": entry.number,
            "at": entry.at.isoformat(),
            "by": entry.by,
            "version": entry.version,
            "private": receipt.private,
            "coins": receipt.provenance.value,
            "guarantee": None if (kept := receipt.guarantee(headline.promise)) is None else promise_dict(kept),
            "kept": None if receipt.kept is None else str(receipt.kept),
            "sha256": receipt.sha256 or None,
            "hash": entry.hash or None,
            "second_budget": entry.second,
            "again": receipt.again,
            "deadlines": [{"seconds": each.seconds, "late": each.late} for each in receipt.departures],
        },
    }


def _plan(plan: Plan, headline: Headline) -> dict[str, Any]:
    promise = headline.promise
    moments = isinstance(promise, ZeroConcentratedDP | ApproximateZeroConcentratedDP | GaussianDP)
    return {
        "question": plan.text,
        "price": promise_dict(plan.price),
        "promise": promise_dict(promise),
        "headline": headline.to_dict(),
        "delta": {"infinite_mass": plan.infinite_mass(), "finite_tail": None if moments else plan.finite_tail()},
    }


def budget_dict(charge: Promise, before: Filter, after: Filter | None) -> dict[str, Any]:
    """A budget before and after a charge."""
    return {
        "promise": promise_dict(before.promise),
        "charge": promise_dict(charge),
        "before": _standing(before),
        "after": None if after is None else _standing(after),
    }


def promise_dict(promise: Promise) -> dict[str, Any]:
    """A promise: `notation`, `flavor` and parameters; a random promise also has its meaning in `words`."""
    flavor = next(name for name, kind in NAMES.items() if type(promise) is kind)
    parameters = {field.name: getattr(promise, field.name) for field in fields(cast("Any", promise))}
    if isinstance(promise, RandomDP):
        inner, parts = promise_dict(cast("Kept", promise.inner)), dict(promise.parts)
        parameters |= {"inner": inner, "basis": promise.basis.value, "parts": parts, "words": ENGLISH.newcomer(promise)}
    if isinstance(promise, Pufferfish):
        parameters |= {"framework": asdict(promise.framework)}
    if isinstance(promise, ComputationalDP):
        parameters["inner"] = promise_dict(promise.inner)
    return {"notation": write(promise), "flavor": flavor, **parameters}


def after_paying(plan: Plan, standing: Filter) -> Filter | None:
    """The budget after this plan is paid; None if it cannot pay."""
    try:
        return standing.consent(plan.price)
    except BudgetExceeded:
        return None


def _standing(budget: Filter) -> dict[str, Any]:
    return {"spent": promise_dict(budget.spent()), "remaining": promise_dict(budget.remaining())}
