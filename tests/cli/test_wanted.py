"""`--error` instead of `--price`, and how a price is shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.flavors.notation import write
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

WARD = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"
MEAN = "SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward"


def test_the_price_for_errors_is_previewed(sitr: Sitr, description: Path) -> None:
    words = ("--error", "visits=1%", "--size", "visits=20000", "--error", "total=900000")
    told = sitr("preview", description, WARD, *words, "--json").told()
    errors = {column["name"]: column["error"] for column in told["columns"]}
    assert errors["visits"] <= 200
    assert errors["total"] <= 900_000
    assert errors["visits"] > 195 or errors["total"] > 880_000
    assert [one["asked"] for one in told["prices"]].count(True) == 1
    done = sitr("preview", description, WARD, *words)
    assert (done.code, done.err) == (0, "")
    assert "(this price)" in done.out


def test_a_mean_needs_rows(sitr: Sitr, description: Path) -> None:
    done = sitr("preview", description, MEAN, "--error", "mean=100")
    assert done.code == 2
    assert "--rows 1000" in done.err
    told = sitr("preview", description, MEAN, "--error", "mean=100", "--rows", "1000", "--json").told()
    assert 95 < told["columns"][0]["error_at"]["error"] <= 100


def test_ask_shows_the_price_that_it_pays(sitr: Sitr, description: Path) -> None:
    done = sitr("ask", description, WARD, "--error", "visits=100")
    assert (done.code, done.err) == (0, "")
    first = done.out.splitlines()[0]
    (entry,) = SqlLedger("sitr.db", create=False).entries()
    assert first == f"The price for these errors is {write(entry.price)}."
    told = sitr("ask", description, WARD, "--error", "visits=100", "--json").told()
    assert told["receipt"]["again"] is True
    assert 95 < told["columns"][0]["error"] <= 100


@pytest.mark.usefixtures("folder")
def test_the_price_that_is_shown_has_no_delta_that_the_question_does_not_need(sitr: Sitr) -> None:
    caps = ("--max-groups", 3, "--max-rows-per-group", 2, "--keys", "ward=Surgery,Maternity")
    budget = ("--budget", "zcdp(0.5, 1e-6)", "--ledger", "sitr.db")
    assert sitr("protect", "visits.parquet", "--unit", "patient_id", *caps, *budget).code == 0
    question = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"
    done = sitr("ask", "visits.sitr.yaml", question, "--error", "visits=100")
    assert (done.code, done.err) == (0, "")
    (entry,) = SqlLedger("sitr.db", create=False).entries()
    assert write(entry.price).endswith(", delta=0.0)")
    assert done.out.splitlines()[0] == f"The price for these errors is {write(entry.price)}."


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ((), "Missing --price (or --error)"),
        (("--price", "zcdp(0.1)", "--error", "visits=3"), "both"),
        (("--price", "zcdp(0.1)", "--size", "visits=3"), "--price alone"),
        (("--price", "zcdp(0.1)", "--rows", "3"), "--price alone"),
        (("--error", "visits"), "--error NAME=VALUE"),
        (("--error", "visits=x"), "a number above 0"),
        (("--price", "zcdp(0.1)", "--weights", "visits=1", "--targets", "visits=1,total=2"), "both"),
        (("--price", "zcdp(0.1)", "--weights", "visits=x"), "--weights"),
        (("--price", "zcdp(0.1)", "--targets", "visits=10"), "no target for total"),
    ],
)
def test_mistakes_are_refused(sitr: Sitr, description: Path, words: tuple[str, ...], match: str) -> None:
    done = sitr("preview", description, WARD, *words)
    assert done.code != 0
    assert match in " ".join(done.err.split())


def test_weights_and_targets(sitr: Sitr, description: Path) -> None:
    def errors(*words: str) -> dict[str, float]:
        told = sitr("preview", description, WARD, "--price", "zcdp(0.1)", *words, "--json").told()
        return {column["name"]: column["error"] for column in told["columns"]}

    equal, heavy = errors(), errors("--weights", "visits=1,total=4")
    assert heavy["total"] < equal["total"]
    assert heavy["visits"] > equal["visits"]
    near = errors("--targets", "visits=100,total=70000")
    assert near["visits"] / 100 == pytest.approx(near["total"] / 70_000, rel=0.05)
    done = sitr("preview", description, WARD, "--price", "zcdp(0.1)", "--weights", "visits=1,total=4")
    assert "The price is shared by weight: visits 20%, total 80%." in " ".join(done.out.split())
    for price, verdict in (("zcdp(0.001)", "misses"), ("zcdp(10)", "meets")):
        done = sitr("preview", description, WARD, "--price", price, "--targets", "visits=100,total=70000")
        words = " ".join(done.out.split())
        assert f"({verdict} ± 100)" in words
        assert f"({verdict} ± 70,000)" in words
