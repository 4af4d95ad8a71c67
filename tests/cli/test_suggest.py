"""`sitr suggest` pays once and prints options that `sitr preview` takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

SQL = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"


def entries() -> int:
    return len(SqlLedger("sitr.db", create=False).entries()) if Path("sitr.db").exists() else 0


def test_the_printed_options_can_be_pasted(sitr: Sitr, description: Path) -> None:
    asked = ("suggest", description, SQL, "--price", "zcdp(0.05)")
    assert "values of cost" in sitr(*asked, "--preview").out
    assert entries() == 0
    done = sitr(*asked, "-o", "cells.csv")
    assert (done.code, done.err, entries()) == (0, "", 1)
    options = re.search(r"^options\s+(--.*)$", done.out, re.MULTILINE)
    assert options is not None
    previewed = sitr("preview", description, SQL, "--price", "zcdp(0.1)", *shlex.split(options[1]))
    assert previewed.code == 0
    told = sitr(*asked, "--json").told()
    assert (told["kind"], told["receipt"]["again"]) == ("suggestion", True)
    assert f"--max-groups {told['options']['max_groups']}" in options[1]
    assert "people_low" in Path("cells.csv").read_text()
    assert sitr("show", "sitr.db", 1).out.startswith("Suggested: at most")


def test_another_price_is_another_suggestion(sitr: Sitr, description: Path) -> None:
    told = sitr("suggest", description, "cost", "--price", "zcdp(0.02)", "--for-price", "zcdp(0.3)", "--json").told()
    assert told["for"]["price"]["rho"] == 0.3
    assert told["question"].endswith("SELECT SUM(cost) AS total FROM visits")


def test_a_missing_description_and_an_unknown_column_cost_nothing(sitr: Sitr, description: Path) -> None:
    assert "absent.yaml" in sitr("suggest", "absent.yaml", SQL, "--price", "zcdp(0.05)").err
    wrong = sitr("suggest", description, "SELECT SUM(costs) AS total FROM visits", "--price", "zcdp(0.05)")
    assert (wrong.code, "Did you mean 'cost'" in wrong.err) == (2, True)
    assert entries() == 0
