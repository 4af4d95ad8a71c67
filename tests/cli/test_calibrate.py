"""`sitr calibrate`: each parameter from the others, proved, and command lines that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss

Sitr = Callable[..., Any]

TARGET = ("--epsilon", 1, "--delta", 1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("find", "given", "law"),
    [
        ("sigma", {"rate": 0.01, "steps": 1000}, lambda told: PoissonLaw(GaussianLaw(1 / told["sigma"]), 0.01)),
        ("steps", {"rate": 0.01, "sigma": 1.1}, lambda _: PoissonLaw(GaussianLaw(1 / 1.1), 0.01)),
        ("rate", {"sigma": 1.1, "steps": 100}, lambda told: PoissonLaw(GaussianLaw(1 / 1.1), told["rate"])),
        ("scale", {"steps": 20}, lambda told: LaplaceLaw(1 / told["scale"])),
    ],
)
def test_what_is_found_keeps_the_target(
    sitr: Sitr, find: str, given: dict[str, float], law: Callable[..., Any]
) -> None:
    options = [word for name, number in given.items() for word in (f"--{name}", number)]
    told = sitr("calibrate", find, *options, *TARGET, "--json").told()
    assert told["found"] == find
    assert {name: told[name] for name in given} == given
    found = Loss.of(law(told), told["steps"]).epsilon(delta=1e-5)
    assert found.upper <= 1.0
    assert found.lower > (0.99 if find != "steps" else 0.95)
    assert told["epsilon"]["upper"] <= 1.0
    assert told["target"] == {"epsilon": 1.0, "delta": 1e-5}


def test_what_is_told_does_not_contradict_what_was_found(sitr: Sitr) -> None:
    """Few steps more would be too many: that is decided by finer intervals than those which are told."""
    words = ("steps", "--sigma", 2, "--rate", 0.01, "--epsilon", 1, "--delta", 1e-6)
    told = sitr("calibrate", *words, "--json").told()
    assert told["epsilon"]["upper"] <= 1.0
    assert "and 1 at δ" in sitr("calibrate", *words).out


@pytest.mark.parametrize("delta", [0, 1, -1, 2, "nan"])
def test_a_delta_is_between_0_and_1(sitr: Sitr, delta: object) -> None:
    refused = sitr("calibrate", "sigma", "--epsilon", 1, "--delta", delta, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")
    assert "above 0 and below 1" in refused.error()["wanted"]


@pytest.mark.parametrize(
    "words",
    [
        ("sigma", "--rate", 1.5),
        ("sigma", "--rate", -0.1),
        ("sigma", "--rate", "nan"),
        ("sigma", "--steps", 0),
        ("sigma", "--sensitivity", 0),
        ("sigma", "--sensitivity", "nan"),
        ("steps", "--sigma", 0),
        ("steps", "--sigma", -1),
        ("rate", "--sigma", "nan"),
        ("steps", "--scale", 0),
    ],
)
def test_parameters_that_cannot_be(sitr: Sitr, words: tuple[object, ...]) -> None:
    refused = sitr("calibrate", *words, *TARGET, "--json")
    assert refused.code == 2
    assert refused.error()["error"] in ("BadUsage", "InvalidPromise")


def test_what_forbids_a_target_is_told(sitr: Sitr) -> None:
    refused = sitr("calibrate", "steps", "--sigma", 0.1, "--rate", 0.5, *TARGET, "--json")
    assert "GaussianLaw(mu=10.0)" in refused.error()["given"]
    assert "alone exceeds the target" in refused.error()["given"]


def test_for_people(sitr: Sitr) -> None:
    done = sitr("calibrate", "sigma", "--rate", 0.01, "--steps", 100, *TARGET)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("σ = ")
    assert "keeps ε = 1 at δ = 10⁻⁵" in done.out
    assert "rate = 0.01, steps = 100, sensitivity = 1." in done.out
    assert "1% false alarms" in done.out


def test_a_sensitivity_scales_the_noise(sitr: Sitr) -> None:
    one, ten = (sitr("calibrate", "sigma", "--sensitivity", by, *TARGET, "--json").told()["sigma"] for by in (1, 10))
    assert ten == pytest.approx(10 * one, rel=2e-3)


def test_the_picture(sitr: Sitr, tmp_path: Path) -> None:
    done = sitr("calibrate", "scale", "--steps", 5, *TARGET, "--plot", tmp_path / "loss.svg")
    assert done.code == 0
    assert (tmp_path / "loss.svg").read_text(encoding="utf-8").startswith("<svg xmlns")


@pytest.mark.parametrize(
    "words",
    [
        ("noise",),
        ("sigma", "--sigma", 1),
        ("sigma", "--scale", 1),
        ("steps",),
        ("steps", "--sigma", 1, "--scale", 1),
        ("steps", "--sigma", 0),
        ("steps", "--sigma", "nan"),
        ("sigma", "--sensitivity", -1),
        ("sigma", "--plot", "loss.png"),
    ],
)
def test_command_lines_that_are_none(sitr: Sitr, words: tuple[object, ...]) -> None:
    refused = sitr("calibrate", *words, *TARGET, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")


@pytest.mark.parametrize("words", [("--rate", 1.5), ("--rate", -0.1), ("--steps", 0)])
def test_numbers_out_of_range(sitr: Sitr, words: tuple[object, ...]) -> None:
    refused = sitr("calibrate", "sigma", *words, *TARGET, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


def test_a_target_that_cannot_be_met(sitr: Sitr) -> None:
    refused = sitr("calibrate", "steps", "--sigma", 1, *TARGET, "--json")
    assert refused.code == 2
    assert "not even 1" in refused.error()["given"]
