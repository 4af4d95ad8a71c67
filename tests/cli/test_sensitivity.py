"""`sitr sensitivity compare`: the table, the picture, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Sitr = Callable[..., Any]
ASKED = ("--column", "age", "--bounds", "0:120", "--epsilon", 1, "--delta", 1e-6, "--gamma", 0.1)


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    ages = np.random.default_rng(1).normal(45, 15, 801).round(1)
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(["age,name", *(f"{age},x" for age in ages)]) + "\n", encoding="utf-8")
    return path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statistic", ["median", "mean", "variance", "iqr", "quantile:0.9", "trimmed-mean:0.1"])
def test_the_table_and_the_picture(sitr: Sitr, survey: Path, statistic: str) -> None:
    done = sitr("sensitivity", "compare", survey, "--public", "--statistic", statistic, *ASKED, "--plot", "a.svg")
    assert (done.code, done.err) == (0, "")
    assert "smooth, Laplace" in done.out
    assert "global" in done.out
    assert "it protects nobody" in done.out
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<svg xmlns")


def test_for_machines(sitr: Sitr, survey: Path) -> None:
    told = sitr("sensitivity", "compare", survey, "--public", *ASKED, "--json").told()
    assert (told["statistic"], told["column"], told["private"]) == ("median", "age", False)
    errors = [way["error"] for way in told["ways"]]
    assert errors == sorted(errors)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "needs --public"),
        (("--public", "--statistic", "mode"), "the statistic median"),
        (("--public", "--statistic", "quantile:many"), "--statistic in the form quantile:0.1"),
        (("--public", "--proposal", "some"), "--proposal in the form"),
        (("--public", "--plot", "a.png"), ".svg"),
    ],
)
def test_what_it_refuses(sitr: Sitr, survey: Path, more: tuple[str, ...], said: str) -> None:
    done = sitr("sensitivity", "compare", survey, *ASKED, *more, "--json")
    assert done.code == 2
    assert said in done.error()["wanted"] + done.error()["given"]


def test_columns_that_are_not_there_or_no_numbers(sitr: Sitr, survey: Path) -> None:
    missing = sitr("sensitivity", "compare", survey, "--public", *ASKED, "--column", "weight", "--json")
    assert (missing.code, "'age', 'name'" in missing.error()["do"]) == (2, True)
    words = sitr("sensitivity", "compare", survey, "--public", *ASKED, "--column", "name", "--json")
    assert (words.code, words.error()["wanted"]) == (2, "a column of numbers")
