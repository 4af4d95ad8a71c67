"""Small populations and mechanisms without noise: what fails, and how often, can be counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

Data = tuple[int, ...]
Law = dict[object, Fraction]
Mechanism = Callable[[Data], Law]


def failing(mechanism: Mechanism, *, values: int, size: int) -> Fraction:
    """The exact probability, over `size` + 1 uniform draws, that the answers on X and X' differ in law at all.

    X has the first draws, X' the last draw in place of X's last: whoever differs breaks PureDP(0), and where an answer
    is possible for one of them only, PureDP(ε) for every ε.
    """
    draws = list(product(range(values), repeat=size + 1))
    broken = sum(mechanism(draw[:-1]) != mechanism((*draw[: size - 1], draw[-1])) for draw in draws)
    return Fraction(broken, len(draws))


def exposes(mechanism: Mechanism, first: Data, second: Data) -> bool:
    """Is there an answer that only one of them can give?"""
    return set(mechanism(first)) != set(mechanism(second))


def certain(answer: object) -> Law:
    return {answer: Fraction(1)}


# Composition


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=8))
def test_the_inner_promises_compose_and_exceptions_add(parts):
    whole = RandomDP.compose([RandomDP(PureDP(epsilon), gamma) for epsilon, gamma in parts])
    assert whole.inner == PureDP.compose([PureDP(epsilon) for epsilon, _ in parts])
    assert exact(whole.gamma) >= min(1, sum(exact(gamma) for _, gamma in parts))


@pytest.mark.parametrize(
    "inner",
    [
        ApproximateDP(0.5, 1e-6),
        PrivacyProfile(((0.5, 1e-6),)),
        GaussianDP(0.5),
        ConcentratedDP(0.1, 0.5),
        ZeroConcentratedDP(0.1),
        RenyiDP.at({2: 0.1}),
    ],
)
def test_any_flavor_can_have_exceptions(inner):
    promise = RandomDP(inner, 0.01)
    assert promise + promise == promise * 2 == RandomDP(inner + inner, 0.02)
    assert promise.covers(promise + promise)


def test_the_union_bound_is_attained():
    """Three values, two people: the second one's value is told outright if the first has value 0, or value 1.

    The two mechanisms fail on different samples, so that together they fail exactly as often as the sum says.
    """

    def telling(to: int) -> Mechanism:
        return lambda data: certain(data[1] if data[0] == to else None)

    def both(data: Data) -> Law:
        return certain((*telling(0)(data), *telling(1)(data)))

    alone = [failing(telling(to), values=3, size=2) for to in (0, 1)]
    assert alone == [Fraction(2, 9)] * 2
    assert failing(both, values=3, size=2) == sum(alone)
    assert RandomDP.compose([RandomDP(PureDP(0.0), float(share)) for share in alone]).gamma == pytest.approx(4 / 9)


@pytest.mark.parametrize("values", [2, 5, 20])
def test_chosen_after_the_first_answer_the_union_bound_is_false(values):
    """First a uniform z, then "is x = z?": each question alone fails rarely, the two together nearly always."""

    def asking(z: int) -> Mechanism:
        return lambda data: certain(data[0] == z)

    def adaptively(data: Data) -> Law:
        return {(z, data[0] == z): Fraction(1, values) for z in range(values)}

    assert failing(lambda _: {z: Fraction(1, values) for z in range(values)}, values=values, size=1) == 0
    claimed = max(failing(asking(z), values=values, size=1) for z in range(values))
    assert claimed <= Fraction(2, values)
    true = failing(adaptively, values=values, size=1)
    assert true >= 1 - Fraction(1, values)
    assert true > claimed or values == 2
    # Not a question of ε: an answer is possible on one side only.
    assert exposes(adaptively, (0,), (1,))
    assert "never for releases chosen after earlier answers" in (RandomDP.__doc__ or "")


def test_a_sum_of_none_has_no_flavor():
    with pytest.raises(InvalidPromise, match="at least one"):
        RandomDP.compose([])


def test_inner_flavors_do_not_mix_and_the_error_names_the_two():
    parts: list[Promise] = [PureDP(1.0), PureDP(2.0), GaussianDP(1.0)]
    with pytest.raises(IncompatiblePromises, match="of the flavor PureDP") as refusal:
        RandomDP.compose([RandomDP(inner, 0.1) for inner in parts])
    assert "GaussianDP" in refusal.value.given


@pytest.mark.parametrize(
    ("first", "second"),
    [(RandomDP(PureDP(1.0), 0.1), PureDP(1.0)), (PureDP(1.0), RandomDP(PureDP(1.0), 0.1))],
)
def test_a_promise_without_exceptions_is_not_simply_added(first, second):
    with pytest.raises(IncompatiblePromises, match="gamma=0"):
        first + second


# Groups


def test_a_group_fails_as_often_as_its_members():
    assert RandomDP(PureDP(0.5), 0.01).for_group(3) == RandomDP(PureDP(1.5), 0.03)
    assert RandomDP(PureDP(0.5), 0.4).for_group(3).gamma == 1.0


def test_a_group_of_an_inner_promise_without_one_is_refused():
    with pytest.raises(IncompatiblePromises, match="scale to groups"):
        RandomDP(ConcentratedDP(0.1, 0.5), 0.1).for_group(2)


# What it covers


def test_any_promise_covers_itself_with_exceptions_but_not_the_converse():
    promises: Iterable[Promise] = (PureDP(1.0), ApproximateDP(1.0, 0.1), GaussianDP(1.0), RenyiDP.at({2: 1.0}))
    for promise in promises:
        assert promise.covers(RandomDP(promise, 0.0))
        assert not RandomDP(promise, 0.0).covers(promise)


def test_covers_a_weaker_inner_promise_with_more_exceptions():
    promise = RandomDP(PureDP(1.0), 0.1)
    assert promise.covers(RandomDP(ZeroConcentratedDP(0.5), 0.2))
    assert not promise.covers(RandomDP(ZeroConcentratedDP(0.5), 0.05))
    assert not promise.covers(RandomDP(PureDP(0.9), 0.2))
    assert PureDP(1.0).covers(RandomDP(ZeroConcentratedDP(0.5), 0.0))


def test_a_promise_that_always_fails_is_covered_by_all():
    nothing = RandomDP(PureDP(0.0), 1.0)
    assert GaussianDP(9.0).covers(nothing)
    assert RandomDP(PureDP(9.0), 1.0).covers(nothing)


# What it is not


@pytest.mark.parametrize("gamma", [0.0, 0.05])
def test_no_arrow_leads_to_a_promise_for_everybody(gamma):
    with pytest.raises(IncompatiblePromises, match="cannot be moved into δ"):
        RandomDP(PureDP(1.0), gamma).to_approximate(delta=1e-6)


@pytest.mark.parametrize("inner", [1.0, "pure(1)", None, RandomDP(PureDP(1.0), 0.1), PureDP, RandomDP])
def test_what_is_no_inner_promise(inner):
    with pytest.raises(InvalidPromise, match="another flavor"):
        RandomDP(inner, 0.1)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, math.nan, True, None])
def test_exceptions_that_cannot_be(gamma):
    with pytest.raises(InvalidPromise, match="gamma"):
        RandomDP(PureDP(1.0), gamma)


# What γ rests on, and where it comes from


FINITE, ASYMPTOTIC = Basis.FINITE_SAMPLE, Basis.ASYMPTOTIC
NAMED = RandomDP(PureDP(0.5), 0.05, parts=(("newcomer", 0.03), ("gate", 0.01)))


@pytest.mark.parametrize(
    ("bases", "weakest"),
    [([FINITE, FINITE], FINITE), ([FINITE, ASYMPTOTIC], ASYMPTOTIC), ([ASYMPTOTIC, FINITE, FINITE], ASYMPTOTIC)],
)
def test_a_sum_rests_on_the_weakest_basis(bases, weakest):
    promises = [RandomDP(PureDP(0.1), 0.01, basis) for basis in bases]
    assert RandomDP.compose(promises).basis is weakest
    assert (promises[0] + promises[1]).basis is Basis.weakest(bases[:2])


@pytest.mark.parametrize("basis", list(Basis))
def test_repetition_and_groups_keep_basis_and_multiply_parts(basis):
    promise = RandomDP(PureDP(0.5), 0.05, basis, NAMED.parts)
    for whole in (promise * 3, promise.for_group(3)):
        assert (whole.gamma, whole.basis) == (0.15, basis)
        assert whole.parts == (("newcomer", 0.09), ("gate", 0.03))


def test_parts_of_one_name_are_added():
    whole = NAMED + RandomDP(PureDP(0.5), 0.02, parts=(("gate", 0.005),)) + RandomDP(PureDP(0.5), 0.001)
    assert whole.gamma == 0.071
    assert whole.parts == (("newcomer", 0.03), ("gate", 0.015))


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc"), st.floats(0, 1)), min_size=1, max_size=6))
def test_parts_never_exceed_gamma_however_they_are_rounded(given_parts):
    """Constructing is the test: a promise whose parts exceed its γ cannot be made."""
    promises = [
        RandomDP(PureDP(0.0), gamma, parts=((name, exact(gamma) * exact(share)),))  # type: ignore[arg-type]
        for gamma, name, share in given_parts
    ]
    whole = RandomDP.compose(promises)
    assert min(1, sum(exact(share) for _, share in whole.parts)) <= exact(whole.gamma)
    assert {name for name, _ in whole.parts} == {name for _, name, _ in given_parts}


def test_fractions_of_one_gamma_fit_though_no_float_has_them():
    parts = (("a", Fraction(2, 9)), ("b", Fraction(1, 9)))
    whole = RandomDP(PureDP(0.5), Fraction(1, 3), parts=parts)  # type: ignore[arg-type]
    assert exact(whole.gamma) > Fraction(1, 3)
    assert sum(exact(share) for _, share in whole.parts) <= Fraction(1, 3)


def test_parts_matter_neither_to_strength_nor_to_equality():
    plain = RandomDP(PureDP(0.5), 0.05)
    assert plain == NAMED
    assert hash(plain) == hash(NAMED)
    assert plain.covers(NAMED)
    assert NAMED.covers(plain)


def test_the_basis_matters_to_both():
    finite, asymptotic = RandomDP(PureDP(0.5), 0.05), RandomDP(PureDP(0.5), 0.05, ASYMPTOTIC)
    assert finite != asymptotic
    assert finite.covers(asymptotic)
    assert asymptotic.covers(asymptotic)
    assert not asymptotic.covers(finite)
    assert not RandomDP(PureDP(0.0), 0.0, ASYMPTOTIC).covers(RandomDP(PureDP(9.0), 0.9))
    assert PureDP(0.5).covers(asymptotic)


def test_how_it_is_shown():
    assert repr(RandomDP(PureDP(0.5), 0.05)) == "RandomDP(inner=PureDP(epsilon=0.5), gamma=0.05)"
    assert repr(NAMED).endswith("gamma=0.05, parts=(('newcomer', 0.03), ('gate', 0.01)))")
    assert repr(RandomDP(PureDP(0.5), 0.05, ASYMPTOTIC)).endswith("gamma=0.05, basis=Basis.ASYMPTOTIC)")


@pytest.mark.parametrize(
    "parts",
    [
        (("a", 0.06),),
        (("a", 0.03), ("b", 0.020001)),
        (("a", 0.01), ("a", 0.01)),
        (("a", -0.01),),
        (("a", math.nan),),
        (("a", True),),
        (("", 0.01),),
        ((" ", 0.01),),
        (("a\nb", 0.01),),
        ((1, 0.01),),
        ("a",),
        (("a", 0.01, 0.01),),
    ],
)
def test_what_are_no_parts(parts):
    with pytest.raises(InvalidPromise, match="of RandomDP"):
        RandomDP(PureDP(0.5), 0.05, parts=parts)


@pytest.mark.parametrize("basis", ["finite-sample", None, True])
def test_what_is_no_basis(basis):
    with pytest.raises(InvalidPromise, match="Expected a basis of RandomDP"):
        RandomDP(PureDP(0.5), 0.05, basis)


def test_every_text_says_what_is_assumed():
    assert "exchangeable" in (RandomDP.__doc__ or "")
