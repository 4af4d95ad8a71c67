"""Histograms for ranges through a budget: what is stated, kept, checked and summed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.audit.checker.sitr_check import check
from sitr.errors import QuestionError, UnknownName
from sitr.flavors.exposure import exposed
from sitr.questions.histogram.methods import Prefixes, Ranges, Tree
from sitr.report.histogram import preview as paper
from sitr.report.words.arabic.arabic import ARABIC

AGE = np.arange(3000) % 60
PEOPLE = pa.table({"age": AGE, "cost": (AGE * 7 % 50).astype(float), "who": np.arange(3000) // 3})
SAID: dict[str, Any] = {"bins": 60, "bounds": (0, 60)}


def opened(folder: Path, price: Any, **more: Any) -> Any:
    data = sitr.protect(PEOPLE, name="people", **({"unit": sitr.Row()} | more))
    return data.budget(price, ledger=folder / "sitr.db")


PERSON = {"unit": "who", "max_groups": 3, "max_rows_per_group": 1}
REPLACED = {"relation": sitr.Relation.REPLACE_ONE}


@pytest.mark.parametrize(
    ("method", "price", "more"),
    [
        (Tree(), "zcdp(0.1)", {}),
        (Ranges(), "zcdp(0.1)", PERSON),
        (Prefixes(), "approximate(1, 1e-5)", REPLACED),
        (Ranges(), "gaussian(0.5)", PERSON | REPLACED),
    ],
)
def test_the_checker_accuses_no_certificate(method: Any, price: str, more: Any, tmp_path: Path) -> None:
    """It derives everything, also the norm of prefix sums."""
    answer = opened(tmp_path, price, **more).histogram("age", **SAID, method=method).release(price)
    page = answer.certificate(tmp_path / "page.html").read_text()
    rows = check(page).rows
    assert not [row for row in rows if row[3] == "DIFFERS"]
    assert not [row for row in rows if row[3].startswith("not derivable")]
    assert not [row for row in check(json.dumps(answer.to_dict())).rows if row[3] == "DIFFERS"]
    assert sum(row[0] == "shown: released" for row in rows) == 61


def test_a_certificate_with_less_noise_is_accused(tmp_path: Path) -> None:
    answer = opened(tmp_path, "zcdp(0.1)").histogram("age", **SAID, method=Prefixes()).release("zcdp(0.1)")
    page = answer.certificate(tmp_path / "page.html").read_text()
    sigma = str(answer.histogram.plan.prefixes.sigma)
    changed = page.replace(f'"{sigma}"', f'"{sigma}1"').replace(f"&#34;{sigma}&#34;", f"&#34;{sigma}1&#34;")
    assert changed != page
    assert "1. counts: mu²" in {row[0] for row in check(changed).rows if row[3] == "DIFFERS"}


def test_the_preview_states_the_error_of_ranges(tmp_path: Path) -> None:
    preview = opened(tmp_path, "zcdp(0.5)").histogram("age", **SAID, method=Ranges()).preview("zcdp(0.5)")
    assert "The root mean square error of all ranges of cells is 2.6." in " ".join(str(preview).split())
    assert preview.to_dict()["noise"]["ranges"] == pytest.approx(preview.plan.range_deviation())
    assert preview.errors()["count"] == pytest.approx(preview.plan.prefixes.cell_widths().max())
    arabic = dict(paper(preview.plan, preview.standing, words=ARABIC).facts)
    assert any("متوسط مربع الخطأ" in text for text in arabic.values())


def test_a_kept_answer_is_returned_as_it_was(tmp_path: Path) -> None:
    request = opened(tmp_path, "zcdp(0.5)").histogram(
        "age", "cost", bins={"age": 6, "cost": 5}, bounds={"age": (0, 60), "cost": (0, 50)}, method=Prefixes()
    )
    answer, again = request.release("zcdp(0.5)"), request.release("zcdp(0.5)")
    assert again.receipt.again
    assert (again.counts == answer.counts).all()
    both = answer.rectangle({"age": (1, 2), "cost": (0, 3)})
    exactly = ((AGE >= 10) & (AGE < 30) & (AGE * 7 % 50 < 40)).sum()
    assert both.low - 30 < exactly < both.high + 30
    places = [cell for cell in range(7 * 6) if cell // 6 in (1, 2) and cell % 6 <= 3]
    assert both == answer.histogram.over(np.array(places))
    assert answer.rectangle({}) == answer.over(0, 41)
    with pytest.raises(UnknownName):
        answer.rectangle({"ward": (0, 1)})
    with pytest.raises(QuestionError):
        answer.rectangle({"age": (0, 7)})


def test_a_gaussian_promise_exposes_nobody_outright() -> None:
    assert exposed(sitr.GaussianDP(0.5), people=1000) == 0
