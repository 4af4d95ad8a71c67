"""A suggestion is a paid answer, and its options are ready to use."""

from __future__ import annotations

from pathlib import Path

import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.dataset.hospital import WARDS, hospital
from sitr.errors import QuestionError, UnknownName
from sitr.language import Language, speaking
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget
from sitr.session.reopened import reopened
from sitr.session.suggest import Suggestion

SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
PRICE = sitr.ZeroConcentratedDP(0.05)


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    """A hospital whose costs have no bounds, with caps that are far too small."""
    visits = sitr.protect(
        hospital(5_000),
        name="visits",
        unit="patient_id",
        max_groups=1,
        max_rows_per_group=1,
        keys={"ward": WARDS},
    )
    return visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "visits.db")


def test_the_options_of_a_suggestion_can_be_used_at_once(budget: Budget) -> None:
    suggestion = budget.suggest(SQL).release(PRICE)
    assert set(suggestion.options) == {"max_groups", "max_rows_per_group", "bounds"}
    assert suggestion.options["max_groups"] > 1
    assert suggestion.options["max_rows_per_group"] > 1
    low, high = suggestion.options["bounds"]["cost"]
    assert (low, 1_000 <= high <= 20_000) == (0, True)
    asked = budget.sql(SQL, **suggestion.options)
    found = {each.name: each.noise for each in suggestion.suggested.expected}
    errors = asked.preview(PRICE * 10).errors()
    assert found["COUNT(*)"] == pytest.approx(errors["n"], rel=0.05)
    assert found["SUM(cost)"] == pytest.approx(errors["total"], rel=0.05)
    told = suggestion.to_dict()
    assert told["options"]["max_groups"] == suggestion.options["max_groups"]
    assert told["for"]["price"]["rho"] == 0.5
    call = f"max_groups={suggestion.options['max_groups']}, max_rows_per_group="
    assert call in str(suggestion)
    assert f"--max-groups {suggestion.options['max_groups']} --max-rows-per-group" in str(suggestion)


def test_small_caps_for_a_mean_are_explained(budget: Budget) -> None:
    """A mean is about the rows that are kept, and a count beside it is not."""
    asked = "SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward"
    mean = budget.suggest(asked, price=sitr.ZeroConcentratedDP(1e-4)).release(PRICE, coins=TestCoins(1))
    assert mean.options["max_rows_per_group"] < 4  # many people have more
    assert "Small caps are best for mean: a mean" in " ".join(str(mean).split())
    assert mean.to_dict()["about_kept_rows"] == ["mean"]
    with speaking(Language.ARABIC):
        assert "السقوف الصغيرة هي الأفضل" in " ".join(str(mean).split())
        assert "Small" not in " ".join(str(mean).split())
    counts = budget.suggest(SQL).release(PRICE, coins=TestCoins(1))
    assert "Small caps" not in str(counts)
    assert counts.to_dict()["about_kept_rows"] == []
    for text, told in ((asked, True), (SQL, False)):
        auto = budget.sql(text, caps="auto", bounds={"cost": (0, 5_000)}).release(PRICE, coins=TestCoins(1))
        assert ("Small caps are best" in " ".join(str(auto).split())) == told


def test_it_is_charged_once_kept_and_shown_from_the_ledger(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    first = budget.suggest("cost").release(PRICE)
    (entry,) = budget.entries()
    assert entry.question == "SUGGEST CAPS AND BOUNDS FOR SELECT SUM(cost) AS total FROM visits"
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
    again = budget.suggest("SELECT SUM(cost) AS total FROM visits").release(PRICE)
    shown = reopened(budget.ledger, entry.number)
    assert isinstance(shown, Suggestion)
    assert again.receipt.again
    assert first.options == again.options == shown.options
    assert first.table == again.table


def test_the_price_of_the_question_decides(budget: Budget) -> None:
    """With hardly any money, one row of each person is best; with much, almost all rows."""
    poor, rich = (budget.suggest(SQL, price=sitr.ZeroConcentratedDP(later)).release(PRICE) for later in (1e-6, 1e3))
    assert (poor.options["max_groups"], poor.options["max_rows_per_group"]) == (1, 1)
    assert rich.options["max_rows_per_group"] >= 8
    assert rich.options["bounds"]["cost"][1] > poor.options["bounds"]["cost"][1]


def test_a_preview_reads_nothing_and_says_what_is_measured(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
    preview = budget.suggest(SQL).preview(PRICE)
    assert set(preview.errors()) == {"groups", "rows", "values of cost"}
    assert "values of cost" in str(preview)
    assert set(budget.suggest("ward").preview(PRICE).errors()) == {"groups", "rows"}
    assert set(budget.suggest("SELECT COUNT(*) AS n FROM visits").preview(PRICE).errors()) == {"rows"}
    assert budget.entries() == []


def test_too_little_money_suggests_nothing(budget: Budget) -> None:
    hidden = budget.suggest(SQL).release(sitr.ZeroConcentratedDP(1e-9))
    assert hidden.options == {}
    assert "Nothing is suggested" in str(hidden)
    assert hidden.to_dict()["options"] == {"max_groups": None, "max_rows_per_group": None, "bounds": {}}


def test_what_cannot_be_suggested_is_refused(budget: Budget) -> None:
    with pytest.raises(QuestionError, match="a question or the name of a column"):
        budget.suggest(3)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="costs"):
        budget.suggest("SELECT SUM(costs) AS total FROM visits")
    assert budget.entries() == []
