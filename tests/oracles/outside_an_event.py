"""The definition of approximate zero-concentrated privacy, decided exactly for two laws given by their masses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import arb

from sitr.numbers import Number, ball

Pair = list[tuple[arb, arb]]

ORDERS: Sequence[Number] = (1.01, 1.5, 2, 3, 10, 40)


def outside_an_event(pair: Pair, rho: arb, delta: arb, *, orders: Iterable[Number] = ORDERS) -> Iterable[arb]:
    """By how much the pair breaks (ρ, δ) in this direction: at infinity, and at each order.

    It yields P(Q = 0) − δ, and D_α(P₁‖Q₁) − ρα for the best P₁, Q₁ of `best_parts`. A positive number is a proof that
    the definition fails, because no other choice of P₁ and Q₁ has a smaller divergence of that order.
    """
    if delta == 1:
        return
    exposed = sum((p for p, q in pair if q == 0), arb(0))
    yield exposed - delta
    parts = None if exposed > delta else best_parts(pair, delta)
    if parts is not None:
        for order in orders:
            yield divergence(parts, ball(order)) - rho * ball(order)


def best_parts(pair: Pair, delta: arb) -> Pair | None:
    """The P₁ ≤ P/(1 − δ) and Q₁ ≤ Q/(1 − δ) with the least divergence, for every order and in both directions.

    They clip the likelihood ratio from above at r with Σ(P − rQ)₊ = δ, and from below at 1/s with Σ(Q − sP)₊ = δ: P₁ =
    min(P, rQ)/(1 − δ), Q₁ = min(Q, sP)/(1 − δ). Proof: F = Σ P₁^α·Q₁^{1−α} is convex in both. ∂F/∂P₁ = α·(P₁/Q₁)^{α−1}
    has one and the same value wherever P₁ was cut, and smaller ones elsewhere; ∂F/∂Q₁ = (1 − α)·(P₁/Q₁)^α likewise.
    These are the conditions of Karush, Kuhn and Tucker, so no other choice is better. None where r < 1: then the two
    laws share 1 − δ of their mass, and P₁ = Q₁ will do.
    """
    above, below = _clip(pair, delta), _clip([(q, p) for p, q in pair], delta)
    if above is not None and above < 1:
        return None
    clipped = [(_cut(p, q, above) / (1 - delta), _cut(q, p, below) / (1 - delta)) for p, q in pair]
    return [(p, q) for p, q in clipped if not p == q == 0]


def divergence(pair: Pair, alpha: arb) -> arb:
    """D_α(P‖Q)."""
    if any(q == 0 for _, q in pair):
        return arb.pos_inf()
    moment = sum(((alpha * p.log() + (1 - alpha) * q.log()).exp() for p, q in pair if p != 0), arb(0))
    return moment.log() / (alpha - 1)


def _cut(mass: arb, other: arb, clip: arb | None) -> arb:
    """The mass, but at most `clip` times the other one; nothing where the other law has none."""
    if other == 0:
        return arb(0)
    return clip * other if clip is not None and clip * other < mass else mass


def _clip(pair: Pair, delta: arb) -> arb | None:
    """r with Σ(P − rQ)₊ = δ; None if that is the mass at infinity, to within 2⁻²⁵⁰, so that nothing is cut.

    From the largest ratio downward, Σ(P − rQ)₊ is linear in r between neighbouring ratios.
    """
    cut, against = sum((p for p, q in pair if q == 0), arb(0)), arb(0)
    if not delta > cut + ball(2) ** -250:
        return None
    for p, q in sorted((each for each in pair if each[1] != 0), key=lambda each: -float((each[0] / each[1]).mid())):
        if against != 0 and cut - against * p / q > delta:
            break
        cut, against = cut + p, against + q
    return (cut - delta) / against
