"""How far apart the answers on two neighbouring tables can be, in exact numbers."""

from __future__ import annotations

from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.numbers import square_root_upward


@dataclass(frozen=True, slots=True)
class Distance:
    """Bounds on a vector of differences: the sum of its sizes, of its squares, and its largest entry.

    >>> Distance(l1=6, l2_squared=12, largest=2).l2 ** 2 >= 12
    True
    """

    l1: int
    l2_squared: int
    largest: int

    @property
    def l2(self) -> Fraction:
        """√(sum of squares), rounded up, because it is rarely rational."""
        return square_root_upward(Fraction(self.l2_squared))
