"""`sitr histogram` pays before it looks, says who is protected, and writes what was paid for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.csv
import pyarrow.parquet
import pytest

from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]
ROW = ("--unit-row",)
DATES = ("2023-01-01", "2024-12-31")
DAYS = ("--column", "days", "--bins", "10", "--bounds", "0", "30", "--price", "pure(1)")


def test_of_a_described_data_set(sitr: Sitr, description: Path) -> None:
    run = sitr("histogram", description, "--column", "cost", "--bins", "20", "--price", "zcdp(0.05)")
    assert run.code == 0
    assert "[0, 250)" in run.out
    assert "█" in run.out
    assert "left       ρ = 0.45 of ρ = 0.5" in run.out
    (entry,) = SqlLedger("sitr.db").entries()
    assert entry.question.startswith("HISTOGRAM OF cost in 20 cells from 0 to 5000 BY FLAT")


def test_all_files(sitr: Sitr, description: Path) -> None:
    files = ("-o", "a.csv", "--certificate", "a.html", "--plot", "a.svg")
    run = sitr("histogram", description, "--column", "ward", "--price", "zcdp(0.05)", *files, "--then", "lattice")
    assert run.code == 0
    assert "Written: a.csv, a.html, a.svg" in run.out
    table = pyarrow.csv.read_csv("a.csv")
    assert table.column_names == ["ward", "count", "count_low", "count_high"]
    assert ET.parse("a.svg").getroot().tag.endswith("svg")
    assert "Private histogram" in Path("a.html").read_text()
    for name in ("b.parquet", "b.json"):
        assert sitr("histogram", description, "--column", "ward", "--price", "zcdp(0.01)", "-o", name).code == 0
    assert pyarrow.parquet.read_table("b.parquet").num_rows == table.num_rows
    assert json.loads(Path("b.json").read_text())["kind"] == "histogram"


@pytest.mark.parametrize("words", [("--then", "rising"), ("--then", "lattice", "--total", "-1")], ids=" ".join)
def test_what_cannot_be_done_to_the_counts_is_refused_before_the_charge(
    sitr: Sitr, description: Path, words: tuple[str, ...]
) -> None:
    run = sitr("histogram", description, "--column", "ward", "--price", "zcdp(0.05)", *words, "--json")
    assert run.error()["error"] == "BadUsage"
    assert list(SqlLedger("sitr.db").entries()) == []


def test_a_kept_histogram_is_shown_again_at_no_charge(sitr: Sitr, description: Path) -> None:
    words = ("histogram", description, "--column", "cost", "--bins", "8", "--price", "zcdp(0.05)", "--json")
    first = sitr(*words).told()
    again = sitr(*words, "-o", "again.csv").told()
    assert (first["receipt"].pop("again"), again["receipt"].pop("again")) == (False, True)
    assert again == first
    assert pyarrow.csv.read_csv("again.csv").num_rows == 9
    whole = sitr(*words, "--then", "nonnegative").told()
    assert whole["processed"] == ["negative counts put to zero"]
    assert len(list(SqlLedger("sitr.db").entries())) == 1
    other = (*words[:5], "9", *words[6:])
    assert [sitr(*other).told()["receipt"]["entry"], sitr(*words, "--fresh").told()["receipt"]["entry"]] == [2, 3]


def test_all_digits_are_printed_on_demand(sitr: Sitr, description: Path) -> None:
    asked = ("histogram", description, "--column", "cost", "--bins", "3", "--price", "zcdp(0.0001)")
    told = sitr(*asked, "--json").told()
    shown, exact = (sitr(*asked, *more).out for more in ((), ("--exact",)))
    assert told["noise"]["error"] >= 100
    for count in (f"{cell['count']:,.0f}".replace("-", "−") for cell in told["cells"]):
        assert f" {count} " in exact
        assert f" {count} " not in shown or count.endswith("0")


def test_json(sitr: Sitr, description: Path) -> None:
    words = ("--column", "ward", "--column", "cost", "--bins", "cost=4", "--price", "zcdp(0.05)", "--json")
    told = sitr("histogram", description, *words).told()
    assert told["columns"] == ["ward", "cost"]
    assert len(told["cells"]) == told["shape"][0] * told["shape"][1]
    expected = sitr("histogram", description, *words, "--preview").told()
    assert expected["kind"] == "preview of histogram"
    assert expected["budget"]["before"]["remaining"]["notation"] == "zcdp(rho=0.45)"


def test_a_preview_spends_nothing_and_leaves_nothing(sitr: Sitr, folder: Path) -> None:
    before = set(folder.iterdir())
    run = sitr("histogram", "visits.parquet", *DAYS, *ROW, "--preview")
    assert run.code == 0
    assert "95% probability" in run.out
    assert set(folder.iterdir()) == before


def test_of_a_file_by_itself_it_is_a_one_off(sitr: Sitr, folder: Path) -> None:
    run = sitr("histogram", "visits.parquet", *DAYS, *ROW)
    assert run.code == 0
    assert "left       ε = 0 of ε = 1" in run.out
    assert (folder / "visits.sitr.db").exists()
    again = sitr("histogram", "visits.parquet", *DAYS, *ROW, "--json")
    assert again.told()["receipt"]["again"]
    fresh = sitr("histogram", "visits.parquet", *DAYS, *ROW, "--fresh", "--json")
    assert fresh.code == 1
    assert fresh.error()["error"] == "BudgetExceeded"


@pytest.mark.usefixtures("folder")
def test_a_person_is_named_with_caps(sitr: Sitr) -> None:
    caps = ("--unit", "patient_id", "--max-groups", "2", "--max-rows-per-group", "1", "--relation", "replace-one")
    told = sitr("histogram", "visits.parquet", *DAYS, *caps, "--json").told()
    assert told["noise"]["sensitivity"]["l1"] == 4
    assert told["receipt"]["neighbors"] == "person (patient_id), replace-one"


@pytest.mark.usefixtures("folder")
def test_bounds_have_two_spellings(sitr: Sitr) -> None:
    def asked(*bounds: str) -> list[str]:
        words = ("--column", "days", "--bins", "6", *bounds, "--price", "pure(1)", *ROW, "--preview", "--json")
        return [sitr("histogram", "visits.parquet", *words).told()["question"]]

    assert asked("--bounds", "-6", "30") == asked("--bounds", "days=-6:30") == asked("--bounds", "-6:30")
    assert asked("--bounds", "0", "30") != asked("--bounds", "-6", "30")
    words = ("histogram", "visits.parquet", "--price", "pure(1)", *ROW, "--preview", "--json")
    two = ("--column", "days", "--column", "cost", "--bins", "days=3", "--bins", "cost=4")
    both = sitr(*words, *two, "--bounds", "days=0:30", "--bounds", "cost=0:400").told()["question"]
    assert "days in 3 cells from 0 to 30, cost in 4 cells from 0 to 400" in both
    months = ("--column", "admitted", "--every", "month", "--bounds")
    dates = [
        sitr(*words, *months, *bounds).told()["question"] for bounds in (("admitted=2023-01-01:2024-12-31",), DATES)
    ]
    assert dates[0] == dates[1]


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("histogram",), "SOURCE, --column and --price"),
        (("histogram", "visits.sitr.yaml"), "--column and --price"),
        (
            ("histogram", "visits.parquet", "--max-groups", "2"),
            "--column, --price and --unit COLUMN with --max-rows-per-group (or --unit-row)",
        ),
        (("histogram", "visits.parquet", "--unit", "id", "--price", "pure(1)"), "--column, --max-groups and"),
        (("histogram", "visits.parquet", "--unit-row", "--column", "days"), "--price"),
        (("synthesize", "visits.parquet"), "--price and --unit COLUMN with --rows-per-person (or --unit-row)"),
        (("ask",), "DESCRIPTION, SQL (or --file) and --price (or --error)"),
        (("ask", "--price", "pure(1)"), "DESCRIPTION and SQL (or --file)"),
    ],
)
def test_all_missing_options_are_named_at_once(sitr: Sitr, words: tuple[str, ...], missing: str) -> None:
    refused = sitr(*words, "--json").error()
    assert refused["given"].startswith(f"Missing {missing}")
    assert refused["given"].endswith(".")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--bounds", "0"),
        ("--bounds", "0", "--unit-row"),
        ("--bounds", "days=0", *ROW),
        ("--bounds", "days=0:9", "--bounds", "0:9", *ROW),
        ("--unit", "patient_id", "--unit-row"),
        ("--unit", "patient_id"),
        (*ROW, "--method", "guess"),
        (*ROW, "--then", "guess"),
        (*ROW, "--then", "lattice", "--ties", "guess"),
        (*ROW, "--outside", "guess"),
        (*ROW, "--missing", "clamp"),
        (*ROW, "--every", "month"),
        (*ROW, "--bins", "many"),
        (*ROW, "--edges", "days=1,2"),
        (*ROW, "--edges", "days"),
        (*ROW, "-o", "a.txt"),
        (*ROW, "--where", "nothing > 3"),
    ],
    ids=" ".join,
)
def test_bad_words_cost_nothing(sitr: Sitr, folder: Path, words: tuple[str, ...]) -> None:
    run = sitr("histogram", "visits.parquet", *DAYS, *words, "--json")
    assert run.code == 2, run.out
    assert run.error()["do"]
    assert not (folder / "visits.sitr.db").exists()


def test_a_description_beside_the_file_is_the_only_door(sitr: Sitr, description: Path) -> None:
    refused = sitr("histogram", "visits.parquet", *DAYS, "--json").error()
    assert refused["error"] == "DescriptionError"
    assert f"Use {description.name} instead of the file" in refused["do"]
    said = sitr("histogram", description, "--column", "ward", "--price", "zcdp(0.01)", *ROW, "--json")
    assert said.error()["error"] == "BadUsage"


@pytest.mark.parametrize(
    "words",
    [
        ("--column", "days", "--bins", "30", "--bounds", "0", "30", "--method", "tree"),
        ("--column", "days", "--bins", "32", "--bounds", "0", "32", "--method", "buckets", "--then", "falling"),
        ("--column", "days", "--bins", "4,8,16", "--bounds", "0", "32", "--where", "days > 1"),
        ("--column", "days", "--edges", "days=0,1,7,30", "--then", "simplex", "--total", "2000"),
        ("--column", "admitted", "--every", "month", "--bounds", "2023-01-01", "2024-12-31", "--outside", "cell"),
        (
            *("--column", "admitted", "--every", "month", "--bounds", "admitted=2023-01-01:2024-12-31"),
            *("--column", "ward", "--keys", "ward=Surgery,Oncology"),
        ),
        ("--column", "ward", "--keys", "ward=Surgery,Oncology,NULL", "--outside", "cell", "--then", "nonnegative"),
        ("--column", "days", "--bins", "5", "--bounds", "-5", "30", "--then", "lattice", "--ties", "by index"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("folder")
def test_every_way_to_count(sitr: Sitr, words: tuple[str, ...]) -> None:
    run = sitr("histogram", "visits.parquet", *words, *ROW, "--price", "zcdp(0.1)", "--json")
    assert run.code == 0, run.err
    assert run.told()["budget"]["charge"]["notation"] == "zcdp(rho=0.1)"


@pytest.mark.usefixtures("folder")
def test_several_columns_want_their_bins_by_column(sitr: Sitr) -> None:
    words = ("histogram", "visits.parquet", "--column", "days", "--column", "cost", *ROW, "--price", "pure(1)")
    assert sitr(*words, "--bins", "9", "--json").error()["do"].endswith("or on the command line --bins days=….")
    refused = sitr(*words, "--every", "month", "--json").error()
    assert "no column of the histogram holds dates" in refused["given"]


@pytest.mark.usefixtures("folder")
def test_unlisted_categories_want_a_delta(sitr: Sitr) -> None:
    words = ("histogram", "visits.parquet", "--column", "insurance", *ROW, "--json")
    assert sitr(*words, "--price", "pure(1)").error()["error"] == "QuestionError"
    told = sitr(*words, "--price", "approximate(1, 1e-6)", "--ledger", "other.db").told()
    assert told["method"] == "unlisted"
    assert {cell["label"][0] for cell in told["cells"]} <= {"public", "private", "self-paid", "(no value)"}


RANDOM = ("--column", "days", "--bins", "10", "--bounds", "-30", "30", "--price", "random(pure(1), 0.05)")
REPLACED = (*ROW, "--relation", "replace-one")


@pytest.mark.usefixtures("folder")
def test_a_random_price_leaves_empty_cells_without_noise(sitr: Sitr) -> None:
    previewed = sitr("histogram", "visits.parquet", *RANDOM, *REPLACED, "--preview")
    assert "random newcomer" in " ".join(previewed.out.split())
    told = sitr("histogram", "visits.parquet", *RANDOM, *REPLACED, "--json").told()
    assert told["method"] == "sparse"
    assert told["budget"]["charge"] == told["promise"]
    assert told["promise"]["notation"].startswith("random(pure(epsilon=1.0), gamma=0.004")
    assert 0 < told["exposed"] < 11
    assert told["cells"][0] == {"label": ["[-30, -24)"], "count": 0.0, "low": 0.0, "high": 0.0}
    assert sitr("histogram", "visits.parquet", *RANDOM, *REPLACED, "--json").told()["receipt"]["again"]
    fresh = sitr("histogram", "visits.parquet", *RANDOM, *REPLACED, "--fresh", "--json")
    assert fresh.error()["error"] == "IncompatiblePromises"  # a random charge is the first, or none


@pytest.mark.parametrize(
    "words",
    [
        ROW,
        ("--unit", "patient_id", "--max-groups", "1", "--max-rows-per-group", "1", "--relation", "replace-one"),
        (*REPLACED, "--budget", "pure(1)"),
        (*REPLACED, "--method", "flat"),
        (*REPLACED, "--method", "tree"),
    ],
    ids=" ".join,
)
def test_a_random_price_is_refused_where_nobody_is_replaced_or_none_is_paid(
    sitr: Sitr, folder: Path, words: tuple[str, ...]
) -> None:
    run = sitr("histogram", "visits.parquet", *RANDOM, *words, "--json")
    assert run.error()["error"] in ("DescriptionError", "QuestionError", "IncompatiblePromises")
    assert not (folder / "visits.sitr.db").exists()


@pytest.mark.usefixtures("folder")
def test_sparse_wants_a_random_price(sitr: Sitr) -> None:
    run = sitr("histogram", "visits.parquet", *DAYS, *REPLACED, "--method", "sparse", "--json")
    assert "random(pure" in run.error()["wanted"]
