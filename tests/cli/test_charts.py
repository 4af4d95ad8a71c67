"""Every chart that a command writes, and every picture of the documentation, has a size and scales as an image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchmarks.sparse import PAPER, picture

Sitr = Callable[..., Any]
PICTURES = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.svg"))
PLAN = "- gaussian: {sigma: 10, sensitivity: 1}\n  times: 3\n"


def check(svg: str) -> None:
    """The view box and the size agree, so that an image element knows how high it is at any width."""
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0.0, 0.0)
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    assert width > 0 < height


@pytest.fixture
def files(folder: Path, description: Path) -> Path:
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "domain.yaml").write_text("insurance: {keys: [public, private, self-paid]}\n")
    (folder / "survey.csv").write_text("\n".join(["age", *map(str, range(80))]) + "\n")
    return description


WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SURVEY = ("survey.csv", "--public", "--column", "age", "--bounds", "0:120", "--epsilon", 1, "--delta", 1e-6)
COMMANDS: dict[str, tuple[object, ...]] = {
    "ask": ("ask", "visits.sitr.yaml", WARDS, "--price", "zcdp(0.05)"),
    "histogram in a line": ("histogram", "visits.sitr.yaml", "--column", "cost", "--bins", 5, "--price", "zcdp(0.05)"),
    "histogram in tiles": (
        "histogram",
        "visits.sitr.yaml",
        "--column",
        "ward",
        "--column",
        "cost",
        "--bins",
        "cost=4",
        "--price",
        "zcdp(0.05)",
    ),
    "synthesize": (
        "synthesize",
        "visits.sitr.yaml",
        "--price",
        "zcdp(0.05)",
        "--columns",
        "ward",
        "--rows",
        50,
        "-o",
        "a.csv",
    ),
    "account": ("account", "plan.yaml", "--delta", 1e-6),
    "compare": ("compare", "plan.yaml", "--delta", 1e-6),
    "calibrate": ("calibrate", "scale", "--steps", 5, "--epsilon", 1, "--delta", 1e-6),
    "sensitivity": ("sensitivity", "compare", *SURVEY, "--gamma", 0.1),
}


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_draws(sitr: Sitr, name: str) -> None:
    done = sitr(*COMMANDS[name], "--plot", "chart.svg")
    assert done.code == 0, done.err
    check(Path("chart.svg").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_the_pictures_of_the_documentation(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


def test_the_documentation_has_pictures() -> None:
    assert PICTURES


def test_the_picture_of_a_benchmark() -> None:
    check(picture(PAPER, {full: [0.1, 0.2, 0.01, 0.5] for full in PAPER.full}))
