"""Rows left out, up to a second cap, from the question to the answer, its chart and its certificate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import QuestionError
from sitr.language import Language, speaking
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget

BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PRICE = sitr.ZeroConcentratedDP(0.5)
PEOPLE = 300
LOST = PEOPLE * (6 - 2)
"""Each person has six rows in A and one in B, and keeps two rows in each ward."""

SAID = {
    "en": "rows of all groups together were left out by the caps, counting up to 10 rows of each person",
    "ar": "من الصفوف في المجموعات كلها معًا، بحساب ما لا يزيد على",
}


def budget(folder: Path, **caps: Any) -> Budget:
    people = [person for person in range(PEOPLE) for _ in range(7)]
    rows = pa.table({"id": people, "ward": [*"AAAAAAB"] * PEOPLE, "cost": [2.0] * 7 * PEOPLE})
    said: dict[str, Any] = {"max_groups": 2, "max_rows_per_group": 2, "keys": {"ward": ["A", "B"]}} | caps
    found = sitr.protect(rows, name="visits", unit="id", bounds={"cost": (0, 5)}, **said)
    return found.budget(rho=10, ledger=folder / "ledger.db")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_number_is_in_the_answer_its_chart_its_certificate_and_its_json(tmp_path: Path, language: str) -> None:
    with speaking(Language(language)):
        answer = budget(tmp_path).sql(BY_WARD, bias=0.2, bias_rows=10).release(PRICE, coins=TestCoins(1))
        found = answer.to_dict()["bias"]["rows"]
        assert found["counting_up_to"] == 10
        assert found["low"] <= LOST <= found["high"]
        assert 0 < found["high"] - found["low"] < LOST
        page = answer.certificate(tmp_path / "answer.html").read_text()
        assert SAID[language] in page.replace("\u2066", "").replace("\u2069", "")
        lines = " ".join(re.findall(">([^<]+)</text>", answer.plot(tmp_path / "answer.svg").read_text()))
        assert SAID[language] in lines.replace("\u2066", "").replace("\u2069", "")


def test_the_interval_holds_about_as_often_as_it_says(tmp_path: Path) -> None:
    asked = budget(tmp_path).sql(BY_WARD, bias=0.2, bias_rows=10)
    drawn = [asked.release(rho=0.01, coins=TestCoins(seed), fresh=True).to_dict() for seed in range(40)]
    ends = [(each["bias"]["rows"]["low"], each["bias"]["rows"]["high"]) for each in drawn]
    assert sum(low <= LOST <= high for low, high in ends) >= 34


def test_the_preview_says_how_precise_it_will_be(tmp_path: Path) -> None:
    said = str(budget(tmp_path).sql(BY_WARD, bias_rows=10).preview(PRICE)).split()
    assert "counting up to 10 rows of each person. The number of rows left out will be known to ±" in " ".join(said)
    assert "How much is left out is not measured" not in " ".join(said)
    plain = " ".join(str(budget(tmp_path).sql(BY_WARD).preview(PRICE)).split())
    assert "How much is left out is not measured" in plain


def test_calls_and_a_batch_measure_it_too(tmp_path: Path) -> None:
    opened = budget(tmp_path)
    call = opened.group_by("ward").bias(0.2, rows=10).agg(n=sitr.count())
    assert call.question == opened.sql(BY_WARD, bias=0.2, bias_rows=10).question
    both = opened.batch({"n": call, "total": opened.group_by("ward").bias(0.2).agg(total=sitr.sum("cost"))})
    answers = both.release(PRICE, coins=TestCoins(1))
    assert answers["n"].to_dict()["bias"]["rows"]["counting_up_to"] == 10
    assert answers["total"].to_dict()["bias"]["rows"] is None


def test_a_kept_answer_has_the_same_number(tmp_path: Path) -> None:
    asked = budget(tmp_path).sql(BY_WARD, bias_rows=10)
    first = asked.release(PRICE)
    assert asked.release(PRICE).to_dict()["bias"]["rows"] == first.to_dict()["bias"]["rows"]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"bias_rows": 2}, "above the cap of 2 rows"),
        ({"bias_rows": 10.0}, "a whole number"),
        ({"bias_rows": True}, "a whole number"),
        ({"bias_rows": 10**10}, "at most 1000000000"),
        ({"bias_rows": 10, "bias": "off"}, "a share of the price"),
        ({"bias_rows": 10, "caps": "auto"}, "bias_rows"),
    ],
)
def test_what_cannot_be_measured_is_refused(tmp_path: Path, said: dict[str, Any], wrong: str) -> None:
    with pytest.raises(QuestionError, match=wrong):
        budget(tmp_path).sql(BY_WARD, **said)


def test_a_question_that_loses_no_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="No caps leave rows out"):
        budget(tmp_path).sql("SELECT COUNT(DISTINCT id) AS p FROM visits", bias_rows=10)
