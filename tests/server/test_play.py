"""The calculators for strangers: right numbers, live parts, and bounds on what a request can cost."""

from __future__ import annotations

import re
from math import exp, sqrt
from statistics import NormalDist

import pytest
from playwright.sync_api import Browser

from sitr.server.play import PARTS, played
from tests.server.browsing import readable
from tests.server.conftest import Team

LIVE = {"hx-request": "true"}
PHI = NormalDist().cdf


@pytest.mark.parametrize(("sigma", "epsilon"), [(1.5, 1.0), (0.5, 3.0), (4.0, 0.2)])
def test_the_loss_of_two_gaussians(sigma: float, epsilon: float) -> None:
    """Against the formulas of two normal tails, which nothing of Sitr computes here."""
    found, mu = PARTS["loss"](played(sigma=sigma, epsilon=epsilon)), 1 / sigma
    tail = PHI((mu * mu / 2 - epsilon) / mu)
    delta = PHI(mu / 2 - epsilon / mu) - exp(epsilon) * PHI(-mu / 2 - epsilon / mu)
    assert float(found["tail"].replace(",", "")) == pytest.approx(tail, rel=1e-3)
    assert float(found["delta"].replace(",", "")) == pytest.approx(delta, rel=1e-3)
    assert float(found["tail"]) >= tail * (1 - 1e-12)  # rounded up


def test_composition_names_the_tightest_theorem() -> None:
    rows = PARTS["composition"](played(promise="pure(0.1)", times=100, delta=1e-6))["rows"]
    best = [total for _, total, tightest, _ in rows if tightest]
    assert best == ["4.775"]
    assert max(share for *_, share in rows) == 1.0
    basic = [share for name, _, _, share in rows if share == 1.0]
    assert len(basic) == 1  # ε = 10, by adding


def test_groups_grow_linearly_for_pure_and_quadratically_for_zcdp() -> None:
    pure = PARTS["group"](played(promise="pure(0.1)", group=4))["rows"]
    assert [row[1].split(",")[0] for row in pure] == [f"ε = 0.{size}" for size in (1, 2, 3, 4)]
    concentrated = PARTS["group"](played(promise="zcdp(0.01)", group=3))["rows"]
    assert "0.09" in concentrated[-1][1]


@pytest.mark.parametrize(("gamma", "releases", "bare"), [(0.01, 5, 50), (0.0, 9, 0), (0.1, 50, 1000), (0.0011, 1, 2)])
def test_fractions_of_data_sets_add_up(gamma: float, releases: int, bare: int) -> None:
    found = PARTS["random"](played(gamma=gamma, releases=releases))
    assert f"{bare:,}" in found["said"]
    assert found["picture"].count('fill="#d07a00"') == bare


def test_every_flavor_of_a_promise() -> None:
    rows = [*PARTS["convert"](played(source="zcdp(0.1)"))["table"].rows()]
    epsilon = 0.1 + 2 * sqrt(0.1 * 6 * 2.302585092994046)  # ρ + 2√(ρ ln 1/δ), which is not tight
    shown = [float(bound.partition("≤ ")[2]) for flavor, bound, _ in rows if "10⁻⁶" in flavor and "≤" in bound]
    assert shown
    assert all(0 < each <= epsilon for each in shown)


def test_training_is_bounded_and_monotone() -> None:
    less, more = (float(PARTS["training"](played(multiplier=sigma))["epsilon"]) for sigma in (2.0, 1.0))
    assert 0 < less < more


def test_a_slider_changes_one_part_only(shared: Team) -> None:
    stranger = shared.visitor()
    for name in PARTS:
        found = stranger.get("/play", params={"part": name}, headers=LIVE)
        assert found.status_code == 200
        assert "<html" not in found.text
        assert "<form" not in found.text
    whole = stranger.get("/play", params={"part": "loss", "sigma": 3.5})
    assert 'value="3.5"' in whole.text
    assert all(f'id="{name}"' in whole.text for name in PARTS)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"sigma": 0.01}, {"sigma": "nan"}, {"epsilon": -1}, {"times": 10**9}, {"group": 101}, {"gamma": 2}),
        *({"releases": 0}, {"examples": 10**10}, {"epochs": 10**6}, {"multiplier": 0.01}, {"delta": 0}),
        *({"promise": "p" * 201}, {"source": "p" * 201}),
    ],
    ids=str,
)
def test_what_would_take_too_long_is_refused(shared: Team, wrong: dict[str, str | int]) -> None:
    assert shared.visitor().get("/play", params=wrong).status_code == 422


def test_too_many_steps_are_not_computed(shared: Team) -> None:
    long: dict[str, str | int] = {"part": "training", "examples": 10**9, "batch": 1, "epochs": 1000}
    assert "At most 20000 steps" in shared.visitor().get("/play", params=long, headers=LIVE).text


@pytest.mark.parametrize("part", ["loss", "nowhere", "../login"])
def test_other_parts_are_the_whole_page(shared: Team, part: str) -> None:
    found = shared.visitor().get("/play", params={"part": part}, headers=LIVE)
    assert ("<html" in found.text) is (part != "loss")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_classroom_moves_sliders(browser: Browser, served: tuple[Team, str], language: str) -> None:
    _, address = served
    context = browser.new_context(locale=language)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    tab = context.new_page()
    tab.goto(f"{address}/play")
    before = tab.locator("#loss .out").inner_text()
    tab.locator("#sigma").press("End")
    assert tab.locator("output[for=sigma]").inner_text() == tab.input_value("#sigma")
    tab.wait_for_function("before => document.querySelector('#loss .out').innerText !== before", arg=before)
    tab.locator("#group input[type=range]").press("End")
    tab.wait_for_function("() => document.querySelectorAll('#group .out tbody tr').length > 4")
    readable(tab)
    assert complaints == []
    context.close()


def test_sliders_need_no_script(browser: Browser, served: tuple[Team, str]) -> None:
    _, address = served
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/play")
    tab.fill("#source", "pure(0.25)")
    tab.click("#convert button")
    assert re.search(r"part=convert", tab.url)
    assert "0.25" in tab.locator("#convert .out").inner_text()
    context.close()
