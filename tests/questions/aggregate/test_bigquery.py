"""BigQuery's spelling: whoever asks does not choose who is protected."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.questions.aggregate.bigquery import rewritten, without_unit
from sitr.session.budget import Budget

ROWS = pa.table({"id": [1, 2, 3] * 200, "city": ["Oslo", "Turku", "Bergen"] * 200})
ASKED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    data = sitr.protect(
        ROWS, name="visits", unit="id", max_groups=3, max_rows_per_group=200, keys={"city": ["Oslo", "Turku", "Bergen"]}
    )
    return data.budget(ApproximateDP(10, 1e-3), ledger=str(tmp_path / "sitr.db"))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ("epsilon=1, delta=1e-6, privacy_unit_column=city", "epsilon=1, delta=1e-6"),
        ("privacy_unit_column = `city`, epsilon = 1", "epsilon = 1"),
        ('epsilon=1, PRIVACY_UNIT_COLUMN="city", delta=1e-6', "epsilon=1, delta=1e-6"),
        ("privacy_unit_column=city", ""),
    ],
)
def test_another_unit_is_refused_with_the_question_without_it(budget: Budget, options: str, left: str) -> None:
    with pytest.raises(QuestionError, match="names 'city' as the privacy unit") as refused:
        budget.sql(ASKED.format(options))
    assert refused.value.instead == without_unit(ASKED.format(options)) == ASKED.format(left)
    assert rewritten(refused.value.instead)[0] == "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    assert budget.entries() == []


def test_the_declared_unit_is_accepted_and_the_options_are_the_price(budget: Budget) -> None:
    budget.sql(ASKED.format("epsilon=1, delta=1e-6, max_groups_contributed=2, privacy_unit_column=ID")).release()
    (entry,) = budget.entries()
    assert entry.price == ApproximateDP(1.0, 0.0)  # with public keys, δ is not needed


def test_other_questions_are_not_cut_into_words_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes long for a list of 20,000 values; in every spelling of BigQuery's there is a mark."""
    own = [
        "select with Differential_Privacy count(*) from t",
        "SELECT WITH anonymization COUNT(*) FROM t",
        "SELECT anon_count(*) FROM t",
        "SELECT SUM(x, contribution_bounds_per_row => (0, 1)) FROM t",
        "SELECT SUM(x clamped between 0 AND 1) FROM t",
        "select top 5 x, COUNT(*) from t group by x",
    ]
    assert all(rewritten(sql)[0] != sql for sql in own)
    monkeypatch.setattr("sitr.questions.aggregate.bigquery.QuestionDialect", None)
    sql = "SELECT COUNT(*) FROM t WHERE x IN (1, 2, 3)"
    assert rewritten(sql) == (sql, None)
    with pytest.raises(TypeError):
        rewritten(own[0])
