from __future__ import annotations

import itertools
import os
import pwd
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, IncompatiblePromises, LedgerError, LedgerMismatch
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Sealed
from sitr.ledger.sql import SqlLedger
from tests.ledger.places import Place, raw, schema
from tests.ledger.statements import noticed


@pytest.fixture
def path(place: Place) -> Place:
    """All of this holds in every database."""
    return place


PEOPLE = "person (patient_id), add-remove"


def opened(path: Place, promise: Kept) -> SqlLedger:
    ledger = SqlLedger(path)
    ledger.open("clinic", promise=promise, neighbors=PEOPLE)
    return ledger


@pytest.mark.parametrize(
    ("promise", "prices", "excess"),
    [
        (PureDP(1.0), [PureDP(0.1)] * 10, PureDP(1e-300)),
        (PureDP(0.3), [PureDP(0.1), PureDP(0.2)], PureDP(5e-324)),
        (ApproximateDP(0.3, 3e-7), [ApproximateDP(0.1, 1e-7), ApproximateDP(0.2, 2e-7)], ApproximateDP(0.0, 1e-300)),
        (ApproximateDP(0.3, 0.0), [PureDP(0.1), PureDP(0.2)], PureDP(1e-300)),
        (ZeroConcentratedDP(0.3), [ZeroConcentratedDP(0.1), ZeroConcentratedDP(0.2)], ZeroConcentratedDP(1e-300)),
        (ZeroConcentratedDP(0.125), [PureDP(0.3), PureDP(0.4)], PureDP(1e-100)),
        (ZeroConcentratedDP(0.1, xi=0.3), [ZeroConcentratedDP(0.1, xi=0.3)], ZeroConcentratedDP(0.0, xi=1e-300)),
    ],
)
def test_the_promise_is_spent_to_its_border_and_not_beyond(
    path: Place, promise: Kept, prices: list[Promise], excess: Promise
) -> None:
    ledger = opened(path, promise)
    for price in prices:
        _, after = ledger.charge("clinic", price=price, question="SELECT COUNT(*) FROM clinic")
    assert after.spent() == ledger.standing("clinic").spent() == promise
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        ledger.charge("clinic", price=excess, question="SELECT COUNT(*) FROM clinic")
    assert len(ledger.entries()) == len(prices)
    assert SqlLedger(path).standing("clinic").spent() == promise


def test_a_price_is_stored_in_the_flavor_of_the_budget(path: Place) -> None:
    entry, after = opened(path, ZeroConcentratedDP(0.5)).charge("clinic", price=PureDP(0.5), question="COUNT(*)")
    assert entry.price == ZeroConcentratedDP(0.125)
    assert after.remaining() == ZeroConcentratedDP(0.375)


def test_a_price_that_does_not_imply_the_budget_is_refused(path: Place) -> None:
    ledger = opened(path, PureDP(1.0))
    with pytest.raises(IncompatiblePromises):
        ledger.charge("clinic", price=ApproximateDP(0.1, 1e-9), question="COUNT(*)")
    assert ledger.entries() == []


def test_opening_again_gives_the_same_account(path: Place) -> None:
    first = SqlLedger(path).open("clinic", promise=PureDP(1.0), neighbors=PEOPLE)
    assert SqlLedger(path).open("clinic", promise=PureDP(1.0), neighbors=PEOPLE) == first
    assert SqlLedger(path).account("clinic") == first
    assert first.opened.tzinfo is UTC
    assert abs((datetime.now(UTC) - first.opened).total_seconds()) < 600


@pytest.mark.parametrize(
    ("promise", "neighbors"),
    [
        (PureDP(2.0), PEOPLE),
        (PureDP(0.5), PEOPLE),
        (ApproximateDP(1.0, 0.0), PEOPLE),
        (PureDP(1.0), "row, add-remove"),
    ],
)
def test_other_terms_are_a_mismatch(path: Place, promise: Kept, neighbors: str) -> None:
    ledger = opened(path, PureDP(1.0))
    with pytest.raises(LedgerMismatch) as caught:
        ledger.open("clinic", promise=promise, neighbors=neighbors)
    assert "pure(epsilon=1.0)" in caught.value.wanted
    assert PEOPLE in caught.value.wanted
    assert neighbors in caught.value.given
    assert "one budget" in caught.value.do
    assert [account.promise for account in ledger.accounts()] == [PureDP(1.0)]


def test_entries_come_in_order_with_all_they_say(path: Place) -> None:
    ledger = SqlLedger(path)
    for dataset in ("school", "clinic"):
        ledger.open(dataset, promise=PureDP(1.0), neighbors=PEOPLE)
    before = datetime.now(UTC)
    made = [
        ledger.charge(dataset, price=PureDP(price), question=question)[0]
        for dataset, price, question in [
            ("clinic", 0.2, "SELECT COUNT(*) FROM clinic"),
            ("school", 0.1, "SELECT SUM(grade)\nFROM school -- درجات; 'x' \"y\""),
            ("clinic", 0.1, ""),
        ]
    ]
    assert [(entry.number, entry.dataset, entry.price, entry.question) for entry in made] == [
        (1, "clinic", PureDP(0.2), "SELECT COUNT(*) FROM clinic"),
        (2, "school", PureDP(0.1), "SELECT SUM(grade)\nFROM school -- درجات; 'x' \"y\""),
        (3, "clinic", PureDP(0.1), ""),
    ]
    for entry in made:
        assert before <= entry.at <= datetime.now(UTC)
        assert entry.at.tzinfo is UTC
        assert (entry.by, entry.version) == (pwd.getpwuid(os.getuid()).pw_name, version("sitr"))
    again = SqlLedger(path, create=False)
    assert again.entries() == made
    assert again.entries("clinic") == [made[0], made[2]]
    assert [account.dataset for account in again.accounts()] == ["clinic", "school"]


def test_a_user_without_a_name_is_a_number(path: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = opened(path, PureDP(1.0))
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")[0].by == f"uid {2**31 - 7}"


def test_budgets_do_not_mix(path: Place) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.open("school", promise=ZeroConcentratedDP(0.5), neighbors="row, replace-one")
    ledger.charge("clinic", price=PureDP(0.75), question="COUNT(*)")
    ledger.charge("school", price=ZeroConcentratedDP(0.125), question="COUNT(*)")
    assert ledger.standing("clinic").remaining() == PureDP(0.25)
    assert ledger.standing("school").remaining() == ZeroConcentratedDP(0.375)


def test_an_unknown_data_set_is_an_error_everywhere(path: Place) -> None:
    ledger = opened(path, PureDP(1.0))
    for ask in (ledger.account, ledger.standing, ledger.entries):
        with pytest.raises(LedgerError, match=r"has no account for school"):
            ask("school")
    with pytest.raises(LedgerError, match=r"has no account for school"):
        ledger.charge("school", price=PureDP(0.1), question="COUNT(*)")


@pytest.mark.parametrize("price", ["nonsense", "mystery(0.1)", "pure(epsilon=-1.0)"])
def test_a_price_that_cannot_be_read_stops_everything(path: Place, price: str) -> None:
    ledger = opened(path, PureDP(1.0))
    _put(path, [price])
    for ask in (ledger.standing, ledger.entries):
        with pytest.raises(LedgerError, match=r"changed by hand"):
            ask("clinic")
    with pytest.raises(LedgerError, match=r"changed by hand"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


def test_a_price_of_another_flavor_put_in_by_hand_does_not_pass(path: Place) -> None:
    ledger = opened(path, ApproximateDP(1.0, 1e-6))
    _put(path, ["zcdp(rho=0.1)"])  # ρ is not ε: as a bare number it would look cheap
    with pytest.raises(IncompatiblePromises):
        ledger.standing("clinic")
    with pytest.raises(LedgerError, match="changed by hand"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


def test_a_long_ledger_is_added_up_by_the_database(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = opened(path, PureDP(1e4))
    _put(path, [f"pure(epsilon={price})" for price in (0.1, 0.2, 0.3)] * 3333 + ["pure(epsilon=0.1)"])
    asked: list[str] = []
    with noticed(asked.append):
        standing = ledger.check("clinic")
    assert standing.charges == 10_000
    assert standing.spent() == PureDP(1999.9)
    # All entries are read from the index alone, already in groups: no sorting, no reading of questions.
    totals = next(sql for sql in asked if "GROUP BY" in sql)
    assert _strategy(path, totals) == ["SEARCH entries USING COVERING INDEX entries_by_price (dataset=?)"]


def test_a_charge_reads_one_entry_however_many_there_are(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = opened(path, PureDP(1e4))
    for price in (0.1, 0.2, 0.3):
        ledger.charge("clinic", price=PureDP(price), question="COUNT(*)")
    asked: list[str] = []
    with noticed(asked.append):
        _, after = ledger.charge("clinic", price=PureDP(0.2), question="COUNT(*)")
    assert after.charges == 4
    assert after.paid == (Fraction(8, 10),)
    reads = [sql for sql in asked if sql.startswith("SELECT") and ("entries" in sql or "records" in sql)]
    assert len(reads) > 3
    for read in reads:  # each finds one row by an index, or the records after the last one that the witness saw
        for strategy in _strategy(path, read):
            assert not strategy.startswith("SCAN") or "LIMIT 1" in read, (read, strategy)
    assert ledger.check("clinic") == ledger.standing("clinic") == after


def test_an_entry_put_in_by_hand_counts_in_the_standing_and_stops_all_charges(path: Place) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    _put(path, ["pure(epsilon=0.25)"])
    assert ledger.standing("clinic").paid[0] == Fraction(35, 100)
    with pytest.raises(LedgerError, match="the last entry of clinic is number 2, but it was 1"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    _put(path, ["pure(epsilon=0.9)"])
    with pytest.raises(BudgetExceeded, match="add up to more"):
        ledger.standing("clinic")


@pytest.mark.parametrize(("charges", "paid"), [(3, "1/10"), (2, "1/5"), (4, "1/5"), (3, "2/10000")])
def test_a_running_sum_that_is_not_the_sum_of_the_entries_is_found(path: Place, charges: int, paid: str) -> None:
    ledger = opened(path, PureDP(1.0))
    ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    _put(path, ["pure(epsilon=0.1)"], charges=2, paid="1/5")
    assert ledger.check("clinic").spent() == PureDP(0.2)
    _put(path, ["pure(epsilon=0.0)"], charges=charges, paid=paid)
    with pytest.raises(LedgerError, match=r"entries add up to pure\(epsilon=0\.2\)"):
        ledger.check("clinic")


def test_entries_copied_by_hand_open_no_second_budget(path: Place) -> None:
    """A copied entry carries the sum of the place that it was copied from."""
    ledger = opened(path, PureDP(1.0))
    for _ in range(5):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    with raw(path) as file:
        columns = "dataset, price, question, at, by, version, charges, paid"
        file.execute(
            f"INSERT INTO entries (number, {columns}) SELECT number + 5, {columns} FROM entries WHERE number <= 2"
        )
    with pytest.raises(LedgerError, match=r"entries add up to pure\(epsilon=0\.7\)"):
        ledger.check("clinic")
    with pytest.raises(LedgerError, match="changed by hand"):
        opened(path, PureDP(1.0))


@pytest.mark.parametrize("paid", ["", "x", "1/0", "nan", "1/10 1/10", "-1/10"])
def test_a_running_sum_that_cannot_be_read_is_refused(path: Place, paid: str) -> None:
    ledger = opened(path, PureDP(1.0))
    _put(path, ["pure(epsilon=0.1)"], charges=1, paid=paid)
    with pytest.raises(LedgerError, match="the sum in its last entry is"):
        ledger.standing("clinic")
    with pytest.raises(LedgerError, match="changed by hand"):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")


PARTS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1e-9, 1 / 3, 5e-324])
PURE = st.builds(PureDP, PARTS)
APPROXIMATE = st.builds(ApproximateDP, PARTS, st.sampled_from([0.0, 1e-7, 3e-7, 1e-6]))
ZERO_CONCENTRATED = st.builds(lambda rho, xi: ZeroConcentratedDP(rho, xi=xi), PARTS, st.sampled_from([0.0, 0.1]))
BUDGETS = st.one_of(
    st.tuples(st.just(PureDP(1.0)), st.lists(PURE, max_size=12)),
    st.tuples(st.just(ApproximateDP(1.0, 1e-6)), st.lists(PURE | APPROXIMATE, max_size=12)),
    st.tuples(st.just(ZeroConcentratedDP(1.0, xi=0.2)), st.lists(PURE | ZERO_CONCENTRATED, max_size=12)),
    st.tuples(st.just(RandomDP(PureDP(1.0), 0.3)), st.lists(PURE | st.builds(RandomDP, PURE, PARTS), max_size=12)),
)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[SqlLedger, Iterator[int]]:
    file = tmp_path_factory.mktemp("ledger") / "ledger.db"
    return SqlLedger(file if request.param == "sqlite" else schema()), itertools.count()


@settings(max_examples=40)  # each is a dozen commits to disk
@given(budget=BUDGETS)
def test_the_ledger_is_the_filter_made_durable(
    shared: tuple[SqlLedger, Iterator[int]], budget: tuple[Kept, list[Promise]]
) -> None:
    ledger, fresh = shared
    promise, prices = budget
    dataset, memory = f"data set {next(fresh)}", Filter(promise)
    charged: list[Promise] = []
    ledger.open(dataset, promise=promise, neighbors=PEOPLE)
    for price in prices:
        try:
            expected = memory.consent(price)
        except (BudgetExceeded, IncompatiblePromises) as refusal:
            with pytest.raises(type(refusal)):
                ledger.charge(dataset, price=price, question="COUNT(*)")
        else:
            entry, after = ledger.charge(dataset, price=price, question="COUNT(*)")
            assert (entry.price, after) == (memory.charge(price), expected)
            charged.append(memory.charge(price))
            memory = expected
        standing = ledger.standing(dataset)
        assert standing == memory
        assert _within(standing.spent(), promise)
    assert [entry.price for entry in ledger.entries(dataset)] == charged
    assert ledger.check(dataset) == memory


def _within(spent: Kept, promise: Kept) -> bool:
    match spent, promise:
        case PureDP(), PureDP():
            return spent.epsilon <= promise.epsilon
        case ApproximateDP(), ApproximateDP():
            return spent.epsilon <= promise.epsilon and spent.delta <= promise.delta
        case ZeroConcentratedDP(), ZeroConcentratedDP():
            return spent.rho <= promise.rho and spent.xi <= promise.xi
        case RandomDP(PureDP() as paid), RandomDP(PureDP() as promised):
            return spent.gamma <= promise.gamma and _within(paid, promised)
    return False


def _put(path: Place, prices: list[str], *, charges: int | None = None, paid: str | None = None) -> None:
    """Charges put in by hand, past the filter; without a running sum, as older versions of Sitr wrote them."""
    at = datetime.now(UTC).isoformat()
    with raw(path) as connection:
        connection.execute("BEGIN")
        for price in prices:
            connection.execute(
                "INSERT INTO entries (number, dataset, price, question, at, by, version, charges, paid) "
                "VALUES ((SELECT coalesce(max(number), 0) + 1 FROM entries), "
                "'clinic', ?, 'SUM(x)', ?, '', '', ?, ?)",
                (price, at, charges, paid),
            )
        connection.execute("COMMIT")


def _strategy(path: Place, sql: str) -> list[str]:
    """How SQLite looks for the rows."""
    with closing(sqlite3.connect(path)) as connection:
        return [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]


# Budgets with a γ


RANDOM = RandomDP(ApproximateDP(1.0, 1e-6), 0.1)
FIRST = RandomDP(ApproximateDP(0.5, 1e-7), 0.04, parts=(("newcomer", 0.03), ("gate", 0.01)))


def test_a_random_price_is_remembered_whole_and_stays_the_only_one(path: Place) -> None:
    ledger = opened(path, RANDOM)
    ledger.charge("clinic", price=FIRST, question="mean of cost")
    for _ in range(3):
        ledger.charge("clinic", price=PureDP(0.1), question="SELECT COUNT(*) FROM clinic")
    again = SqlLedger(path)
    assert [entry.price for entry in again.entries()] == [FIRST, *[ApproximateDP(0.1, 0.0)] * 3]
    price = again.entries()[0].price
    assert isinstance(price, RandomDP)
    assert price.parts == FIRST.parts
    standing = again.standing("clinic")
    assert (standing.charges, standing.first) == (4, FIRST)
    assert standing == again.check("clinic")
    assert standing.spent() == RandomDP(ApproximateDP(0.8, 1e-7), 0.04)
    assert standing.remaining() == RandomDP(ApproximateDP(0.2, 9e-7), 0.0)
    with pytest.raises(IncompatiblePromises, match="Nothing was spent"):
        again.charge("clinic", price=FIRST, question="again")
    with pytest.raises(BudgetExceeded):
        again.charge("clinic", price=PureDP(0.3), question="SELECT COUNT(*) FROM clinic")
    assert len(again.entries()) == 4


def test_a_random_price_after_an_answer_is_refused(path: Place) -> None:
    ledger = opened(path, RANDOM)
    ledger.charge("clinic", price=PureDP(0.9), question="SELECT COUNT(*) FROM clinic")
    with pytest.raises(IncompatiblePromises, match="as the first charge"):
        ledger.charge("clinic", price=RandomDP(PureDP(0.0), 0.0), question="mean of cost")
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "rows",
    [
        ["approximate(epsilon=0.1, delta=0.0)", "random(pure(epsilon=0.1), gamma=0.01)"],
        ["random(pure(epsilon=0.1), gamma=0.01)"] * 2,
    ],
)
def test_what_was_put_in_by_hand_is_not_believed(path: Place, rows: list[str]) -> None:
    ledger = opened(path, RANDOM)
    _put(path, rows[:1])
    ledger.standing("clinic")
    _put(path, rows[1:])
    with pytest.raises(IncompatiblePromises, match="not the first"):
        ledger.standing("clinic")


def test_a_basis_is_part_of_the_terms(path: Place) -> None:
    opened(path, RANDOM)
    with pytest.raises(LedgerMismatch, match="asymptotic=true"):
        opened(path, RandomDP(RANDOM.inner, RANDOM.gamma, Basis.ASYMPTOTIC))
    opened(path, RandomDP(RANDOM.inner, RANDOM.gamma, parts=(("gate", 0.1),)))  # parts name, and limit nothing


def test_a_random_promise_around_another_flavor_is_not_kept(path: Place) -> None:
    opened(path, RANDOM)
    _put(path, ["random(gaussian(mu=0.1), gamma=0.01)"])
    with pytest.raises(LedgerError, match="this version of Sitr cannot read"):
        SqlLedger(path).standing("clinic")


@pytest.mark.parametrize("promise", [ZeroConcentratedDP(1.0), PureDP(3.0), RandomDP(PureDP(3.0), 0.1)])
def test_an_entry_is_found_again_with_the_budget_after_it(path: Place, promise: Kept) -> None:
    ledger = opened(path, promise)
    ledger.open("other", promise=PureDP(1.0), neighbors=PEOPLE)
    ledger.charge("other", price=PureDP(0.5), question="COUNT(*)")
    charged = [ledger.charge("clinic", price=PureDP(price), question="COUNT(*)") for price in (0.1, 0.2, 0.1)]
    ledger.charge("other", price=PureDP(0.5), question="COUNT(*)")
    assert [ledger.charged(entry.number) for entry, _ in charged] == charged
    with pytest.raises(LedgerError, match="has no entry 9"):
        ledger.charged(9)


def test_the_same_question_at_the_same_price_is_found_newest_first(path: Place) -> None:
    ledger = opened(path, ZeroConcentratedDP(5.0))
    ledger.open("other", promise=ZeroConcentratedDP(5.0), neighbors=PEOPLE)
    asked = [
        ("clinic", 0.5, "a"),
        ("clinic", 0.5, "b"),
        ("clinic", 0.6, "a"),
        ("other", 0.5, "a"),
        ("clinic", 0.5, "a"),
    ]
    for dataset, price, question in asked:
        ledger.charge(dataset, price=PureDP(price), question=question)
    assert [entry.number for entry in ledger.paid("clinic", price=PureDP(0.5), question="a")] == [5, 1]
    assert [entry.number for entry in ledger.paid("clinic", price=ZeroConcentratedDP(0.125), question="a")] == [5, 1]
    assert ledger.paid("clinic", price=PureDP(0.7), question="a") == []
    assert ledger.paid("nowhere", price=PureDP(0.5), question="a") == []


def test_a_seal_is_recorded_once_and_found_by_entry_and_by_hash(path: Place) -> None:
    ledger = opened(path, PureDP(1.0))
    for _ in range(2):
        ledger.charge("clinic", price=PureDP(0.1), question="COUNT(*)")
    for number, kind, sha256 in [(1, "answer", "a"), (1, "certificate", "b"), (2, "answer", "c"), (1, "answer", "a")]:
        ledger.seal(number, Sealed(kind), sha256)
    found = SqlLedger(path).seals()
    assert [(seal.entry, seal.kind, seal.sha256) for seal in found] == [
        (1, Sealed.ANSWER, "a"),
        (1, Sealed.CERTIFICATE, "b"),
        (2, Sealed.ANSWER, "c"),
    ]
    assert ledger.seals(1) == found[:2]
    assert ledger.seals(sha256="c") == found[2:]
    assert ledger.seals(2, sha256="a") == []
    assert datetime.now(UTC) >= found[0].at
