"""`sitr audit --timing`: the time of an answer, with words about what such a test can show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Sitr

SLOW = """
import time

def even(rows):
    return 7

def telling(rows):
    time.sleep(0.0005 * rows)
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow_under_audit.py").write_text(SLOW)
    monkeypatch.syspath_prepend(str(tmp_path))


TIMING = ("audit", "slow_under_audit:telling", "--timing", "--inputs", "[0, 10]", "--draws", "400")


def test_an_input_that_takes_longer_is_found(sitr: Sitr) -> None:
    run = sitr(*TIMING)
    assert run.code == 3
    assert "The time tells, with 99% confidence: answers take longer on the second input." in run.out
    assert "This is a statistical test on this machine" in run.out
    assert "says nothing about their time" in run.out


def test_json(sitr: Sitr) -> None:
    told = sitr(*TIMING, "--json").told()
    assert told["verdict"] == "tells"
    assert told["inputs"] == [0, 10]
    assert told["second"] > told["first"]
    assert 0 < told["p_value"] < 0.01


def test_no_difference_is_no_proof(sitr: Sitr) -> None:
    """At this confidence, one audit in a million accuses a mechanism whose time does not depend on the input."""
    words = ("--timing", "--inputs", "[1, 2]", "--draws", "400", "--confidence", "0.999999")
    run = sitr("audit", "slow_under_audit:even", *words)
    assert run.code == 0
    assert "No difference found in 200 tested times. That is no proof" in run.out


def test_it_speaks_arabic(sitr: Sitr) -> None:
    run = sitr(*TIMING, "--lang", "ar")
    assert "الوقت يكشف" in run.out
    assert "حدود الاختبار" in run.out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--inputs", "[1, 2]", "--claim", "pure(1)"], "--timing without options that are about answers, got --claim"),
        (["--inputs", "[1, 2]", "--plot", "a.svg"], "got --plot"),
        (["--inputs", "[1, 2]", "--sequential"], "got --sequential"),
        (["--inputs", "[1, 2]", "--delta", "0"], "got --delta"),
        (["--inputs", "[1, 2]", "--scores", "a.csv"], "got --scores"),
        (["--inputs", "[1, 2]", "--confidence", "2"], "confidence"),
        ([], "Expected --inputs with --timing"),
        (["--inputs", '["a", "b"]'], "failed on every draw: TypeError"),
    ],
)
def test_what_it_does_not_answer_is_refused(sitr: Sitr, more: list[str], says: str) -> None:
    run = sitr("audit", "slow_under_audit:telling", "--timing", *more)
    assert run.code == 2
    assert says in run.err
