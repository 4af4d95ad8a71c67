"""An error never stands beside a bias that was not measured without saying so, in the same line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.language import Language, speaking
from sitr.questions.aggregate.bias import Amount
from sitr.report.page import html
from sitr.report.words.words import in_words
from sitr.session.budget import Budget

SQL = "SELECT ward, COUNT(*) AS n, MEDIAN(cost) AS m FROM visits GROUP BY ward"
SAID = "bias not measured"
WARDS = ["A", "B"]

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    import pyarrow as pa

    rows = range(600)
    table = pa.table(
        {"id": [i % 200 for i in rows], "ward": [WARDS[i % 2] for i in rows], "cost": [float(i) for i in rows]}
    )
    data = sitr.protect(
        table,
        name="visits",
        unit="id",
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 600)},
        keys={"ward": WARDS},
    )
    return data.budget(rho=1e6, ledger=tmp_path_factory.mktemp("ledger") / "sitr.db")


@pytest.fixture(scope="module")
def answers(budget: Budget) -> dict[str, Any]:
    return {
        "off": budget.sql(SQL, bias="off").release(rho=1.0),
        "on": budget.sql(SQL).release(rho=1.0),
        "histogram": budget.histogram("cost", bins=3).release(rho=1.0),
    }


@pytest.fixture(scope="module")
def previews(budget: Budget) -> dict[str, Any]:
    return {
        "off": budget.sql(SQL, bias="off").preview(rho=1.0),
        "on": budget.sql(SQL).preview(rho=1.0),
        "histogram": budget.histogram("cost", bins=3).preview(rho=1.0),
    }


@pytest.mark.parametrize(("name", "said"), [("off", True), ("on", False), ("histogram", True)])
def test_answers_say_so_wherever_an_error_is_shown(answers, name: str, said: bool) -> None:
    answer = answers[name]
    heading = " ".join(column.heading for column in answer.paper.table.columns)
    assert (SAID in heading) is said
    assert (SAID in " ".join(repr(answer).split())) is said
    assert (SAID in " ".join(str(answer).split())) is said
    assert (SAID in answer._repr_html_()) is said
    assert (SAID in answer.plot()._repr_svg_()) is said
    assert (SAID in html.page(answer.paper)) is said
    card = dict(answer.paper.card)["noise"]
    assert ("not measured" in card) is said


@pytest.mark.parametrize(("name", "said"), [("off", True), ("on", False), ("histogram", True)])
def test_previews_say_so(previews, name: str, said: bool) -> None:
    preview = previews[name]
    assert (SAID in repr(preview)) is said
    text = str(preview)
    lines = [
        line for line in text.splitlines() if " ± " in line and name == "off" and ("COUNT" in line or "MEDIAN" in line)
    ]
    assert all(SAID in line for line in lines)
    assert (SAID in " ".join(text.split())) is said
    assert (SAID in preview._repr_html_()) is said


def test_json_says_so_beside_each_error(answers, previews) -> None:
    for found in (answers, previews):
        assert [column["bias"] for column in found["off"].to_dict()["columns"]] == ["not measured"] * 2
        assert [column["bias"] for column in found["on"].to_dict()["columns"]] == ["measured"] * 2
        assert found["histogram"].to_dict()["noise"]["bias"] == "not measured"
    fields = {name: answers[name].table.schema.field("n").metadata[b"sitr"] for name in ("off", "on")}
    assert json.loads(fields["off"])["bias"] == "not measured"
    assert "bias" not in json.loads(fields["on"])


def test_where_nothing_can_be_left_out_nothing_is_said(tmp_path: Path) -> None:
    import pyarrow as pa

    data = sitr.protect(pa.table({"age": [1, 2, 3]}), name="people", unit=sitr.Row(), bounds={"age": (0, 9)})
    budget = data.budget(rho=10.0, ledger=tmp_path / "sitr.db")
    assert SAID not in str(budget.sql("SELECT COUNT(*) AS n FROM people", bias="off").preview(rho=1.0))
    assert SAID not in str(budget.histogram("age", bins=3).preview(rho=1.0))
    assert SAID in str(budget.sql("SELECT SUM(age) AS n FROM people", bias="off").preview(rho=1.0))  # it clamps


def test_a_share_that_says_nothing_is_shown_in_words(budget: Budget) -> None:
    answer: Any = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward").release(rho=1e-5)
    rows = list(answer.paper.table.rows())
    assert all(row[-1] == "price too small to tell" for row in rows)
    told = answer.to_dict()["bias"]["left_out"][0]
    assert told["groups"] == "all"
    assert not any(share["tells"] for share in told["shares"])
    rich: Any = budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward").release(rho=1e4)
    assert all("%" in row[-1] and "±" in row[-1] for row in rich.paper.table.rows())
    told = rich.to_dict()["bias"]["left_out"][0]
    assert told["groups"] == "each"
    assert all(share["tells"] for share in told["shares"])


@pytest.mark.parametrize("language", list(Language))
def test_of_a_share_that_says_little_what_is_sure_is_said(budget: Budget, language: Language) -> None:
    """The cell says "price too small to tell", so the sentence below it states no number with an error."""
    with speaking(language):
        words = in_words()
    query = budget.sql(SQL).question.query
    wide, narrow = (Amount(Fraction(9, 10), low, Fraction(1)) for low in (Fraction(109, 1000), Fraction(8, 10)))
    assert (wide.tells, narrow.tells) == (False, True)
    for share, some, others in ((wide, ("10%",), ("90%", "±")), (narrow, ("90%", "±"), ("80%",))):
        for said in (
            words.aggregate.cut(("A",), share, query, counts=True),
            words.aggregate.clamped(("A",), share, "cost", query, moved=["n"], ranked=[]),
        ):
            assert all(each in said for each in some)
            assert not any(each in said for each in others)
    if language is Language.ENGLISH:
        started = "At least 10% of the people in the group ward = A had rows left out by the caps: "
        assert words.aggregate.cut(("A",), wide, query).startswith(started)
