"""`sitr verify TABLE` proves figures, decides claims, and says so in words, JSON, a picture and its exit code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Sitr = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("response.csv").write_text("input,yes,no\nyes,3/4,1/4\nno,1/4,3/4\n")
    return "response.csv"


def test_claims_and_exit_codes(sitr: Sitr, table: str) -> None:
    kept = sitr("verify", table, "--claim", "pure(1.1)")
    assert (kept.code, kept.err) == (0, "")
    assert kept.out.startswith("Kept: pure(1.1) is proved for all neighbouring inputs.\n")
    assert "ln 3 ≤ 1.09862" in kept.out
    assert "Nobody can be exposed outright" in kept.out
    broken = sitr("verify", table, "--claim", "pure(1.1)", "--claim", "approximate(1, 0.01)")
    assert broken.code == 1
    assert (
        "Broken: approximate(1, 0.01) does not hold: δ is at least 0.0704295, and the claim allows 0.01." in broken.out
    )
    assert "the inputs yes and no, the outcome yes, with probabilities 0.75 and 0.25" in broken.out
    undecided = sitr("verify", table, "--claim", "concentrated(1, 2, groups=true)")
    assert (undecided.code, undecided.out.partition(":")[0]) == (3, "Undecided")
    assert sitr("verify", table).code == 0


def test_json_and_picture(sitr: Sitr, table: str) -> None:
    done = sitr("verify", table, "--claim", "gaussian(1)", "--plot", "curves.svg", "--json")
    told = done.told()
    assert (done.code, told["claims"][0]["verdict"], told["exact"]) == (1, "broken", True)
    figures = {figure["figure"]: figure for figure in told["figures"]}
    assert figures["epsilon"]["odds"] == "3"
    assert figures["infinite"]["exact"] == "0"
    assert figures["mu"]["lower"] <= 1.3489795003921634 <= figures["mu"]["upper"]
    drawn = Path("curves.svg").read_text()
    assert "claimed: gaussian(1)" in drawn
    assert "verified: the mechanism" in drawn


def test_arabic(sitr: Sitr, table: str) -> None:
    done = sitr("--lang", "ar", "verify", table, "--claim", "pure(1)", "--plot", "curves.svg")
    assert done.code == 1
    assert done.out.startswith("منقوض")
    assert "الادعاء" in Path("curves.svg").read_text()


def test_infinite_losses(sitr: Sitr, table: str) -> None:
    Path("leaky.csv").write_text("input,a,b,c\nx,0.9,0.1,0\ny,0.9,0,0.1\n")
    done = sitr("verify", "leaky.csv", "--claim", "approximate(1, 0.1)")
    assert done.code == 0
    assert "With probability 0.1 an outcome exposes the input outright" in done.out
    assert sitr("verify", "leaky.csv", "--claim", "zcdp(5)", "--json").told()["claims"][0]["parts"][0]["lower"] is None
    assert table


def test_a_population(sitr: Sitr, table: str) -> None:
    Path("people.csv").write_text("input,low,high\n0 0,1,0\n0 1,0.5,0.5\n1 1,0,1\n")
    Path("records.csv").write_text("0,0.9\n1,0.1\n")
    asked = ("verify", "people.csv", "--population", "records.csv", "--claim")
    assert sitr(*asked, "random(pure(1), 0.2)").code == 0
    broken = sitr(*asked, "random(pure(1), 0.1)")
    assert broken.code == 1
    assert "γ is at least 0.18" in broken.out
    assert re.search(r"γ at ε = 1, random +9/50 exactly +0 [01] → 0 [01]\n", broken.out)
    assert re.search(r"γ at ε = 1, δ = 10⁻⁶, random +9/50 exactly", broken.out)
    half = sitr("verify", "people.csv", "--population", "records.csv", "--delta", "0.5")
    assert re.search(r"γ at ε = 1, δ = 0\.5, random +0 exactly\n", half.out)
    Path("records.csv").write_text("record,probability\n0,0.9\n1,0.1\n")
    assert sitr(*asked, "random(pure(1), 0.1)").out == broken.out
    drawn = sitr(*asked, "random(pure(1), 0.9)", "--draws", "200", "--json").told()
    assert drawn["claims"][0]["confidence"] == 0.999
    text = sitr(*asked, "random(pure(1), 0.9)", "--draws", "200").out
    assert "everything but γ; each interval of γ holds with 99.9% confidence, from 200 drawn pairs of data sets" in text
    assert "العشوائية" in sitr("--lang", "ar", *asked, "random(pure(1), 0.9)", "--draws", "200").out
    assert sitr("verify", table, "--claim", "random(pure(1), 0.1)", "--json").error()["error"] == "InvalidParameter"


def test_pufferfish_and_coupled_worlds(sitr: Sitr, table: str) -> None:
    Path("sum.csv").write_text("input,0,1,2\n00,1,0,0\n01,0,1,0\n10,0,1,0\n11,0,0,1\n")
    Path("priors.csv").write_text("input,00,01,10,11\nfair,1/4,1/4,1/4,1/4\n")
    Path("secrets.csv").write_text("no,00\nno,01\nyes,10\nyes,11\n")
    Path("others.csv").write_text("00,0\n01,1\n10,0\n11,1\n")
    asked = ("verify", "sum.csv", "--priors", "priors.csv", "--secrets", "secrets.csv", "--epsilon", "0")
    told = sitr(*asked, "--aggregate", "others.csv", "--claim", "approximate(0, 0.5)", "--json").told()
    assert (told["meaning"], told["claims"][0]["verdict"]) == ("Pufferfish privacy", "kept")
    assert told["coupled_worlds"]["delta"]["lower"] <= 0.25 <= told["coupled_worlds"]["delta"]["upper"]
    assert "Coupled worlds: at ε = 0" in sitr(*asked, "--aggregate", "others.csv").out
    for options in (("--priors", "priors.csv"), ("--aggregate", "others.csv")):
        assert sitr("verify", "sum.csv", *options).code == 2
    for name, heading in (("secrets.csv", "secret,input"), ("others.csv", "Input,seen")):
        Path(name).write_text(f"{heading}\n{Path(name).read_text()}")
    assert sitr(*asked, "--aggregate", "others.csv", "--claim", "approximate(0, 0.5)", "--json").told() == told
    Path("others.csv").write_text("00\n")
    assert sitr(*asked, "--aggregate", "others.csv").code != 0
    assert table


def test_one_command_for_both_kinds_of_files(sitr: Sitr, table: str) -> None:
    Path("page.html").write_text("<html></html>")
    assert sitr("verify", "page.html").code == 2
    assert sitr("verify", "page.html", "--claim", "pure(1)", "--ledger", "sitr.db").code == 2
    assert sitr("verify", "missing.csv", "--json").error()["error"] == "FileError"
    assert sitr("verify", table, "--claim", "pur(1)", "--json").error()["error"] == "InvalidPromise"
    assert sitr("verify", table, "--neighbors", "pairs.csv", "--json").error()["error"] == "FileError"


def test_a_witness_of_several_claims_is_named_once(sitr: Sitr, table: str) -> None:
    claims = [word for claim in ("pure(0.01)", "approximate(0.01, 1e-9)", "pure(0.02)") for word in ("--claim", claim)]
    done = sitr("verify", table, *claims)
    assert done.code == 1
    assert done.out.count("Broken:") == 3
    assert done.out.count("witness ") == 1
