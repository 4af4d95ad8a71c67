"""What attackers can do, against the closed forms of Gaussian noise; figures rounded outward."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.numbers import Interval, exact
from sitr.report.attack import Attack, ends
from sitr.report.views import FALSE_ALARMS
from sitr.report.words.english.english import ENGLISH

NORMAL = NormalDist()


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_gaussian_noise(mu):
    attack = Attack.on(Loss.of(GaussianLaw(mu)))
    hits = NORMAL.cdf(NORMAL.inv_cdf(FALSE_ALARMS) + mu)
    assert attack.hits.lower - 1e-9 <= hits <= attack.hits.upper + 1e-9
    assert attack.hits.width < 0.02 * hits
    guess = NORMAL.cdf(mu / 2)
    assert attack.guess.lower - 1e-9 <= guess <= attack.guess.upper + 1e-9


def test_randomized_response():
    """The truth with probability e/(1 + e): that is how often the best guess is right."""
    attack = Attack.on(Loss.of(response(1.0)))
    assert attack.guess.lower - 1e-6 <= 0.7310585786 <= attack.guess.upper + 1e-6
    assert attack.hits.lower - 1e-6 <= FALSE_ALARMS * 2.718281828 <= attack.hits.upper + 1e-6


def test_nothing_released_helps_nobody():
    attack = Attack.on(Loss(()))
    assert 0.01 == attack.hits.lower <= attack.hits.upper < 0.0101
    assert 0.5 == attack.guess.lower <= attack.guess.upper < 0.5 + 1e-12


def test_words_name_the_interval():
    words = dict(Attack(Interval(0.33151, 0.33179), Interval(0.8225, 0.8229)).words())
    assert words["attacker"] == "The best test of who took part detects 33.1% to 33.2% of them, with 1% false alarms."
    assert "right 82.2% to 82.3% of the time" in words["guess"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_shares_are_rounded_outward(one, other):
    low, high = sorted((one, other))
    shown = ENGLISH.accounting.share(Interval(low, high)).replace("%", "").split(" to ")
    if any("⁻" in text for text in shown):
        return
    assert Fraction(shown[0]) <= exact(100 * low)
    assert Fraction(shown[-1]) >= exact(100 * high)


def test_for_machines():
    told = Attack(Interval(0.1, 0.2), Interval(0.5, 0.6)).to_dict()
    assert told == {
        "false_alarms": 0.01,
        "hits": {"lower": 0.1, "upper": 0.2},
        "guess": {"lower": 0.5, "upper": 0.6},
    }
    assert ends(Interval(1.0, float("inf"))) == {"lower": 1.0, "upper": None}
