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
from sitr.dataset.schema import Kind
from sitr.errors import LedgerError, NotKept, QuestionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.marginals import Marginal, Measured, measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.session.budget import Budget
from sitr.session.kept import keep, read_kept
from tests.oracles.axes import keyed

PRICE = sitr.ZeroConcentratedDP(0.1)
ROWS = 3000


@pytest.fixture
def open_budget(tmp_path: Path) -> Callable[..., Budget]:
    def made(ledger: str = "sitr.db") -> Budget:
        people = pa.table({"ward": ["a", "b", "b"] * (ROWS // 3), "age": [row % 10 for row in range(ROWS)]})
        data = sitr.protect(people, unit=sitr.Row(), bounds={"age": (0, 9)}, keys={"ward": ["a", "b"]}, name="people")
        return data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / ledger)

    return made


def crash(*_: Any, **__: Any) -> None:
    raise MemoryError("in the fit")


def test_a_crash_in_the_fit_loses_nothing(
    open_budget: Callable[..., Budget], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.synthetic.portrait", crash)
        with pytest.raises(MemoryError) as failure:
            budget.synthesize().release(PRICE)
    (kept,) = tmp_path.glob("*.npz")
    assert str(kept) in failure.value.__notes__[0]
    again = open_budget().synthesize()  # as in another process
    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", lambda *_, **__: pytest.fail("the data were read"))
    made = again.resume(kept, PRICE)
    assert made.table(50).num_rows == 50
    assert 2800 < made.portrait.size < 3200
    assert made.private
    (entry,) = budget.entries()
    assert (made.receipt.entry, made.receipt.at, made.promise) == (entry.number, entry.at, PRICE)
    assert made.receipt.budget.remaining() == sitr.ZeroConcentratedDP(0.9)


def test_they_are_on_disk_before_the_fit_begins(
    open_budget: Callable[..., Budget], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def watching(plan: Any, measured: Measured, **_: Any) -> None:
        (kept,) = tmp_path.glob("*.npz")
        seen.append((read_kept(kept, plan).measured, measured))
        crash()

    monkeypatch.setattr("sitr.session.synthetic.portrait", watching)
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    with pytest.raises(MemoryError):
        open_budget().synthesize().release(PRICE)
    ((found, measured),) = seen
    assert same(found, measured)
    assert len(synced) >= 2  # the file and its folder


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
    budget = open_budget()
    budget.agg(n=sitr.count()).release(PRICE)
    (entry,) = budget.entries()
    keep(tmp_path / "kept.npz", planned, measured, entry, private=False)
    found = read_kept(tmp_path / "kept.npz", planned)
    assert same(found.measured, measured)
    assert (found.entry, found.question, found.private) == (entry.number, entry.question, False)
    assert sorted(tmp_path.glob("*unfinished*")) == []
    # Nothing else is in the file: as many numbers as were measured or made from what was.
    with np.load(tmp_path / "kept.npz") as file:
        held = sum(file[name].size for name in file.files if name != "header")
    tables = (*measured.alone, *measured.chosen_by, *measured.pairs)
    noisy = sum(table.counts.size for table in tables)
    assert held == noisy + sum(each.size for each in (*measured.shares, *measured.groups))


def test_only_the_same_request_is_resumed(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budget = open_budget()
    kept = budget.synthesize().release(PRICE).kept
    assert kept is not None
    for other, price in (
        (budget.synthesize(bins=5), PRICE),
        (budget.synthesize(columns=["ward"]), PRICE),
        (budget.synthesize(), sitr.ZeroConcentratedDP(0.2)),
    ):
        with pytest.raises(QuestionError, match="another request"):
            other.resume(kept, price)
    with pytest.raises(LedgerError, match="no such entry"):
        open_budget("second.db").synthesize().resume(kept, PRICE)
    with pytest.raises(QuestionError, match="There is none"):
        budget.synthesize().resume(tmp_path / "nothing.npz", PRICE)
    assert len(budget.entries()) == 1


def test_a_file_runs_no_code(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"sitr": 1}], dtype=object))
    np.savez(tmp_path / "odd.npz", header=np.array('{"measured": {"Popen": {"args": "ls"}}}'))
    for name in ("text.npz", "pickled.npz", "odd.npz"):
        with pytest.raises(QuestionError, match="not such a file"):
            open_budget().synthesize().resume(tmp_path / name, PRICE)


def test_rows_of_test_coins_stay_marked(open_budget: Callable[..., Budget]) -> None:
    asked = open_budget().synthesize()
    made = asked.release(PRICE, coins=TestCoins(1))
    assert made.kept is not None
    assert not asked.resume(made.kept, PRICE).private
    assert "NOT PRIVATE" in str(asked.resume(made.kept, PRICE))


def test_a_full_disk_costs_no_answer(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    budget = open_budget()
    monkeypatch.setattr("numpy.savez", full)
    with pytest.warns(NotKept, match="No space left"):
        made = budget.synthesize().release(PRICE)
    assert made.kept is None
    assert made.table(5).num_rows == 5


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
        header["measured"]["Measured"]["total"] = total

    return edit


def less_noise(header: dict[str, Any], _: Any) -> None:
    header["measured"]["Measured"]["alone"][0]["Marginal"]["noise"]["Gaussian"]["sigma"] = {"Fraction": "1/1000"}


def negative_share(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["measured"]["Measured"]["shares"][0]["array"]][0] = -0.1


def no_group(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["measured"]["Measured"]["groups"][0]["array"]][0] = -1


def infinite_count(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays[header["measured"]["Measured"]["alone"][0]["Marginal"]["counts"]["array"]][0] = np.inf


def fewer_tables(header: dict[str, Any], _: Any) -> None:
    header["measured"]["Measured"]["pairs"] = []


EDITS = [with_total(1e20), with_total(np.nan), less_noise, negative_share, no_group, infinite_count, fewer_tables]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused(open_budget: Callable[..., Budget], edit: Callable[..., None]) -> None:
    """Of a total of 10²⁰ rows, Σ|c − s| overflows: one row would move it by 2^64, however much noise is paid for."""
    asked = open_budget().synthesize(method=Method.MARGINALS)
    kept = asked.release(PRICE).kept
    assert kept is not None
    assert asked.resume(edited(kept, lambda *_: None), PRICE).private
    with pytest.raises(QuestionError, match="changed or is damaged"):
        asked.resume(edited(kept, edit), PRICE)


def test_one_table_of_all_columns_is_checked_too(open_budget: Callable[..., Budget]) -> None:
    asked = open_budget().synthesize(method=Method.JOINT)
    kept = asked.release(PRICE).kept
    assert kept is not None
    for edit in (with_total(1e20), less_noise, negative_share):
        with pytest.raises(QuestionError, match="changed or is damaged"):
            asked.resume(edited(kept, edit), PRICE)


def test_tables_are_resumed_at_the_price_in_the_ledger(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file cannot claim that more, or less, was paid for it."""
    dear = sitr.ZeroConcentratedDP(0.9)
    asked = open_budget().synthesize()
    kept = asked.release(PRICE).kept
    assert kept is not None

    def claim(header: dict[str, Any], _: Any) -> None:
        header["plan"] = repr(plan(asked.sheet, dear))

    monkeypatch.setattr("sitr.session.kept.as_planned", lambda *_: True)
    with pytest.raises(LedgerError, match="no such entry"):
        asked.resume(edited(kept, claim), dear)


def test_tables_of_another_ledger_are_not_overwritten(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budgets = [open_budget("sitr.db"), open_budget("sitr.sqlite")]
    kept = [budget.synthesize().release(PRICE).kept for budget in budgets]
    assert kept == [tmp_path / "sitr.entry-1.npz", tmp_path / "sitr.entry-1-2.npz"]
    for budget, path in zip(budgets, kept, strict=True):
        assert path is not None
        assert budget.synthesize().resume(path, PRICE).receipt.entry == 1
