"""Synthetic rows are charged before the data are read, keep the types of the columns, and can be judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.errors import BudgetExceeded, DescriptionError, FewerThanAsked, QuestionError, UnknownName
from sitr.flavors.arrows import Additive
from sitr.mechanisms.composed import Composed
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.sheet import Sheet
from sitr.session.budget import Budget
from sitr.session.synthetic import Synthetic

PRICE = sitr.ZeroConcentratedDP(0.2)
NEW_YEAR = datetime.fromisoformat("2024-01-01")
DAYS = {
    "day": (date(2024, 1, 1), date(2024, 12, 31)),
    "at": (NEW_YEAR, NEW_YEAR + timedelta(30)),
}


def people(rows: int = 4000) -> pa.Table:
    """One column of every type; wards follow age, and nobody under 15 is married."""
    generator = np.random.default_rng(11)
    age = generator.integers(0, 90, rows)
    return pa.table(
        {
            "age": pa.array(age, pa.int16()),
            "ward": pa.array(np.array(["young", "grown", "old"])[age // 30]).dictionary_encode(),
            "cost": pa.array(np.where(age % 10 == 0, np.nan, age * 10.0), pa.float32()),
            "day": pa.array([date(2024, 1 + int(a) % 12, 1) for a in age], pa.date32()),
            "at": pa.array([datetime.fromisoformat(f"2024-01-{1 + int(a) % 30:02}") for a in age], pa.timestamp("ms")),
            "married": pa.array([None if a % 7 == 0 else bool(a >= 15) for a in age]),
        }
    )


def opened(table: pa.Table, folder: Path, **more: object) -> Budget:
    data = sitr.protect(
        table,
        unit=sitr.Row(),
        bounds={"age": (0, 89), "cost": (0, 1000)},
        keys={"ward": ["young", "grown", "old"]},
        name="people",
        **more,  # type: ignore[arg-type]
    )
    return data.budget(sitr.ZeroConcentratedDP(1.0), ledger=folder / "ledger.db")


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    return opened(people(), tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Synthetic:
    """All columns, by a fitted mixture: made once, because that takes seconds."""
    rule = (sitr.column("age") < 15) & (sitr.column("married") == True)  # noqa: E712
    budget = opened(people(), tmp_path_factory.mktemp("whole"), public={"census": people()})
    return budget.synthesize(bounds=DAYS, bins=12, required=["age"], never=[rule]).release(PRICE)


def test_types_and_names_are_those_of_the_data(whole: Synthetic) -> None:
    rows = whole.table
    assert [(field.name, field.type) for field in rows.schema] == [(f.name, f.type) for f in people().schema]
    assert not rows.schema.field("age").nullable or rows["age"].null_count == 0
    assert rows["married"].null_count > 0
    assert rows["cost"].null_count > 0  # NaN has no value, and so counts as NULL
    assert 3500 < rows.num_rows < 4500
    assert set(rows["ward"].to_pylist()) == {"young", "grown", "old"}
    assert all(0 <= age <= 89 for age in rows["age"].to_pylist())
    assert all(end[0] <= value <= end[1] for name, end in DAYS.items() for value in rows[name].to_pylist() if value)
    assert whole.private
    assert b'"synthetic": true' in rows.schema.metadata[b"sitr"]


def test_any_number_of_rows(whole: Synthetic) -> None:
    assert [whole.draw(rows).num_rows for rows in (0, 1, 10_000)] == [0, 1, 10_000]
    assert whole.to_pandas().shape == whole.to_polars().shape == (whole.table.num_rows, 6)
    for wrong in (-1, 2.5, True):
        with pytest.raises(QuestionError, match="whole number"):
            whole.draw(wrong)  # type: ignore[arg-type]


def test_structural_zeros_are_never_drawn(whole: Synthetic) -> None:
    rows = whole.draw(20_000).to_pylist()
    assert not [row for row in rows if row["age"] < 15 and row["married"]]
    assert [row for row in rows if row["age"] < 15 and row["married"] is False]
    assert [row for row in rows if row["age"] > 15 and row["married"]]


def test_wards_follow_age(whole: Synthetic) -> None:
    rows = whole.table.to_pylist()
    right = sum(row["ward"] == ("young", "grown", "old")[row["age"] // 30] for row in rows)
    assert right / len(rows) > 0.8


def test_the_ledger_was_charged_what_the_noise_costs(whole: Synthetic) -> None:
    spent = Composed(tuple(whole.portrait.measured.noises())).promise()
    assert whole.promise == PRICE
    assert spent.covers(PRICE)
    assert spent.rho == pytest.approx(PRICE.rho, rel=1e-9)  # type: ignore[union-attr]
    assert whole.request.at.ledger.entries("people")[0].price == PRICE


def test_quality_against_a_public_table(whole: Synthetic) -> None:
    good = whole.compare("census")
    found = good.released
    assert (good.promise, good.receipt) == (None, None)
    assert tuple(map(len, (found.single, found.pairs, found.ranges, found.correlations))) == (6, 15, 4, 6)
    assert found.mean_single < 0.2
    shuffled = people().set_column(0, "age", people()["age"].take(np.random.default_rng(1).permutation(4000)))
    assert found.mean_pairs < whole.compare("census", rows=shuffled).released.mean_pairs
    same = whole.compare("census", rows=people()).released
    assert [figure.found for figure in (*same.single, *same.pairs, *same.ranges)] == [0.0] * 25
    assert [figure.found for figure in same.correlations] == pytest.approx([0.0] * 6, abs=1e-12)
    with pytest.raises(QuestionError, match="no row"):
        whole.compare("census", rows=people()[:0])
    with pytest.raises(QuestionError, match="one without age"):
        whole.compare("census", rows=people().drop_columns(["age"]))


@pytest.mark.parametrize("stored", ["parquet", "csv", "drawn"])
def test_moments_of_a_public_table_are_read_in_the_zone_of_the_data(tmp_path: Path, stored: str) -> None:
    """They were read in UTC, up to a day away from the rows that they are compared with."""
    hours = [NEW_YEAR + timedelta(hours=hour) for hour in range(24)]
    rows = pa.table({"at": pa.array(hours, pa.timestamp("us", "UTC"))})
    census = tmp_path / f"census.{stored}"
    if stored == "parquet":
        pq.write_table(rows, census)
    else:
        away, end = (timedelta(0), "Z") if stored == "csv" else (timedelta(hours=9), "")
        census = census.with_suffix(".csv")
        census.write_text("\n".join(["at", *(f"{hour + away}{end}" for hour in hours)]) + "\n")
    bounds = {"at": (NEW_YEAR, NEW_YEAR + timedelta(days=2))}
    data = sitr.protect(
        rows, unit=sitr.Row(), name="v", zones={"at": "Asia/Tokyo"}, bounds=bounds, public={"census": census}
    )
    asked = data.budget("zcdp(1)", ledger=tmp_path / "l.db").synthesize(columns=["at"])
    reading = asked.synthetic.reading()
    assert isinstance(reading, Sheet)
    exact = data._rows().read(reading, salt=0)
    assert len(set(exact.ravel().tolist())) > 3
    assert sorted(asked.holdout("census").ravel().tolist()) == sorted(exact.ravel().tolist())


def test_a_public_table_is_taken_by_its_declared_name_only(whole: Synthetic, tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    for undeclared in (people(), tmp_path / "people.parquet", str(tmp_path / "people.parquet"), "people", "Census"):
        with pytest.raises(UnknownName, match=r"--public census=FILE|Did you mean 'census'\?$"):
            whole.compare(undeclared)  # type: ignore[arg-type]


def test_a_model_is_trained_on_synthetic_rows(whole: Synthetic) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    name = whole.portrait.axes[0].column.name
    found = whole.compare("census", rows=people(), target=name).released
    assert found.scores is not None
    assert all(0 <= score <= 1 for score in found.scores)
    alone = whole.compare("census", rows=people()).released
    assert found.propensity is not None
    assert 0.3 < found.propensity <= 1
    assert all(figure.columns[0].startswith(f"{name} = ") and 0 <= figure.found <= 2 for figure in found.subgroups)
    assert len(found.subgroups) > 1
    assert found.regression
    assert all(each.error >= 0 and not each.term.startswith(f"{name} = ") for each in found.regression)
    free = replace(found, scores=None, propensity=None, subgroups=(), regression=(), correlations=())
    assert free == replace(alone, correlations=())
    # Rows are read in no particular order, so sums of floats may differ in their last digits.
    assert [figure.columns for figure in found.correlations] == [figure.columns for figure in alone.correlations]
    assert [figure.found for figure in found.correlations] == pytest.approx(
        [figure.found for figure in alone.correlations], abs=1e-12
    )
    with pytest.raises(QuestionError, match="'nobody'"):
        whole.compare("census", target="nobody")


def test_quality_for_a_price(whole: Synthetic) -> None:
    rows = whole.table
    before = len(whole.request.at.ledger.entries("people"))
    paid = whole.measure(sitr.ZeroConcentratedDP(0.3), rows=rows)
    free = whole.compare("census", rows=rows)
    assert paid.promise == sitr.ZeroConcentratedDP(0.3)
    entries = whole.request.at.ledger.entries("people")
    assert (len(entries), entries[-1].price) == (before + 1, sitr.ZeroConcentratedDP(0.3))
    assert paid.receipt is not None
    assert paid.receipt.entry == entries[-1]
    # Thrice the 95% error happens once in 10^8. The rest is rounding, at most half a row in each of 169 cells, and the
    # noisy number of rows that shares are told of.
    for kind in ("single", "pairs", "ranges"):
        for noisy, exact in zip(getattr(paid.released, kind), getattr(free.released, kind), strict=True):
            assert noisy.columns == exact.columns
            assert abs(noisy.found - exact.found) < 3 * noisy.error + 0.05
    with pytest.raises(BudgetExceeded):
        whole.measure(sitr.ZeroConcentratedDP(0.9))


def test_papers(whole: Synthetic, tmp_path: Path) -> None:
    compared = whole.compare("census")
    page = whole.certificate(tmp_path / "page.html", found=compared).read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert f"{100 * compared.released.score:.1f} of 100" in page
    assert "How close the rows are, by columns" in page
    assert "How close the rows are, by columns" not in whole.certificate(tmp_path / "free.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    assert all(word in page for word in ("married", "ward", "share of any range", "<svg"))
    assert whole.plot(tmp_path / "plot.svg").read_text().startswith("<svg xmlns=")
    assert "ρ = 0.2" in str(whole)
    told = whole.to_dict()
    assert (told["kind"], told["price"]["notation"]) == ("synthetic rows", "zcdp(rho=0.2)")
    assert told["receipt"]["private"] is True


def test_a_preview_spends_nothing_and_reads_nothing(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("the data were read"))
    seen = budget.synthesize(bounds=DAYS).preview(PRICE)
    assert "left then  ρ = 0.8" in str(seen)
    assert set(seen.errors()) == set(people().column_names)
    assert seen.to_dict()["kind"] == "preview of synthetic rows"
    assert budget.entries() == []


def test_charge_before_touch(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        assert len(budget.entries()) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, "read", fails)
    with pytest.raises(KeyboardInterrupt):
        budget.synthesize(columns=["ward"]).release(PRICE)
    assert budget.remaining() == sitr.ZeroConcentratedDP(0.8)


def test_what_cannot_be_made_costs_nothing(budget: Budget) -> None:
    with pytest.raises(DescriptionError, match="must not be learned from the rows"):
        budget.synthesize()
    with pytest.raises(BudgetExceeded):
        budget.synthesize(columns=["ward"]).release(sitr.ZeroConcentratedDP(1.1))
    with pytest.raises(DescriptionError, match="do not fit its type"):
        budget.synthesize(columns=["age"], bounds={"age": (0, 100_000)}).release(PRICE)
    with pytest.raises(QuestionError, match="at most 1,000,000 cells"):
        budget.synthesize(bounds=DAYS, method=Method.JOINT).release(PRICE)
    with pytest.raises(DescriptionError, match="rows_per_person"):
        budget.synthesize(columns=["ward"], rows_per_person=3)
    for wrong in ("both", 3, ["joint"]):
        with pytest.raises(QuestionError, match='"joint" or "marginals" as the method'):
            budget.synthesize(columns=["ward"], method=cast("Any", wrong)).release(PRICE)
    assert budget.entries() == []


def test_a_method_may_be_written_as_its_name(budget: Budget) -> None:
    """A text that is not a method would be charged, and then fail."""
    for method in Method:
        named, same = (
            budget.synthesize(columns=["ward", "age"], bounds={"age": (0, 99)}, method=each)
            for each in (method.value, method)
        )
        assert named.question == same.question


PRICES = [sitr.PureDP(0.5), sitr.ZeroConcentratedDP(0.1), sitr.ApproximateDP(0.5, 1e-9)]


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_few_cells_are_one_table(tmp_path: Path, price: Additive) -> None:
    data = sitr.protect(people(), unit=sitr.Row(), keys={"ward": ["young", "grown", "old"]}, name="people")
    budget = data.budget(price, ledger=tmp_path / "ledger.db")
    made = budget.synthesize(columns=["ward", "married"]).release(price)
    assert made.portrait.plan.method is Method.JOINT
    # Laplace noise needs no δ: that part of the price stays in the budget.
    left = sitr.ApproximateDP(0.0, 1e-9) if isinstance(price, sitr.ApproximateDP) else price.share(Fraction(0))
    assert budget.remaining() == left
    rows = made.draw(50_000).to_pylist()
    share = sum(row["ward"] == "young" and row["married"] is False for row in rows) / len(rows)
    true = sum(row["ward"] == "young" and row["married"] is False for row in people().to_pylist()) / 4000
    assert share == pytest.approx(true, abs=0.05)


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("method", Method)
def test_the_ledger_is_charged_what_each_noise_costs(tmp_path: Path, price: Additive, method: Method) -> None:
    """Whatever noise an approximate price buys, the entry is the price of that noise: ε alone, or (ε, δ)."""
    data = sitr.protect(people(400), unit=sitr.Row(), keys={"ward": ["young", "grown", "old"]}, name="people")
    budget = data.budget(price, ledger=tmp_path / "ledger.db")
    asked = budget.synthesize(columns=["ward", "married"], method=method)
    previewed = asked.preview(price).price
    made = asked.release(price)
    (entry,) = budget.entries()
    spent = Composed(tuple(made.portrait.measured.noises())).promise()
    assert entry.price == made.promise == previewed
    match spent:
        case sitr.PureDP():
            charged = entry.price.epsilon  # type: ignore[union-attr]
            assert charged * (1 - 1e-9) < spent.epsilon <= charged
            assert getattr(entry.price, "delta", 0.0) == 0.0
        case sitr.ZeroConcentratedDP() if isinstance(entry.price, sitr.ApproximateDP):
            assert spent.to_approximate(delta=entry.price.delta).epsilon <= entry.price.epsilon
            assert spent.rho == pytest.approx(sitr.ZeroConcentratedDP.fitting(entry.price).rho, rel=1e-9)
        case sitr.ZeroConcentratedDP():
            assert spent.covers(price)
            assert spent.rho == pytest.approx(price.rho, rel=1e-9)  # type: ignore[union-attr]
        case _:
            pytest.fail("an unknown promise")


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(tmp_path: Path, rows: int) -> None:
    made = opened(people()[:rows], tmp_path).synthesize(columns=["age", "ward"], bins=5).release(PRICE)
    assert made.draw(100).num_rows == 100
    assert made.table.num_rows >= 0


def test_test_coins_are_told(budget: Budget) -> None:
    made = budget.synthesize(columns=["ward"]).release(PRICE, coins=TestCoins(1))
    assert not made.private
    assert b'"private": false' in made.draw(1).schema.metadata[b"sitr"]
    assert made.draw(9, coins=TestCoins(2)).equals(made.draw(9, coins=TestCoins(2)))


def test_rules_that_forbid_everything(budget: Budget) -> None:
    never = [sitr.column("ward").is_in(["young", "grown", "old"])]
    made = budget.synthesize(columns=["ward"], never=never).release(PRICE)
    with pytest.warns(FewerThanAsked, match="Loosen the rules"):
        assert made.draw(10).num_rows == 0


def test_persons_are_protected_with_all_their_rows(tmp_path: Path) -> None:
    table = people().append_column("id", pa.array(np.arange(4000) // 4))
    data = sitr.protect(
        table, unit="id", max_groups=2, max_rows_per_group=3, keys={"ward": ["young", "grown", "old"]}, name="people"
    )
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "ledger.db")
    made = budget.synthesize(columns=["ward"]).release(PRICE)
    assert made.portrait.plan.sheet.most_rows == 6
    few = budget.synthesize(columns=["ward"], rows_per_person=1).release(PRICE)
    (noise,) = few.portrait.measured.noises()
    assert noise.sensitivity == 1
    assert few.table.num_rows == pytest.approx(1000, abs=60)
    with pytest.raises(DescriptionError, match="the one that identifies a person"):
        budget.synthesize(columns=["id"])


@pytest.mark.slow
def test_the_error_of_a_fitted_table(tmp_path: Path) -> None:
    """Far nearer than independent columns would be, which are 0.79 away on average."""
    budget = opened(people(40_000), tmp_path, public={"census": people(40_000)})
    made = budget.synthesize(bounds=DAYS, bins=12).release(PRICE)
    assert made.compare("census").released.mean_pairs < 0.3


def test_the_text_of_polars_is_drawn_as_text(tmp_path: Path) -> None:
    """Polars gives Arrow text of a type from which Arrow cannot select."""
    rows = pl.DataFrame({"kind": ["a", "b", None, "a"] * 50, "n": [1, 2, 3, 4] * 50})
    data = sitr.protect(rows, unit=sitr.Row(), name="t", keys={"kind": ["a", "b"]}, bounds={"n": (0, 5)})
    drawn = data.budget(sitr.PureDP(2), ledger=tmp_path / "sitr.db").synthesize().release(sitr.PureDP(2)).to_polars()
    assert drawn.schema == rows.schema
    assert set(drawn["kind"]) <= {"a", "b", None}
