"""Every answer says what it cost, and says loudly if test coins made it: the quality of synthetic rows too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import QuestionError
from sitr.mechanisms.smooth import SmoothNoise
from sitr.noise.coins import Coins, TestCoins
from sitr.sensitivity import median, smooth
from sitr.session.budget import Budget

PRICE = sitr.PureDP(0.5)


def people() -> pa.Table:
    return pa.table({"ward": ["a", "b"] * 50, "age": [row % 10 for row in range(100)]})


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    data = sitr.protect(
        people(),
        unit=sitr.Row(),
        relation=sitr.Relation.REPLACE_ONE,
        bounds={"age": (0, 9)},
        keys={"ward": ["a", "b"]},
        name="people",
        public={"census": people()},
    )
    return data.budget(sitr.PureDP(5.0), ledger=tmp_path / "sitr.db")


def asked(budget: Budget, coins: Coins | None) -> Any:
    return budget.agg(n=sitr.count()).release(PRICE, coins=coins)


def counted(budget: Budget, coins: Coins | None) -> Any:
    return budget.histogram("ward").release(PRICE, coins=coins)


def released(budget: Budget, coins: Coins | None) -> Any:
    noise = SmoothNoise.fitting(PRICE, sensitivity=smooth(median, bounds=(0, 9)))
    return budget.release(noise, column="age", coins=coins)


def made(budget: Budget, coins: Coins | None) -> Any:
    return budget.synthesize().release(PRICE, coins=coins)


def measured(budget: Budget, coins: Coins | None) -> Any:
    return made(budget, None).measure(PRICE, coins=coins)


def measured_of_test_rows(budget: Budget, coins: Coins | None) -> Any:
    return made(budget, coins).measure(PRICE)


def measured_together(budget: Budget, coins: Coins | None) -> Any:
    return budget.synthesize().release(PRICE, quality=PRICE, coins=coins)


def compared(budget: Budget, coins: Coins | None) -> Any:
    return made(budget, coins).compare("census")


def pages(answer: Any, budget: Budget, folder: Path) -> list[str]:
    """Every piece of HTML that shows this answer."""
    found = [answer._repr_html_(), answer.certificate(folder / "page.html").read_text()]
    if hasattr(answer, "synthetic"):  # the quality of rows is shown on their page, and on that of other rows
        found.append(made(budget, None).certificate(folder / "rows.html", found=answer).read_text())
    return found


KINDS = [asked, counted, released, made, measured, measured_of_test_rows, measured_together, compared]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("answered", KINDS)
@pytest.mark.parametrize("coins", [None, TestCoins(2)], ids=["private", "test coins"])
def test_answers_made_with_test_coins_say_so(
    budget: Budget, tmp_path: Path, answered: Callable[..., Any], coins: Coins | None
) -> None:
    answer, private = answered(budget, coins), coins is None
    assert answer.private is private
    assert ("NOT PRIVATE" in str(answer)) is not private
    assert ("NOT PRIVATE" in repr(answer)) is not private
    told = json.loads(json.dumps(answer.to_dict()))
    assert (told if told["receipt"] is None else told["receipt"])["private"] is private
    for page in pages(answer, budget, tmp_path):
        assert ("NOT PRIVATE" in page) is not private


@pytest.mark.parametrize("answered", [asked, counted, released, made, measured, measured_together])
def test_answers_that_were_paid_for_show_their_entry_and_what_is_left(
    budget: Budget, answered: Callable[..., Any]
) -> None:
    answer = answered(budget, None)
    last, left = budget.entries()[-1], budget.remaining()
    told = answer.to_dict()
    kept = told["receipt"]
    assert (kept["entry"], kept["by"], kept["dataset"]) == (last.number, last.by, "people")
    assert f"{last.number}, people, {last.at:%Y-%m-%d %H:%M:%S} UTC" in str(answer)
    assert f"ε = {left.epsilon:g} of ε = 5" in str(answer)  # type: ignore[union-attr]
    assert told["budget"]["after"]["remaining"]["epsilon"] == left.epsilon  # type: ignore[union-attr]


def test_figures_of_a_paid_measurement(budget: Budget) -> None:
    answer = measured(budget, None)
    found = answer.released
    assert [figure.columns for figure in found.pairs] == [("ward", "age")]
    assert [figure.columns for figure in found.ranges] == [("age",)]
    assert (found.correlations, found.scores, answer.promise) == ((), None, PRICE)
    assert found.mean_single >= 0
    assert found.mean_pairs == found.pairs[0].found


def test_a_target_is_compared_for_a_price(budget: Budget) -> None:
    """Beside the rows that are there and, in one charge, with the rows: other figures, and so another question."""
    rows = made(budget, None)
    found = rows.measure(PRICE, target="ward")
    kinds = found.to_pandas()["kind"].tolist()
    assert kinds.count("subgroup") == len(found.released.subgroups) > 0
    plain = rows.measure(PRICE)
    assert plain.receipt is not None
    assert found.receipt is not None
    assert plain.receipt.entry.number == found.receipt.entry.number + 1
    assert plain.released.subgroups == ()
    together = budget.synthesize().release(PRICE, quality=PRICE, target="ward")
    assert together.quality is not None
    assert together.quality.released.subgroups
    with pytest.raises(QuestionError, match="a target among the imitated columns"):
        rows.measure(PRICE, target="wards")
    with pytest.raises(QuestionError, match="a price for the quality"):
        budget.synthesize().release(PRICE, target="ward")


def test_rows_are_as_private_as_their_tables(budget: Budget) -> None:
    """Drawing works on what was released: test coins there take nothing off the noise."""
    drawn = made(budget, None).draw(3, coins=TestCoins(1))
    assert b'"private": true' in drawn.schema.metadata[b"sitr"]
    drawn = made(budget, TestCoins(1)).draw(3)
    assert b'"private": false' in drawn.schema.metadata[b"sitr"]


def test_the_certificate_of_rows_shows_their_quality(budget: Budget, tmp_path: Path) -> None:
    judged, plain = measured_together(budget, None), made(budget, None)
    assert judged.quality is not None
    assert plain.quality is None
    assert "share of any range" in str(judged)
    assert "share of any range" in judged.certificate(tmp_path / "judged.html").read_text()
    assert "share of any range" not in plain.certificate(tmp_path / "plain.html").read_text()
    told = judged.to_dict()
    assert told["price"]["epsilon"] == told["budget"]["charge"]["epsilon"] == 1.0
    assert [told["prices"][part]["epsilon"] for part in ("rows", "quality")] == [0.5, 0.5]
    assert told["quality"]["price"]["epsilon"] == 0.5
    assert plain.to_dict()["quality"] is None


@pytest.mark.parametrize("paid", [True, False], ids=["measured", "compared"])
def test_the_figures_are_an_answer_like_any_other(budget: Budget, tmp_path: Path, paid: bool) -> None:
    rows = made(budget, None)
    found = rows.measure(PRICE) if paid else rows.compare("census")
    assert found.table.column_names == ["kind", "columns", "found", "error_95"]
    assert found.to_pandas()["kind"].tolist().count("single") == 2
    assert json.loads(found.table.schema.metadata[b"sitr"]) == {"private": True}
    assert ((found.table["error_95"].to_numpy() > 0).any()) == paid
    assert (found.promise, found.loss is None) == ((PRICE, False) if paid else (None, True))
    page = found.certificate(tmp_path / "quality.html").read_text("utf-8")
    assert "How good the rows are" in page
    assert "<table" in found._repr_html_()
    assert found.plot(tmp_path / "rows.svg").read_text("utf-8").startswith("<svg")
