"""Public rules hold in every drawn row, cost nothing, and wrong ones are refused before anything is spent."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.plan import Method
from sitr.session.budget import Budget
from sitr.session.synthetic import Synthetic

PRICE = sitr.ZeroConcentratedDP(0.2)
YEAR = (date(2024, 1, 1), date(2024, 12, 31))
REGIONS = {"Irbid": "North", "Ajloun": "North", "Aqaba": "South"}


def visits(rows: int = 6000) -> pa.Table:
    generator = np.random.default_rng(4)
    day = np.datetime64("2024-01-01") + generator.integers(0, 366, rows)
    start = generator.integers(0, 60, rows)
    end = np.minimum(start + generator.geometric(0.15, rows) - 1, 71)
    late = generator.random(rows) < 0.1
    district = generator.choice(list(REGIONS), rows)
    return pa.table(
        {
            "month": pa.array(day.astype("datetime64[M]").astype(np.int64) % 12 + 1, pa.int8()),
            "day": pa.array(day),
            "start": pa.array(start, pa.int16()),
            "end": pa.array(end, pa.float32(), mask=generator.random(rows) < 0.2),
            "departed": pa.array(generator.integers(0, 50, rows), mask=late),
            "arrived": pa.array(generator.integers(0, 50, rows), mask=late),
            "district": district,
            "region": pa.array([REGIONS[each] for each in district]).dictionary_encode(),
        }
    )


def opened(folder: Path, **more: Any) -> Budget:
    data = sitr.protect(
        visits(),
        unit=sitr.Row(),
        bounds={"start": (0, 71), "end": (0, 71), "departed": (0, 49), "arrived": (0, 49), **more.pop("bounds", {})},
        granularity={"end": 1},
        keys={"district": list(REGIONS), **more.pop("keys", {})},
        name="visits",
    )
    return data.budget(sitr.ZeroConcentratedDP(1.0), ledger=folder / "ledger.db")


RULES: dict[str, Any] = {
    "derived": {"month": sitr.column("day").dt.month(), "region": {"district": REGIONS}},
    "ordered": [("start", "end")],
    "together": [("departed", "arrived")],
}


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    return opened(tmp_path_factory.mktemp("structure"))


@pytest.fixture(scope="module")
def made(budget: Budget) -> Synthetic:
    return budget.synthesize(bins=12, bounds={"day": YEAR}, required=["day", "start"], **RULES).release(PRICE)


def broken(rows: pa.Table) -> dict[str, int]:
    """How many rows break each rule."""
    found = dict.fromkeys(("month", "region", "order", "null"), 0)
    for row in rows.to_pylist():
        found["month"] += row["month"] != row["day"].month
        found["region"] += row["region"] != REGIONS.get(row["district"])
        found["order"] += row["end"] is not None and row["start"] > row["end"]
        found["null"] += (row["departed"] is None) != (row["arrived"] is None)
    return found


def test_every_row_follows_every_rule(made: Synthetic) -> None:
    rows = made.draw(30_000)
    assert broken(rows) == {"month": 0, "region": 0, "order": 0, "null": 0}
    assert rows.schema.names == visits().schema.names
    assert [field.type for field in rows.schema] == [field.type for field in visits().schema]
    assert rows["end"].null_count > 0
    assert rows["departed"].null_count > 0


def test_without_the_rules_many_rows_break_them(budget: Budget) -> None:
    """Otherwise the test above could not fail."""
    keys: dict[str, Any] = {"region": ["North", "South"], "month": list(range(1, 13))}
    loose = budget.synthesize(bins=12, bounds={"day": YEAR}, keys=keys, required=["day", "start"])
    assert min(broken(loose.release(PRICE).draw(30_000)).values()) > 30


def test_what_is_derived_is_not_measured(made: Synthetic, budget: Budget) -> None:
    assert made.portrait.plan.sheet.names == ("day", "start", "end", "departed", "arrived", "district")
    assert not {"month", "region"} & set(made.errors())
    free = budget.synthesize(
        bins=12, columns=["day", "month"], bounds={"day": YEAR}, derived={"month": RULES["derived"]["month"]}
    )
    assert set(free.preview(PRICE).errors()) == {"day"}


def test_margins_stay_right(made: Synthetic) -> None:
    """The rows follow the noisy tables of single columns, with rules, as closely as rows without rules do."""
    rows = made.draw(60_000)
    for name, bins in (("start", 12), ("end", 12), ("departed", 10)):
        ours, theirs = (
            np.histogram(table[name].drop_null().to_numpy(zero_copy_only=False), bins=bins, range=(0, 72))[0]
            for table in (rows, visits())
        )
        assert np.abs(ours / ours.sum() - theirs / theirs.sum()).sum() < 0.1
        nulls = rows[name].null_count / len(rows)
        assert nulls == pytest.approx(visits()[name].null_count / 6000, abs=0.03)


def test_a_saved_model_keeps_its_rules(made: Synthetic, tmp_path: Path) -> None:
    back = sitr.load(made.save(tmp_path / "model.sitr"))
    assert back.table.equals(made.table)
    assert broken(back.draw(5000)) == {"month": 0, "region": 0, "order": 0, "null": 0}
    assert back.portrait.structure == made.portrait.structure


def test_one_table_follows_the_rules_too(budget: Budget) -> None:
    columns = ["start", "end", "district", "region"]
    asked = budget.synthesize(
        columns=columns,
        bins=6,
        required=["start"],
        method=Method.JOINT,
        ordered=RULES["ordered"],
        derived={"region": RULES["derived"]["region"]},
    )
    rows = asked.release(PRICE).draw(20_000)
    assert rows.column_names == columns
    assert not [row for row in rows.to_pylist() if row["end"] is not None and row["start"] > row["end"]]


def test_rules_and_conditions_together(budget: Budget) -> None:
    rule = (sitr.column("district") == "Aqaba") & (sitr.column("start") < 30)
    built_in = {"ordered": RULES["ordered"], "derived": {"region": {"district": REGIONS}}}
    asked = budget.synthesize(columns=["start", "end", "district", "region"], bins=6, never=[rule], **built_in)
    rows = asked.release(PRICE).draw(5000).to_pylist()
    assert not [row for row in rows if row["region"] == "South" and (row["start"] or 99) < 30]


def test_quality_is_about_the_measured_columns(made: Synthetic) -> None:
    paid = made.measure(sitr.ZeroConcentratedDP(0.05))
    assert {name for figure in paid.released.single for name in figure.columns} == set(made.portrait.plan.sheet.names)


def test_ordered_timestamps(tmp_path: Path) -> None:
    first = datetime.fromisoformat("2024-01-01")
    seconds = np.random.default_rng(1).integers(0, 86_400, (2, 2000))
    times = np.datetime64("2024-01-01", "s") + np.sort(seconds, axis=0)
    data = sitr.protect(pa.table({"a": times[0], "b": times[1]}), unit=sitr.Row(), name="t")
    asked = data.budget(PRICE, ledger=tmp_path / "l.db").synthesize(
        bounds=dict.fromkeys("ab", (first, datetime.fromisoformat("2024-01-02"))), bins=24, ordered=[("a", "b")]
    )
    rows = asked.release(PRICE).draw(20_000)
    both = [(row["a"], row["b"]) for row in rows.to_pylist() if row["a"] and row["b"]]
    assert all(a <= b for a, b in both)
    assert any(a == b or (b - a).total_seconds() < 1800 for a, b in both)


def test_spikes_and_scales(tmp_path: Path) -> None:
    """Nine tenths exact zeros, and a long tail: with a spike the zeros stay; without it they are spread over a bin."""
    generator = np.random.default_rng(8)
    gain = np.where(generator.random(8000) < 0.9, 0, np.exp(generator.normal(7, 1, 8000))).astype(np.int64)
    data = sitr.protect(pa.table({"gain": gain}), unit=sitr.Row(), bounds={"gain": (0, 99_999)}, name="t")
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "l.db")
    price, rows = sitr.ZeroConcentratedDP(0.1), 20_000

    def zeros(**more: Any) -> tuple[float, float]:
        asked = budget.synthesize(bins=16, required=["gain"], **more)
        drawn = asked.release(price).draw(rows)["gain"].to_numpy()
        return float((drawn == 0).mean()), float(np.median(drawn[drawn > 0]))

    spiked = zeros(spikes={"gain": [0]}, scales={"gain": sitr.questions.Scale.LOG})
    assert spiked[0] == pytest.approx((gain == 0).mean(), abs=0.02)
    assert spiked[1] == pytest.approx(np.median(gain[gain > 0]), rel=0.3)
    assert zeros()[0] < 0.01


def test_edges_keep_shares_that_bins_of_equal_width_spread(tmp_path: Path) -> None:
    """All people are minors: an edge at 18 keeps that; a bin that holds 18 in its middle draws adults."""
    age = np.random.default_rng(10).integers(0, 18, 8000)
    data = sitr.protect(pa.table({"age": age}), unit=sitr.Row(), bounds={"age": (0, 119)}, name="t")
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "l.db")

    def minors(**more: Any) -> float:
        asked = budget.synthesize(bins=4, required=["age"], **more)
        drawn = asked.release(sitr.ZeroConcentratedDP(0.1)).draw(10_000)["age"].to_numpy()
        assert 0 <= drawn.min() <= drawn.max() <= 119
        return float((drawn < 18).mean())

    assert minors(edges={"age": [0, 6, 18, 65, 119]}) > 0.99
    assert minors() < 0.7


def test_decimals_and_edges(tmp_path: Path) -> None:
    """Values beyond the bounds count at the bounds; a spike there keeps their share."""
    cents = np.minimum(np.random.default_rng(9).integers(0, 20_000, 4000), 15_000)
    cost = pa.array([Decimal(int(each)) / 100 for each in cents], pa.decimal128(8, 2))
    data = sitr.protect(
        pa.table({"cost": cost}), unit=sitr.Row(), bounds={"cost": (0, 100)}, granularity={"cost": 0.01}, name="t"
    )
    asked = data.budget(PRICE, ledger=tmp_path / "l.db").synthesize(bins=10, required=["cost"], spikes={"cost": [100]})
    drawn = asked.release(PRICE).draw(10_000)
    assert drawn.schema.field("cost").type == pa.decimal128(8, 2)
    at_the_end = sum(value == 100 for value in drawn["cost"].to_pylist()) / 10_000
    assert at_the_end == pytest.approx((cents >= 10_000).mean(), abs=0.02)


def parity(folder: Path, rows: int = 8000) -> Budget:
    """Three columns of which only all together tell anything, and a fourth."""
    codes = np.random.default_rng(2).integers(0, 2, (rows, 4))
    codes[:, 2] = codes[:, 0] ^ codes[:, 1]
    names = {name: pa.array(codes[:, place]) for place, name in enumerate("abcd")}
    data = sitr.protect(pa.table(names), unit=sitr.Row(), bounds=dict.fromkeys("abcd", (0, 1)), name="parity")
    return data.budget(sitr.ZeroConcentratedDP(9.0), ledger=folder / "ledger.db")


def test_triples_are_measured_and_kept_where_they_are_wanted(tmp_path: Path) -> None:
    budget, price = parity(tmp_path), sitr.ZeroConcentratedDP(1.0)
    said: dict[str, Any] = {"bins": 2, "required": list("abcd"), "method": Method.MARGINALS}
    asked = budget.synthesize(**said, fit_triples=True)
    shown = asked.preview(price)
    assert "4 triples of columns, by groups, if rows suffice" in str(shown)
    assert shown.to_dict()["triples"] == {"number": 4, "error_95": pytest.approx(10, rel=0.6)}
    assert budget.synthesize(**said).preview(price).to_dict()["triples"] is None
    made = asked.release(price)
    assert str(budget.remaining()) == "ZeroConcentratedDP(rho=8.0)"
    told = made.to_dict()
    assert [each["columns"] for each in told["tables"]][-4:] == [[*"abc"], [*"abd"], [*"acd"], [*"bcd"]]
    assert [each["shape"] for each in told["tables"]][-4:] == [[2, 2, 2]] * 4
    assert "4 triples of columns, by at most 2 groups of each column" in str(made)
    rows = made.table.to_pandas()
    assert ((rows.a ^ rows.b) == rows.c).mean() > 0.98
    assert len(made.agreement().of(3)) == 4
    again = sitr.load(made.save(tmp_path / "model.sitr"))
    assert again.portrait.measured.possible()
    assert len(again.portrait.measured.triples) == 4
    assert again.table.equals(made.table)
    for language, sentence in (("en", "4 triples of columns"), ("ar", "ثلاثيات من الأعمدة، لكل عمود")):
        page = made.certificate(tmp_path / f"{language}.html", lang=language).read_text("utf-8")
        assert sentence in page
    assert asked.release(price).receipt.again  # kept, and not what the request without triples finds
    assert not budget.synthesize(**said).release(price).receipt.again


def test_where_rows_are_too_few_for_triples_that_is_said(tmp_path: Path) -> None:
    budget = parity(tmp_path, 30)
    made = budget.synthesize(bins=2, method=Method.MARGINALS, fit_triples=True).release(rho=0.1)
    assert made.portrait.measured.triples == ()
    assert "not measured: too few rows for their noise" in " ".join(str(made).split())


def test_triples_of_people_and_of_several_tables_are_refused(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 1, 2], "a": [0, 1, 1], "b": [0, 0, 1], "c": [1, 0, 1]})
    said: dict[str, Any] = {"unit": "id", "bounds": dict.fromkeys("abc", (0, 1)), "max_groups": 1}
    budget = sitr.protect(rows, name="few", max_rows_per_group=1, **said).budget(rho=1, ledger=tmp_path / "l.db")
    with pytest.raises(sitr.SitrError, match="rows of each person are drawn together"):
        budget.synthesize(bins=2, people=True, fit_triples=True)
    with pytest.raises(sitr.SitrError, match="not measured for several tables"):
        sitr.synthesize_together(budget.synthesize(bins=2, fit_triples=True), budget.synthesize(bins=2))
    two = budget.synthesize(columns=["a", "b"], bins=2, fit_triples=True)
    with pytest.raises(sitr.SitrError, match="3 to 15 columns"):
        two.release(rho=0.5)
    assert str(budget.remaining()) == "ZeroConcentratedDP(rho=1.0)"


@pytest.mark.parametrize("said", [{"people": "no"}, {"fit_triples": "x"}])
def test_a_choice_that_is_neither_true_nor_false_is_refused(tmp_path: Path, said: dict[str, Any]) -> None:
    rows = pa.table({"a": [0, 1], "b": [0, 1], "c": [1, 0]})
    data = sitr.protect(rows, name="flags", unit=sitr.Row(), bounds=dict.fromkeys("abc", (0, 1)))
    budget = data.budget(rho=1, ledger=tmp_path / "l.db")
    with pytest.raises(sitr.SitrError, match="to be True or False"):
        budget.synthesize(bins=2, **said)
    made = budget.synthesize(bins=2).release(rho=0.5, coins=TestCoins(1))
    with pytest.raises(sitr.SitrError, match="triples of the quality to be True or False"):
        made.measure(rho=0.1, triples="x")  # type: ignore[arg-type]
    assert str(budget.remaining()) == "ZeroConcentratedDP(rho=0.5)"
