"""The law of clones against all of its outputs written out in Arb."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpz

from sitr.errors import InvalidPromise
from sitr.loss.forms import shuffled
from sitr.loss.forms.finite import response
from sitr.loss.forms.shuffled import ShuffledLaw
from sitr.loss.law import FUNCTIONS, ROUNDING, Law
from sitr.loss.loss import Loss

Output = tuple[arb, arb, arb]


def outputs(law: ShuffledLaw, truth) -> list[Output]:
    """(loss, P, Q) of every pair (a, b): of C clones each says a or b by a coin, and the one in question a with α."""
    e = truth.real(law.epsilon)
    clone, alpha, others = (-e).exp(), 1 / (1 + (-e).exp()), law.people - 1
    found = []
    for c in range(others + 1):
        number = arb(fmpz.bin_uiui(others, c)) * clone**c * (1 - clone) ** (others - c) / arb(2) ** c
        coins = [number * arb(fmpz.bin_uiui(c, a)) for a in range(c + 1)]
        for a in range(c + 2):
            itself, another = coins[a - 1] if a > 0 else arb(0), coins[a] if a <= c else arb(0)
            p, q = (x * itself + (1 - x) * another for x in (alpha, 1 - alpha))
            found.append(((p / q).log(), p, q))
    return found


def stick(atoms: list[Output], epsilon: arb) -> arb:
    return sum(((p - epsilon.exp() * q).nonnegative_part() for _, p, q in atoms), arb(0))


SMALL = [ShuffledLaw(epsilon, people) for epsilon in (0.01, 1.0, 2.5, 12.0) for people in (*range(1, 13), 40)]
SOME = [law if law.people in (1, 2, 3, 5, 8, 40) else pytest.param(law, marks=pytest.mark.slow) for law in SMALL]
"""The same laws; some numbers of people run only with the slow tests."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("law", SOME, ids=str)
def test_the_profile_is_that_of_all_outputs(law, truth):
    atoms, loss = outputs(law, truth), Loss.of(law)
    assert abs(sum((p for _, p, _ in atoms), arb(0)) - 1) < arb("1e-50")
    places = [0.0, *(law.epsilon * share for share in (1e-6, 0.1, 1 / 3, 0.5, 0.9, 1 - 1e-9)), 2 * law.epsilon]
    places += [float(at) for at, _, _ in atoms[:: max(1, len(atoms) // 7)] if at > 0]  # and where the profile bends
    for epsilon in places:
        true, found = stick(atoms, truth.real(epsilon)), loss.delta(epsilon=epsilon)
        assert truth.real(found.lower) <= true + arb("1e-50")
        assert true <= truth.real(found.upper) + arb("1e-50")
        # A slack is about 300F here (2F·10 for a mean, doubled on the way), and both masses count with theirs, twice.
        assert found.width <= 1200 * FUNCTIONS * (1 + law.epsilon)
    for delta in (1e-1, 1e-4, 1e-12):
        found = loss.epsilon(delta=delta)
        assert stick(atoms, truth.real(found.upper)) <= truth.real(delta) * (1 + arb("1e-15"))
        assert found.lower == 0.0 or stick(atoms, truth.real(found.lower)) >= truth.real(delta) * (1 - arb("1e-15"))
        assert found.width <= 1e-6 * law.epsilon


@pytest.mark.parametrize("law", [*SMALL[::5], ShuffledLaw(0.5, 150), ShuffledLaw(3.0, 150)], ids=str)
def test_masses_are_right_to_within_slack_and_edges_to_within_blur(law, truth):
    draw = np.random.default_rng(law.people)
    atoms = sorted(outputs(law, truth), key=lambda atom: float(atom[0]))
    losses = np.array([float(at) for at, _, _ in atoms])
    sums = [np.cumsum([arb(0), *(atom[side] for atom in atoms)]) for side in (1, 2)]
    off = law.blur + 8 * ROUNDING

    def below(edge, side, out):
        if math.isinf(edge):
            return sums[side][0 if edge < 0 else -1]
        return sums[side][np.searchsorted(losses, edge + out * off * (1 + abs(edge)), side="right")]

    for width in 10.0 ** np.arange(-9, 1):
        middle = draw.choice(losses) * draw.uniform(0.8, 1.0)
        edges = np.sort(np.append(middle + width * law.epsilon * draw.uniform(-1, 1, 8), draw.choice(losses)))
        edges = np.concatenate(((-math.inf,), edges, (math.inf,)))
        found = law.cells(edges)
        for cell in range(len(edges) - 1):
            sure, slack = math.isfinite(found.slack[cell]), truth.real(min(found.slack[cell], 1e300))
            for side, logs in enumerate((found.log_p, found.log_q)):
                ends = [[below(edges[cell + end], side, out) for out in (-1, 1)] for end in (0, 1)]
                outer, inner = ends[1][1] - ends[0][0], ends[1][0] - ends[0][1]
                mass = truth.real(logs[cell]).exp() if logs[cell] > -math.inf else arb(0)
                assert mass * (slack.exp() if sure else 1) >= inner - arb("1e-50")
                assert not sure or mass * (-slack).exp() <= outer + arb("1e-50")


def tail(law: ShuffledLaw, edge: float, truth) -> tuple[arb, arb]:
    """P and Q of all losses above an edge ≥ 0, for many people: sums of binomial masses, each from its neighbour."""
    e, others = truth.real(law.epsilon), law.people - 1
    clone, alpha = (-e).exp(), 1 / (1 + (-e).exp())
    share = ((e - truth.real(edge)) / 2).sinh() / (2 * (e / 2).sinh() * (truth.real(edge) / 2).cosh())
    centre, reach = others * float(clone), 30 * math.sqrt(others * float(clone)) + 30
    first, last = max(0, int(centre - reach)), min(others, int(centre + reach))
    ways = arb(others + 1).lgamma() - arb(first + 1).lgamma() - arb(others - first + 1).lgamma()
    number = (ways + first * clone.log() + (others - first) * (1 - clone).log()).exp()
    p = q = arb(0)
    for c in range(first, last + 1):
        k = math.ceil(float((c + 1) * share)) - 1
        at = mass = arb(fmpz.bin_uiui(c, k)) / arb(2) ** c
        fewer, j = arb(0), k
        while j > 0 and mass > at * arb("1e-25"):
            mass = mass * j / (c - j + 1)
            fewer, j = fewer + mass, j - 1
        p, q = p + number * (fewer + alpha * at), q + number * (fewer + (1 - alpha) * at)
        number = number * (others - c) / (c + 1) * clone / (1 - clone)
    return p, q


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "law", [ShuffledLaw(4.0, 20_000), ShuffledLaw(8.0, 1_000_000), ShuffledLaw(1.0, 3_000)], ids=str
)
@pytest.mark.parametrize("depth", [0.3, 3.0, 12.0])
def test_tails_of_many_are_right(law, depth, truth):
    """To within what is stated, and that is little: 12 standard deviations out, too."""
    edge = min(
        law.epsilon * 0.9, depth * 2 * math.tanh(law.epsilon / 2) * math.exp(law.epsilon / 2) / math.sqrt(law.people)
    )
    true, found = tail(law, edge, truth), law.cells(np.array((edge, math.inf)))
    for mass, log in zip(true, (found.log_p[0], found.log_q[0]), strict=True):
        assert abs(truth.real(log).exp() / mass - 1) <= truth.real(found.slack[0]) * 2
    assert found.slack[0] < 1e-11


def test_one_alone_has_nobody_to_hide_among():
    for epsilon in (0.1, 1.0, 8.0):
        alone, told = Loss.of(ShuffledLaw(epsilon, 1)), Loss.of(response(epsilon))
        for delta in (1e-3, 1e-9):
            assert alone.epsilon(delta=delta).lower == pytest.approx(told.epsilon(delta=delta).upper, rel=1e-6)
        assert alone.delta(epsilon=epsilon / 2).upper == pytest.approx(told.delta(epsilon=epsilon / 2).lower, rel=1e-9)
        assert alone.renyi(order=4).upper == pytest.approx(told.renyi(order=4).lower, rel=1e-3)


@pytest.mark.parametrize("law", [*SMALL[::7], ShuffledLaw(1.0, 5000), ShuffledLaw(2.0, 10**6)], ids=str)
def test_it_is_a_law(law):
    edges = np.array((-math.inf, -3.0, -1e-3, -1e-5, 0.0, 1e-6, 1e-4, 0.1, 2.0, math.inf))
    found = law.cells(edges)
    assert np.exp(found.log_p).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.exp(found.log_q).sum() == pytest.approx(1.0, abs=1e-9)
    odd = np.array((-math.inf, -0.3123, -1.123e-3, 1.31e-4, 0.4123, math.inf))
    here, there = law.cells(odd), law.reversed().cells(-odd[::-1])
    sure = np.isfinite(here.slack)
    assert here.log_p[sure] == pytest.approx(there.log_q[::-1][sure], rel=1e-9, abs=1e-9)
    assert (law.least, law.greatest, law.infinite, law.reversed()) == (-law.epsilon, law.epsilon, 0.0, law)
    assert isinstance(law, Law)


@pytest.mark.parametrize("tilt", [0.5, 3.0, 20.0])
def test_moments_are_those_of_all_outputs(tilt, truth):
    law = ShuffledLaw(1.5, 30)
    atoms = outputs(law, truth)
    for edge in (0.0, 0.2, 1.4):
        true = sum((p * (truth.real(tilt) * at).exp() for at, p, _ in atoms if at > edge), arb(0))
        assert truth.real(law.log_moment_above(tilt, edge)).exp() >= true
    moment = sum((p * (truth.real(tilt) * at).exp() for at, p, _ in atoms), arb(0)).log() / truth.real(tilt)
    found = Loss.of(law).renyi(order=1 + tilt)
    assert truth.real(found.lower) <= moment * (1 + arb("1e-12"))
    assert moment <= truth.real(found.upper) * (1 + arb("1e-12"))
    assert found.width <= 2e-4 * found.upper


def test_two_releases_are_the_sum_of_two(truth):
    law = ShuffledLaw(1.0, 12)
    atoms = outputs(law, truth)
    both = [(at + other, p * x, q * y) for at, p, q in atoms for other, x, y in atoms]
    for epsilon in (0.0, 0.5, 1.5):
        true, found = stick(both, truth.real(epsilon)), Loss.of(law, 2).delta(epsilon=epsilon)
        assert truth.real(found.lower) <= true <= truth.real(found.upper)
        assert found.width <= 0.01 * found.upper


def test_more_people_hide_better_and_louder_answers_hide_less():
    numbers = (1, 2, 5, 30, 200, 5000, 10**5, 10**6)
    people = [Loss.of(ShuffledLaw(2.0, number)).epsilon(delta=1e-6, relative=1e-7) for number in numbers]
    assert all(more.upper < fewer.lower for fewer, more in pairwise(people))
    louder = [
        Loss.of(ShuffledLaw(epsilon, 1000)).epsilon(delta=1e-6) for epsilon in (1e-3, 0.1, 0.5, 1, 2, 4, 8, 16, 64)
    ]
    assert all(less.upper < more.lower for less, more in pairwise(louder))


def test_among_many_the_loss_is_nearly_gaussian():
    """With x = (a − b)/(a + b) ~ N(0, 1/np) under M: μ² = 4·tanh²(ε/2)/(np), and the profile is that of μ."""
    from sitr.loss.forms.gaussian import GaussianLaw

    for people in (10**4, 10**6):
        mu = 2 * math.tanh(0.5) / math.sqrt(people * math.exp(-1.0))
        near = Loss.of(GaussianLaw(mu)).epsilon(delta=1e-5)
        assert Loss.of(ShuffledLaw(1.0, people)).epsilon(delta=1e-5).upper == pytest.approx(near.upper, rel=0.02)


@pytest.mark.parametrize("moved", [0, 1, 3])
def test_windows_hold_the_clones(moved, truth):
    epsilon, people = 1.0, 2000
    clones = shuffled._clones(epsilon, people, moved)
    clone = (-truth.real(epsilon)).exp()
    for at in (0, clones.middle, len(clones.numbers) - 1):
        c = int(clones.numbers[at])
        true = arb(fmpz.bin_uiui(people - 1, c)) * clone**c * (1 - clone) ** (people - 1 - c)
        assert abs(truth.real(clones.masses[at]) / true - 1) < 4 * ROUNDING
    assert 0.0 < clones.outside < 1.0
    assert math.fsum(clones.masses) + clones.outside >= 1 - 1e-12


@pytest.mark.parametrize(
    ("epsilon", "people"), [(0.0, 10), (-1.0, 10), (math.inf, 10), (math.nan, 10), (1.0, 0), (1.0, 10**9)]
)
def test_parameters_are_in_their_range(epsilon, people):
    with pytest.raises(InvalidPromise):
        ShuffledLaw(epsilon, people)
