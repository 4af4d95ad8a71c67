"""Calculators that need no account, for a classroom: each part of the page is a form whose sliders change one picture.

Everything is computed from what is in the address. No data are involved, and every number has a bound, because a
stranger chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from sitr.accounting.compare import compare
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.accounting.training import Training
from sitr.errors import InvalidUse, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import parse
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.report.chart import bells, dots
from sitr.report.comparison import tightest
from sitr.report.figures import at_most
from sitr.report.headline import Headline
from sitr.report.page.html import flavor_table
from sitr.report.views import views
from sitr.report.words.messages import error_text
from sitr.report.words.words import in_words
from sitr.server.access import ANYONE, Decided, Limits
from sitr.server.render import inline, live, page, part, problems

router = APIRouter(include_in_schema=False, dependencies=[Depends(ANYONE)])

MOST_TIMES = 1000
"""How many releases are added up for a stranger."""

MOST_LETTERS = 200
"""How long the promise of a stranger may be: one with thousands of orders takes seconds."""

MOST_STEPS = 20_000
"""The most steps of a training run."""

Notation = Annotated[str, Query(max_length=MOST_LETTERS)]


@dataclass(frozen=True, slots=True)
class Played:
    """What the sliders say."""

    sigma: float
    epsilon: float
    promise: str
    times: int
    delta: float
    group: int
    gamma: float
    releases: int
    source: str
    examples: int
    batch: int
    epochs: int
    multiplier: float


def played(
    sigma: Annotated[float, Query(ge=0.2, le=20)] = 1.5,
    epsilon: Annotated[float, Query(ge=0, le=20)] = 1.0,
    promise: Notation = "pure(0.1)",
    times: Annotated[int, Query(ge=1, le=MOST_TIMES)] = 100,
    delta: Annotated[float, Query(gt=0, lt=1)] = 1e-6,
    group: Annotated[int, Query(ge=1, le=100)] = 3,
    gamma: Annotated[float, Query(ge=0, le=1)] = 0.01,
    releases: Annotated[int, Query(ge=1, le=100)] = 5,
    source: Notation = "zcdp(0.1)",
    examples: Annotated[int, Query(ge=100, le=10**9)] = 60_000,
    batch: Annotated[int, Query(ge=1, le=10**9)] = 600,
    epochs: Annotated[int, Query(ge=1, le=1_000)] = 20,
    multiplier: Annotated[float, Query(ge=0.3, le=20)] = 1.1,
) -> Played:
    """The sliders, with values to begin with."""
    return Played(
        *(sigma, epsilon, promise, times, delta, group, gamma, releases, source, examples, batch, epochs, multiplier)
    )


@router.get("/play")
def play(
    request: Request,
    limiter: Limits,
    settings: Decided,
    sliders: Annotated[Played, Depends(played)],
    part_of: Annotated[str, Query(alias="part", max_length=20)] = "",
) -> Any:
    """All calculators; or the one that somebody plays with, as a part of the page."""
    limiter.count("play", request.client.host if request.client else "", most=settings.logins_per_minute * 12)
    alone = live(request) and part_of in PARTS
    found = {name: _tried(compute, sliders) for name, compute in PARTS.items() if not alone or name == part_of}
    if alone:
        return part(f"play_{part_of}.html", play=sliders, result=found[part_of], most_times=MOST_TIMES)
    return page("play.html", request, play=sliders, found=found, most_times=MOST_TIMES)


def _tried(compute: Callable[[Played], Mapping[str, Any]], sliders: Played) -> dict[str, Any]:
    """What a calculator finds, or why it finds nothing."""
    try:
        return {"problems": (), "instead": "", **compute(sliders)}
    except SitrError as error:
        return problems(error)


def _loss(sliders: Played) -> dict[str, Any]:
    """The loss of two Gaussians: its picture, P(L > ε), and the δ at this ε."""
    law = Loss(((GaussianLaw(1 / sliders.sigma), 1),))
    delta, tail = law.delta(epsilon=sliders.epsilon).upper, law.exceeding(epsilon=sliders.epsilon).upper
    picture = inline(bells.chart(sliders.sigma, sliders.epsilon))
    return {"picture": picture, "delta": at_most(delta), "tail": at_most(tail)}


def _composition(sliders: Played) -> dict[str, Any]:
    """What each theorem proves about repeated releases."""
    words = in_words()
    kept: Any = parse(sliders.promise)
    found = compare(Schedule((Part((kept,), times=sliders.times),)), delta=sliders.delta)
    best = tightest(found, recorded=False)
    totals = [(row, row.outcome) for row in found.rows if isinstance(row.outcome, Total)]
    if not totals:
        raise InvalidUse(given="No theorem has a total for this promise.", do="Try pure(0.1) or zcdp(0.01).")
    most = max(outcome.upper for _, outcome in totals)
    rows = [
        (
            words.accounting.theorem(row.theorem.name),
            words.accounting.total(outcome),
            row == best,
            outcome.upper / most if most else 0.0,
        )
        for row, outcome in totals
    ]
    return {"rows": rows, "at": words.formula(f"δ = {at_most(sliders.delta)}")}


def _group(sliders: Played) -> dict[str, Any]:
    """What one release promises to groups of each size."""
    words, kept = in_words(), parse(sliders.promise)
    sizes = sorted({1, 2, *range(1, sliders.group, max(1, sliders.group // 5)), sliders.group} - {0})
    rows = []
    for size in sizes:
        if size > sliders.group:
            continue
        try:
            grouped: Any = kept.for_group(size)
            rows.append((words.numerals(str(size)), words.promise(grouped)))
        except SitrError as none:  # not every promise says something about groups
            rows.append((words.numerals(str(size)), error_text(none)))
    return {"rows": rows}


def _random(sliders: Played) -> dict[str, Any]:
    """The data sets for which a random promise may say nothing: γ adds up over releases."""
    total = min(Fraction(1), Fraction(str(sliders.gamma)) * sliders.releases)
    return {"picture": inline(dots.chart(total)), "said": in_words().server.bare(dots.bare(total), dots.DOTS)}


def _convert(sliders: Played) -> dict[str, Any]:
    """A promise in every other flavor."""
    return {"table": flavor_table(views(Headline.of(parse(sliders.source)), None), in_words())}


def _training(sliders: Played) -> dict[str, Any]:
    """The ε of a training run with noisy gradients."""
    if sliders.batch > sliders.examples:
        raise InvalidUse(given="A batch has at most all examples.", do="Choose a smaller batch.")
    if sliders.epochs * sliders.examples > MOST_STEPS * sliders.batch:
        raise InvalidUse(
            given=f"At most {MOST_STEPS} steps are computed here.", do="Choose larger batches or fewer epochs."
        )
    found = _trained(sliders.examples, sliders.batch, sliders.epochs, sliders.multiplier, sliders.delta)
    return {
        "epsilon": at_most(found.epsilon),
        "steps": Training(sliders.examples, sliders.batch, sliders.epochs, 1.0).steps,
    }


@lru_cache(maxsize=512)
def _trained(examples: int, batch: int, epochs: int, sigma: float, delta: float) -> ApproximateDP:
    return ApproximateDP.of(Training(examples, batch, epochs, sigma).loss(), delta=delta, relative=0.05)


PARTS: Mapping[str, Callable[[Played], Mapping[str, Any]]] = {
    "loss": _loss,
    "composition": _composition,
    "group": _group,
    "random": _random,
    "convert": _convert,
    "training": _training,
}
"""The calculators by name."""
