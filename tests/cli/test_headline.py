"""One price, one headline: every kind of report names the same (ε, δ), to people and to machines."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.plans.plan import Measurement
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease
from sitr.report import statistic
from sitr.report.page.html import page
from sitr.report.text.terminal import as_text, render
from sitr.session.dataset import open as open_description

Sitr = Callable[..., Any]

PRICE = ZeroConcentratedDP(0.05)
IMPLIED = PRICE.to_approximate(delta=1e-6).epsilon
"""1.4716, which no report may contradict."""

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PEOPLE = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
PAID = ("--price", "zcdp(0.05)")
FILE = "visits.sitr.yaml"
HISTOGRAM = ("histogram", FILE, "--column", "cost", "--bins", 5, *PAID)
SYNTHETIC = ("synthesize", FILE, "--price", "zcdp(0.05)", "--columns", "ward", "--rows", 20)
COMMANDS: dict[str, tuple[object, ...]] = {
    "preview": ("preview", FILE, WARDS, *PAID),
    "ask": ("ask", FILE, WARDS, *PAID),
    "histogram preview": (*HISTOGRAM, "--preview"),
    "histogram": HISTOGRAM,
    "synthetic preview": (*SYNTHETIC, "--preview"),
    "synthetic": (*SYNTHETIC, "-o", "rows.csv"),
    "explain": ("explain", "zcdp(0.05)"),
    "convert": ("convert", "zcdp(0.05)", "--to", "approximate", "--delta", 1e-6),
    "convert to the same": ("convert", "zcdp(0.05)", "--to", "zcdp"),
}


def normal(text: str) -> str:
    return " ".join(text.split())


def headlines(told: object) -> Iterator[dict[str, Any]]:
    """All headlines in a JSON value."""
    if isinstance(told, dict):
        for name, value in told.items():
            if name == "headline":
                yield value
            else:
                yield from headlines(value)


def check_words(text: str) -> None:
    """The loss bounds the noise of a vector: a smaller ε leads, and the one that ρ implies is named beside it."""
    said = normal(text)
    assert "ε = 1.472" in said
    found = re.search(r"ε = (1\.\d+), δ = 10⁻⁶", said)
    assert found is not None
    odds = re.search(r"(\d\.\d+) times as likely", said)
    assert odds is not None
    assert float(odds[1]) == pytest.approx(math.exp(float(found[1])), rel=3e-3)
    assert 1.3 < float(found[1]) <= 1.472
    assert float(found[1]) == 1.472 or "proved for this noise" in said
    assert "plus at most 10⁻⁶" in said


@pytest.mark.usefixtures("description")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_the_same_to_people(sitr: Sitr, name: str) -> None:
    done = sitr(*COMMANDS[name])
    assert done.code == 0, done.err
    check_words(done.out)
    # The odds have a factor of their own, where the promise bounds it.
    assert ("a factor of 5.55 with probability at most 10⁻⁶" in normal(done.out)) is (name != "convert")


@pytest.mark.usefixtures("description")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_the_same_to_machines(sitr: Sitr, name: str) -> None:
    (headline,) = headlines(sitr(*COMMANDS[name], "--json").told())
    assert headline["delta"] == 1e-6
    assert 1.3 < headline["epsilon"] <= headline["implied"] == pytest.approx(IMPLIED, rel=1e-12)
    assert not headline["exact"]
    assert headline["odds"] == (None if name == "convert" else pytest.approx(1.712258, rel=1e-6))
    assert headline["gamma"] is None


def test_arabic_has_the_same_numbers(sitr: Sitr) -> None:
    told = sitr("explain", "zcdp(0.05)", "--lang", "ar").out.replace("\u00a0", " ")
    assert "ε = 1.472, δ = 10⁻⁶" in told
    assert "4.36 · p + 10⁻⁶" in told
    assert "5.55" in told


@pytest.mark.usefixtures("description")
def test_every_page_says_the_same(sitr: Sitr) -> None:
    assert sitr(*COMMANDS["ask"], "--certificate", "answer.html").code == 0
    assert sitr(*COMMANDS["histogram"], "--certificate", "histogram.html").code == 0
    assert sitr(*COMMANDS["synthetic"], "--certificate", "synthetic.html").code == 0
    for name in ("answer", "histogram", "synthetic"):
        check_words(Path(f"{name}.html").read_text(encoding="utf-8"))


def test_every_picture_of_a_notebook_says_the_same(description: Path) -> None:
    question = open_description(description).budget().sql(WARDS)
    for shown in (question.preview(PRICE), question.release(PRICE)):
        check_words(re.sub("<[^>]*>", " ", shown._repr_html_()) + repr(shown))


def test_what_a_mechanism_releases_says_the_same() -> None:
    noise = Gaussian.fitting(PRICE, sensitivity=2)
    plan = StatisticPlan((Measurement("value", noise),), PRICE, "cost: Mechanism()", Numbers("cost", 0.0))
    entry = Entry(1, "poll", PRICE, plan.text, datetime(2024, 1, 2, tzinfo=UTC), "amal", "0.1.0")
    budget = Filter(ZeroConcentratedDP(0.5)).consent(PRICE)
    paid = StatisticRelease(plan, (1,)), Receipt("poll", "row, replace-one", entry, budget)
    paper = statistic.answer(*paid)
    check_words(as_text(render(paper)))
    check_words(page(paper))
    (headline,) = headlines(paper.to_dict())
    assert (headline["implied"], headline["delta"]) == (IMPLIED, 1e-6)


@pytest.mark.usefixtures("description")
@pytest.mark.parametrize("command", ["preview", "ask"])
def test_a_single_number_has_an_exact_headline_and_names_the_implied_one(sitr: Sitr, command: str) -> None:
    said = normal(sitr(command, FILE, PEOPLE, *PAID).out)
    assert "ε = 1.361, δ = 10⁻⁶: exact for this noise, where ρ = 0.05 alone implies ε = 1.472 at the same δ" in said
    assert "3.9 times as likely" in said
    (headline,) = headlines(sitr(command, FILE, PEOPLE, *PAID, "--json").told())
    assert headline["exact"]
    assert 1.36 < headline["epsilon"] < 1.3615 < headline["implied"] == pytest.approx(IMPLIED, rel=1e-12)


def test_an_account_of_the_same_noise_is_exact(sitr: Sitr, tmp_path: Path) -> None:
    """ρ = Δ²/(2σ²) = 0.05 for σ² = 10."""
    sigma = math.sqrt(10)
    (tmp_path / "plan.yaml").write_text(f"- gaussian: {{sigma: {sigma!r}, sensitivity: 1}}\n")
    asked = ("account", tmp_path / "plan.yaml", "--delta", 1e-6)
    (headline,) = headlines(sitr(*asked, "--json").told())
    assert Loss.of(GaussianLaw(1 / sigma)).epsilon(delta=1e-6).lower <= headline["epsilon"] < IMPLIED
    assert (headline["exact"], headline["delta"]) == (True, 1e-6)
    assert "3.93 times as likely" in normal(sitr(*asked).out)


def test_an_account_of_a_random_plan_has_its_gamma(sitr: Sitr, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("- random: {gamma: 0.001, step: {pure: {epsilon: 0.1}}}\n  times: 2\n")
    (headline,) = headlines(sitr("account", tmp_path / "plan.yaml", "--delta", 1e-6, "--json").told())
    assert headline["gamma"] == 0.002
