"""What a coalition sees, written out for small instances: uniform shares and the total, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product

import pytest

from sitr.errors import InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.loss.forms.finite import pair
from sitr.loss.loss import Loss
from sitr.mechanisms.secret_shares import SecretSharing
from sitr.noise.coins import Coins, TestCoins

BITS, PARTIES, AGGREGATORS = 2, 3, 2
SMALL = SecretSharing(aggregators=AGGREGATORS, bits=BITS)
Shares = tuple[tuple[int, ...], ...]
Split = Callable[..., tuple[int, ...]]
View = Counter[tuple[object, ...]]
NOISE = {-1: Fraction(1, 6), 0: Fraction(4, 6), 1: Fraction(1, 6)}
"""The noise of one party, small enough to write everything out."""


class Listed:
    """Coins that fall as they are told."""

    private = False

    def __init__(self, *values: int) -> None:
        self.values = list(values)

    def bits(self, count: int, /) -> int:
        assert count == BITS
        return self.values.pop(0)


def shared(numbers: tuple[int, ...], split: Split) -> Iterator[Shares]:
    """The shares of all parties, for all ways in which their coins can fall, each as likely as the others."""
    for fallen in product(range(1 << BITS), repeat=len(numbers) * (AGGREGATORS - 1)):
        yield tuple(
            split(number, coins=Listed(*fallen[place * (AGGREGATORS - 1) : (place + 1) * (AGGREGATORS - 1)]))
            for place, number in enumerate(numbers)
        )


def view(numbers: tuple[int, ...], curious: tuple[int, ...], corrupt: tuple[int, ...], *, split: Split) -> View:
    """The law of everything that the curious parties and the corrupt aggregators know, and the published sums."""
    seen: View = Counter()
    for shares in shared(numbers, split):
        own = tuple(shares[party] for party in curious)
        received = tuple(tuple(party[place] for party in shares) for place in corrupt)
        sums = tuple(SMALL.added(party[place] for party in shares) for place in range(AGGREGATORS))
        seen[(own, received, sums)] += 1
    return seen


def coalitions() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for size in range(PARTIES - 1):
        for curious in combinations(range(PARTIES), size):
            for corrupt in combinations(range(AGGREGATORS), AGGREGATORS - 1):
                yield curious, corrupt


def same_totals(curious: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Two sets of numbers with one total, which differ only at honest parties."""
    base = (1, 0, 2)
    for other in product(range(1 << BITS), repeat=PARTIES):
        if all(other[party] == base[party] for party in curious) and (sum(other) - sum(base)) % (1 << BITS) == 0:
            yield base, other


def leaks(split: Split) -> bool:
    """Whether some coalition sees more of the honest numbers than their total."""
    return any(
        view(one, curious, corrupt, split=split) != view(other, curious, corrupt, split=split)
        for curious, corrupt in coalitions()
        for one, other in same_totals(curious)
    )


def test_no_coalition_sees_more_than_the_total():
    assert not leaks(SMALL.split)


def test_a_mask_that_is_used_again_is_seen():
    """The broken twin: all shares but the last from the same coins for every party, or not uniform."""

    def again(number: int, *, coins: Coins) -> tuple[int, ...]:  # noqa: ARG001
        return SMALL.split(number, coins=Listed(*[3] * (AGGREGATORS - 1)))  # type: ignore[arg-type]

    def small(number: int, *, coins: Coins) -> tuple[int, ...]:
        mask = coins.bits(BITS) % 2  # from a smaller modulus than that of the sum
        return mask, SMALL.added([number, -mask])

    def plain(number: int, *, coins: Coins) -> tuple[int, ...]:
        return coins.bits(BITS), number

    assert leaks(again)
    assert leaks(small)
    assert leaks(plain)


def test_shares_of_a_corrupt_aggregator_are_uniform():
    """Whatever the numbers are: before anything is published, m − 1 aggregators see coins only."""
    for number in range(1 << BITS):
        for place in range(AGGREGATORS):
            seen = Counter(shares[0][place] for shares in shared((number,), SMALL.split))
            assert set(seen.values()) == {1}
            assert len(seen) == 1 << BITS


def total_law(numbers: tuple[int, ...], curious: tuple[int, ...]) -> dict[int, Fraction]:
    """The total modulo 2^k, as those see it who know the noise of the curious parties: only the others' is added."""
    law: dict[int, Fraction] = {}
    honest = PARTIES - len(curious)
    for noise in product(NOISE, repeat=honest):
        weight = Fraction(1)
        for one in noise:
            weight *= NOISE[one]
        total = (sum(numbers) + sum(noise)) % (1 << BITS)
        law[total] = law.get(total, Fraction(0)) + weight
    return law


def test_the_total_that_a_coalition_sees_has_the_loss_of_the_honest_noise():
    """One of the honest numbers moves by 1: the loss is that of two shares, more than that of three."""
    losses = []
    for curious in ((), (2,)):
        one, other = total_law((1, 0, 2), curious), total_law((0, 0, 2), curious)
        places = range(1 << BITS)
        law = pair([one.get(k, Fraction(0)) for k in places], [other.get(k, Fraction(0)) for k in places])
        losses.append(Loss.of(law).max())
    assert losses[0] < losses[1]
    assert PureDP(losses[1] * 1.001).kept_by(Loss.of(law))
    assert not PureDP(losses[0]).kept_by(Loss.of(law))  # calibrated for all parties instead of the honest ones


def test_two_totals_of_the_same_shares_reveal_a_party():
    """Why each set of shares is added up once: the difference is the number of the one that was left out."""
    coins = TestCoins(4)
    sharing = SecretSharing(aggregators=3, bits=16)
    shares = [sharing.split(number, coins=coins) for number in (5, -9, 100)]
    totals = [sharing.opened(map(sharing.added, zip(*some, strict=True))) for some in (shares, shares[:2])]
    assert totals[0] - totals[1] == 100


@pytest.mark.parametrize("numbers", [(5, -9, 100), (0,), (-(2**15),), (2**15 - 1,)])
def test_what_is_opened_is_the_total(numbers):
    sharing, coins = SecretSharing(aggregators=4, bits=16), TestCoins(5)
    shares = [sharing.split(number, coins=coins) for number in numbers]
    assert sharing.opened(map(sharing.added, zip(*shares, strict=True))) == sum(numbers)


def test_a_total_beyond_the_modulus_wraps_around():
    sharing = SecretSharing(aggregators=2, bits=8)
    assert sharing.opened(sharing.split(128, coins=TestCoins(6))) == -128


@pytest.mark.parametrize("wrong", [{"aggregators": 1, "bits": 8}, {"aggregators": 2, "bits": 0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        SecretSharing(**wrong)


def test_without_one_aggregator_nothing_is_opened():
    with pytest.raises(InvalidParameter, match="all 3 aggregators"):
        SecretSharing(aggregators=3, bits=8).opened([1, 2])
