"""The best quilts: published values, and a search that misses none."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.sensitivity import quilt as quilts
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.influence import Influences, spread
from sitr.sensitivity.quilt import Quilt, QuiltSearch, fitted, lost
from tests.sensitivity.test_influence import chains

FIRST = Chain([1, 0], [[0.9, 0.1], [0.4, 0.6]])
SECOND = Chain([0.9, 0.1], [[0.8, 0.2], [0.3, 0.7]])
ONE = Fraction(1)


def score(known: Influences, time: int, quilt: Quilt, epsilon: Fraction = ONE) -> Fraction | None:
    found = QuiltSearch.active(known, time, quilt)
    return spread(found.nearby, epsilon=epsilon, influence=found.influence)


def finite(found: Fraction | None) -> Fraction:
    assert found is not None
    return found


def test_the_published_values():
    known = Influences(FIRST, 100)
    assert float(finite(score(known, 8, Quilt(5, 5)))) == pytest.approx(13.0219, abs=5e-5)
    best = QuiltSearch.for_scale(ONE).best(known, 8)
    assert best.quilt == Quilt(7, 5)  # X_1 and X_13
    assert float(finite(score(known, 8, best.quilt))) == pytest.approx(12.9341, abs=5e-5)
    assert float(fitted((FIRST,), 100, ONE)[0]) == pytest.approx(12.9341, abs=5e-5)
    assert float(fitted((SECOND,), 100, ONE)[0]) == pytest.approx(10.6402, abs=5e-5)
    assert fitted((SECOND, FIRST), 100, ONE)[0] == fitted((FIRST,), 100, ONE)[0]


def exhaustive(chain: Chain, length: int, epsilon: Fraction) -> list[Fraction]:
    """For each time the least score of all quilts, none left out."""
    found, known = [], Influences(chain, length)
    for time in range(1, length + 1):
        if known.pairs(time):
            every = [
                score(known, time, Quilt(before, after), epsilon)
                for before in [None, *range(1, time)]
                for after in [None, *range(1, length - time + 1)]
            ]
            found.append(min(one for one in every if one is not None))
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 3).flatmap(chains), st.integers(1, 7), st.sampled_from([Fraction(1, 4), ONE, Fraction(5)]))
def test_the_search_finds_the_best_of_all_quilts(chain, length, epsilon):
    best = exhaustive(chain, length, epsilon)
    sigma, active = fitted((chain,), length, epsilon)
    assert float(sigma) == pytest.approx(float(max(best, default=Fraction(0))), rel=1e-8)
    assert [time for time, _ in active[0]] == [t for t in range(1, length + 1) if Influences(chain, length).pairs(t)]
    for time, one in active[0]:
        assert one.nearby == one.quilt.nearby(time, length)
        assert finite(spread(one.nearby, epsilon=epsilon, influence=one.influence)) <= sigma


@pytest.mark.parametrize("first", [1, 2, 8, 64])
def test_the_window_does_not_matter(first, monkeypatch):
    monkeypatch.setattr(quilts, "FIRST", first)
    sigma, _ = fitted.__wrapped__((FIRST,), 25, ONE)
    assert float(sigma) == pytest.approx(float(max(exhaustive(FIRST, 25, ONE))), rel=1e-8)


def test_a_search_that_stops_too_early_would_be_found_out(monkeypatch):
    """The broken twin: it believes that no quilt farther away than the first window can be better."""
    whole = QuiltSearch.for_scale(ONE)
    monkeypatch.setattr(quilts, "FIRST", 2)
    monkeypatch.setattr(QuiltSearch, "for_scale", classmethod(lambda cls, _: cls(whole.goal, lambda _: 0)))
    sigma, _ = fitted.__wrapped__((FIRST,), 25, ONE)
    assert float(sigma) > float(max(exhaustive(FIRST, 25, ONE))) * 1.5


def test_the_ends_count():
    """The largest score may be at an end, where a quilt has one side only: the middle alone is not enough."""
    sigma, active = fitted((SECOND,), 100, ONE)
    scores = {time: finite(spread(one.nearby, epsilon=ONE, influence=one.influence)) for time, one in active[0]}
    assert {time for time, one in scores.items() if one == sigma} == {6}
    assert max(one for time, one in scores.items() if 20 < time < 80) < sigma


def test_states_that_settle_each_other_leave_only_the_empty_quilt():
    copied = Chain([0.5, 0.5], [[1, 0], [0, 1]])
    assert fitted((copied,), 7, Fraction(1, 2)) == (Fraction(14), fitted((copied,), 7, Fraction(1, 2))[1])
    assert {one.quilt for _, one in fitted((copied,), 7, Fraction(1, 2))[1][0]} == {Quilt()}


def test_independent_states_need_no_more_than_one():
    coin = Chain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    sigma, _ = fitted((coin,), 50, ONE)
    assert 1 <= float(sigma) < 1 + 1e-9


def test_a_long_series_is_quick():
    slow = Chain([0.5, 0.5], [[0.97, 0.03], [0.06, 0.94]])
    sigma, active = fitted((slow,), 1000, ONE)
    assert 30 < float(sigma) < 1000
    assert len(active[0]) == 1000
    middle = QuiltSearch.for_scale(ONE).best(Influences(slow, 1000), 500)  # found without any other time
    alone = finite(spread(middle.nearby, epsilon=ONE, influence=middle.influence))
    assert float(sigma) >= float(alone) * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), ONE, Fraction(3)])
def test_the_loss_of_the_fitted_scale_is_the_price(epsilon):
    """Two searches for two goals that agree: N/(ε − e) ≤ σ where N/σ + e ≤ ε."""
    for chain in (FIRST, SECOND):
        sigma, _ = fitted((chain,), 60, epsilon)
        assert float(lost((chain,), 60, 1 / sigma)) == pytest.approx(float(epsilon), rel=1e-8)
        assert lost((chain,), 60, 2 / sigma) < 2 * epsilon
        assert lost((chain,), 60, Fraction(1, 10**9)) <= Fraction(60, 10**9)
