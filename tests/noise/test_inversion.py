from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import binomtest

from sitr.noise import inversion
from sitr.noise.coins import TestCoins
from sitr.noise.inversion import Bits, Inversion, Inversions, settle

DRAWS = 100_000
RATIO = fmpq(9, 10)
THIRD = (2**64 - 1) // 3  # the binary digits of one third: 0101…


def falling(i: int) -> arb:
    """S(i) = 0.9^i, without an end."""
    return arb(RATIO**i)


def power(ratio: fmpq, i: int) -> arb:
    return arb(ratio**i)


def one_third(i: int) -> arb:
    return arb(fmpq(1, 3)) if i == 1 else arb(0)


def inverted(u: Fraction) -> int:
    """#{i ≥ 1 : u < 0.9^i}, by plain arithmetic."""
    i, border = 0, Fraction(9, 10)
    while u < border:
        i, border = i + 1, border * Fraction(9, 10)
    return i


class Endless:
    """Coins that show the same digit for ever."""

    private = False

    def __init__(self, digit: int) -> None:
        self.digit = digit

    def bits(self, count: int, /) -> int:
        return self.digit * ((1 << count) - 1)

    def words(self, count: int, /) -> np.ndarray:
        return np.full(count, self.bits(64), dtype=np.uint64)

    def below(self, _bound: int, /) -> int:
        raise AssertionError


@pytest.mark.parametrize("digit", [0, 1])
@pytest.mark.parametrize("digits", [Bits(4, 8), Bits(3, 11), Bits(5, 12)])
def test_every_word_has_the_outcome_that_plain_arithmetic_finds(digits, digit):
    """Deterministic: U = 0.w000… and U = 0.w111… for every word w, whatever path they take."""
    law, coins = Inversion(falling, digits), Endless(digit)
    length = digits.word
    for w in range(1, 1 << length):  # U = 0 would be read for ever
        u = Fraction(w + digit, 1 << length) - digit * Fraction(1, 1 << 4000)
        assert law.at(np.uint64(w << 64 - length), coins) == inverted(u)


def test_the_guide_knows_only_what_is_certain():
    digits = Bits(8, 16)
    law = Inversion(falling, digits)
    guide = law._guide
    for cell, outcome in enumerate(guide.tolist()):
        ends = (
            {inverted(Fraction(cell, 256)), inverted(Fraction(cell + 1, 256) - Fraction(1, 1 << 99))} if cell else set()
        )
        assert outcome == (ends.pop() if len(ends) == 1 else -1)


def test_words_beyond_the_guide_and_single_words_agree(short):
    law = Inversion(falling, short)
    words = TestCoins(1).words(3000)
    words = words[words >> np.uint64(64 - short.word) > 0]  # zeros would be read for ever
    pieces = (words >> np.uint64(64 - short.guide)).astype(np.uint16)

    class Fixed(Endless):
        def words(self, count: int, /) -> np.ndarray:
            return (words << np.uint64(short.guide))[:count]

    further = law._further(pieces, Fixed(0))
    assert further.tolist() == [law.at(word, Endless(0)) for word in words]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ([THIRD - 1], 1),
        ([THIRD + 1], 0),
        ([THIRD, THIRD - 1], 1),
        ([THIRD, THIRD + 1], 0),
        ([THIRD, THIRD, THIRD, 0], 1),
        ([THIRD, THIRD, THIRD, 2**64 - 1], 0),
    ],
)
def test_an_undecided_draw_goes_on_where_it_stood(words, outcome, script):
    coins = script(*words)
    assert Inversion(one_third).one(coins) == outcome
    assert list(coins.rest) == []


@pytest.mark.parametrize(("last", "outcome"), [(THIRD - 1, 1), (THIRD + 1, 0)])
def test_many_draws_go_on_where_they_stood_too(last, outcome, script):
    """Four pieces of a word, then 48 digits more for the second, then a word more for it."""
    first = THIRD >> 48
    word = int(np.array([first - 1, first, first + 1, 1], dtype=np.uint16).view(np.uint64)[0])
    coins = script(word, (THIRD & (1 << 48) - 1) << 16, last)
    assert Inversion(one_third).many(4, coins).tolist() == [1, outcome, 0, 1]
    assert list(coins.rest) == []


def cumulative(y: int) -> float:
    return 1 - 0.9 ** (y + 1)


@pytest.mark.sampled(1)
def test_short_words_follow_the_law(short, misfit, alarm):
    law = Inversion(falling, short)
    assert misfit(law.many(DRAWS, TestCoins(2)), cumulative, range(120)) > alarm
    coins = TestCoins(3)
    assert misfit([law.one(coins) for _ in range(DRAWS // 10)], cumulative, range(120)) > alarm


def test_full_words_follow_the_law(misfit, alarm):
    assert misfit(Inversion(falling).many(5 * DRAWS, TestCoins(4)), cumulative, range(120)) > alarm


def redrawn(survival, drawn, known, *, coins, more):
    """Broken: an undecided draw is made anew."""
    while (found := inversion._search(survival, drawn, known)) is None:
        drawn = coins.bits(more)
    return found


def folded(survival, drawn, known, *, coins, more):
    """Broken: an undecided draw counts as the first that is possible, so that the last cell takes all of the tail."""
    del coins, more
    i = 1
    with ctx.workprec(200):
        while survival(i) >= arb(drawn + 1) * arb(2) ** -known:
            i += 1
    return i - 1


@pytest.mark.parametrize("broken", [redrawn, folded])
def test_broken_twins_are_rejected(broken, monkeypatch, misfit, alarm):
    monkeypatch.setattr(inversion, "settle", broken)
    law = Inversion(falling, Bits(4, 8))
    assert misfit(law.many(DRAWS, TestCoins(2)), cumulative, range(120)) < alarm


def test_a_biased_threshold_is_rejected(misfit, alarm):
    law = Inversion(lambda i: falling(i) * (1 + arb(2) ** -7) if i == 5 else falling(i))
    assert misfit(law.many(5 * DRAWS, TestCoins(4)), cumulative, range(120)) < alarm


def test_the_tail_beyond_the_last_word_has_its_weight(alarm):
    """With words of eight digits nothing below 2^{−8} has one of its own: here all of it comes from what follows."""
    draws = Inversion(falling, Bits(4, 8)).many(DRAWS, TestCoins(5))
    for k in (53, 60, 80, 100):
        assert 0.9**k < 2**-8
        assert binomtest(int(np.sum(draws >= k)), DRAWS, 0.9**k).pvalue > alarm
    assert draws.max() > 80


@pytest.mark.parametrize("p", [fmpq(0), fmpq(1), fmpq(1, 2), fmpq(1, 256), fmpq(255, 256)])
def test_borders_on_the_grid_and_at_its_ends(p, alarm):
    for digits in (Bits(4, 8), Bits()):
        law = Inversion(lambda i: arb(p) if i == 1 else arb(0), digits)
        draws = law.many(DRAWS, TestCoins(6))
        assert set(draws.tolist()) <= {0, 1}
        assert binomtest(int(draws.sum()), DRAWS, float(p)).pvalue > alarm


def test_a_poor_precision_costs_digits_and_not_the_law(misfit, alarm):
    """What another thread may do to Arb's precision."""
    law = Inversion(lambda i: falling(i) + arb(0, 2.0**-10 if i < 40 else 0), Bits(4, 14))
    coarse = law._bands
    assert (coarse[1] - coarse[0]).max() > 20
    exact = Inversion(law.survival, Bits(4, 14))
    object.__setattr__(exact, "survival", falling)
    exact.__dict__["_bands"] = coarse
    assert misfit(exact.many(DRAWS, TestCoins(7)), cumulative, range(120)) > alarm


def test_bands_that_overlap_stay_in_order():
    law = Inversion(lambda i: arb(fmpq(1, 2)) + arb(0, 2.0**-6 / i) if i < 5 else arb(0), Bits(4, 10))
    lows, highs = law._bands
    assert (np.diff(lows.astype(np.int64)) >= 0).all()
    assert (np.diff(highs.astype(np.int64)) >= 0).all()
    assert (lows <= highs).all()


def test_a_row_is_its_laws_one_by_one(short):
    laws = tuple(Inversion(partial(power, r), short) for r in (fmpq(1, 3), fmpq(9, 10), fmpq(1, 10**9)))
    row = Inversions(laws)
    for words in TestCoins(8).words(3000).reshape(-1, 3):
        if (words >> np.uint64(64 - short.word)).all():  # zeros would be read for ever
            assert row.at(words, Endless(0)) == [
                law.at(word, Endless(0)) for law, word in zip(laws, words, strict=True)
            ]
    assert Inversions(()).at(np.empty(0, dtype=np.uint64), Endless(0)) == []


def test_settling_far_out_is_quick():
    """S(i) = 0.9^i at U = 2^{−600}, i = 3947: found by doubling, not by walking."""
    asked = []

    def counted(i: int) -> arb:
        asked.append(i)
        return falling(i)

    assert settle(counted, 1, 600, coins=Endless(0), more=64) == inverted(Fraction(1, 1 << 600))
    assert len(asked) < 60


@pytest.mark.parametrize("short", [Bits(), Bits(8, 14)])
def test_a_word_of_zeros_is_settled_in_a_row_too(short):
    laws = tuple(Inversion(partial(power, r), short) for r in (fmpq(1, 3), fmpq(9, 10)))
    zeros = np.zeros(1, dtype=np.uint64)
    for law in laws:
        assert Inversions((laws[0], law)).at(np.repeat(zeros, 2), TestCoins(3))[0] == laws[0].at(zeros[0], TestCoins(3))


def test_more_outcomes_than_a_short_integer_has():
    """A uniform law on 40,000 outcomes: in 16 bits those beyond 32,767 would be negative, and looked up again."""
    size = 40_000
    law = Inversion(lambda i: arb(max(size - i, 0)) / size)
    known = law._guide[law._guide >= 0]
    assert known.max() > 2**15
    words = np.flatnonzero(law._guide > 2**15)[:50]
    assert law._guide[words].tolist() == [size - 1 - int(word) * size // 2**16 for word in words]
    drawn = law.many(20_000, TestCoins(5))
    assert drawn.min() >= 0
    # A share of 0.18 of 20,000 draws is beyond; ±1,000 is 18 standard deviations.
    assert abs(np.count_nonzero(drawn > 2**15) - 20_000 * (size - 1 - 2**15) / size) < 1000


def test_few_outcomes_have_a_small_table():
    assert Inversion(falling)._guide.dtype == np.int16
