"""The Markov quilt mechanism against all series: its promise is kept, and noise that is too small breaks it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr import audit
from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, IncompatiblePromises, InvalidParameter
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.markov_quilt import MarkovQuilt
from sitr.noise.coins import TestCoins
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.series import Changes, OwnQuery, StateCounts, StateShares, Visits
from tests.oracles.series import every, noisy, worst_loss
from tests.sensitivity.test_influence import chains

FIRST = Chain([1, 0], [[0.9, 0.1], [0.4, 0.6]])
SECOND = Chain([0.9, 0.1], [[0.8, 0.2], [0.3, 0.7]])
COPIED = Chain([0.5, 0.5], [[1, 0], [0, 1]])
STICKY = Chain([0.5, 0.5], [[0.98, 0.02], [0.02, 0.98]])


def fits(loss: float, epsilon: object) -> bool:
    return loss <= float(epsilon) * (1 + 1e-12)  # type: ignore[arg-type]


@pytest.mark.sampled(40)
@settings(max_examples=40, deadline=None)
@given(
    st.lists(chains(2), min_size=1, max_size=2),
    st.integers(1, 5),
    st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(3)]),
    st.sampled_from([Visits(1), Changes()]),
)
def test_no_series_of_any_chain_loses_more_than_the_price(several, length, epsilon, query):
    mechanism = MarkovQuilt(several, length, epsilon, query)
    scale = Fraction(mechanism.noise.scale)
    assert scale == query.lipschitz * mechanism.sigma
    assert fits(worst_loss(several, length, query, scale), epsilon)


@pytest.mark.parametrize("length", [1, 2, 4, 6])
def test_states_that_are_all_equal_use_the_price_up(length):
    mechanism = MarkovQuilt([COPIED], length, 1, Visits(1))
    assert worst_loss([COPIED], length, Visits(1), Fraction(mechanism.noise.scale)) == pytest.approx(1, rel=1e-9)


def test_noise_for_independent_states_is_caught():
    """The broken twin: scale L/ε, as if states said nothing about each other."""
    assert worst_loss([STICKY], 5, Visits(1), Fraction(1)) > 3


def test_a_scale_for_the_inner_times_alone_is_caught():
    """The broken twin: the middle of this series says nothing, its beginning does: X_1 = 0 or 1, X_2 tells the same.

    Then all is forgotten. The first two times need σ = 2, and the others 1 at most.
    """
    chain = Chain(
        [0.5, 0.5, 0, 0, 0], [[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    )
    odd = OwnQuery(lambda series: sum(state % 2 for state in series), lipschitz=1)
    mechanism = MarkovQuilt([chain], 5, 1, odd)
    assert [time for time, _ in mechanism.quilts[0]] == [1, 2]
    assert float(mechanism.sigma) == pytest.approx(2)
    assert fits(worst_loss([chain], 5, odd, mechanism.sigma), 1)
    assert worst_loss([chain], 5, odd, Fraction(1)) > 1.9


def test_a_scale_without_influence_is_caught():
    """The broken twin: N/ε instead of N/(ε − e).

    X_2 repeats X_1, X_3 is another than X_2 with probability 0.4, and X_4 repeats X_3. States count the time and a bit.
    """

    def step(state: int) -> list[float]:
        time, bit = divmod(state, 2)
        if time == 1:
            return [0.4 if y == 4 + 1 - bit else 0.6 if y == 4 + bit else 0 for y in range(8)]
        return [int(y == 2 * min(time + 1, 3) + bit) for y in range(8)]

    chain = Chain([0.5, 0.5, 0, 0, 0, 0, 0, 0], [step(state) for state in range(8)])
    odd = OwnQuery(lambda series: sum(state % 2 for state in series), lipschitz=1)
    mechanism = MarkovQuilt([chain], 4, 1, odd)
    assert [active.nearby for _, active in mechanism.quilts[0]] == [2, 2, 2, 2]
    assert float(mechanism.sigma) == pytest.approx(2 / (1 - math.log(1.5)))
    assert fits(worst_loss([chain], 4, odd, mechanism.sigma), 1)
    assert worst_loss([chain], 4, odd, Fraction(2)) > 1.18


def test_a_scale_for_one_of_two_chains_is_caught():
    calm = Chain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    one, both = (MarkovQuilt(several, 5, 1, Visits(1)) for several in ([calm], [calm, STICKY]))
    assert fits(worst_loss([calm], 5, Visits(1), Fraction(one.noise.scale)), 1)
    assert worst_loss([calm, STICKY], 5, Visits(1), Fraction(one.noise.scale)) > 2
    assert fits(worst_loss([calm, STICKY], 5, Visits(1), Fraction(both.noise.scale)), 1)


def test_the_table_of_the_mechanism_keeps_the_promise_by_the_exact_audit():
    """The finite table of all series of length 4, and the state at every time as secrets."""
    length, series = 4, ["".join(map(str, one)) for one in product((0, 1), repeat=4)]
    mechanism = MarkovQuilt([SECOND], length, 1, Visits(1))

    def seen(scale: Fraction):
        table = [noisy(one.count("1"), scale=scale, reach=length) for one in series]
        prior = {"".join(map(str, one)): p for one, p in every(SECOND, length)}
        secrets = {f"X{t} = {x}": [one for one in series if one[t] == x] for t in range(length) for x in "01"}
        pairs = [(f"X{t} = 0", f"X{t} = 1") for t in range(length)]
        named = {one: dict(enumerate(row)) for one, row in zip(series, table, strict=True)}
        rows = [list(named[one].values()) for one in series]
        places = {one: str(place) for place, one in enumerate(series, start=1)}
        told = {secret: [places[one] for one in ones] for secret, ones in secrets.items()}
        return audit.pufferfish(rows, priors=[{places[one]: p for one, p in prior.items()}], secrets=told, pairs=pairs)

    found = seen(Fraction(mechanism.noise.scale))
    assert found.verify(mechanism.promise()).verdict.value == "kept"
    assert 0.5 < found.epsilon().upper <= 1
    assert seen(Fraction(1)).verify(mechanism.promise()).verdict.value == "broken"
    assert found.epsilon().upper == pytest.approx(
        worst_loss([SECOND], length, Visits(1), Fraction(mechanism.noise.scale)), rel=1e-9
    )


def test_a_table_without_secrets_decides_nothing_about_pufferfish():
    with pytest.raises(InvalidParameter, match="about secrets and priors"):
        audit.finite([[0.75, 0.25], [0.25, 0.75]]).verify("pufferfish(2, 'a', 'b')")


# Composition


@pytest.mark.parametrize("chain", [FIRST, SECOND, STICKY, COPIED], ids=["first", "second", "sticky", "copied"])
def test_two_equal_releases_keep_the_sum(chain):
    mechanism = MarkovQuilt([chain], 4, 1, Visits(1))
    scale = Fraction(mechanism.noise.scale)
    found = worst_loss([chain], 4, Visits(1), scale, also=scale)
    assert fits(found, (mechanism.promise() * 2).epsilon)
    assert fits(found, MarkovQuilt.together([mechanism] * 2).epsilon)
    assert MarkovQuilt.together([mechanism] * 2).epsilon <= 2


def test_two_copied_series_use_the_sum_up():
    mechanism = MarkovQuilt([COPIED], 3, 1, Visits(1))
    scale = Fraction(mechanism.noise.scale)
    assert worst_loss([COPIED], 3, Visits(1), scale, also=scale) == pytest.approx(2, rel=1e-9)


@pytest.mark.parametrize("prices", [(1, 3), (Fraction(1, 2), 2), (2, 2), (3, Fraction(1, 4))], ids=str)
@pytest.mark.parametrize("chain", [FIRST, SECOND, STICKY], ids=["first", "second", "sticky"])
def test_the_total_of_different_prices_holds(chain, prices):
    """Whatever quilts they use."""
    several = [MarkovQuilt([chain], 4, price, Visits(1)) for price in prices]
    one, two = (Fraction(mechanism.noise.scale) for mechanism in several)
    found = worst_loss([chain], 4, Visits(1), one, also=two)
    together, added = MarkovQuilt.together(several).epsilon, (several[0].promise() + several[1].promise()).epsilon
    assert fits(found, together)
    assert fits(together, added)
    assert added == sum(prices)


@settings(max_examples=25, deadline=None)
@given(chains(2), st.integers(2, 12), st.lists(st.fractions(Fraction(1, 5), 5), min_size=2, max_size=4))
def test_together_is_never_more_than_the_sum(chain, length, prices):
    several = [MarkovQuilt([chain], length, price, Visits(1)) for price in prices]
    assert MarkovQuilt.together(several).epsilon <= float(sum(prices)) * (1 + 1e-9)


def test_half_the_sum_would_not_hold():
    """The broken twin: two releases at the price of one."""
    mechanism = MarkovQuilt([COPIED], 3, 1, Visits(1))
    scale = Fraction(mechanism.noise.scale)
    assert not fits(worst_loss([COPIED], 3, Visits(1), scale, also=scale), mechanism.promise().epsilon)


def test_only_the_same_chains_and_length_go_together():
    one, other = MarkovQuilt([FIRST], 10, 1, Visits(1)), MarkovQuilt([FIRST], 11, 1, Visits(1))
    for wrong in ([], [one, other], [one, MarkovQuilt([SECOND], 10, 1, Visits(1))]):
        with pytest.raises(InvalidParameter, match="the same chains"):
            MarkovQuilt.together(wrong)
    with pytest.raises(IncompatiblePromises, match="the same chains and the same length"):
        Composed((one, other)).promise()
    with pytest.raises(IncompatiblePromises, match="a single Pufferfish promise"):  # it was computed from the prices
        MarkovQuilt.together([one]) * 2


def test_a_budget_for_one_chain_adds_up_and_refuses_everything_else():
    mechanism = MarkovQuilt([SECOND], 50, 1, Visits(1))
    again = MarkovQuilt([SECOND], 50, 1, Changes())  # another query
    promise = mechanism.promise()
    assert promise == again.promise()
    budget = Filter(Pufferfish(2.0, promise.framework)).consent(promise).consent(again.promise())
    assert budget.remaining().epsilon == 0
    with pytest.raises(BudgetExceeded):
        budget.consent(promise)
    for price in (MarkovQuilt([SECOND], 51, 1, Visits(1)).promise(), Pufferfish(0.1, Framework("a", "b"))):
        with pytest.raises(IncompatiblePromises, match="a single Pufferfish promise"):
            Filter(Pufferfish(2.0, promise.framework)).consent(price)
    with pytest.raises(IncompatiblePromises, match="neither implies the other"):
        Filter(Pufferfish(2.0, promise.framework)).consent(PureDP(0.1))
    with pytest.raises(IncompatiblePromises, match="a single Pufferfish promise"):
        Composed((mechanism, Laplace(1))).promise()
    assert Repeated(mechanism, 3).promise() == promise * 3
    both = Composed((mechanism, again)).promise()
    assert isinstance(both, Pufferfish)
    assert both.epsilon == 2


# Queries


@pytest.mark.parametrize(
    "query", [Visits(1), StateCounts(3), StateShares(3, length=4), Changes()], ids=lambda query: type(query).__name__
)
def test_one_state_moves_a_query_as_far_as_it_says_and_no_farther(query):
    moved = []
    for series in product(range(3), repeat=4):
        for time, state in product(range(4), range(3)):
            other = (*series[:time], state, *series[time + 1 :])
            one, two = query(series), query(other)
            pairs = zip(one, two, strict=True) if isinstance(one, list) else [(one, two)]
            moved.append(sum(abs(a - b) for a, b in pairs))
            for value in one if isinstance(one, list) else [one]:
                assert (value / Fraction(query.granularity)).denominator == 1
    assert max(moved) == query.lipschitz


def test_answers_are_noisy_and_follow_the_coins():
    mechanism = MarkovQuilt([SECOND], 6, 1, StateCounts(2))
    answer = mechanism.release([0, 1, 1, 0, 1, 1], coins=TestCoins(3))
    assert answer == mechanism.release((0, 1, 1, 0, 1, 1), coins=TestCoins(3))
    assert answer == Laplace(2 * mechanism.sigma).release([2, 4], coins=TestCoins(3))
    shares = MarkovQuilt([SECOND], 6, 1, StateShares(2, length=6)).release([0, 1, 1, 0, 1, 1], coins=TestCoins(3))
    assert [share * 6 for share in shares] == answer  # the same noise, on a finer grid
    assert mechanism.error() == mechanism.noise.error(confidence=0.95)


@pytest.mark.parametrize("series", [[0, 1], [0, 1, 2], [0, 1, 0.5], [0, 1, None], [0, 1, True], [0, 1, -1], "010"])
def test_wrong_series_are_refused_without_telling_what_is_wrong(series):
    mechanism = MarkovQuilt([SECOND], 3, 1, Visits(1))
    with pytest.raises(InvalidParameter, match=r"a series of 3 states, each a whole number from 0 to 1, got something"):
        mechanism.release(series)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"chains": []}, "one or more chains"),
        ({"chains": [FIRST, Chain([1, 0, 0], [[1, 0, 0]] * 3)]}, "the same states"),
        ({"length": 0}, "length of MarkovQuilt"),
        ({"length": 10**9}, "length of MarkovQuilt"),
        ({"epsilon": 0}, "epsilon of MarkovQuilt"),
        ({"query": len}, "how far one state moves it"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InvalidParameter, match=message):
        MarkovQuilt(**{"chains": [FIRST], "length": 5, "epsilon": 1, "query": Visits(1), **wrong})
    with pytest.raises(InvalidParameter):
        OwnQuery(sum, lipschitz=0)


def test_where_nothing_can_be_told_apart_there_is_noise_all_the_same():
    known = Chain([1, 0], [[0, 1], [1, 0]])
    mechanism = MarkovQuilt(known, 5, 2, Visits(1))  # type: ignore[arg-type]
    assert mechanism.sigma == Fraction(1, 2)
    assert mechanism.quilts == ((),)


def test_the_noise_is_far_less_than_for_a_group():
    """Everything at once, as group privacy would have it, needs T/ε."""
    mechanism = MarkovQuilt([FIRST, SECOND], 1000, 1, Visits(1))
    assert 12.9 < float(mechanism.sigma) < 13.5
    assert math.isclose(float(mechanism.noise.scale), float(mechanism.sigma))
