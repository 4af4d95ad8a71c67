"""Basic composition: parameters add."""

from __future__ import annotations

from collections.abc import Iterable

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP

HOLDS_AS_STOPPING_RULE = True
"""Valid even when each release's parameters are chosen after seeing earlier answers.  [RRUV16, Thm 3.6]"""


def basic(parts: Iterable[PureDP | ApproximateDP]) -> ApproximateDP:
    """(Σε, Σδ) for releases that are pure or approximate, in any mixture.      [DR14, Thm 3.16]

    >>> basic([PureDP(0.5), ApproximateDP(0.25, 1e-6)])
    ApproximateDP(epsilon=0.75, delta=1e-06)
    """
    return ApproximateDP.compose(part.to_approximate() if isinstance(part, PureDP) else part for part in parts)
