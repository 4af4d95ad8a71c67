"""Additive secret sharing modulo 2^k: parties add up numbers that nobody sees.

Each party splits its number, noise included, into m shares that add up to it modulo 2^k, and sends one to each of m
aggregators. Any m − 1 of the shares are independent and uniform, whatever the number is. Each aggregator adds up the
shares that it received and publishes the sum; all sums together give the total, and nothing else.

It is assumed that

- everybody follows the protocol (semi-honest parties: they may be curious, and may put together what they saw);
- at least one aggregator shares nothing with the others;
- each channel is private, and each party and aggregator has coins of its own.

Parties may drop out before all of their shares are delivered: all aggregators leave out the same ones.
Aggregators may not drop out. Each set of shares is added up once: two totals of different parties reveal a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sitr.errors import InvalidParameter
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import natural


@dataclass(frozen=True, slots=True)
class SecretSharing:
    """m shares of integers modulo 2^k.

    >>> sharing = SecretSharing(aggregators=3, bits=32)
    >>> first, second = sharing.split(20), sharing.split(-27)
    >>> sharing.opened(sharing.added(pair) for pair in zip(first, second))
    -7
    """

    aggregators: int
    bits: int

    def __post_init__(self) -> None:
        natural(self.aggregators, name="aggregators", of="SecretSharing", least=2)
        natural(self.bits, name="bits", of="SecretSharing")

    def split(self, number: int, *, coins: Coins | None = None) -> tuple[int, ...]:
        """All shares but the last are uniform, and the last is what is missing."""
        tossed = system_coins() if coins is None else coins
        drawn = [tossed.bits(self.bits) for _ in range(self.aggregators - 1)]
        return (*drawn, self.added([number, *(-one for one in drawn)]))

    def added(self, shares: Iterable[int]) -> int:
        """The sum modulo 2^k: what an aggregator publishes."""
        return sum(shares) % (1 << self.bits)

    def opened(self, sums: Iterable[int]) -> int:
        """The total from the sums of all aggregators, from −2^{k−1} up to, but not including, 2^{k−1}."""
        found = list(sums)
        if len(found) != self.aggregators:
            raise InvalidParameter(
                wanted=f"the sums of all {self.aggregators} aggregators",
                given=f"{len(found)} sums",
                do="Ask every aggregator: without one of them, the others know nothing.",
            )
        half = 1 << self.bits - 1
        return (self.added(found) + half) % (1 << self.bits) - half
