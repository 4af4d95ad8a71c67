"""Every way to write a price gives the same promise, and a number without a flavor gives none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise, InvalidUse
from sitr.flavors import ApproximateDP, GaussianDP, PureDP, RandomDP, ZeroConcentratedDP, write
from sitr.flavors.price import price_of

NUMBERS = st.floats(1e-6, 10)


@given(NUMBERS)
def test_every_spelling_is_the_same_price(number: float) -> None:
    for promise, amounts in [
        (ZeroConcentratedDP(number), {"rho": number}),
        (PureDP(number), {"epsilon": number}),
        (ApproximateDP(number, 1e-6), {"epsilon": number, "delta": 1e-6}),
    ]:
        assert promise == price_of(promise) == price_of(write(promise)) == price_of(**amounts)


def test_a_random_promise_is_a_price_too() -> None:
    assert price_of("random(pure(1), 0.05)") == RandomDP(PureDP(1), 0.05)
    assert price_of("gaussian(1)") == price_of(GaussianDP(1.0)) == GaussianDP(1.0)


@pytest.mark.parametrize("number", [0.05, 1, 0])
def test_a_bare_number_is_refused_with_both_spellings(number: Any) -> None:
    with pytest.raises(IncompatiblePromises, match=f"got {number}") as refused:
        price_of(number)
    for spelling in (f"rho={number}", f"'zcdp({number})'", f"epsilon={number}", f"'pure({number})'"):
        assert spelling in refused.value.do


@pytest.mark.parametrize(
    "other",
    [None, True, RandomDP(GaussianDP(1.0), 0.1), "concentrated(1, 1)", "renyi(2, 0.1)", object(), PureDP, [0.05]],
)
def test_what_no_budget_is_kept_in_is_refused(other: Any) -> None:
    with pytest.raises(IncompatiblePromises, match=r"Expected a promise such as zcdp\(0\.05\)"):
        price_of(other)


@pytest.mark.parametrize(
    ("price", "amounts"),
    [
        (None, {"delta": 1e-6}),
        (None, {"rho": 0.1, "epsilon": 1}),
        (None, {"rho": 0.1, "epsilon": 1, "delta": 1e-6}),
        ("zcdp(0.1)", {"rho": 0.1}),
        (PureDP(1), {"delta": 1e-6}),
        (0.5, {"epsilon": 0.5}),
    ],
)
def test_a_price_is_written_once(price: Any, amounts: Any) -> None:
    with pytest.raises(IncompatiblePromises, match="Expected one price"):
        price_of(price, **amounts)


def test_a_misspelled_parameter_is_corrected() -> None:
    amounts: Any = {"epsilom": 1.0}
    with pytest.raises(InvalidUse, match=r"'epsilom'\. Did you mean 'epsilon'"):
        price_of(**amounts)


@pytest.mark.parametrize(
    ("text", "do"),
    [
        ("0.05", "Write zcdp(0.05) for ρ, or pure(0.05) for ε."),
        ("1e-3", "Write zcdp(1e-3) for ρ, or pure(1e-3) for ε."),
        ("zcpd(0.05)", "Did you mean zcdp(0.05)?"),
        ("aproximate(1, 1e-6)", "Did you mean approximate(1, 1e-6)?"),
        ("zcdp", "Write for example zcdp(0.5), or approximate(1, 1e-6)."),
    ],
)
def test_a_misspelled_notation_is_corrected(text: str, do: str) -> None:
    with pytest.raises(InvalidPromise) as refused:
        price_of(text)
    assert refused.value.do == do


@pytest.mark.parametrize("amounts", [{"epsilon": -1.0}, {"rho": float("nan")}, {"epsilon": 1.0, "delta": 2.0}])
def test_impossible_numbers_are_refused(amounts: Any) -> None:
    with pytest.raises(InvalidPromise):
        price_of(**amounts)
