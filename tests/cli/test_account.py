"""`sitr account`: an interval and an attacker, for people and for machines, and what cannot be accounted for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.loss import total_loss

Sitr = Callable[..., Any]

PLAN = "- {gaussian: {sigma: 10, sensitivity: 1}, times: 3}\n- laplace: {scale: 20, sensitivity: 1}\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    monkeypatch.chdir(tmp_path)

    def written(content: str) -> Path:
        path = tmp_path / "plan.yaml"
        path.write_text(content, encoding="utf-8")
        return path

    return written


def test_epsilon_at_a_delta(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    done = sitr("account", plan(PLAN), "--delta", 1e-6)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("ε is between ")
    for words in (
        "at δ = 10⁻⁶",
        "4 releases in 2 steps.",
        "1% false alarms",
        "From even odds",
        "Nobody can be exposed",
    ):
        assert words in done.out


def test_for_machines(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    path = plan(PLAN)
    told = sitr("account", path, "--delta", 1e-6, "--json").told()
    assert list(told) == ["releases", "gamma", "epsilon", "delta", "headline", "infinite_mass", "attack"]
    found = total_loss(read_schedule(path)).epsilon(delta=1e-6)
    assert told["epsilon"] == {"lower": found.lower, "upper": found.upper}
    assert (told["headline"]["epsilon"], told["headline"]["delta"]) == (found.upper, 1e-6)
    back = sitr("account", path, "--epsilon", found.upper, "--json").told()
    assert back["delta"]["lower"] <= 1e-6
    assert back["delta"]["upper"] <= 1.1e-6


def test_a_random_plan_says_so(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    text = "- random: {gamma: 0.01, step: {pure: {epsilon: 0.1}}}\n"
    assert "γ = 0.01, finite-sample: every ε here holds" in " ".join(
        sitr("account", plan(text), "--delta", 1e-6).out.split()
    )
    assert sitr("account", plan(text), "--delta", 1e-6, "--json").told()["gamma"] == 0.01


def test_the_picture(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    done = sitr("account", plan(PLAN), "--delta", 1e-6, "--plot", "loss.svg")
    assert done.out.endswith("Written: loss.svg\n")
    assert ET.parse("loss.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", ["loss.png", "missing/loss.svg"])
def test_pictures_that_cannot_be_written(sitr: Sitr, plan: Callable[[str], Path], name: str) -> None:
    refused = sitr("account", plan(PLAN), "--delta", 1e-6, "--plot", name, "--json")
    assert refused.error()["error"] == ("BadUsage" if name.endswith("png") else "FileError")


@pytest.mark.parametrize("words", [(), ("--delta", 1e-6, "--epsilon", 1)])
def test_one_of_the_two_is_given(sitr: Sitr, plan: Callable[[str], Path], words: tuple[object, ...]) -> None:
    refused = sitr("account", plan(PLAN), *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")


@pytest.mark.parametrize("words", [("--delta", 0), ("--delta", 1), ("--delta", "nan"), ("--epsilon", -1)])
def test_numbers_out_of_range(sitr: Sitr, plan: Callable[[str], Path], words: tuple[object, ...]) -> None:
    refused = sitr("account", plan(PLAN), *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


def test_moments_are_not_enough(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    refused = sitr("account", plan("- {zero_concentrated: {rho: 0.1}, name: survey}\n"), "--delta", 1e-6, "--json")
    assert refused.code == 2
    assert "step 1 (survey)" in refused.error()["given"]
    assert "sitr compare" in refused.error()["do"]
