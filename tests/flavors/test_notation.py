from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import NAMES, parse, write
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

sizes = st.floats(0, sys.float_info.max)
promises = st.one_of(
    st.builds(PureDP, sizes),
    st.builds(ApproximateDP, sizes, st.floats(0, 1)),
    st.builds(ZeroConcentratedDP, sizes, xi=sizes),
)


@given(promises)
@example(PureDP(5e-324))
@example(ZeroConcentratedDP(0.0, xi=5e-324))
@example(ApproximateDP(sys.float_info.max, 1.0))
def test_what_is_written_is_read(promise):
    assert parse(write(promise)) == promise


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
    ],
)
def test_ways_to_write_a_promise(text, promise):
    assert parse(text) == promise


UNREADABLE = [
    "", "1", "pure", "pure()", "pure(1", "pure 1", "pure(one)", "pure(1/2)", "pure(1, 2)", "pure(1 2)", "pure((1))",
    "Pure(1)", "pure(1) pure(1)", "pure(delta=1)", "pure(=1)", "pure(epsilon=)", "pure(epsilon=epsilon=1)",
    "approximate(1)", "approximate(epsilon=1, 1e-6)", "zcdp(0.5, 0.1)", "renyi(2, 1)", "__import__(1)",
    # Said twice: which of the two is meant?
    "pure(epsilon=1, epsilon=2)",
    # A gap: something was forgotten.
    "pure(,1)", "approximate(1,,1e-6)",
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE)
def test_anything_else_is_unreadable(text):
    with pytest.raises(InvalidPromise, match="A promise is written") as refusal:
        parse(text)
    assert repr(text) in refusal.value.given


@pytest.mark.parametrize("text", ["pure(nan)", "pure(1e400)", "pure(-1)", "approximate(1, 1.5)", "zcdp(-0.5)"])
def test_readable_but_impossible(text):
    with pytest.raises(InvalidPromise, match="wants"):
        parse(text)


def test_every_name_is_short_and_its_own():
    assert sorted(NAMES) == ["approximate", "pure", "zcdp"]
    assert len(set(NAMES.values())) == len(NAMES)
