from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import NAMES, parse, write
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

sizes = st.floats(0, sys.float_info.max)
tables = st.dictionaries(st.floats(1, sys.float_info.max, exclude_min=True), sizes, min_size=1, max_size=5)
profiles = st.lists(st.tuples(sizes, st.floats(0, 1)), min_size=1, max_size=5)
certain = st.one_of(
    st.builds(PureDP, sizes),
    st.builds(ApproximateDP, sizes, st.floats(0, 1)),
    st.builds(ZeroConcentratedDP, sizes, xi=sizes),
    st.builds(GaussianDP, sizes),
    st.builds(ConcentratedDP, sizes, sizes, scales_to_groups=st.booleans()),
    tables.map(RenyiDP.at),
    profiles.map(lambda points: PrivacyProfile(tuple(points))),
)
names = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() and name.isprintable())
named = st.builds(
    lambda inner, gamma, basis, shares: RandomDP(
        inner, gamma, basis, tuple((name, exact(gamma) * share / len(shares)) for name, share in shares.items())
    ),
    certain,
    st.floats(0, 1),
    st.sampled_from(Basis),
    st.dictionaries(names, st.fractions(0, 1), max_size=3),
)
promises = certain | named


@given(promises)
@example(PureDP(5e-324))
@example(ZeroConcentratedDP(0.0, xi=5e-324))
@example(ApproximateDP(sys.float_info.max, 1.0))
def test_what_is_written_is_read(promise):
    assert parse(write(promise)) == promise
    assert getattr(parse(write(promise)), "parts", ()) == getattr(promise, "parts", ())  # for which == does not ask


@given(st.floats(0, 1e300))
def test_a_number_means_the_decimal_that_was_written(number):
    assert parse(f"pure({number!r})") == PureDP(number)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("pure(1)", PureDP(1.0)),
        ("  pure ( 0.1 )  ", PureDP(0.1)),
        ("pure(epsilon=1e-3)", PureDP(0.001)),
        ("approximate(1, 1e-6)", ApproximateDP(1.0, 1e-6)),
        ("approximate(delta = 1e-6, epsilon = 1)", ApproximateDP(1.0, 1e-6)),
        ("approximate(1,delta=1e-6)", ApproximateDP(1.0, 1e-6)),
        ("zcdp(0.5)", ZeroConcentratedDP(0.5)),
        ("zcdp(0.5, xi=0.1)", ZeroConcentratedDP(0.5, xi=0.1)),
        ("zcdp(xi=0.1, rho=0.5)", ZeroConcentratedDP(0.5, xi=0.1)),
        ("pure((1))", PureDP(1.0)),
        ("gaussian(0.3)", GaussianDP(0.3)),
        ("gdp(mu=0.3)", GaussianDP(0.3)),
        ("concentrated(0.5, 1)", ConcentratedDP(0.5, 1.0)),
        ("concentrated(mu=0.5, tau=1, groups=true)", ConcentratedDP(0.5, 1.0, scales_to_groups=True)),
        ("concentrated(0.5, 1, groups=false)", ConcentratedDP(0.5, 1.0)),
        ("renyi(2, 0.1)", RenyiDP.at({2: 0.1})),
        ("renyi({2: 0.1, 8: 0.5})", RenyiDP.at({2: 0.1, 8: 0.5})),
        ("profile((1, 1e-3), (2, 1e-6))", PrivacyProfile(((1, 1e-3), (2, 1e-6)))),
        ("profile((1, 1e-3))", PrivacyProfile(((1, 1e-3),))),
        ("random(pure(1), 0.05)", RandomDP(PureDP(1), 0.05)),
        ("random(approximate(1, 1e-6), gamma=0.05)", RandomDP(ApproximateDP(1, 1e-6), 0.05)),
        ("random(renyi({2: 0.1}), 0.05)", RandomDP(RenyiDP.at({2: 0.1}), 0.05)),
        ("random(pure(1), 0.05, asymptotic=true)", RandomDP(PureDP(1), 0.05, Basis.ASYMPTOTIC)),
        ("random(pure(1), 0.05, asymptotic=false)", RandomDP(PureDP(1), 0.05)),
        ('random(pure(1), 0.05, parts={"gate": 0.01})', RandomDP(PureDP(1), 0.05)),
    ],
)
def test_ways_to_write_a_promise(text, promise):
    assert parse(text) == promise


@pytest.mark.parametrize(
    ("promise", "text"),
    [
        (PureDP(1), "pure(epsilon=1.0)"),
        (ApproximateDP(1, 1e-6), "approximate(epsilon=1.0, delta=1e-06)"),
        (ZeroConcentratedDP(0.5), "zcdp(rho=0.5)"),
        (ZeroConcentratedDP(0.5, xi=0.1), "zcdp(rho=0.5, xi=0.1)"),
        (GaussianDP(0.3), "gaussian(mu=0.3)"),
        (ConcentratedDP(0.5, 1), "concentrated(mu=0.5, tau=1.0)"),
        (ConcentratedDP(0.5, 1, scales_to_groups=True), "concentrated(mu=0.5, tau=1.0, groups=true)"),
        (RenyiDP.at({8: 0.5, 2: 0.1}), "renyi({2.0: 0.1, 8.0: 0.5})"),
        (PrivacyProfile(((1, 1e-3), (2, 1e-6))), "profile((1.0, 0.001), (2.0, 1e-06))"),
        (RandomDP(PureDP(1), 0.05), "random(pure(epsilon=1.0), gamma=0.05)"),
        (
            RandomDP(PureDP(1), 0.05, Basis.ASYMPTOTIC, parts=(("largest pair", 0.01),)),
            "random(pure(epsilon=1.0), gamma=0.05, asymptotic=true, parts={'largest pair': 0.01})",
        ),
    ],
)
def test_how_a_promise_is_written(promise, text):
    assert write(promise) == text


def test_sums_of_tables_can_be_written():
    whole = RenyiDP.at({2: 0.1, 8: 0.5}) + RenyiDP.at({4: 0.25}) * 3
    assert parse(write(whole)) == whole


def test_a_composed_profile_can_be_written():
    whole = PrivacyProfile(((1.0, 1e-6),)) * 20
    assert len(whole.points) > 1000
    assert parse(write(whole)) == whole


@pytest.mark.parametrize("promise", [PureDP(1.0).to_renyi(), ZeroConcentratedDP(0.5).to_renyi(), RenyiDP.compose([])])
@pytest.mark.parametrize("exceptions", [False, True])
def test_a_curve_is_not_written_as_a_table_that_would_lose_something(promise, exceptions):
    with pytest.raises(InvalidPromise, match="has bounds at all orders"):
        write(RandomDP(promise, 0.1) if exceptions else promise)


UNREADABLE = [
    "", "1", "pure", "pure()", "pure(1", "pure 1", "pure(one)", "pure(1/2)", "pure(1, 2)", "pure(1 2)", "pure(nan)",
    "Pure(1)", "pure(1) pure(1)", "pure(delta=1)", "pure(=1)", "pure(epsilon=)", "pure(epsilon=epsilon=1)",
    "approximate(1)", "approximate(epsilon=1, 1e-6)", "zcdp(1, 0.1, 1)", "__import__(1)", "gaussian(1, 2)", "pure(+1)",
    # Said twice: which of the two is meant?
    "pure(epsilon=1, epsilon=2)", "renyi({2: 0.1, 2: 0.2})", "renyi({2: 0.1, 2.0: 0.2})",
    # A gap: something was forgotten.
    "pure(,1)", "approximate(1,,1e-6)", "renyi(2)", "renyi()", "renyi({2: 0.1}, 0.2)", "renyi({2})", "renyi(2, 0.1, 3)",
    "random(0.05)", "random(pure(1))", "concentrated(1)", "concentrated(1, 1, true)", "concentrated(1, 1, groups=1)",
    "random(pure(1), 0.05, true)", "random(pure(1), 0.05, asymptotic=1)", "random(pure(1), 0.05, parts=0.05)",
    "random(pure(1), 0.05, parts={'a': 0.01, 'a': 0.02})", "random(pure(1), 0.05, basis='asymptotic')",
    # Not a promise.
    "(1, 2)", "{2: 0.1}", "true", "[pure(1)]", "pure(1), pure(2)", "-pure(1)", "pure(1) + pure(1)", "pure(1).epsilon",
    # Python, but nothing that occurs in a promise; none of it is run.
    "pure(*(1,))", "pure(**{'epsilon': 1})", "renyi({**{2: 0.1}})", "pure(eval('1'))", "(lambda: pure(1))()",
    "pure(1 if true else 2)", "pure([x for x in (1,)][0])", "print(1)", "pure(x := 1)", "pure(1)(2)", "pure(--1)",
    "pure(b'1')", "pure(...)", "pure(1j)", "pure(True)", "pure(None)", "concentrated(1, 1, groups=True)",
    "pure(f'{1}')", "pure\x00(1)", "pure(1)\n\npure(1)", "import os", "pure(" * 300 + "1" + ")" * 300,
    "pure(" + "-" * 10_000 + "1)", "pure(" + "9" * 10_000 + ")",
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE)
def test_anything_else_is_unreadable(text):
    with pytest.raises(InvalidPromise, match=r"Expected a promise: pure") as refusal:
        parse(text)
    assert repr(text) in refusal.value.given


@pytest.mark.parametrize(
    "text",
    [
        "pure(1e400)",
        "pure(-1)",
        "approximate(1, 1.5)",
        "zcdp(-0.5)",
        "gaussian(-1)",
        "renyi(1, 0.5)",
        "renyi({0.5: 1})",
        "renyi({})",
        "profile((1, 1.5))",
        "random(0.1, 0.1)",
        "random(random(pure(1), 0.1), 0.1)",
        "random(pure(1), 2)",
        "random(pure(1), 0.05, parts={'a': 0.06})",
        "random(pure(1), 0.05, parts={2: 0.01})",
        "pure((1, 2))",
        "pure(pure(1))",
        "pure(true)",
        "pure('1')",
    ],
)
def test_readable_but_impossible(text):
    reasons = "to be a number of at least 0|orders above 1|of another flavor|parts of RandomDP"
    with pytest.raises(InvalidPromise, match=reasons):
        parse(text)


@pytest.mark.parametrize("text", ["profile()", "profile(1, 2)", "profile((1, 2, 3))"])
def test_a_profile_is_made_of_pairs(text):
    with pytest.raises(InvalidPromise, match="each of them a pair"):
        parse(text)


def test_every_name_is_short_and_its_own():
    words = ["approximate", "concentrated", "gaussian", "profile", "pufferfish", "pure", "random", "renyi", "zcdp"]
    assert sorted(NAMES) == sorted([*words, "approximate_zcdp", "computational"])
    assert len(set(NAMES.values())) == len(NAMES)
