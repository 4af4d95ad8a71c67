"""Laws on a lattice bound exact ones from above; every step is compared with exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.loss import lattice
from sitr.loss.lattice import Lattice, total
from sitr.numbers import Number, ball, exact

BITS = 200
Atoms = list[tuple[Fraction, float]]
losses = st.fractions(-3, 3, max_denominator=1000)
atoms = st.lists(st.tuples(losses, st.floats(1e-6, 1)), min_size=1, max_size=4)
UNIT = Fraction(3)


def tail(law: Lattice | Atoms, epsilon: Number) -> arb:
    """Σ m(l)·(1 − e^{ε−l})₊ and the mass at +∞."""
    if isinstance(law, Lattice):
        places = np.flatnonzero(law.masses).tolist()
        pairs = [((law.lowest + place) * law.step, Fraction(float(law.masses[place]))) for place in places]
        beyond = ball(Fraction(law.beyond))
    else:
        pairs, beyond = [(loss, Fraction(mass)) for loss, mass in law], arb(0)
    gains = [ball(mass) * (1 - (ball(epsilon) - ball(loss)).exp()).nonnegative_part() for loss, mass in pairs]
    return sum(gains, beyond)


def summed(first: Atoms, second: Atoms) -> list[tuple[Fraction, Fraction]]:
    return [(a + b, Fraction(p) * Fraction(q)) for (a, p), (b, q) in product(first, second)]


def assert_from_above(law: Lattice, true: Atoms, *, within: float) -> None:
    for epsilon in (0, Fraction(1, 7), 1, Fraction(5, 2), 4):
        with ctx.workprec(BITS):
            assert not tail(true, epsilon) > tail(law, epsilon)
            assert tail(law, epsilon) < tail(true, epsilon) + ball(within)


@given(atoms)
def test_a_law_bounds_its_atoms_and_keeps_both_masses(chosen):
    law = Lattice.of(chosen, unit=UNIT)
    assert len(law.masses) <= lattice.CELLS
    assert_from_above(law, chosen, within=1e-3)
    with ctx.workprec(BITS):
        for sign in (0, -1):  # P's mass, and Q's, which is e^{−l} times that
            kept = sum(
                (
                    ball(Fraction(float(law.masses[i]))) * (sign * ball((law.lowest + i) * law.step)).exp()
                    for i in np.flatnonzero(law.masses).tolist()
                ),
                arb(0),
            )
            meant = sum((ball(Fraction(mass)) * (sign * ball(loss)).exp() for loss, mass in chosen), arb(0))
            assert abs(kept / meant - 1) < ball(1e-12)


def test_the_nearest_point_instead_of_two_would_be_noticed():
    """The twin that rounds a loss down to the lattice claims too little."""
    loss, step = Fraction(7, 10), Fraction(1, 2)
    down = Lattice(step, int(loss // step), np.ones(1))
    with ctx.workprec(BITS):
        assert tail([(loss, 1.0)], 0) > tail(down, 0)


@given(st.floats(-320, 300).map(lambda power: 10**power) | st.floats(1e-6, 100), st.integers(0, 999))
@example(1e-300, 1)
@example(1e300, 500)
@example(1.0, 0)
def test_shares_are_rounded_up_and_hardly(size, thousandths):
    step = exact(size)
    _, before, after = lattice._place(step * Fraction(thousandths, 1000) - 3 * step, step)
    ((left,), (right,)) = lattice._shares(np.array([before]), np.array([after]), step)
    with ctx.workprec(4000):
        r, whole = ball(step) * thousandths / 1000, -(-ball(step)).expm1()
        true = ((-r).exp() - (-ball(step)).exp()) / whole, -(-r).expm1() / whole
        for share, found in zip(true, (left, right), strict=True):
            assert not share > ball(Fraction(float(found))) + ball(1e-320)
            assert ball(Fraction(float(found))) < share * (1 + ball(1e-12)) + ball(1e-320)
    assert thousandths or (left, right) == (1.0, 0.0)


@given(atoms, atoms)
def test_a_sum_bounds_the_sum(first, second):
    law = Lattice.of(first, unit=UNIT) + Lattice.of(second, unit=UNIT)
    assert_from_above(law, summed(first, second), within=1e-3)  # type: ignore[arg-type]


@given(atoms, atoms)
def test_a_sum_on_few_points_bounds_the_sum(first, second):
    law = Lattice.of(first, unit=UNIT, cells=64) + Lattice.of(second, unit=UNIT, cells=64)
    assert len(law.masses) <= 64
    assert_from_above(law, summed(first, second), within=0.2)  # type: ignore[arg-type]


@given(atoms, st.integers(1, 6))
def test_repetition_bounds_the_sum(chosen, times):
    exactly: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(1))]
    for _ in range(times):
        merged: dict[Fraction, Fraction] = {}
        for (a, p), (b, q) in product(exactly, chosen):
            merged[a + b] = merged.get(a + b, Fraction(0)) + p * Fraction(q)
        exactly = list(merged.items())
        if len(exactly) > 300:
            return
    law = Lattice.of(chosen, unit=UNIT) * times
    whole = sum(mass for _, mass in chosen) ** times
    assert_from_above(law, exactly, within=2e-3 * max(1.0, whole))  # type: ignore[arg-type]


@given(atoms)
def test_the_profile_is_the_tail_at_each_point(chosen):
    law = Lattice.of(chosen, unit=UNIT)
    for epsilon, delta in list(law.profile())[::97]:
        with ctx.workprec(BITS):
            true = tail(law, epsilon)
            assert not true > ball(Fraction(delta))
            assert ball(Fraction(delta)) < true * (1 + ball(1e-9)) + ball(1e-300)


@given(atoms)
def test_coarser_points_change_nothing_at_themselves(chosen):
    """The bound becomes its chord: at the points that stay it is what it was."""
    law = Lattice.of(chosen, unit=UNIT)
    coarse = law._coarsened(64 * law.step)
    assert coarse.step == 64 * law.step
    with ctx.workprec(BITS):
        for place in range(coarse.lowest, coarse.lowest + len(coarse.masses), 5):
            before, after = tail(law, place * coarse.step), tail(coarse, place * coarse.step)
            assert not before > after
            assert after < before * (1 + ball(1e-11)) + ball(1e-290)


def test_ends_are_cut_only_where_there_is_nothing_to_see():
    masses = np.full(3 * lattice.CELLS, 1e-90)
    masses[lattice.CELLS : lattice.CELLS + 100] = 0.01
    law = Lattice(Fraction(1, 1000), -lattice.CELLS, masses)._trimmed()
    assert (len(law.masses), law.lowest, law.step) == (100, 0, Fraction(1, 1000))
    assert 2 * lattice.CELLS * 0.98e-90 < law.beyond < 1e-80
    assert law.masses[0] >= 0.01


def test_what_is_cut_off_goes_up():
    masses = np.full(2 * lattice.CELLS, 1e-6)
    law = Lattice(Fraction(1, 1000), 0, masses, 0.125, cut=0.01)._trimmed()
    assert law.beyond == pytest.approx(0.135, rel=1e-3)
    assert law.masses.sum() + law.beyond >= masses.sum() + 0.125
    assert law.masses.sum() + law.beyond == pytest.approx(masses.sum() + 0.125, rel=1e-9)


def test_infinite_losses_stay_infinite_in_a_sum():
    """1 − (1 − a)(1 − b) where the finite masses are the rest."""
    first, second = Lattice(Fraction(1), 0, np.array([0.75]), 0.25), Lattice(Fraction(1), 0, np.array([0.5]), 0.5)
    assert 0.625 <= (first + second).beyond < 0.625 + 1e-9


def test_a_law_without_mass_keeps_a_point():
    law = Lattice(Fraction(1), 0, np.zeros(3 * lattice.CELLS))._trimmed()
    assert len(law.masses) == 1


def test_masses_too_small_for_a_float_are_not_forgotten():
    tiny = Lattice(Fraction(1), 1, np.array([1e-200]))
    assert (tiny + tiny).beyond > 1e-301


def test_the_finest_laws_are_added_first():
    laws = [Lattice.of([(Fraction(1, n), 0.5), (Fraction(-1, n), 0.5)], unit=Fraction(1)) for n in (1, 10, 100, 1000)]
    whole = total(laws)
    assert whole.step == max(law.step for law in laws)
    true: Atoms = [(Fraction(0), 1.0)]
    for n in (1, 10, 100, 1000):
        true = [(a + sign * Fraction(1, n), p / 2) for (a, p), sign in product(true, (1, -1))]
    assert_from_above(whole, true, within=1e-6)
