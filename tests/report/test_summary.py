"""What data sets, budgets and questions say about themselves: public facts, in text, HTML and JSON."""

from __future__ import annotations

import json

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.unit import Row
from sitr.report import summary
from sitr.report.page.html import fragment
from sitr.report.paper import Paper
from sitr.report.text.terminal import as_text, render
from sitr.report.words.english.english import ENGLISH
from tests.report.conftest import HOSTILE, table

STANDING = Filter(ZeroConcentratedDP(0.5)).consent(ZeroConcentratedDP(0.125))
VISITS = table(keys={"ward": [f"ward {place}" for place in range(60)], "urgent": [True, None]})


def papers() -> dict[str, Paper]:
    return {
        "dataset": summary.dataset(VISITS, (("file", "visits.parquet"),)),
        "budget": summary.budget("visits", VISITS, STANDING),
        "question": summary.question("SELECT COUNT(*) AS n FROM visits", VISITS, STANDING),
    }


@pytest.mark.parametrize("kind", ["dataset", "budget", "question"])
def test_it_is_shown_everywhere(kind: str) -> None:
    paper = papers()[kind]
    json.dumps(paper.to_dict(), allow_nan=False)
    text, source = as_text(render(paper)), fragment(paper)
    for _, sentence in paper.facts:
        assert " ".join(sentence.split()) in " ".join(text.split()).replace("  ", " ") or len(sentence) > 60
        assert sentence.replace("'", "&#39;") in source
    assert ("<svg" in source) is (kind == "budget")
    assert "Preview" not in source


def test_a_data_set_lists_its_columns_and_what_is_public_about_them() -> None:
    paper = summary.dataset(VISITS)
    assert paper.table is not None
    rows = {name: rest for name, *rest in paper.table.rows()}
    assert list(rows) == [column.name for column in VISITS.columns]
    assert rows["patient"] == ["text", "", "identifies a person"]
    assert rows["cost"] == ["real", "0 to 5,000 by 0.01", ""]
    assert rows["urgent"] == ["boolean", "", "2: true, (no value)"]
    kind, bounds, values = rows["ward"]
    assert (kind, bounds) == ("text", "")
    assert values.startswith("60: ward 0, ward 1")
    assert len(values) < 70
    found = {column["name"]: column for column in paper.to_dict()["columns"]}
    assert found["cost"] == {
        "name": "cost",
        "type": "real",
        "bounds": {"low": 0.0, "high": 5000.0, "granularity": 0.01},
        "keys": None,
    }
    assert found["ward"]["keys"] == 60


def test_the_line_says_who_is_protected_and_how_far() -> None:
    say = ENGLISH.summary
    assert say.dataset(VISITS) == (
        "Data set visits: protects each person (patient), add-remove, at most 2 rows in each of 3 groups; 6 columns"
    )
    rows = table(unit=Row(), max_groups=None, max_rows_per_group=None)
    assert say.dataset(rows) == "Data set visits: protects each row, add-remove, counted once; 6 columns"


def test_a_budget_says_what_is_spent_rounded_up_and_what_is_left_rounded_down() -> None:
    third = Filter(PureDP(1.0)).consent(PureDP(1 / 3))
    assert ENGLISH.summary.budget("visits", third) == (
        "Budget of visits: ε = 0.3334 spent on 1 answer, ε = 0.6666 left of ε = 1"
    )
    assert summary.budget("visits", VISITS, STANDING).to_dict()["answers"] == 1


def test_a_question_is_one_line_without_long_numbers() -> None:
    assert summary.in_one_line("age: Noise(shift=Fraction(563, 2000))") == "age: Noise(shift=0.2815)"
    assert len(summary.in_one_line("SELECT " + "x, " * 200)) <= 120


def test_hostile_names_are_shown_as_they_are() -> None:
    for name in filter(None, HOSTILE):
        hostile = table(
            kinds={name: VISITS.columns[0].kind},
            unit=Row(),
            bounds={},
            granularity={},
            keys={name: HOSTILE},
            max_groups=None,
            max_rows_per_group=None,
        )
        source = fragment(summary.dataset(hostile)) + fragment(summary.budget(name, hostile, STANDING))
        assert "<script" not in source
        assert not set(source) & {"\x1b", "\x00", "\u202e"}
        line = ENGLISH.summary.budget(name, STANDING)
        assert not set(line) & {"\n", "\x1b", "\u202e"}
