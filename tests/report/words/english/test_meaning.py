"""The sentences about (ε, δ) and about odds, in English."""

from __future__ import annotations

import math

from sitr.report.words.english.meaning import likelihood, moved

SIDES = ("with your data", "without them")


def test_several_points_share_one_sentence() -> None:
    assert likelihood(((0.5, 1e-3), (1.0, 1e-6)), sides=SIDES, evidence="the answer") == (
        "Anything that anyone could do or conclude because of the answer is at most 1.65 times as likely with your "
        "data as without them, plus at most 0.001 (1 in 1,000), and at most 2.72 times as likely plus at most 10⁻⁶ "
        "(1 in 1,000,000), and vice versa."
    )


def test_a_large_delta_is_not_one_in_one() -> None:
    assert "plus at most 0.9, and vice versa." in likelihood(((0.5, 0.9),), sides=SIDES, evidence="the answer")


def test_odds_that_always_hold_have_no_probability() -> None:
    assert moved(1.0, 0.0, "the answer") == "the answer changes the odds by at most a factor of 2.72."
    assert "with probability at most 10⁻⁶ (1 in 1,000,000)." in moved(1.0, 1e-6, "the answer")


def test_what_has_no_number_is_said_so() -> None:
    assert "next to nothing is promised" in likelihood(((math.inf, 1e-6),), sides=SIDES, evidence="the answer")
    assert "any factor" in moved(math.inf, 1e-6, "the answer")
