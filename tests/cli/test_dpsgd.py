"""`sitr dpsgd`: what an engineer asks, and runs that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.accounting.training import Training

Sitr = Callable[..., Any]

RUN = ("--examples", 60_000, "--batch", 256, "--epochs", 60, "--delta", 1e-5)


def test_what_a_run_loses(sitr: Sitr) -> None:
    done = sitr("dpsgd", *RUN, "--sigma", 1.1)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("ε is between 2.38 and 2.38")
    told = " ".join(done.out.split())
    assert "14,063 steps at a rate of 0.004267" in told
    assert "1% false alarms" in told
    assert "Shuffled batches are another mechanism" in told


def test_for_machines(sitr: Sitr) -> None:
    told = sitr("dpsgd", *RUN, "--sigma", 1.1, "--json").told()
    found = Training(60_000, 256, 60, 1.1).loss().epsilon(delta=1e-5)
    assert told["epsilon"] == {"lower": found.lower, "upper": found.upper}
    assert (told["steps"], told["sigma"], told["delta"]) == (14_063, 1.1, 1e-5)


def test_how_much_noise_an_epsilon_takes(sitr: Sitr) -> None:
    told = sitr("dpsgd", *RUN, "--epsilon", 3, "--json").told()
    assert told["epsilon"]["upper"] <= 3.0
    less = Training(60_000, 256, 60, told["sigma"] * 0.9985).loss().epsilon(delta=1e-5)
    assert less.lower > 3.0
    assert f"with σ = {told['sigma']:g}" in sitr("dpsgd", *RUN, "--epsilon", 3).out


def test_the_picture(sitr: Sitr, tmp_path: Path) -> None:
    done = sitr("dpsgd", *RUN, "--sigma", 1.1, "--plot", tmp_path / "run.svg", "--json")
    assert done.told()["steps"] == 14_063
    assert "ε by number of releases" in (tmp_path / "run.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [(), ("--sigma", 1, "--epsilon", 1), ("--sigma", 1, "--plot", "run.pdf")])
def test_command_lines_that_are_none(sitr: Sitr, words: tuple[object, ...]) -> None:
    refused = sitr("dpsgd", *RUN, *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")


@pytest.mark.parametrize(
    "words",
    [
        ("--sigma", 0),
        ("--sigma", "nan"),
        ("--epsilon", -1),
        ("--sigma", 1, "--batch", 60_001),
        ("--sigma", 1, "--epochs", 0),
        ("--sigma", 1, "--delta", 1),
    ],
)
def test_runs_that_cannot_be(sitr: Sitr, words: tuple[object, ...]) -> None:
    refused = sitr("dpsgd", *RUN, *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


@pytest.mark.parametrize("delta", [0, 1, -1, "nan"])
@pytest.mark.parametrize("asked", [("--sigma", 1.1), ("--epsilon", 3)])
def test_a_delta_is_between_0_and_1(sitr: Sitr, delta: object, asked: tuple[object, ...]) -> None:
    refused = sitr("dpsgd", *RUN[:-1], delta, *asked, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")
    assert "above 0 and below 1" in refused.error()["wanted"]
