"""The clipped pair against a search over all pairs, and by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb, ctx

from sitr.numbers import ball
from tests.oracles.outside_an_event import Pair, best_parts, divergence, outside_an_event


def exactly(p: list[int], q: list[int]) -> Pair:
    return [(ball(Fraction(a, sum(p))), ball(Fraction(b, sum(q)))) for a, b in zip(p, q, strict=True)]


def test_by_hand():
    """(¾, ¼) and (¼, ¾) with δ = ¼: Σ(P − rQ)₊ = ¾ − r/4 = ¼ at r = 2, and P₁ = (½, ¼)/¾, Q₁ = (¼, ½)/¾."""
    parts = best_parts(exactly([3, 1], [1, 3]), ball(Fraction(1, 4)))
    assert parts is not None
    wanted = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
    for got, want in zip(parts, wanted, strict=True):
        assert all(abs(a - ball(b)) < 1e-12 for a, b in zip(got, want, strict=True))
    assert best_parts(exactly([3, 1], [1, 3]), ball(Fraction(3, 5))) is None  # the total variation is ½


@pytest.mark.parametrize("seed", range(6))
def test_no_other_parts_are_closer(seed):
    """Random feasible changes of P₁ and Q₁, which move mass from one output to another, never lower a divergence."""
    chance = random.Random(seed)
    p, q = ([chance.randint(1, 20) for _ in range(6)] for _ in range(2))
    delta = Fraction(1, chance.choice((8, 20, 50)))
    with ctx.workprec(200):
        pair = exactly(p, q)
        parts = best_parts(pair, ball(delta))
        if parts is None:
            pytest.skip("nothing is left to compare")  # decided by the seed alone
        room = [(a / (1 - ball(delta)), b / (1 - ball(delta))) for a, b in pair]
        for law in (0, 1):
            assert abs(sum((part[law] for part in parts), arb(0)) - 1) < 1e-40
            assert not any(part[law] > most[law] + ball(1e-40) for part, most in zip(parts, room, strict=True))
        tried = 0
        for _ in range(400):
            changed = [list(part) for part in parts]
            law, (here, there) = chance.randint(0, 1), chance.sample(range(6), 2)
            step = changed[here][law] * ball(chance.choice((1e-3, 1e-2, 0.1)))
            changed[here][law] -= step
            changed[there][law] += step
            if changed[there][law] <= room[there][law]:
                tried += 1
                for order in (1.2, 2, 7):
                    ways = (
                        ([(a, b) for a, b in changed], parts),
                        ([(b, a) for a, b in changed], [(b, a) for a, b in parts]),
                    )
                    for other, best in ways:
                        assert not divergence(other, ball(order)) < divergence(best, ball(order))
        assert tried > 20


def test_a_positive_number_is_found_where_there_is_one():
    pair = exactly([3, 1], [1, 3])
    quarter = ball(Fraction(1, 4))
    rest = max(
        float((divergence(exactly([2, 1], [1, 2]), ball(order)) / ball(order)).mid()) for order in (1.01, 1.5, 2, 3)
    )
    assert all(over <= 0 for over in outside_an_event(pair, ball(rest * 1.01), quarter))
    assert any(over > 0 for over in outside_an_event(pair, ball(rest * 0.99), quarter))
    assert any(over > 0 for over in outside_an_event([(arb(1), arb(0)), (arb(0), arb(1))], ball(9), quarter))
