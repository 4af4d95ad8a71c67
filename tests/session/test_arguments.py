"""Whatever is given to a method of the wrong kind, the answer is an error of Sitr, in words, and nothing is spent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.errors import FileError, InvalidUse, SitrError
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from tests.session.conftest import SQL

WRONG: dict[str, Any] = {
    **{repr(value): value for value in (-1, 1.5, float("nan"), b"x", [1, 2], {5: (0, 1)}, {"cost": "a"}, {"nope": 1})},
    "an object": object(),
}
"""Values that none of the parameters below can take, except those that `FITS` names."""

PROTECT = (
    *("unit", "max_groups", "max_rows_per_group", "max_rows", "bounds", "granularity", "keys", "types", "relation"),
    *("name", "public", "decimal", "delimiter", "quote", "header", "date_format", "timestamp_format"),
)
SQL_LIMITS = ("bias", "caps", "max_groups", "max_rows_per_group", "max_rows", "bounds", "keys", "weights")
CELLS = ("bins", "bounds", "edges", "keys", "every", "outside", "missing", "method")
SYNTHETIC = ("columns", "bins", "bounds", "keys", "required", "rows_per_person", "method")
FITS = {("columns", "{'cost': 'a'}"), ("bins", "[1, 2]"), ("edges", "[1, 2]"), ("name", "an object")}
"""Values that fit after all: two numbers of bins, two edges. A name is checked as text."""

Call = Callable[[Dataset, Budget, Any], object]

CALLS: dict[str, Call] = {
    "open": lambda _data, _budget, value: sitr.open(value),
    "budget(promise)": lambda data, _, value: data.budget(value, ledger="sitr.db"),
    "budget(rho)": lambda data, _, value: data.budget(rho=value, ledger="sitr.db"),
    "budget(ledger)": lambda data, _, value: data.budget("zcdp(5)", ledger=value),
    "save": lambda data, _, value: data.save(value),
    "save(ledger)": lambda data, _, value: data.save("a.yaml", rho=1, ledger=value),
    "save(publication)": lambda data, _, value: data.save("a.yaml", publication=value),
    "one_off": lambda data, _, value: data.one_off(value),
    "one_off(ledger)": lambda data, _, value: data.one_off("pure(1)", ledger=value),
    "explain": lambda data, _, value: data.explain(value),
    "explain(price)": lambda data, _, value: data.explain(SQL, value),
    "explain(beside)": lambda data, _, value: data.explain(SQL, beside=value),
    "sql": lambda _, budget, value: budget.sql(value),
    "beside": lambda _, budget, value: budget.beside(value),
    "batch": lambda _, budget, value: budget.batch(value),
    "batch(weights)": lambda _, budget, value: budget.batch({"a": budget.sql(SQL)}, weights=value),
    "suggest": lambda _, budget, value: budget.suggest(value),
    "suggest(price)": lambda _, budget, value: budget.suggest("cost", price=value),
    "where": lambda _, budget, value: budget.where(value),
    "group_by": lambda _, budget, value: budget.group_by(value),
    "agg": lambda _, budget, value: budget.agg(n=value),
    "caps": lambda _, budget, value: budget.group_by("ward").caps(max_groups=value),
    "statistic": lambda _, budget, value: budget.statistic(value, column="cost"),
    "histogram": lambda _, budget, value: budget.histogram(value),
    "dummy": lambda _, budget, value: budget.dummy(value),
    "dummy(seed)": lambda _, budget, value: budget.dummy(seed=value).table,
    "preview": lambda _, budget, value: budget.sql(SQL).preview(value),
    "preview(error)": lambda _, budget, value: budget.sql(SQL).preview(error=value),
    "price_for(size)": lambda _, budget, value: budget.sql(SQL).price_for({"n": "1%"}, size=value),
    "price_for(delta)": lambda _, budget, value: budget.sql(SQL).price_for({"n": 5}, delta=value),
    "release(coins)": lambda _, budget, value: budget.sql(SQL).release(rho=0.01, coins=value),
    "errors": lambda _, budget, value: budget.sql(SQL).preview(rho=1).errors(confidence=value),
    "sort": lambda _, budget, value: budget.sql(SQL).sort(value),
    "limit": lambda _, budget, value: budget.sql(SQL).limit(value),
    "having": lambda _, budget, value: budget.sql(SQL).having(value),
    "weights": lambda _, budget, value: budget.sql(SQL).weights(value),
    "targets": lambda _, budget, value: budget.sql(SQL).targets(value),
    "column": lambda _data, _budget, value: sitr.column(value),
    "sum": lambda _data, _budget, value: sitr.sum(value),
    "quantile": lambda _data, _budget, value: sitr.quantile(value, 0.5),
    "when": lambda _data, _budget, value: sitr.when(value),
}


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Budget:
    monkeypatch.chdir(tmp_path)
    return visits.budget("zcdp(5)", ledger=tmp_path / "sitr.db")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_values_of_the_wrong_kind_are_explained(visits: Dataset, budget: Budget, call: Call) -> None:
    for value in WRONG.values():
        with pytest.raises(SitrError):
            call(visits, budget, value)
    assert not budget.entries()


@pytest.mark.parametrize(
    ("method", "names"), [("sql", SQL_LIMITS), ("histogram", CELLS), ("synthesize", SYNTHETIC)], ids=lambda each: each
)
def test_parameters_of_the_wrong_kind_are_explained(budget: Budget, method: str, names: tuple[str, ...]) -> None:
    first = {"sql": (SQL,), "histogram": ("cost",), "synthesize": ()}[method]
    for name in names:
        for shown, value in WRONG.items():
            if (name, shown) not in FITS:
                with pytest.raises(SitrError):
                    getattr(budget, method)(*first, **{name: value})


def test_declarations_of_the_wrong_kind_are_explained(visits_path: Path) -> None:
    for name in PROTECT:
        for shown, value in WRONG.items():
            if (name, shown) not in FITS:
                caps = {"unit": "patient_id", "max_groups": 3, "max_rows_per_group": 2}
                with pytest.raises(SitrError):
                    sitr.protect(visits_path, **{**caps, name: value})


def test_caps_of_zero_are_refused_not_replaced(budget: Budget) -> None:
    for name in ("max_groups", "max_rows_per_group", "max_rows"):
        with pytest.raises(SitrError, match="at least 1"):
            budget.sql(SQL, **{name: 0})  # type: ignore[arg-type]


def test_a_misspelled_parameter_is_named(visits_path: Path, budget: Budget) -> None:
    with pytest.raises(InvalidUse, match=r"'max_group'\. Did you mean 'max_groups'"):
        sitr.protect(visits_path, unit="patient_id", max_group=3)  # type: ignore[call-arg]
    for call in (budget.sql(SQL).preview, budget.sql(SQL).release, lambda **roh: budget.suggest("cost", **roh)):
        with pytest.raises(InvalidUse, match=r"'roh'\. Did you mean 'rho'"):
            call(roh=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("place", ["no/such/folder/x", ".", "visits.parquet/x", "/proc/x"])
def test_places_that_cannot_be_written_are_named(visits: Dataset, budget: Budget, place: str) -> None:
    answer = budget.sql(SQL).release(rho=0.01)
    for call, ending in ((answer.certificate, ".html"), (answer.label, ".html"), (answer.plot, ".svg")):
        with pytest.raises(FileError):
            call(place if place == "." else place + ending)
    if place != ".":
        with pytest.raises(FileError):
            visits.save(place + ".yaml", rho=1, ledger="other.db")
        assert not Path("other.db").exists()  # no budget was opened for a description that does not exist


def test_a_suggestion_takes_its_later_price_in_every_spelling(budget: Budget) -> None:
    spellings = [
        budget.suggest("cost", price="zcdp(0.5)"),
        budget.suggest("cost", rho=0.5),
        budget.suggest("cost", price=sitr.ZeroConcentratedDP(0.5)),
    ]
    assert len({str(each.question) for each in spellings}) == 1
    assert spellings[0] == spellings[1] == spellings[2] != budget.suggest("cost", rho=0.4)


def test_a_request_in_place_of_its_text_is_sent_to_release(budget: Budget) -> None:
    with pytest.raises(SitrError, match=r"write request\.release\(price\)"):
        budget.ask(budget.sql(SQL), "zcdp(0.1)")  # type: ignore[arg-type]
    assert not budget.entries()
