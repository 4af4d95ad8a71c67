"""Accounts in words and for machines: outward, complete, never without γ."""

from __future__ import annotations

import json
import math

import pytest

from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.loss import total_loss
from sitr.accounting.training import Training
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.numbers import Interval
from sitr.report.account import AccountedLoss, render, schedule_rows, training_rows
from sitr.report.text.terminal import as_text
from sitr.report.words.english.english import ENGLISH

NOISE = Loss.of(GaussianLaw(1.0))


def test_the_headline_says_what_was_found_and_where():
    assert AccountedLoss.at_delta(NOISE, 1e-6).headline() == "ε is between 4.886 and 4.887 at δ = 10⁻⁶"
    assert AccountedLoss.at_epsilon(NOISE, 1.0).headline() == "δ is between 0.1269 and 0.127 at ε = 1"
    exposed = Loss.of(response(1.0, infinite=1e-3))
    assert AccountedLoss.at_delta(exposed, 1e-6).headline() == "ε is infinite at δ = 10⁻⁶"


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Interval(2.38061, 2.38219), "is between 2.38 and 2.383"),
        (Interval(0.0, 0.0), "is 0"),
        (Interval(0.0, 1e-9), "is at most 10⁻⁹"),
        (Interval(math.inf, math.inf), "is infinite"),
        (Interval(2.38061, math.inf), "is at least 2.38, with no upper bound,"),
    ],
)
def test_intervals_in_words(bounds, words):
    assert ENGLISH.accounting.between(bounds) == words


def test_one_of_epsilon_and_delta_is_an_interval_for_machines():
    at_delta, at_epsilon = AccountedLoss.at_delta(NOISE, 1e-6).to_dict(), AccountedLoss.at_epsilon(NOISE, 1.0).to_dict()
    assert at_delta["delta"] == 1e-6
    assert at_epsilon["epsilon"] == 1.0
    assert list(at_delta["epsilon"]) == list(at_epsilon["delta"]) == ["lower", "upper"]  # type: ignore[call-overload]
    json.dumps(AccountedLoss.at_delta(Loss.of(response(1.0, infinite=1e-3)), 1e-6).to_dict(), allow_nan=False)


def rows(steps, delta=1e-6):
    plan = read_schedule(steps)
    return dict(schedule_rows(plan, AccountedLoss.at_delta(total_loss(plan), delta)))


def test_exposure_outright_stands_apart():
    assert rows([{"pure": {"epsilon": 0.1}}])["outright"].startswith("Nobody can be exposed outright")
    somebody = rows([{"approximate": {"epsilon": 0.1, "delta": 1e-9}, "times": 2}])["outright"]
    assert "probability up to 2 × 10⁻⁹" in somebody
    beyond = rows([{"approximate": {"epsilon": 0.1, "delta": 1e-3}}])["outright"]
    assert "no ε follows at this δ" in beyond


def test_what_is_proved_already_is_not_told_as_less():
    found = NOISE.epsilon(delta=1e-6)
    middle = (found.lower + found.upper) / 2
    assert AccountedLoss.at_delta(NOISE, 1e-6, proved=middle).found == Interval(found.lower, middle)
    assert AccountedLoss.at_delta(NOISE, 1e-6).found == found


def test_no_attack_on_you_is_bounded_by_a_promise_to_newcomers():
    assert {"attacker", "guess"} <= set(rows([{"pure": {"epsilon": 0.1}}]))
    random = rows([{"random": {"gamma": 0.01, "step": {"pure": {"epsilon": 0.1}}}}])
    assert {"attacker", "guess"}.isdisjoint(random)


def test_gamma_is_never_left_out():
    told = rows([{"random": {"gamma": 0.01, "step": {"pure": {"epsilon": 0.1}}}}])
    assert told["random"].startswith("γ = 0.01, finite-sample: every ε here holds except for this fraction of data.")
    step = {"gamma": 0.01, "basis": "asymptotic", "step": {"pure": {"epsilon": 0.1}}}
    named = rows([{"random": step, "name": "means"}])["random"]
    assert named.startswith("γ = 0.01 (means 0.01), asymptotic, as published: every ε here holds")
    assert "assumes exchangeable data, protects a random newcomer and not you" in named
    assert "random" not in rows([{"pure": {"epsilon": 0.1}}])


def test_a_training_says_what_it_takes_for_granted():
    training = Training(60_000, 256, 60, 1.1)
    told = dict(training_rows(training, AccountedLoss.at_delta(training.loss(), 1e-5)))
    assert told["training"] == "60,000 examples, 60 epochs in batches of about 256: 14,063 steps at a rate of 0.004267."
    assert "Shuffled batches are another mechanism" in told["assumed"]
    single = Training(100, 10, 1, 2)
    assert (
        "1 example, 1 epoch in batches of about 1: 1 step"
        in dict(training_rows(Training(1, 1, 1, 2), AccountedLoss.at_delta(NOISE, 1e-5)))["training"]
    )
    assert "1 epoch in" in dict(training_rows(single, AccountedLoss.at_delta(single.loss(), 1e-5)))["training"]


@pytest.mark.parametrize("width", [60, 120])
def test_lines_fit(width):
    account = AccountedLoss.at_delta(NOISE, 1e-6)
    shown = as_text(render(account.headline(), account.attack.words()), width=width).splitlines()
    assert shown[0] == account.headline()
    assert all(len(line) <= width for line in shown)
