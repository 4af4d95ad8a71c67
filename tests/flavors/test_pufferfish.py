"""Pufferfish promises: what they refuse, and with which reason."""

from __future__ import annotations

import pytest

from sitr.accounting.filter import Filter
from sitr.accounting.odometer import Odometer
from sitr.accounting.schedule import Part
from sitr.accounting.schedule_file import read_schedule
from sitr.audit.empirical.claims import check
from sitr.errors import IncompatiblePromises, InvalidPromise, InvalidUse
from sitr.flavors.arrows import kept
from sitr.flavors.notation import parse, write
from sitr.flavors.price import price_of
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.report.envelope import promise_dict

ILL = Framework("whether one person is ill", "illness is contagious")
SERIES = Framework("the state at each time", "one Markov chain", series="0a1b")
ALONE, ADDS = Pufferfish(0.5, ILL), Pufferfish(0.5, SERIES)

REASON = "may reveal a secret that each of them hides"


@pytest.mark.parametrize(
    "use",
    [
        lambda: ALONE + ALONE,
        lambda: ALONE * 2,
        lambda: Pufferfish.compose([ALONE, ALONE]),
        lambda: Filter(ALONE),
        lambda: Odometer(ALONE),
        lambda: Part((ALONE,)),
        lambda: Part((ADDS,)),
        lambda: price_of(ALONE),
        lambda: price_of(write(ADDS)),
        lambda: Filter(ADDS).consent(ALONE),
    ],
    ids=["plus", "times", "compose", "budget", "odometer", "step", "step of a series", "price", "written", "charge"],
)
def test_sums_are_refused_with_the_reason(use):
    with pytest.raises(IncompatiblePromises, match=REASON) as refusal:
        use()
    assert "a single Pufferfish promise" in refusal.value.wanted


def test_a_plan_file_refuses_it_with_the_reason():
    with pytest.raises(InvalidPromise, match=f"promises add up in step 1, got pufferfish.*{REASON}"):
        read_schedule([{"pufferfish": {"epsilon": 1}}])


def test_markov_quilts_of_one_series_add_up():
    assert ADDS + ADDS == ADDS * 2 == Pufferfish(1.0, SERIES)
    assert Filter(Pufferfish(1.0, SERIES)).consent(ADDS).remaining() == ADDS
    assert Odometer(ADDS).record(ADDS).total() == ADDS * 2
    with pytest.raises(IncompatiblePromises, match="the same chains and the same length"):
        ADDS + Pufferfish(0.5, Framework("the state at each time", "one Markov chain", series="ffff"))
    with pytest.raises(IncompatiblePromises, match=REASON):
        ADDS + ALONE


def test_it_implies_and_follows_from_nothing_else():
    assert ADDS.covers(ADDS * 2)
    assert not (ADDS * 2).covers(ADDS)
    assert not ADDS.covers(ALONE)
    assert not ADDS.covers(PureDP(9.0))
    assert not PureDP(0.0).covers(ADDS)
    assert not ALONE.covers(RandomDP(PureDP(9.0), 0.5))
    assert not kept(ADDS)
    with pytest.raises(IncompatiblePromises, match="only against the priors"):
        ALONE.to_approximate(delta=1e-6)


def test_it_is_no_promise_to_a_newcomer():
    with pytest.raises(InvalidPromise, match="inside RandomDP"):
        RandomDP(ALONE, 0.1)


def test_one_pair_of_inputs_cannot_refute_it():
    with pytest.raises(InvalidUse, match="about secrets and priors"):
        check(ALONE)


@pytest.mark.parametrize("promise", [ALONE, ADDS, Pufferfish(1, Framework('it\'s "so"', "ε → x, y=2"))], ids=repr)
def test_it_is_written_and_read(promise):
    assert parse(write(promise)) == promise


def test_short_notation():
    assert parse('pufferfish(0.5, "whether one person is ill", "illness is contagious")') == ALONE
    assert promise_dict(ADDS)["framework"]["series"] == "0a1b"


@pytest.mark.parametrize(
    "text",
    [
        "pufferfish(1)",
        "pufferfish(1, 2, 3)",
        "pufferfish('a', 'b', 'c')",
        "pufferfish(1, '', 'b')",
        "pufferfish(1, 'a\\n', 'b')",
    ],
)
def test_what_is_missing_is_refused(text):
    with pytest.raises(InvalidPromise):
        parse(text)


def test_the_framework_is_text():
    for wrong in ("", " ", "x" * 401, 3):
        with pytest.raises(InvalidPromise, match="one line of text"):
            Framework(wrong, "b")  # type: ignore[arg-type]
    with pytest.raises(InvalidPromise, match="a framework of Pufferfish"):
        Pufferfish(1.0, "ill")  # type: ignore[arg-type]
    with pytest.raises(InvalidPromise, match="at least one Pufferfish promise"):
        Pufferfish.compose([])
