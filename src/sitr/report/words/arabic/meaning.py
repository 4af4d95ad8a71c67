"""The meaning of (ε, δ) and of the odds in Arabic: sentences that answers and accounts share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from sitr.flavors.arrows import Kept
from sitr.flavors.random import Basis, Parts, RandomDP
from sitr.report.figures import at_least, at_most
from sitr.report.words.arabic.marks import listed, ltr, named
from sitr.report.words.arabic.nouns import chance
from sitr.report.words.notation import notation, odds, shares

DELTA, EPSILON, GAMMA = map(ltr, "δεγ")
BASES = {Basis.FINITE_SAMPLE: "مثبتة للعينات المنتهية", Basis.ASYMPTOTIC: "تقاربية كما نُشرت"}
"""The bases of γ in words."""
PARTS = {
    "newcomer": "القادم الجديد",
    "largest pair": "أكبر زوج",
    "alone who leaves": "المنفرد الذي يغادر",
    "alone who comes": "المنفرد الذي يأتي",
}
"""The parts of γ that Sitr names itself."""


def kept(promise: Kept, *, left: bool = False) -> str:
    """A promise in symbols and few digits, rounded up, or rounded down if it is what is `left`."""
    if not isinstance(promise, RandomDP):
        return ltr(notation(promise, left=left))
    inside = kept(cast("Kept", promise.inner), left=left)
    if left:
        return f"{inside}، {ltr(f'γ = {at_least(promise.gamma)}')}"
    return f"{inside}، {exceptions(promise.gamma, promise.basis, promise.parts)}"


def exceptions(gamma: float, basis: Basis, parts: Parts) -> str:
    """γ with its parts and its basis."""
    if gamma == 0.0 and basis is Basis.FINITE_SAMPLE:
        return ltr("γ = 0")
    shown = (f"{PARTS.get(name) or named(name)} {ltr(share)}" for name, share in shares(gamma, parts, others="غيرها"))
    return f"{ltr(f'γ = {at_most(gamma)}')}{f' ({listed(shown)})' if parts else ''}، وهي {BASES[basis]}"


def likelihood(points: Sequence[tuple[float, float]], *, sides: tuple[str, str], evidence: str) -> str:
    """What (ε, δ) means, at one or several points. `evidence` names what was released."""
    here, there = sides
    (epsilon, delta), *others = points
    if epsilon == math.inf:
        return f"عند {ltr(f'δ = {at_most(delta)}')} تفوق {EPSILON} كل عدد يمكن كتابته: فالوعد يكاد يكون بلا مضمون."
    further = "".join(f"، ولا يتجاوزه {_bound(size, rest)}" for size, rest in others)
    return (
        f"كل ما يمكن لأي أحد أن يفعله أو يستنتجه بسبب {evidence} لا يتجاوز احتماله {here} احتمالَه {there} "
        f"{_bound(epsilon, delta)}{further}، والعكس بالعكس."
    )


def moved(epsilon: float, delta: float, evidence: str) -> str:
    """How far the odds move: always where δ = 0, or else towards the truth except with probability δ."""
    if delta == 0.0:
        return f"نسبة الأرجحية لا تتغير بسبب {evidence} إلا بعامل لا يتجاوز {ltr(odds(epsilon))}."
    if epsilon == math.inf:
        return f"نسبة الأرجحية قد تتغير بسبب {evidence} بأي عامل."
    return (
        f"احتمال أن تقترب نسبة الأرجحية من الحقيقة بسبب {evidence} بعامل أكبر من {ltr(odds(epsilon))} لا يتجاوز "
        f"{ltr(at_most(delta))}{_chance(delta)}."
    )


def _bound(epsilon: float, delta: float) -> str:
    return f"مضروبًا في {ltr(odds(epsilon))}{_plus(delta)}"


def _plus(delta: float) -> str:
    return f" مع زيادة لا تتجاوز {ltr(at_most(delta))}{_chance(delta)}" if delta else ""


def _chance(delta: float) -> str:
    return f" (أي {chance(delta)})" if delta < 0.5 else ""
