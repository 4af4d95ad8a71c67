"""The protocol of statistics: their values and sensitivities."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, runtime_checkable

from sitr.numbers import Number
from sitr.sensitivity.sample import Granules


@runtime_checkable
class Statistic(Protocol):
    """A number f(X) computed from one number of each of n people, n being public, and how far replacements move it.

    X is sorted, in whole granules from `low` to `high`. The local sensitivity at distance k is

        LS_k(X) = max{|f(Y) − f(Z)| : Y differs from X in at most k people, Z from Y in at most one}.
    """

    @property
    def power(self) -> int:
        """f is counted in granules to this power."""

    @property
    def whole(self) -> bool:
        """Whether f is always an integer."""

    def value(self, sample: Granules) -> Fraction:
        """f(X)."""

    def local(self, sample: Granules, low: int, high: int, *, distance: int = 0) -> Fraction:
        """LS_k(X), exactly, at distance k."""

    def smooth(self, sample: Granules, low: int, high: int, *, dilation: Number) -> float:
        """S(X) = max_k e^{−βk}·LS_k(X), rounded up, and at least as large as the least difference of two values of f.

        Without that lower limit it is the smallest bound on LS_0 that changes by a factor of at most e^β between
        neighbours.      [NRS07, Lemma 2.3]
        """

    def distance(self, sample: Granules, low: int, high: int, *, bound: Number) -> int:
        """The least k with LS_k(X) > bound: the distance to a sample that one more person can move farther than that.

        n + 1 if there is no such sample. Neighbours differ by at most 1.
        """
