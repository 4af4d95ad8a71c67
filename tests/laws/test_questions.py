"""What every kind of question must satisfy on its way through the door: one plan, one charge, one receipt.

A new kind is one entry in `KINDS`; a test walks the packages, so that none can be missing.
"""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr
import sitr.questions
from sitr.backends.duckdb import DuckDB
from sitr.errors import BackendFailure, BudgetExceeded, FileError, IncompatiblePromises, QuestionError, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.sql import SqlLedger
from sitr.mechanisms.smooth import SmoothNoise
from sitr.noise.coins import TestCoins
from sitr.plans.plan import Plan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.auto.question import AutoQuestion
from sitr.questions.batch.question import BatchQuestion
from sitr.questions.histogram.question import HistogramQuestion
from sitr.questions.question import Question
from sitr.questions.statistic.question import StatisticQuestion
from sitr.questions.suggest.question import SuggestionQuestion
from sitr.questions.synthetic.quality import QualityQuestion
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.several import SeveralQuestion
from sitr.questions.tables.grouping import GroupingQuestion
from sitr.questions.tables.question import TablesQuestion
from sitr.sensitivity import median, smooth
from sitr.session.budget import Budget
from sitr.session.plain import built, text
from sitr.session.request import Request
from sitr.session.verify import Verdict, verify
from tests.laws import walk

ROWS = 400
WARDS = ["a", "b", "c"]
ENVELOPE = ["kind", "question", "price", "promise", "headline", "delta", "budget", "receipt"]
PRICES: tuple[Kept, ...] = (PureDP(0.5), ZeroConcentratedDP(0.1), ApproximateDP(0.5, 1e-6))

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@pytest.fixture
def open_budget(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[Kept], Budget]:
    """A budget in any flavor for the same rows; the unit is a person where a kind needs that."""
    rows = np.arange(ROWS)
    table = pa.table({"ward": [WARDS[row % 3] for row in rows], "cost": (rows % 100).astype(np.float64)})
    person = "kind" in request.fixturenames and request.getfixturevalue("kind").person
    unit: dict[str, Any] = {"unit": sitr.Row()}
    if person:
        table = table.append_column("patient", pa.array(rows % 200))
        unit = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2}

    def opened(promise: Kept) -> Budget:
        data = sitr.protect(
            table,
            **unit,
            relation=sitr.Relation.REPLACE_ONE,
            name="visits",
            bounds={"cost": (0, 100)},
            granularity={"cost": 0.5},
            keys={"ward": WARDS},
        )
        return data.budget(promise, ledger=tmp_path / f"{type(promise).__name__}.db")

    return opened


@dataclass(frozen=True)
class Kind:
    """How to ask a question of this kind, and the prices it can be asked at."""

    request: Callable[[Budget], Request[Any]]
    prices: tuple[Kept, ...] = PRICES
    person: bool = False
    stages: int = 1


def _smoothed() -> SmoothNoise:
    return SmoothNoise.fitting(PureDP(0.5), sensitivity=smooth(median, bounds=(0, 100)))


def _together(budget: Budget) -> Request[Any]:
    """Rows of the same people in a second table, with a budget of its own."""
    doses = sitr.protect(
        pa.table({"patient": np.arange(150) % 100, "dose": np.arange(150) % 3}),
        name="doses",
        unit="patient",
        max_groups=1,
        max_rows_per_group=2,
        relation=sitr.Relation.REPLACE_ONE,
        bounds={"dose": (0, 2)},
    )
    at = budget._at.ledger
    assert isinstance(at, SqlLedger | LazyLedger)
    assert isinstance(at.path, Path)
    other = doses.budget(budget.standing().promise, ledger=at.path.with_name(f"doses-{at.path.name}"))
    return sitr.synthesize_together(
        budget.synthesize(columns=["ward"], people=True, rows_per_person=2), other.synthesize(people=True)
    )


KINDS: dict[type, Kind] = {
    AggregateQuestion: Kind(
        lambda budget: budget.sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward")
    ),
    AutoQuestion: Kind(
        lambda budget: budget.sql(
            "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward", caps="auto"
        ),
        PRICES[:2],
        person=True,
        stages=2,
    ),
    BatchQuestion: Kind(
        lambda budget: budget.batch(
            {
                "wards": budget.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
                "costs": budget.sql("SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"),
                "all": budget.sql("SELECT COUNT(*) AS n FROM visits WHERE cost > 50"),
            }
        )
    ),
    HistogramQuestion: Kind(lambda budget: budget.histogram("cost", bins=8)),
    SyntheticQuestion: Kind(lambda budget: budget.synthesize(columns=["ward", "cost"], bins=4)),
    SeveralQuestion: Kind(_together, person=True),
    SuggestionQuestion: Kind(lambda budget: budget.suggest("cost")),
    GroupingQuestion: Kind(
        lambda budget: budget.sql(
            "SELECT ward, COUNT(*) AS n, SUM(cost) AS total, AVG(cost) AS mean FROM visits GROUP BY ROLLUP (ward)"
        )
    ),
    TablesQuestion: Kind(
        lambda budget: budget.tables(
            [("ward", "cost"), "ward"], bins={"cost": 4}, measures=["count", "sum(cost)", "mean(cost)"]
        )
    ),
    StatisticQuestion: Kind(lambda budget: budget.statistic(_smoothed(), column="cost"), (PureDP(0.5),)),
}
FREE = {QualityQuestion}
"""Kinds that follow another answer: `tests/session/test_synthetic.py` asks them through the same door."""

every_kind = pytest.mark.parametrize(
    ("kind", "price"),
    [
        pytest.param(kind, price, id=f"{name.__name__}-{price!r}")
        for name, kind in KINDS.items()
        for price in kind.prices
    ],
)


def enough(price: Kept) -> Kept:
    """A budget for two such prices."""
    return price * 2


def test_no_kind_is_missing() -> None:
    """Whatever is planned and answered is a question, complete or not."""
    assert set(KINDS) | FREE == walk.having(("plan", "answer")) == walk.like(Question)


@every_kind
def test_a_plan_is_made_without_data_and_paid_for(open_budget: Any, kind: Kind, price: Kept) -> None:
    question = kind.request(open_budget(enough(price))).question
    plan: Plan = question.plan(price)
    plan.check()
    assert plan.measurements
    assert plan.price.covers(price)
    assert repr(plan) == repr(question.plan(price))
    assert plan.text == question.text()
    assert "\n" not in plan.text


@every_kind
def test_an_answer_is_charged_once_and_carries_its_receipt(open_budget: Any, kind: Kind, price: Kept) -> None:
    budget = open_budget(enough(price))
    request = kind.request(budget)
    answer = request.release(price)
    (entry,) = budget.entries()
    assert answer.receipt.entry == entry
    assert entry.question == request.question.text()
    assert answer.receipt.standing == budget.standing()
    assert answer.receipt.before().charges == 0
    assert answer.private
    assert answer.promise == request.preview(price).price
    assert not request.release(price, coins=TestCoins(1)).private


def assert_intervals(preview: Any, answer: Any) -> None:
    """Every number has both ends of its interval, unless the error is as secret as the data: then both words say so."""
    try:
        names, refused = answer.intervals().column_names, ""
    except QuestionError as error:
        names, refused = [], str(error)
    if refused:
        with pytest.raises(QuestionError, match="depends on the data") as before:
            preview.errors()
        assert str(before.value) == refused
        return
    low, high = ({name for name in names if name.endswith(end)} for end in ("_low", "_high"))
    assert low
    assert {name.removesuffix("_low") for name in low} == {name.removesuffix("_high") for name in high}
    assert preview.errors()


@pytest.mark.sampled(9)
@every_kind
def test_every_answer_speaks_the_same_words(open_budget: Any, tmp_path: Path, kind: Kind, price: Kept) -> None:
    request = kind.request(open_budget(enough(price)))
    preview, answer = request.preview(price), request.release(price)
    for shown in (preview.to_dict(), answer.to_dict()):
        assert set(ENVELOPE) <= set(shown)
        assert json.loads(json.dumps(shown)) == shown
        assert {"notation", "flavor"} <= set(shown["price"])
        assert list(shown["budget"]) == ["promise", "charge", "before", "after"]
    assert preview.to_dict()["receipt"] is None
    assert answer.to_dict()["receipt"]["entry"] == 1
    assert isinstance(answer.table, pa.Table)
    assert b'"private": true' in answer.table.schema.metadata[b"sitr"]
    assert answer.to_pandas().shape[0] == answer.to_polars().height == answer.table.num_rows
    assert answer.promise == preview.price
    assert_intervals(preview, answer)
    assert "<html" in answer.certificate(tmp_path / "page.html").read_text()
    assert answer.plot(tmp_path / "chart.svg").read_text().startswith("<svg")
    assert answer._repr_html_()
    assert preview._repr_html_()
    assert str(preview)
    assert str(answer)
    assert answer.loss is None or answer.loss.infinite_mass() <= 1e-6


@pytest.mark.sampled(6)
@every_kind
def test_asking_twice_pays_once_and_a_fresh_answer_pays_again(
    open_budget: Any, monkeypatch: pytest.MonkeyPatch, kind: Kind, price: Kept
) -> None:
    budget = open_budget(enough(price))
    answer = kind.request(budget).release(price)
    with monkeypatch.context() as closed:
        closed.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
        again = kind.request(open_budget(enough(price))).release(price)
    assert len(budget.entries()) == 1
    assert (answer.receipt.again, again.receipt.again) == (False, True)
    assert again.receipt.kept == answer.receipt.kept is not None
    assert again.table == answer.table
    assert [f"kept answer of entry 1, from {answer.receipt.entry.at:%Y}" in str(one) for one in (answer, again)] == [
        False,
        True,
    ]
    assert "nothing was spent" in again._repr_html_()
    told, first = again.to_dict(), answer.to_dict()
    assert told["receipt"].pop("again") is True
    assert first["receipt"].pop("again") is False
    assert told == first
    fresh = kind.request(budget).release(price, fresh=True)
    assert (fresh.receipt.again, len(budget.entries())) == (False, 2)
    assert fresh.table != answer.table


@pytest.mark.sampled(6)
@every_kind
def test_another_price_is_paid_for(open_budget: Any, kind: Kind, price: Kept) -> None:
    budget = open_budget(price * 4)
    kind.request(budget).release(price)
    if len(kind.prices) == 1:  # the price is what the mechanism promises, whatever is offered
        assert kind.request(budget).release(price * 2).receipt.again
        return
    assert not kind.request(budget).release(price * 2).receipt.again
    assert len(budget.entries()) == 2


@pytest.mark.sampled(6)
@every_kind
def test_test_coins_neither_give_nor_take_a_private_answer(open_budget: Any, kind: Kind, price: Kept) -> None:
    budget = open_budget(price * 3)
    for paid, coins in enumerate((TestCoins(1), None, TestCoins(1)), start=1):
        answer = kind.request(budget).release(price, coins=coins)
        assert (answer.receipt.again, answer.private, len(budget.entries())) == (False, coins is None, paid)
    kept = kind.request(budget).release(price)
    assert (kept.receipt.entry.number, kept.private) == (2, True)


@pytest.mark.sampled(9)
@every_kind
def test_a_changed_answer_is_refused_before_the_charge(open_budget: Any, kind: Kind, price: Kept) -> None:
    budget = open_budget(enough(price))
    path = kind.request(budget).release(price).receipt.kept
    path.write_text(path.read_text().replace('"private":true', '"private":true '))
    with pytest.raises(FileError, match="was changed"):
        kind.request(budget).release(price)
    assert len(budget.entries()) == 1


@pytest.mark.sampled(6)
@every_kind
def test_the_ledger_records_what_was_released(open_budget: Any, tmp_path: Path, kind: Kind, price: Kept) -> None:
    budget = open_budget(enough(price))
    answer = kind.request(budget).release(price)
    page = answer.certificate(tmp_path / "page.html")
    hashes = [sha256(path.read_bytes()).hexdigest() for path in (answer.receipt.kept, page)]
    assert [seal.sha256 for seal in budget.ledger.seals(1)][kind.stages - 1 :] == hashes
    assert verify(page, budget.ledger).verdict is Verdict.VALID
    shown = page.read_text()
    page.write_text(shown.replace(answer.receipt.sha256, "0" * 64, 1))
    assert verify(page, budget.ledger).verdict is Verdict.ALTERED
    again = kind.request(budget).release(price).certificate(tmp_path / "again.html")
    assert again.read_text() == shown


@every_kind
def test_a_plan_is_written_down_whole(open_budget: Any, kind: Kind, price: Kept) -> None:
    plan = kind.request(open_budget(enough(price))).question.plan(price)
    assert repr(built(json.loads(text(plan)))) == repr(plan)


@every_kind
def test_nothing_is_read_that_is_not_paid_for(
    open_budget: Any, monkeypatch: pytest.MonkeyPatch, kind: Kind, price: Kept
) -> None:
    budget = open_budget(enough(price))
    request = kind.request(budget)
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
    with pytest.raises(IncompatiblePromises):
        request.release(0.5)  # type: ignore[arg-type]
    assert budget.entries() == []
    for _ in range(2):
        budget.ledger.charge("visits", price=price, question="before")
    with pytest.raises(BudgetExceeded):
        request.release(price)
    assert len(budget.entries()) == 2


@every_kind
def test_a_failure_after_the_charge_says_nothing_about_the_rows(
    open_budget: Any, monkeypatch: pytest.MonkeyPatch, kind: Kind, price: Kept
) -> None:
    budget = open_budget(enough(price))
    request = kind.request(budget)

    def fails(_question: object, _plan: object, exact: object, /, *, coins: object) -> None:
        raise ValueError(f"SECRET {exact} {coins}")

    monkeypatch.setattr(type(request.question), "answer", fails)
    with pytest.raises(BackendFailure) as caught:
        request.release(price)
    shown = "".join(traceback.format_exception(caught.value))
    assert "SECRET" not in shown.replace("SECRET {exact} {coins}", "")
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert str(caught.value).startswith("The answer could not be computed after the charge")
    assert len(budget.entries()) == 1


SIZES = (5e-324, 1e-320, 1e-100, 1e-17, 1e17, 1e100, 1e101, 1e308)
EXTREME: tuple[Kept, ...] = (
    *(PureDP(size) for size in SIZES),
    *(ZeroConcentratedDP(size) for size in SIZES),
    ZeroConcentratedDP(1.0, xi=1e308),
    *(ApproximateDP(size, 1e-6) for size in SIZES),
    *(ApproximateDP(1.0, delta) for delta in (5e-324, 1e-320, 1e-100, 0.5, 1 - 2.0**-53, 1.0)),
    ApproximateDP(1e100, 1 - 2.0**-53),
    ApproximateDP(1e-100, 1e-100),
    RandomDP(PureDP(1e308), 1.0),
)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("price", EXTREME, ids=repr)
@pytest.mark.parametrize("kind", KINDS.values(), ids=[kind.__name__ for kind in KINDS])
def test_whatever_the_price_the_reason_of_a_refusal_is_said(
    open_budget: Callable[[Kept], Budget], kind: Kind, price: Kept
) -> None:
    """A price buys a plan that keeps it and has errors for every confidence, or it is refused in Sitr's words."""
    request = kind.request(open_budget(largest_budget(price)))
    try:
        preview = request.preview(price)
        preview.plan.check()
    except SitrError:
        return
    assert str(preview)
    for confidence in (0.5, 1e-320, 1 - 2.0**-53, Fraction(1, 10**400), 0, 1, math.nan):
        with suppress(SitrError):
            assert all(math.isfinite(error) for error in preview.errors(confidence=confidence).values())


def largest_budget(price: Kept) -> Kept:
    """The largest budget in the flavor of a price."""
    match price:
        case PureDP():
            return PureDP(1.7e308)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(1.7e308, xi=1.7e308)
        case ApproximateDP():
            return ApproximateDP(1.7e308, 1.0)
    return RandomDP(PureDP(1.7e308), 1.0)
