"""Errors of quantiles are numbers of ranks, and Python says so, too."""

from __future__ import annotations

from pathlib import Path

import sitr
from sitr.session.column_errors import ColumnErrors
from sitr.session.dataset import Dataset

SQL = "SELECT ward, COUNT(*) AS n, MEDIAN(cost) AS middle FROM visits GROUP BY ward"


def test_previews_and_answers_name_the_unit_of_each_error(visits: Dataset, tmp_path: Path) -> None:
    question = visits.budget("zcdp(5)", ledger=tmp_path / "sitr.db").sql(SQL)
    for found in (question.preview(rho=1).errors(), question.release(rho=1).errors()):
        assert found.units == {"n": "value", "middle": "ranks"}
        assert found.ranks == {"middle"}
        assert "ranks" in repr(found)
        assert dict(found) == {"n": found["n"], "middle": found["middle"]}
    assert "middle ± " in repr(question.preview(rho=1))
    assert "ranks" in repr(question.preview(rho=1))


def test_other_errors_stay_a_plain_dictionary(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget("zcdp(5)", ledger=tmp_path / "sitr.db")
    found = budget.agg(n=sitr.count()).preview(rho=1).errors()
    assert repr(found) == repr(dict(found))
    assert ColumnErrors({"n": 4.0}) == {"n": 4.0}


def test_a_preview_warns_of_errors_above_the_numbers_of_an_earlier_answer(visits: Dataset, tmp_path: Path) -> None:
    question = visits.budget("zcdp(5)", ledger=tmp_path / "sitr.db").sql(SQL)
    assert "warning" not in dict(question.preview(rho=1e-5).paper.facts)  # no size is known yet
    question.release(rho=1)
    useless = question.preview(rho=1e-5)
    assert "numbers in n were smaller" in dict(useless.paper.facts)["warning"]  # ranks are compared with nothing
    assert useless.to_dict()["drowned"] == ["n"]
    useful = question.preview(rho=0.5)
    assert "warning" not in dict(useful.paper.facts)
    assert "drowned" not in useful.to_dict()


def test_people_beyond_the_cap_on_groups_stand_beside_the_answer_and_in_its_arithmetic(
    visits: Dataset, tmp_path: Path
) -> None:
    budget = visits.budget("zcdp(5)", ledger=tmp_path / "sitr.db")
    answer = budget.sql("SELECT days, COUNT(*) AS n FROM visits GROUP BY days", keys={"days": range(7)}, max_groups=1)
    found = answer.release(rho=3)
    assert found.paper.table is not None
    assert any("people had rows in more than 1 group;" in note for note in found.paper.table.notes())
    assert "people had rows" not in dict(found.paper.facts)["bias"]  # not twice
    said = {lang: Path(found.certificate(tmp_path / f"{lang}.html", lang=lang)).read_text() for lang in ("en", "ar")}
    assert "people beyond the cap on groups" in said["en"].split("How to check this")[1].split("<script")[0]
    assert said["ar"].count("ممن تجاوزوا سقف المجموعات") == 2  # its cost, and the exact size of its noise
    assert "أكثر من مجموعة واحدة" in said["ar"]
