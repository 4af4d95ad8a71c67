"""A loss, given that it is finite."""

from __future__ import annotations

from flint import arb

from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.numbers import ball
from sitr.precision import nearest, precision


def finite_part(loss: Loss, /) -> Loss | None:
    """The loss of both laws given that it is finite, both ways; None if it never is, or if one of its laws is unknown.

    The parts of a sum are independent, so the sum is finite if all of them are, and given that, they are still
    independent. P given Q > 0 and Q given P > 0 have the loss L − ln P(Q > 0) + ln Q(P > 0).

    >>> from sitr.loss.forms.finite import response
    >>> finite_part(Loss.of(response(1.0, infinite=0.5), 2)).max()
    2.0...
    """
    rests = [(_rest(law), times) for law, times in loss.laws]
    known = [(law, times) for law, times in rests if law is not None]
    if len(known) < len(rests):
        return None
    telling = tuple((law, times) for law, times in known if not law.least == law.greatest == 0.0)
    return Loss.compose([Loss(telling, loss.bound)])


def _rest(law: Law) -> Law | None:
    """The law given that the loss is finite, rounded to nearest, as the masses of a finite law are."""
    if law.infinite == 0.0 and law.reversed().infinite == 0.0:
        return law
    if not isinstance(law, FiniteLaw) or 1.0 in (law.infinite, law.beyond):
        return None
    with precision(256):
        here, there = ((1 - ball(mass)).log() for mass in (law.infinite, law.beyond))
        losses = [nearest(arb(loss) - here + there, zero=200) for loss in law.losses]
        masses = [nearest(arb(mass) - here, zero=200) for mass in law.log_masses]
    return FiniteLaw(tuple(losses), tuple(masses))
