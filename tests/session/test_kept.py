"""Noisy tables outlive a crash in the fit, hold nothing exact, and are resumed without a charge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.dataset.schema import Kind
from sitr.errors import BackendFailure, BudgetExceeded, IncompatiblePromises, LedgerError, NotKept, QuestionError
from sitr.ledger.receipt import Receipt
from sitr.ledger.sql import SqlLedger
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.marginals import Marginal, Measured, measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.session.budget import Budget
from sitr.session.kept import keep, resumed
from tests.oracles.axes import keyed

PRICE = sitr.ZeroConcentratedDP(0.1)
BUDGET = sitr.ZeroConcentratedDP(1.0)
ROWS = 3000


@pytest.fixture
def open_budget(tmp_path: Path) -> Callable[..., Budget]:
    def made(ledger: str = "sitr.db", promise: Any = BUDGET) -> Budget:
        people = pa.table({"ward": ["a", "b", "b"] * (ROWS // 3), "age": [row % 10 for row in range(ROWS)]})
        data = sitr.protect(people, unit=sitr.Row(), bounds={"age": (0, 9)}, keys={"ward": ["a", "b"]}, name="people")
        return data.budget(promise, ledger=tmp_path / ledger)

    return made


def crash(*_: Any, **__: Any) -> None:
    raise MemoryError("in the fit")


def test_a_crash_in_the_fit_loses_nothing(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget()
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.synthetic.portrait", crash)
        with pytest.raises(MemoryError) as failure:
            budget.synthesize().release(PRICE)
    (kept,) = answers(budget)
    assert str(kept) in failure.value.__notes__[0]
    again = open_budget().synthesize()  # as in another process
    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", lambda *_, **__: pytest.fail("the data were read"))
    made = again.resume(kept, PRICE)
    assert made.draw(50).num_rows == 50
    assert 2800 < made.portrait.size < 3200
    assert made.private
    (entry,) = budget.entries()
    assert (made.receipt.entry, made.promise) == (entry, PRICE)
    assert made.receipt.standing.remaining() == sitr.ZeroConcentratedDP(0.9)


def test_they_are_on_disk_before_the_fit_begins(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    seen: list[Any] = []

    def watching(measured: Measured, **_: Any) -> None:
        (path,) = answers(budget)
        seen.append((resumed(path, measured.plan, at=budget._at)[0], measured))
        crash()

    monkeypatch.setattr("sitr.session.synthetic.portrait", watching)
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    with pytest.raises(MemoryError):
        budget.synthesize().release(PRICE)
    ((found, measured),) = seen
    assert same(found, measured)
    assert len(synced) >= 2  # the file and its folder


def answers(budget: Budget) -> list[Path]:
    """The files that keep answers, beside the ledger."""
    assert isinstance(budget.ledger, SqlLedger)
    return sorted(budget.ledger.path.parent.glob("*.answers/*.npz"))


def same(one: Any, other: Any) -> bool:
    """Equal, arrays included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Measured | Marginal):
        return all(same(getattr(one, name), getattr(other, name)) for name in type(one).__dataclass_fields__)
    return bool(one == other)


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("price", [PRICE, sitr.PureDP(0.5), sitr.ApproximateDP(0.5, 1e-9)], ids=str)
def test_noisy_tables_come_back_bit_by_bit(
    open_budget: Callable[..., Budget], tmp_path: Path, method: Method, price: Any
) -> None:
    axes = tuple(keyed(name, Kind.TEXT, keys=tuple("abcdef")) for name in "xyz")
    planned = plan(Sheet(axes, Row(), Relation.ADD_REMOVE, 1), price, method=method)
    codes = np.column_stack([np.arange(ROWS) % size for size in (2, 3, 6)])
    measured = measure(planned, codes, coins=TestCoins(4))
    budget = open_budget(promise=price)
    entry, standing = budget.ledger.charge("people", price=planned.price, question=planned.text)
    receipt = keep(budget.ledger, Receipt("people", "row", entry, standing, private=False), planned, measured)
    assert receipt.kept is not None
    found, again = resumed(receipt.kept, planned, at=budget._at)
    assert same(found, measured)
    assert (again.entry, again.private, again.kept) == (entry, False, receipt.kept)
    assert sorted(tmp_path.rglob("*unfinished*")) == []
    # Nothing else is in the file: as many numbers as were measured or made from what was.
    with np.load(receipt.kept) as file:
        held = sum(file[name].size for name in file.files if name != "header")
    tables = (*measured.alone, *measured.chosen_by, *measured.pairs)
    noisy = sum(table.counts.size for table in tables)
    assert held == noisy + sum(each.size for each in (*measured.shares, *measured.groups))


def test_a_measured_quality_comes_back(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    made = budget.synthesize().release(PRICE)
    found = made.measure(PRICE)
    assert found.receipt is not None
    assert found.receipt.kept is not None
    assert found.released.plan is not None
    again, receipt = resumed(found.receipt.kept, found.released.plan, at=budget._at)
    assert again == found.released
    assert receipt.entry == found.receipt.entry


def test_only_the_same_request_is_resumed(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budget = open_budget()
    kept = budget.synthesize().release(PRICE).receipt.kept
    assert kept is not None
    for other, price in (
        (budget.synthesize(bins=5), PRICE),
        (budget.synthesize(columns=["ward"]), PRICE),
        (budget.synthesize(), sitr.ZeroConcentratedDP(0.2)),
    ):
        with pytest.raises(QuestionError, match="another question, another price"):
            other.resume(kept, price)
    with pytest.raises(LedgerError, match="has no entry 1 that paid"):
        open_budget("second.db").synthesize().resume(kept, PRICE)
    with pytest.raises(QuestionError, match="There is no file"):
        budget.synthesize().resume(tmp_path / "nothing.npz", PRICE)
    assert len(budget.entries()) == 1


def test_a_file_runs_no_code(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    asked = open_budget().synthesize()
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"sitr": 2}], dtype=object))
    header = {"sitr": 2, "plan": repr(asked.question.plan(PRICE)), "released": {"Popen": {"args": "ls"}}}
    np.savez(tmp_path / "odd.npz", header=np.array(json.dumps(header)))
    for name in ("text.npz", "pickled.npz", "odd.npz"):
        with pytest.raises(QuestionError, match="is no kept answer"):
            asked.resume(tmp_path / name, PRICE)


def test_rows_of_test_coins_stay_marked(open_budget: Callable[..., Budget]) -> None:
    asked = open_budget().synthesize()
    made = asked.release(PRICE, coins=TestCoins(1))
    assert made.receipt.kept is not None
    assert not asked.resume(made.receipt.kept, PRICE).private
    assert "NOT PRIVATE" in str(asked.resume(made.receipt.kept, PRICE))


def test_a_full_disk_costs_no_answer(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    budget = open_budget()
    monkeypatch.setattr("numpy.savez", full)
    with pytest.warns(NotKept, match="No space left"):
        made = budget.synthesize().release(PRICE)
    assert made.receipt.kept is None
    assert made.draw(5).num_rows == 5


def edited(path: Path, edit: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """A copy of the file with another header or other arrays."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays.pop("header")))
    edit(header, arrays)
    copy = path.with_name("edited.npz")
    np.savez(copy, header=np.array(json.dumps(header)), **arrays)
    return copy


def with_total(total: float) -> Callable[..., None]:
    def edit(header: dict[str, Any], _: Any) -> None:
        header["released"]["Measured"]["total"] = total

    return edit


def less_noise(header: dict[str, Any], _: Any) -> None:
    header["released"]["Measured"]["alone"][0]["Marginal"]["noise"]["Gaussian"]["sigma"] = {"Fraction": "1/1000"}


def negative_share(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["released"]["Measured"]["shares"][0]["array"]][0] = -0.1


def no_group(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["released"]["Measured"]["groups"][0]["array"]][0] = -1


def infinite_count(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["released"]["Measured"]["alone"][0]["Marginal"]["counts"]["array"]][0] = np.inf


def fewer_tables(header: dict[str, Any], _: Any) -> None:
    header["released"]["Measured"]["pairs"] = []


EDITS = [with_total(1e20), with_total(np.nan), less_noise, negative_share, no_group, infinite_count, fewer_tables]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused(open_budget: Callable[..., Budget], edit: Callable[..., None]) -> None:
    """Of a total of 10²⁰ rows, Σ|c − s| overflows: one row would move it by 2^64, however much noise is paid for."""
    asked = open_budget().synthesize(method=Method.MARGINALS)
    kept = asked.release(PRICE).receipt.kept
    assert kept is not None
    assert asked.resume(edited(kept, lambda *_: None), PRICE).private
    with pytest.raises(QuestionError, match="cannot have released"):
        asked.resume(edited(kept, edit), PRICE)


def test_one_table_of_all_columns_is_checked_too(open_budget: Callable[..., Budget]) -> None:
    asked = open_budget().synthesize(method=Method.JOINT)
    kept = asked.release(PRICE).receipt.kept
    assert kept is not None
    for edit in (with_total(1e20), less_noise, negative_share):
        with pytest.raises(QuestionError, match="cannot have released"):
            asked.resume(edited(kept, edit), PRICE)


def test_tables_are_resumed_at_the_price_in_the_ledger(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file cannot claim that more, or less, was paid for it."""
    dear = sitr.ZeroConcentratedDP(0.9)
    asked = open_budget().synthesize()
    kept = asked.release(PRICE).receipt.kept
    assert kept is not None

    def claim(header: dict[str, Any], _: Any) -> None:
        header["plan"] = repr(asked.question.plan(dear))

    monkeypatch.setattr("sitr.questions.synthetic.marginals.Measured.possible", lambda _: True)
    with pytest.raises(LedgerError, match="has no entry 1 that paid"):
        asked.resume(edited(kept, claim), dear)


def test_tables_of_another_ledger_are_not_overwritten(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budgets = [open_budget("sitr.db"), open_budget("sitr.sqlite")]
    kept = [budget.synthesize().release(PRICE).receipt.kept for budget in budgets]
    assert kept == [tmp_path / "sitr.answers" / name for name in ("entry-1.npz", "entry-1-2.npz")]
    for budget, path in zip(budgets, kept, strict=True):
        assert path is not None
        assert budget.synthesize().resume(path, PRICE).receipt.entry.number == 1


QUALITY = sitr.ZeroConcentratedDP(0.05)


def test_rows_and_their_quality_are_one_charge(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    asked = budget.synthesize()
    assert asked.preview(PRICE, quality=QUALITY).price == sitr.ZeroConcentratedDP(0.15)
    made = asked.release(PRICE, quality=QUALITY, rows=500)
    (entry,) = budget.entries()
    assert entry.price == made.promise == sitr.ZeroConcentratedDP(0.15)
    assert entry.question == "SYNTHESIZE ward, age FROM people AND MEASURE THE QUALITY"
    assert budget.remaining() == sitr.ZeroConcentratedDP(0.85)
    assert made.table.num_rows == 500
    assert made.quality is not None
    assert made.quality.promise == QUALITY
    assert [figure.columns for figure in made.quality.released.pairs] == [("ward", "age")]
    assert len(answers(budget)) == 1
    assert made.receipt.kept is not None
    again = open_budget().synthesize().resume(made.receipt.kept, PRICE, quality=QUALITY)
    assert again.quality is not None
    assert again.quality.released == made.quality.released
    assert again.receipt.entry == entry


def test_both_prices_or_none(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget()
    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", lambda *_, **__: pytest.fail("the data were read"))
    with pytest.raises(BudgetExceeded):
        budget.synthesize().release(PRICE, quality=sitr.ZeroConcentratedDP(0.91))
    with pytest.raises(IncompatiblePromises):
        budget.synthesize().release(PRICE, quality=sitr.PureDP(0.1))
    with pytest.raises(QuestionError, match="whole number of rows"):
        budget.synthesize().release(PRICE, quality=QUALITY, rows=-1)
    assert budget.entries() == []


def counting(budget: Budget, monkeypatch: pytest.MonkeyPatch, *, fails_at: int) -> list[int]:
    """How often the rows are read; one of these times, reading fails."""
    read, times = DuckDB.read, []

    def counted(*given: Any, **more: Any) -> Any:
        times.append(len(budget.entries()))
        if len(times) == fails_at:
            raise BackendFailure(given="The disk is gone.", do="Find it.")
        return read(*given, **more)

    monkeypatch.setattr(DuckDB, "read", counted)
    return times


@pytest.mark.parametrize("failure", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["sitr.session.synthetic.portrait", "sitr.session.synthetic.Synthetic.draw"])
def test_an_interrupt_between_the_stages_keeps_the_tables(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, failure: type[BaseException], where: str
) -> None:
    """No stage is measured again for the same charge: the quality is lost."""
    budget = open_budget()

    def stop(*_: Any, **__: Any) -> None:
        raise failure

    with monkeypatch.context() as broken:
        broken.setattr(where, stop)
        times = counting(budget, broken, fails_at=0)
        with pytest.raises(failure) as raised:
            budget.synthesize().release(PRICE, quality=QUALITY)
    assert times == [1]  # read once, after the charge
    (kept,) = answers(budget)
    assert [str(kept) in note for note in raised.value.__notes__] == [True]
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("the data were read"))
    made = budget.synthesize().resume(kept, PRICE, quality=QUALITY, rows=7)
    assert (made.quality, made.table.num_rows) == (None, 7)
    assert len(budget.entries()) == 1
    with pytest.raises(QuestionError, match="another question, another price"):
        budget.synthesize().resume(kept, PRICE)


def test_a_second_stage_that_fails_keeps_the_tables(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    with monkeypatch.context() as broken:
        times = counting(budget, broken, fails_at=3)
        with pytest.raises(BackendFailure) as raised:
            budget.synthesize().release(PRICE, quality=QUALITY)
    assert times == [1, 1, 1]  # the data, the synthetic rows, and the data
    (kept,) = answers(budget)
    assert str(kept) in raised.value.__notes__[0]
    assert budget.synthesize().resume(kept, PRICE, quality=QUALITY).quality is None
    assert len(budget.entries()) == 1


def test_a_second_stage_withholds_what_it_saw(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*_: Any, **__: Any) -> None:
        raise ValueError("there are exactly 3000 rows")

    monkeypatch.setattr("sitr.questions.synthetic.quality.privately", told)
    with pytest.raises(BackendFailure) as raised:
        open_budget().synthesize().release(PRICE, quality=QUALITY)
    seen: BaseException | None = raised.value
    while seen is not None:
        assert "3000" not in str(seen)
        seen = seen.__cause__ or seen.__context__


def test_the_quality_is_of_the_rows_of_the_answer(open_budget: Callable[..., Budget]) -> None:
    """At a high price there is hardly any noise: a comparison of the same rows finds the same."""
    asked = open_budget(promise=sitr.PureDP(1e7)).synthesize()
    made = asked.release(sitr.PureDP(1e6), quality=sitr.PureDP(1e6), rows=40)
    assert made.quality is not None
    again = made.measure(sitr.PureDP(1e6), rows=made.table)
    other = made.measure(sitr.PureDP(1e6), rows=made.draw(40))
    found = [figure.found for figure in (*made.quality.released.single, *made.quality.released.pairs)]
    assert found == [figure.found for figure in (*again.released.single, *again.released.pairs)]
    assert found != [figure.found for figure in (*other.released.single, *other.released.pairs)]


def test_figures_that_nobody_paid_for_are_refused(open_budget: Callable[..., Budget]) -> None:
    asked = open_budget().synthesize()
    made = asked.release(PRICE, quality=QUALITY)
    plain = asked.release(PRICE)
    assert made.receipt.kept is not None
    assert plain.receipt.kept is not None
    with np.load(made.receipt.kept) as file:
        figures = json.loads(str(file["header"]))["released"]["Measured"]["quality"]

    def add(header: dict[str, Any], _: Any) -> None:
        header["released"]["Measured"]["quality"] = figures

    with pytest.raises(QuestionError, match="cannot have released"):
        asked.resume(edited(plain.receipt.kept, add), PRICE)
