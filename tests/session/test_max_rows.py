"""A cap on all rows of a person, from the description to the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.dataset.description import load
from sitr.errors import DescriptionError
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

PRICE = sitr.ZeroConcentratedDP(0.5)
PEOPLE = 400
BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"


def rows() -> pa.Table:
    """Each person has three rows in A and one in B."""
    people = [person for person in range(PEOPLE) for _ in range(4)]
    return pa.table({"id": people, "ward": ["A", "A", "A", "B"] * PEOPLE, "cost": [2.0] * 4 * PEOPLE})


def protected(source: Any, **caps: Any) -> Dataset:
    said: dict[str, Any] = {"bounds": {"cost": (0, 5)}, "keys": {"ward": ["A", "B"]}, "name": "visits"}
    return sitr.protect(source, unit="id", **said, **caps)


def budget(folder: Path, **caps: Any) -> Budget:
    return protected(rows(), **caps).budget(rho=10, ledger=folder / "ledger.db")


def counts(asked: Any) -> dict[str, int]:
    answer = asked.release(PRICE, coins=TestCoins(1))
    return dict(zip(answer.table["ward"].to_pylist(), answer.table["n"].to_pylist(), strict=True))


def test_the_cap_is_enough_by_itself(tmp_path: Path) -> None:
    opened = budget(tmp_path, max_rows=2)
    table = opened.table
    assert (table.max_groups, table.max_rows_per_group, table.max_rows, table.most_rows) == (2, 2, 2, 2)
    found = counts(opened.sql(BY_WARD))
    # Two of four rows in a random order: 1.5 rows of A and half a row of B for each person.
    assert abs(found["A"] - 1.5 * PEOPLE) < 0.15 * PEOPLE
    assert abs(found["B"] - 0.5 * PEOPLE) < 0.15 * PEOPLE


def test_a_question_has_its_own_cap(tmp_path: Path) -> None:
    opened = budget(tmp_path, max_groups=2, max_rows_per_group=3)
    for asked in (
        opened.sql(BY_WARD, max_rows=4),
        opened.group_by("ward").caps(max_rows=4).agg(n=sitr.count(), total=sitr.sum("cost")),
        opened.sql(BY_WARD.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=4)", 1)),
    ):
        assert asked.question.query.max_rows == 4
        assert asked.question == opened.sql(BY_WARD, max_rows=4).question
        assert abs(counts(asked)["A"] - 3 * PEOPLE) < 60
    whole = opened.sql("SELECT COUNT(*) AS n FROM visits", max_rows=4).question.query
    assert (whole.max_groups, whole.max_rows_per_group, whole.max_rows) == (1, 4, None)


def test_fewer_rows_need_less_noise(tmp_path: Path) -> None:
    opened = budget(tmp_path, max_groups=2, max_rows_per_group=3)
    errors = [opened.sql(BY_WARD, max_rows=most, bias="off").preview(PRICE).errors()["n"] for most in (1, 2, 3, 4, 6)]
    assert errors == sorted(errors)
    assert errors[0] < errors[2] < errors[4]
    assert errors[4] == opened.sql(BY_WARD, bias="off").preview(PRICE).errors()["n"]


def test_answers_say_what_the_cap_leaves_out(tmp_path: Path) -> None:
    answer = budget(tmp_path, max_rows=3).sql(BY_WARD).release(PRICE, coins=TestCoins(1))
    content = answer.to_dict()
    assert content["caps"] == {"max_groups": 3, "max_rows_per_group": 3, "max_rows": 3}
    assert "at most 3 rows in all" in content["words"]["contribution"]
    beyond = content["bias"]["beyond_groups"]
    # Of people who keep three of A, A, A, B, a quarter have lost B.
    assert abs(float(beyond["value"]) - PEOPLE / 4) < PEOPLE / 8
    cut = next(each for each in content["bias"]["left_out"] if each["why"] == "rows beyond the cap")
    assert abs(float(cut["shares"][0]["value"]) - 0.75) < 0.2
    assert "groups where the caps left out all of them" in " ".join(str(answer).split())


def test_synthetic_rows_and_histograms_keep_it(tmp_path: Path) -> None:
    opened = budget(tmp_path, max_groups=2, max_rows_per_group=3, max_rows=2)
    loose = protected(rows(), max_groups=2, max_rows_per_group=3).budget(rho=1, ledger=tmp_path / "loose.db")
    for one, most in ((opened, 2), (loose, 6)):
        distance = one.histogram("ward").question.plan(PRICE).measurements[0].distance
        assert distance is not None
        assert distance.l1 == most
    drawn: Any = opened.synthesize(columns=["ward"], rows_per_person=None).question
    assert drawn.sheet.most_rows == 2


def test_a_description_keeps_the_cap(tmp_path: Path) -> None:
    pq.write_table(rows(), tmp_path / "visits.parquet")
    path = protected(tmp_path / "visits.parquet", max_rows=5).save(tmp_path / "visits.sitr.yaml")
    assert "max_rows: 5" in path.read_text()
    assert load(path).table == protected(tmp_path / "visits.parquet", max_rows=5).table
    plain = protected(tmp_path / "visits.parquet", max_groups=2, max_rows_per_group=3)
    assert "max_rows:" not in plain.save(tmp_path / "plain.sitr.yaml").read_text()


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "3"])
def test_other_caps_are_refused(most: Any) -> None:
    with pytest.raises(DescriptionError, match="max_rows"):
        protected(rows(), max_rows=most)


def test_rows_that_are_units_have_no_caps() -> None:
    with pytest.raises(DescriptionError, match="max_rows=3"):
        sitr.protect(rows(), unit=sitr.Row(), name="visits", max_rows=3)
