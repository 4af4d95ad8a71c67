"""Claims are kept, broken with a witness, or undecided."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.audit.exact.claims import Decision, ProbabilisticDP, Verdict, read_claim
from sitr.audit.exact.mechanism import finite
from sitr.errors import InvalidParameter, InvalidPromise
from sitr.flavors import ApproximateDP, RenyiDP
from tests.audit.exact.tables import Rows, delta_by_sets, tables

HALF = [["3/4", "1/4"], ["1/4", "3/4"]]
TANH = math.log(3) * math.tanh(math.log(3) / 2)


def verdict(claim: str) -> str:
    return finite(HALF).verify(claim).verdict.value


@pytest.mark.parametrize(
    ("kept", "broken"),
    [
        ("pure(1.0986122886681099)", "pure(1.0986122886681096)"),
        ("approximate(1, 0.08)", "approximate(1, 0.07)"),
        ("approximate(0, 0.5)", "approximate(0, 0.4999999999999999)"),
        ("profile((0, 0.5), (1, 0.08))", "profile((0, 0.5), (1, 0.07))"),
        (f"zcdp({TANH * 1.0001})", f"zcdp({TANH * 0.9999})"),
        ("zcdp(0.45, xi=0.1)", "zcdp(0.449, xi=0.1)"),
        ("zcdp(0, xi=1.1)", "zcdp(0, xi=1.09)"),
        (f"concentrated({TANH * 1.0001}, 1.0482)", f"concentrated({TANH * 1.0001}, 1.0481)"),
        ("concentrated(0.5494, 1.05)", "concentrated(0.5492, 1.05)"),
        ("gaussian(1.348980)", "gaussian(1.348979)"),
        ("renyi(2, 0.8473)", "renyi(2, 0.8472)"),
        ("renyi({2: 0.8473, 8: 1.06})", "renyi({2: 0.8473, 8: 1.05})"),
        ("probabilistic(1, 0.75)", "probabilistic(1, 0.7499999)"),
        ("probabilistic(1.1, 0)", "probabilistic(1.09, 0)"),
        ("zcdp(0.55, 0.1)", "zcdp(0.2, 0.01)"),
    ],
)
def test_both_sides_of_every_flavor(kept: str, broken: str) -> None:
    assert (verdict(kept), verdict(broken)) == ("kept", "broken")


def test_a_witness_names_the_pair_and_the_event() -> None:
    found = finite([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], ["1/4", "1/2", "1/4"]], neighbors=[("1", "2")])
    decision = found.verify("approximate(0.1, 0.2)")
    assert decision.verdict is Verdict.BROKEN
    witness = decision.witness
    assert witness is not None
    assert (witness.figure.pair, witness.figure.outcomes, witness.probabilities) == (("1", "2"), ("1",), (0.5, 0.25))
    assert decision.to_dict()["verdict"] == "broken"
    assert found.verify(ApproximateDP(0.1, 0.3)).witness is None


@settings(max_examples=25, deadline=None)
@given(tables(zeros=True), st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([0.01, 0.1, 0.3]))
def test_claims_about_fractions_are_always_decided(rows: Rows, epsilon: float, delta: float) -> None:
    found = finite(rows).verify(ApproximateDP(epsilon, delta)).verdict
    assert found is not Verdict.UNDECIDED
    by_sets = delta_by_sets(rows, epsilon)
    if abs(by_sets - delta) > 1e-9:
        assert found is (Verdict.BROKEN if by_sets > delta else Verdict.KEPT)


def test_equality_is_kept() -> None:
    third = finite([["2/3", "1/3", 0], ["1/3", "1/3", "1/3"]])
    assert third.verify(ApproximateDP(40.0, 0.3333333333333333)).verdict is Verdict.BROKEN  # one third is more
    assert third.verify(ApproximateDP(0.0, 0.3333333333333334)).verdict is Verdict.KEPT
    assert finite([[0.4, 0.6], [0.5, 0.5]]).verify("approximate(0, 0.1)").verdict is Verdict.KEPT


def test_floats_near_the_border_are_undecided() -> None:
    floats = np.array([[0.75, 0.25], [0.25, 0.75]]) * (1 + 1e-14)
    epsilon = math.log(3)
    assert finite(floats).verify(f"pure({epsilon!r})").verdict is Verdict.UNDECIDED
    assert finite(floats).verify(f"pure({epsilon * (1 + 1e-10)!r})").verdict is Verdict.KEPT
    assert finite(floats).verify(f"pure({epsilon * (1 - 1e-10)!r})").verdict is Verdict.BROKEN


def test_groups_are_never_proved() -> None:
    assert verdict("concentrated(1, 2, groups=true)") == "undecided"
    assert verdict("concentrated(0.1, 2, groups=true)") == "broken"


def test_what_is_no_claim() -> None:
    with pytest.raises(InvalidParameter, match="population"):
        finite(HALF).verify("random(pure(1), 0.1)")
    with pytest.raises(InvalidParameter, match="a claim such as"):
        finite(HALF).verify(1.0)
    for text in (
        "probabilistic(1)",
        "probabilistic(-1, 0.1)",
        "probabilistic(1, 2)",
        "probabilistic(x, y)",
        "probabilistic(",
    ):
        with pytest.raises(InvalidPromise, match="probabilistic"):
            read_claim(text)
    assert read_claim("probabilistic(1, 0.5)") == ProbabilisticDP(1.0, 0.5)


def test_promises_are_claims_too() -> None:
    found = finite(HALF).verify(RenyiDP.at({2: Fraction(1)}))
    assert isinstance(found, Decision)
    assert found.verdict is Verdict.KEPT
    assert finite(HALF).verify(ProbabilisticDP(1.0, 0.8)).claim == "probabilistic(1.0, 0.8)"
