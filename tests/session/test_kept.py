"""A paid answer outlives a crash, holds nothing exact, and answers the same question again without a charge."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.dataset.schema import Kind
from sitr.errors import (
    BackendFailure,
    BudgetExceeded,
    FileError,
    IncompatiblePromises,
    LedgerBusy,
    NotKept,
    QuestionError,
)
from sitr.ledger.entry import Sealed
from sitr.ledger.receipt import Receipt
from sitr.ledger.sql import SqlLedger
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins, system_coins
from sitr.questions.synthetic.marginals import Marginal, Measured, measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.session.budget import Budget
from sitr.session.desk import VARIABLE
from sitr.session.kept import WrittenPlan, again, find, keep, opened
from sitr.session.plain import text
from tests.ledger.places import raw, schema
from tests.oracles.axes import keyed

PRICE = sitr.ZeroConcentratedDP(0.1)
BUDGET = sitr.ZeroConcentratedDP(1.0)
ROWS = 3000


@pytest.fixture
def open_budget(tmp_path: Path) -> Callable[..., Budget]:
    def made(ledger: str = "sitr.db", promise: Any = BUDGET, *, keep: bool = True, top: int = 9) -> Budget:
        people = pa.table({"ward": ["a", "b", "b"] * (ROWS // 3), "age": [row % 10 for row in range(ROWS)]})
        data = sitr.protect(people, unit=sitr.Row(), bounds={"age": (0, top)}, keys={"ward": ["a", "b"]}, name="people")
        return data.budget(promise, ledger=tmp_path / ledger, keep=keep)

    return made


def counted(budget: Budget) -> Any:
    return budget.group_by("ward").agg(n=sitr.count())


def crash(*_: Any, **__: Any) -> None:
    raise MemoryError("in the fit")


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitr.backends.duckdb.DuckDB.read", lambda *_, **__: pytest.fail("the data were read"))


def answers(budget: Budget) -> list[Path]:
    """The files that keep answers, beside the ledger."""
    assert isinstance(budget.ledger, SqlLedger)
    return sorted(budget.ledger.path.parent.glob("*.answers/*.json"))


def same(one: Any, other: Any) -> bool:
    """Equal, arrays included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Measured | Marginal):
        return all(same(getattr(one, name), getattr(other, name)) for name in type(one).__dataclass_fields__)
    return bool(one == other)


# What is the same question


def test_asking_twice_pays_once_in_another_process_too(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = counted(open_budget()).release(PRICE)
    assert not first.receipt.again
    unread(monkeypatch)
    budget = open_budget()
    second = counted(budget).release(PRICE)
    assert len(budget.entries()) == 1
    assert second.table == first.table
    assert replace(second.receipt, again=False) == first.receipt
    assert "kept answer of entry 1, from " in str(second)
    assert "; nothing was spent" in second._repr_html_()
    assert "nothing was spent" not in str(first) + first._repr_html_()
    assert (first.to_dict()["receipt"]["again"], second.to_dict()["receipt"]["again"]) == (False, True)


def test_an_empty_budget_still_answers_what_it_has_paid_for(open_budget: Callable[..., Budget]) -> None:
    first = counted(open_budget(promise=PRICE)).release(PRICE)
    budget = open_budget(promise=PRICE)
    assert budget.remaining() == sitr.ZeroConcentratedDP(0.0)
    assert counted(budget).release(PRICE).table == first.table
    with pytest.raises(BudgetExceeded):
        counted(budget).release(PRICE, fresh=True)


def test_a_fresh_answer_is_paid_for_and_becomes_the_kept_one(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    price = sitr.ZeroConcentratedDP(1e-6)  # with so much noise, no two draws are alike
    first, fresh = (counted(budget).release(price, fresh=fresh) for fresh in (False, True))
    assert [entry.number for entry in budget.entries()] == [1, 2]
    assert not fresh.receipt.again
    assert first.table != fresh.table
    kept = counted(budget).release(price)
    assert (kept.receipt.entry.number, kept.table) == (2, fresh.table)


def test_another_price_another_question_or_another_description_is_paid_for(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    counted(budget).release(PRICE)
    others: list[tuple[Any, Any]] = [
        (counted(budget), sitr.ZeroConcentratedDP(0.11)),
        (counted(budget), sitr.PureDP(0.1)),
        (budget.agg(n=sitr.count()), PRICE),
        (budget.where(sitr.column("age") > 3).group_by("ward").agg(n=sitr.count()), PRICE),
        (counted(open_budget(top=8)), PRICE),  # the bounds of a column that the question does not name
    ]
    for paid, (request, price) in enumerate(others, start=2):
        assert not request.release(price).receipt.again
        assert len(budget.entries()) == paid
    for request, price in others:
        assert request.release(price).receipt.again
    assert len(budget.entries()) == 6


def test_the_same_price_in_another_flavor_is_another_plan(open_budget: Callable[..., Budget]) -> None:
    """Both are charged as ρ = 0.005, for other noise."""
    budget = open_budget()
    pure, concentrated = (
        counted(budget).release(price) for price in (sitr.PureDP(0.1), sitr.ZeroConcentratedDP(0.005))
    )
    assert pure.receipt.entry.price == concentrated.receipt.entry.price
    assert not concentrated.receipt.again
    assert counted(budget).release(sitr.PureDP(0.1)).receipt.entry.number == 1


def test_a_file_of_another_name_is_another_version_of_the_data(tmp_path: Path) -> None:
    """New rows under the old name are not noticed, because noticing would reveal that rows have changed."""

    def released(name: str, rows: int) -> Any:
        pyarrow.parquet.write_table(pa.table({"age": list(range(rows))}), tmp_path / f"{name}.parquet")
        data = sitr.protect(tmp_path / f"{name}.parquet", unit=sitr.Row(), name="people")
        return data.budget(BUDGET, ledger=tmp_path / "sitr.db").agg(n=sitr.count()).release(PRICE)

    assert [released(*each).receipt.entry.number for each in (("may", 9), ("may", 8), ("june", 9))] == [1, 1, 2]


def test_answers_of_another_version_of_sitr_are_ignored(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    counted(budget).release(PRICE)
    with monkeypatch.context() as newer:
        newer.setattr("sitr.session.kept.sitr_version", lambda: "99.0")
        assert not counted(budget).release(PRICE).receipt.again
    monkeypatch.setattr("sitr.session.kept.VERSION", 99)
    assert not counted(budget).release(PRICE).receipt.again
    assert len(budget.entries()) == 3


@pytest.mark.parametrize("off", ["parameter", "environment"])
def test_keeping_can_be_turned_off(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    counted(open_budget()).release(PRICE)
    if off == "environment":
        monkeypatch.setenv(VARIABLE, "no")
    budget = open_budget(keep=off == "environment")
    answer = counted(budget).release(PRICE)
    assert (answer.receipt.again, answer.receipt.kept, len(answers(budget))) == (False, None, 1)
    assert [seal.sha256 for seal in budget.ledger.seals(2)] == [answer.receipt.sha256]


def test_a_setting_that_means_nothing_is_refused(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "perhaps")
    with pytest.raises(sitr.SitrError, match="yes or no in SITR_KEEP_ANSWERS, got 'perhaps'"):
        open_budget()


# Test coins


def test_test_coins_and_private_coins_do_not_mix(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    tests = [counted(budget).release(PRICE, coins=TestCoins(1)) for _ in range(2)]
    assert [each.receipt.entry.number for each in tests] == [1, 2]
    private = counted(budget).release(PRICE)
    assert (private.receipt.again, private.private) == (False, True)
    test = counted(budget).release(PRICE, coins=TestCoins(1))
    assert (test.receipt.again, test.private, test.table) == (False, False, tests[0].table)
    assert counted(budget).release(PRICE).receipt.entry.number == 3
    own = counted(budget).release(PRICE, coins=system_coins())
    assert (own.receipt.again, own.receipt.entry.number) == (False, 5)


def test_a_kept_test_answer_stays_marked(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    made = counted(budget).release(PRICE, coins=TestCoins(1))
    kept = find(budget.ledger, made.receipt.entry)
    assert kept is not None
    _, receipt = opened(kept, made.released.plan, ledger=budget.ledger)
    assert not receipt.private


# Files


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
    receipt = keep(
        Receipt("people", "row", entry, standing, private=False), WrittenPlan(planned), measured, at=budget._at
    )
    assert receipt.kept is not None
    kept = find(budget.ledger, entry)
    assert kept is not None
    found, read = opened(kept, planned, ledger=budget.ledger)
    assert same(found, measured)
    assert (read.entry, read.standing, read.private, read.kept) == (entry, standing, False, receipt.kept)
    assert sorted(tmp_path.rglob("*unfinished*")) == []
    # Nothing else is in the file: as many numbers as were measured or made from what was.
    noisy = sum(table.counts.size for table in measured.tables())
    made = sum(each.size for each in (*measured.shares, *measured.groups, *chain(*measured.again_groups)))
    assert numbers(kept.content["released"]) == noisy + made


def numbers(content: Any) -> int:
    """How many numbers stand in the arrays of a file."""
    match content:
        case {"array": [_, _, values]}:
            return len(values)
        case dict():
            return sum(map(numbers, content.values()))
        case list():
            return sum(map(numbers, content))
    return 0


def test_the_ledger_records_the_hash_of_the_file_before_it_is_shown(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    answer = counted(budget).release(PRICE)
    (path,), (seal,) = answers(budget), budget.ledger.seals()
    assert (seal.entry, seal.kind, seal.sha256) == (1, Sealed.ANSWER, sha256(path.read_bytes()).hexdigest())
    assert answer.receipt.sha256 == seal.sha256
    assert path.stat().st_mode & 0o777 == 0o600


def test_answers_are_on_disk_before_the_fit_begins(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    seen: list[Any] = []

    def watching(measured: Measured, **_: Any) -> None:
        seen.append((again(WrittenPlan(measured.plan), at=budget._at), measured))
        crash()

    monkeypatch.setattr("sitr.session.synthesis.portrait", watching)
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    with pytest.raises(MemoryError):
        budget.synthesize().release(PRICE)
    ((found, measured),) = seen
    assert found is not None
    assert same(found[0], measured)
    assert len(synced) >= 2  # the file and its folder


def test_a_full_disk_costs_no_answer(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    budget = open_budget()
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.kept._write", full)
        with pytest.warns(NotKept, match="No space left"):
            made = budget.synthesize().release(PRICE)
    assert made.receipt.kept is None
    assert made.draw(5).num_rows == 5
    assert [seal.sha256 for seal in budget.ledger.seals(1)] == [made.receipt.sha256]
    assert not budget.synthesize().release(PRICE).receipt.again  # nothing is kept, so it is paid for again


def test_a_ledger_that_fails_after_the_charge_costs_no_answer(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise sitr.errors.LedgerBusy(given="Another program is writing.", do="Wait.")

    budget = open_budget()
    with monkeypatch.context() as broken:
        broken.setattr(SqlLedger, "seal", busy)
        with pytest.warns(NotKept, match="cannot be verified"):
            first = counted(budget).release(PRICE)
    assert budget.ledger.seals() == []
    second = counted(budget).release(PRICE)
    assert (second.receipt.again, second.table) == (True, first.table)
    assert [seal.sha256 for seal in budget.ledger.seals()] == [first.receipt.sha256]


def edited(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change the content of a file."""
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")))


def one_more(content: dict[str, Any]) -> None:
    content["released"]["questions.aggregate.release.Release"]["measured"][0][0] += 1


def claimed_private(content: dict[str, Any]) -> None:
    content["private"] = not content["private"]


@pytest.mark.parametrize("edit", [one_more, claimed_private, lambda content: content.pop("released")])
def test_a_changed_file_is_refused_and_costs_nothing_unless_a_fresh_answer_is_paid_for(
    open_budget: Callable[..., Budget], edit: Callable[..., None]
) -> None:
    budget = open_budget()
    counted(budget).release(PRICE)
    edited(answers(budget)[0], edit)
    with pytest.raises(FileError, match=r"kept answer of entry 1, .* was changed .* fresh=True .* nothing was spent"):
        counted(budget).release(PRICE)
    assert len(budget.entries()) == 1
    fresh = counted(budget).release(PRICE, fresh=True)
    assert counted(budget).release(PRICE).table == fresh.table
    assert len(budget.entries()) == 2


def test_a_damaged_file_is_refused_and_a_deleted_one_is_paid_for(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    counted(budget).release(PRICE)
    (path,) = answers(budget)
    for damaged in (b"", b"hello", b"[1, 2]", path.read_bytes()[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="was changed or is damaged"):
            counted(budget).release(PRICE)
    path.unlink()
    assert not counted(budget).release(PRICE).receipt.again
    assert len(budget.entries()) == 2


def test_a_test_answer_cannot_be_passed_off_as_private(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    counted(budget).release(PRICE, coins=TestCoins(1))
    edited(answers(budget)[0], claimed_private)
    with pytest.raises(FileError, match="was changed"):
        counted(budget).release(PRICE)


def unsealed(budget: Budget, monkeypatch: pytest.MonkeyPatch, release: Callable[[], Any]) -> Path:
    """The file of an answer whose process died before the ledger recorded its hash."""

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(SqlLedger, "seal", stop)
        with pytest.raises(KeyboardInterrupt):
            release()
    assert budget.ledger.seals() == []
    (path,) = answers(budget)
    return path


def test_an_answer_between_file_and_hash_is_not_lost(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    path = unsealed(budget, monkeypatch, lambda: counted(budget).release(PRICE))
    unread(monkeypatch)
    assert counted(budget).release(PRICE).receipt.kept == path
    (seal,) = budget.ledger.seals()
    assert seal.sha256 == sha256(path.read_bytes()).hexdigest()
    edited(path, one_more)
    with pytest.raises(FileError, match="was changed"):
        counted(budget).release(PRICE)


def tables(content: dict[str, Any]) -> Any:
    return content["released"]["questions.synthetic.marginals.Measured"]


def with_total(total: float) -> Callable[..., None]:
    def edit(content: dict[str, Any]) -> None:
        tables(content)["total"] = total

    return edit


def less_noise(content: dict[str, Any]) -> None:
    (marginal,) = tables(content)["alone"][0].values()
    (noise,) = marginal["noise"].values()
    noise["sigma"] = {"Fraction": "1/1000"}


def negative_share(content: dict[str, Any]) -> None:
    tables(content)["shares"][0]["array"][2][0] = -0.1


def no_group(content: dict[str, Any]) -> None:
    tables(content)["groups"][0]["array"][2][0] = -1


def infinite_count(content: dict[str, Any]) -> None:
    (marginal,) = tables(content)["alone"][0].values()
    marginal["counts"]["array"][2][0] = np.inf


def fewer_tables(content: dict[str, Any]) -> None:
    tables(content)["pairs"] = []


def a_program(content: dict[str, Any]) -> None:
    content["released"] = {"subprocess.Popen": {"args": "ls"}}


def a_program_within(content: dict[str, Any]) -> None:
    tables(content)["quality"] = {"dataset.description.save": {"description": 1, "path": "x"}}


def a_number(content: dict[str, Any]) -> None:
    content["released"] = 5


EDITS = [
    *(with_total(1e20), with_total(np.nan), less_noise, negative_share, no_group, infinite_count, fewer_tables),
    *(a_program, a_program_within, a_number),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("edit", EDITS)
def test_impossible_numbers_are_refused_even_if_no_hash_was_recorded(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, edit: Callable[..., None]
) -> None:
    """Of a total of 10²⁰ rows, Σ|c − s| overflows: one row would move it by 2^64, however much noise is paid for."""
    budget = open_budget()
    asked = budget.synthesize(method=Method.MARGINALS)
    path = unsealed(budget, monkeypatch, lambda: asked.release(PRICE))
    whole = path.read_bytes()
    edited(path, edit)
    with pytest.raises(FileError, match="was changed or is damaged"):
        asked.release(PRICE)
    assert (len(budget.entries()), budget.ledger.seals()) == (1, [])
    path.write_bytes(whole)
    assert asked.release(PRICE).receipt.again


@pytest.mark.parametrize("edit", [with_total(1e20), less_noise, negative_share])
def test_one_table_of_all_columns_is_checked_too(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, edit: Callable[..., None]
) -> None:
    budget = open_budget()
    asked = budget.synthesize(method=Method.JOINT)
    edited(unsealed(budget, monkeypatch, lambda: asked.release(PRICE)), edit)
    with pytest.raises(FileError, match="was changed or is damaged"):
        asked.release(PRICE)


def test_a_file_cannot_claim_another_price(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    dear = sitr.ZeroConcentratedDP(0.9)
    budget = open_budget()
    asked = counted(budget)
    path = unsealed(budget, monkeypatch, lambda: asked.release(PRICE))

    def claim(content: dict[str, Any]) -> None:
        content["plan"] = json.loads(text(asked.question.plan(dear)))

    edited(path, claim)
    assert not asked.release(dear).receipt.again
    assert len(budget.entries()) == 2


def test_answers_of_another_ledger_are_not_overwritten(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budgets = [open_budget("sitr.db"), open_budget("sitr.sqlite")]
    made = [counted(budget).release(PRICE) for budget in budgets]
    assert [each.receipt.kept for each in made] == [
        tmp_path / "sitr.answers" / name for name in ("entry-1.json", "entry-1-2.json")
    ]
    for budget, first in zip(budgets, made, strict=True):
        assert counted(budget).release(PRICE).table == first.table
        assert len(budget.entries()) == 1


KILLED = """
    import os, signal, sys, sitr
    from sitr.backends.duckdb import DuckDB
    from sitr.ledger.sql import SqlLedger
    from sitr.session import kept

    def dying(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    match sys.argv[1]:
        case "while reading":
            DuckDB.read = dying
        case "before the file":
            kept._write = dying
        case "within the file":
            os.fsync = dying
        case "before the hash":
            SqlLedger.seal = dying
    visits = sitr.protect("visits.parquet", unit="patient_id", max_groups=3, max_rows_per_group=2)
    answer = visits.budget(sitr.PureDP(1), ledger="sitr.db").agg(n=sitr.count()).release(sitr.PureDP(0.1))
    dying()
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("moment", "charges"),
    [
        ("while reading", 2),
        ("before the file", 2),
        ("within the file", 2),
        ("before the hash", 1),
        ("before it is shown", 1),
    ],
)
def test_a_killed_process_keeps_its_answer_or_its_charge_is_spent(visits_path: Path, moment: str, charges: int) -> None:
    command = [sys.executable, "-c", textwrap.dedent(KILLED), moment]
    run = subprocess.run(command, cwd=visits_path.parent, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    visits = sitr.protect(visits_path, unit="patient_id", max_groups=3, max_rows_per_group=2)
    budget = visits.budget(sitr.PureDP(1), ledger=visits_path.parent / "sitr.db")
    assert len(budget.entries()) == 1
    answer = budget.agg(n=sitr.count()).release(sitr.PureDP(0.1))
    assert (len(budget.entries()), answer.receipt.again) == (charges, charges == 1)
    assert [seal.sha256 for seal in budget.ledger.seals(charges)] == [answer.receipt.sha256]


# Synthetic rows, whose answers have two stages


def test_a_crash_in_the_fit_loses_nothing(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget()
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.synthesis.portrait", crash)
        with pytest.raises(MemoryError) as failure:
            budget.synthesize().release(PRICE)
    (kept,) = answers(budget)
    assert str(kept) in failure.value.__notes__[0]
    asked = open_budget().synthesize()  # as in another process
    unread(monkeypatch)
    made = asked.release(PRICE)
    assert made.draw(50).num_rows == 50
    assert 2800 < made.portrait.size < 3200
    assert made.private
    (entry,) = budget.entries()
    assert (made.receipt.entry, made.promise) == (entry, PRICE)
    assert made.receipt.standing.remaining() == sitr.ZeroConcentratedDP(0.9)


def test_other_tables_are_paid_for(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    for paid, (request, price) in enumerate(
        [
            (budget.synthesize(), PRICE),
            (budget.synthesize(bins=5), PRICE),
            (budget.synthesize(columns=["ward"]), PRICE),
            (budget.synthesize(), sitr.ZeroConcentratedDP(0.2)),
        ],
        start=1,
    ):
        assert not request.release(price).receipt.again
        assert len(budget.entries()) == paid


def test_the_table_is_the_same_whenever_it_is_asked_for(open_budget: Callable[..., Budget]) -> None:
    first, second = (open_budget().synthesize().release(PRICE, rows=50) for _ in range(2))
    assert second.receipt.again
    assert first.table == second.table
    fresh = open_budget().synthesize().release(PRICE, rows=50, fresh=True)
    assert fresh.table != first.table
    assert first.draw(50) != first.draw(50)


def test_the_same_rows_are_measured_once(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    found = open_budget().synthesize().release(PRICE).measure(PRICE)
    budget = open_budget()
    with monkeypatch.context() as closed:
        closed.setattr("sitr.session.ask._released", lambda *_: pytest.fail("the data were read"))
        second = budget.synthesize().release(PRICE).measure(PRICE)
    assert second.released == found.released
    assert second.receipt is not None
    assert second.receipt.again
    assert "kept answer of entry 2" in str(second)
    assert len(budget.entries()) == 2
    made = budget.synthesize().release(PRICE)
    for other in (made.measure(PRICE, rows=made.draw(50)), made.measure(PRICE, fresh=True)):
        assert other.receipt is not None
        assert not other.receipt.again
    assert len(budget.entries()) == 4


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
    assert [seal.entry for seal in budget.ledger.seals()] == [1, 1]  # one for each stage
    second = open_budget().synthesize().release(PRICE, quality=QUALITY, rows=500)
    assert second.quality is not None
    assert second.quality.released == made.quality.released
    assert second.table == made.table
    assert second.receipt.entry == entry
    assert not asked.release(PRICE).receipt.again  # without the quality, it is another question


def test_the_quality_of_other_rows_is_paid_for_but_rows_alone_are_free(open_budget: Callable[..., Budget]) -> None:
    """Figures about 500 rows say little about 5 rows, or about rows that follow a rule."""
    budget = open_budget()
    young = budget.synthesize(never=[sitr.column("age") > 5])
    made = [
        *(budget.synthesize().release(PRICE, quality=QUALITY, rows=rows) for rows in (500, 5)),
        young.release(PRICE, quality=QUALITY, rows=500),
    ]
    assert [each.receipt.entry.number for each in made] == [1, 2, 3]
    plain = [*(budget.synthesize().release(PRICE, rows=rows) for rows in (500, 5)), young.release(PRICE, rows=500)]
    assert [each.receipt.entry.number for each in plain] == [4, 4, 4]
    assert [each.table.num_rows for each in plain] == [500, 5, 500]
    assert max(age for age in plain[2].table["age"].to_pylist() if age is not None) == 5


def test_both_prices_or_none(open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget()
    unread(monkeypatch)
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
@pytest.mark.parametrize("where", ["sitr.session.synthesis.portrait", "sitr.session.synthetic.Synthetic.draw"])
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
            budget.synthesize().release(PRICE, quality=QUALITY, rows=7)
    assert times == [1]  # read once, after the charge
    (kept,) = answers(budget)
    assert [str(kept) in note for note in raised.value.__notes__] == [True]
    unread(monkeypatch)
    made = budget.synthesize().release(PRICE, quality=QUALITY, rows=7)
    assert (made.quality, made.table.num_rows) == (None, 7)
    assert len(budget.entries()) == 1


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
    assert budget.synthesize().release(PRICE, quality=QUALITY).quality is None
    assert len(budget.entries()) == 1
    assert budget.synthesize().release(PRICE, quality=QUALITY, fresh=True).quality is not None
    assert budget.synthesize().release(PRICE, quality=QUALITY).quality is not None
    assert len(budget.entries()) == 2


@pytest.mark.parametrize("stage", [1, 2])
def test_a_crash_before_a_hash_falls_back_to_the_stage_before(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    """A file of the second stage is trusted only once its hash is recorded: until then that of the first stands."""
    budget, seal, times = open_budget(), SqlLedger.seal, []

    def stopping(*given: Any) -> None:
        times.append(1)
        if len(times) == stage:
            raise KeyboardInterrupt
        seal(*given)

    with monkeypatch.context() as broken:
        broken.setattr(SqlLedger, "seal", stopping)
        with pytest.raises(KeyboardInterrupt):
            budget.synthesize().release(PRICE, quality=QUALITY, rows=7)
    assert len(answers(budget)) == stage
    unread(monkeypatch)
    made = budget.synthesize().release(PRICE, quality=QUALITY, rows=7)
    assert (made.quality, len(budget.entries())) == (None, 1)


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
    measured = made.measure(sitr.PureDP(1e6), rows=made.table)
    other = made.measure(sitr.PureDP(1e6), rows=made.draw(41))
    found = [figure.found for figure in (*made.quality.released.single, *made.quality.released.pairs)]
    assert found == [figure.found for figure in (*measured.released.single, *measured.released.pairs)]
    assert found != [figure.found for figure in (*other.released.single, *other.released.pairs)]


def test_figures_that_nobody_paid_for_are_refused(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = open_budget("other.db").synthesize().release(PRICE, quality=QUALITY)
    assert isinstance(measured.receipt.kept, Path)
    figures = tables(json.loads(measured.receipt.kept.read_text()))["quality"]
    budget = open_budget()
    asked = budget.synthesize()

    def add(content: dict[str, Any]) -> None:
        tables(content)["quality"] = figures

    path = budget.ledger.path.with_name("sitr.answers") / "entry-1.json"  # type: ignore[attr-defined]
    with monkeypatch.context() as broken:
        broken.setattr(SqlLedger, "seal", crash)
        with pytest.raises(MemoryError):
            asked.release(PRICE)
    edited(path, add)
    with pytest.raises(FileError, match="was changed or is damaged"):
        asked.release(PRICE)


def test_the_short_text_of_a_kept_answer_says_so_instead_of_an_old_balance(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    assert "left of ρ = 1" in repr(counted(budget).release(PRICE))
    kept = repr(counted(budget).release(PRICE))
    assert "kept answer of entry 1, nothing was spent" in kept
    assert "left" not in kept


def test_another_format_of_the_same_file_is_another_question(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("id;x\n" + "".join(f"{row};{row % 7},5\n" for row in range(3000)))

    def total(decimal: str) -> Any:
        types = {"id": "integer", "x": "real"}
        bounds, step = {"x": (0, 10)}, {"x": 0.5}
        data = sitr.protect(
            path, unit=Row(), types=types, delimiter=";", decimal=decimal, bounds=bounds, granularity=step
        )
        return data.budget("pure(9)", ledger=tmp_path / "sitr.db").agg(s=sitr.sum("x")).release("pure(1)")

    wrong, right = total("."), total(",")
    assert not right.receipt.again
    assert wrong["s"][0] < 1000 < right["s"][0]
    assert total(",").receipt.again


def with_quality(budget: Budget) -> Any:
    return budget.synthesize(columns=["ward"]).release("zcdp(0.1)", quality="zcdp(0.1)")


def test_the_first_stage_outlives_a_second_whose_hash_could_not_be_recorded(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget, seal, calls = open_budget(), SqlLedger.seal, []

    def busy(ledger: SqlLedger, *words: Any) -> None:
        calls.append(words)
        if len(calls) == 2:
            raise LedgerBusy(given="The ledger is in use by another program.", do="Try again.")
        seal(ledger, *words)

    monkeypatch.setattr(SqlLedger, "seal", busy)
    with pytest.warns(NotKept, match="could not be recorded"):
        first = with_quality(budget)
    assert first.quality is not None
    again = with_quality(budget)
    assert again.receipt.again
    assert again.quality is None  # only what the ledger knows is returned
    assert len(budget.entries()) == 1


def test_a_ledger_that_another_program_writes_to_still_answers(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = open_budget()
    counted(budget).release(PRICE)
    monkeypatch.setattr(SqlLedger, "seal", lambda *_: pytest.fail("nothing new is recorded"))
    assert counted(budget).release(PRICE).receipt.again


@pytest.mark.parametrize(
    "edit",
    [
        lambda content: content.update(released={"enum": ["neighbors.relation.Relation", "NOPE"]}),
        lambda content: content.update(released={"questions.aggregate.release.Release": {}}),
        lambda content: content.update(released=nested(700)),
    ],
)
def test_a_made_up_file_without_a_hash_is_refused_in_words(
    open_budget: Callable[..., Budget], monkeypatch: pytest.MonkeyPatch, edit: Callable[..., None]
) -> None:
    budget, seal = open_budget(), SqlLedger.seal
    monkeypatch.setattr(SqlLedger, "seal", lambda *_: None)  # as after a crash
    counted(budget).release(PRICE)
    monkeypatch.setattr(SqlLedger, "seal", seal)
    edited(answers(budget)[0], edit)
    with pytest.raises(FileError, match="was changed or is damaged"):
        counted(budget).release(PRICE)


def nested(depth: int) -> list[Any]:
    """A list in a list, this often."""
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize("in_memory", [True, False])
def test_other_rows_of_a_public_table_make_another_question(tmp_path: Path, in_memory: bool) -> None:
    """The same name, keys and bounds, and yet another answer: regions changed places."""
    rows = pa.table({"id": list(range(300)), "ward": ["a", "b", "b"] * 100})

    def asked(*regions: str) -> tuple[dict[str, Any], float]:
        wards: Any = pa.table({"ward": ["a", "b"], "region": list(regions)})
        if not in_memory:
            pyarrow.parquet.write_table(wards, tmp_path / "wards.parquet")
            wards = tmp_path / "wards.parquet"
        keys = {"ward": ["a", "b"]}
        data = sitr.protect(
            rows, unit="id", keys=keys, max_groups=1, max_rows_per_group=1, name="t", public={"wards": wards}
        )
        budget = data.budget(sitr.ZeroConcentratedDP(100.0), ledger=tmp_path / "sitr.db")
        request = budget.sql("SELECT region, COUNT(*) AS n FROM t JOIN wards ON t.ward = wards.ward GROUP BY region")
        found, left = request.release(sitr.ZeroConcentratedDP(10.0)).table.to_pydict(), budget.remaining()
        assert isinstance(left, sitr.ZeroConcentratedDP)
        return found, left.rho

    first, left = asked("north", "south")
    assert (first, left) == asked("north", "south")
    second, less = asked("south", "north")
    assert abs(second["n"][0] - 200) < 50 < abs(first["n"][0] - 200)
    assert less == left - 10.0


# A ledger on a server keeps answers itself


def test_an_answer_on_a_server_is_free_for_the_whole_team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = schema()
    people = pa.table({"ward": ["a", "b", "b"] * 10})
    pyarrow.parquet.write_table(people, tmp_path / "people.parquet")
    data = sitr.protect(tmp_path / "people.parquet", unit=sitr.Row(), keys={"ward": ["a", "b"]})
    data.save(tmp_path / "people.sitr.yaml", promise=BUDGET, ledger=url.replace("postgres@", "postgres:geheim@"))
    written = (tmp_path / "people.sitr.yaml").read_text()
    assert "postgresql://postgres@" in written
    assert "geheim" not in written
    answer = counted(sitr.open(tmp_path / "people.sitr.yaml").budget()).release(price=PRICE)
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "colleague"))
    unread(monkeypatch)
    budget = sitr.open(tmp_path / "people.sitr.yaml").budget()
    again = counted(budget).release(price=PRICE)
    assert again.receipt.again
    assert again.table == answer.table
    assert len(budget.ledger.entries()) == 1
    assert answer.receipt.kept == again.receipt.kept
    assert "geheim" not in str(answer.receipt)
    page = again.certificate(tmp_path / "people.html").read_text()
    assert "geheim" not in page
    with raw(url) as connection:
        connection.execute("UPDATE answers SET content = replace(content, 'people', 'others')")
    with pytest.raises(FileError, match="was changed or is damaged"):
        counted(budget).release(price=PRICE)
    assert len(budget.ledger.entries()) == 1
