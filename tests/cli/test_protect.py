"""`sitr protect` writes what is public, and refuses what cannot be meant."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from sitr.dataset.csv_format import CsvFormat
from sitr.dataset.description import load
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("folder")

PERSON = ("--unit", "patient_id", "--max-groups", "3", "--max-rows-per-group", "2")
BUDGET = ("--budget", "zcdp(0.5)", "--ledger", "sitr.db")


def test_a_full_description(sitr: Sitr) -> None:
    done = sitr(
        *("protect", "visits.parquet", *PERSON, *BUDGET, "--relation", "replace-one", "--name", "stays"),
        *("--bounds", "cost=-5:5e3", "--granularity", "cost=0.01", "--bounds", "days=0:30"),
        *("--keys", "ward=Cardiology, Surgery,NULL", "--keys", "days=0,1,2", "--keys", "admitted=2024-02-29"),
    )
    assert (done.code, done.err) == (0, "")
    written = yaml.safe_load(Path("visits.sitr.yaml").read_text())
    columns = written.pop("columns")
    assert written == {
        "sitr": 1,
        "name": "stays",
        "source": "visits.parquet",
        "unit": {"person": "patient_id"},
        "relation": "replace-one",
        "max_groups": 3,
        "max_rows_per_group": 2,
        "budget": {"promise": "zcdp(rho=0.5)", "ledger": "sitr.db"},
    }
    assert columns["cost"] == {"type": "real", "bounds": [-5, 5000], "granularity": 0.01}
    assert columns["days"] == {"type": "integer", "bounds": [0, 30], "granularity": 1, "keys": [0, 1, 2]}
    assert columns["ward"]["keys"] == ["Cardiology", "Surgery", None]
    assert columns["admitted"]["keys"] == [date(2024, 2, 29)]
    assert columns["insurance"] == {"type": "text"}
    assert load(Path("visits.sitr.yaml")).table.find("cost") is not None


def test_the_summary_says_what_can_be_done(sitr: Sitr) -> None:
    told = sitr("protect", "visits.parquet", *PERSON, *BUDGET, "--bounds", "cost=0:5000", "--keys", "ward=Surgery").out
    uses = {line.split()[0]: line.split() for line in told.splitlines() if line}
    assert uses["patient_id"][-2:] == ["counted", "distinct"]
    assert uses["cost"][1:5] == ["real", "0", "to", "5,000"]
    assert uses["cost"][-1] == "summed"
    assert uses["ward"][-2:] == ["Surgery", "grouped"]
    assert uses["insurance"][-3:] == ["grouped", "with", "δ"]
    question = "visits.sitr.yaml 'SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward' --price 'zcdp(rho=0.05)'"
    assert f"\n  sitr preview {question}\n  sitr ask {question}\n" in told


@pytest.mark.parametrize(
    ("keys", "budget", "question"),
    [
        (("--keys", "insurance=public"), "pure(1)", "insurance"),
        ((), "pure(1)", ""),
        ((), "approximate(1, 1e-6)", ""),  # unknown keys might all stay below the threshold
    ],
)
def test_the_first_question_can_be_asked(sitr: Sitr, keys: tuple[str, ...], budget: str, question: str) -> None:
    told = sitr("protect", "visits.parquet", *PERSON, *keys, "--budget", budget, "--ledger", "sitr.db").out
    preview, ask = (shlex.split(line)[1:] for line in told.splitlines() if line.startswith("  sitr "))
    assert preview[2].endswith(f" GROUP BY {question}" if question else "FROM visits")
    assert [sitr(*words).code for words in (preview, ask)] == [0, 0]


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ((), "--unit COLUMN with --max-groups and --max-rows-per-group (or --unit-row)"),
        (("--unit", "patient_id"), "--max-groups and --max-rows-per-group"),
        (("--unit", "patient_id", "--max-groups", "3", "--budget", "pure(1)"), "--max-rows-per-group and --ledger"),
        (
            ("--max-groups", "3", "--ledger", "sitr.db"),
            "--unit COLUMN with --max-rows-per-group (or --unit-row) and --budget",
        ),
    ],
)
def test_missing_options_are_named_together(sitr: Sitr, words: tuple[str, ...], missing: str) -> None:
    refused = sitr("protect", "visits.parquet", *words, "--json").error()
    assert refused["given"] == f"Missing {missing}."
    assert "_" not in refused["given"]


def test_missing_types_are_named_with_the_other_options(sitr: Sitr) -> None:
    Path("wards.csv").write_text("ward,open,beds\nA,true,1\nB,false,2\n")
    refused = sitr("protect", "wards.csv", "--json").error()
    assert "(or --unit-row). You must also confirm what Sitr detected" in refused["given"]
    assert "public: ward text, open boolean, beds integer." in refused["given"]
    assert refused["do"].endswith(
        "--type ward=text --type open=boolean --type beds=integer. --accept-types alone confirms all that was detected."
    )


def test_truth_values_need_no_keys(sitr: Sitr) -> None:
    Path("wards.csv").write_text("ward,open\nA,true\nB,false\n")
    assert sitr("protect", "wards.csv", "--unit-row", "--accept-types", *BUDGET).code == 0
    asked = sitr(
        "ask", "wards.sitr.yaml", "SELECT open, COUNT(*) AS n FROM wards GROUP BY open", "--price", "zcdp(0.1)"
    )
    assert (asked.code, asked.err) == (0, "")


def test_decimal_commas_are_declared(sitr: Sitr) -> None:
    Path("prices.csv").write_text("ward;price\nA;1.234,56\nB;2,75\n")
    types = ("--type", "ward=text", "--type", "price=real", "--delimiter", ";")
    words = ("protect", "prices.csv", "--unit-row", *types, "--json")
    refused = sitr(*words).error()
    assert "with decimal commas" in refused["given"]
    assert "--decimal ," in refused["do"]
    assert sitr(*words, "--decimal", ",").code == 0
    assert load(Path("prices.sitr.yaml")).format == CsvFormat(";", decimal=",")


def test_a_decimal_mark_that_the_rows_do_not_show_is_declared(sitr: Sitr) -> None:
    Path("prices.csv").write_text("ward;price\nA;2,75\nB;unknown\n")
    columns = ("--type", "ward=text", "--type", "price=real", "--delimiter", ";")
    types = ("protect", "prices.csv", *columns, "--json")
    assert "with decimal points unless you declare commas" in sitr(*types).error()["given"]
    assert "--decimal . or --decimal ," in sitr(*types, "--unit-row").error()["do"]
    assert sitr(*types, "--unit-row", "--decimal", ",").code == 0
    assert load(Path("prices.sitr.yaml")).format == CsvFormat(";", decimal=",")


def test_the_budget_is_opened_at_once(sitr: Sitr) -> None:
    assert "zcdp(rho=0.5); the ledger is sitr.db." in sitr("protect", "visits.parquet", *PERSON, *BUDGET).out
    ledger = SqlLedger("sitr.db", create=False)
    assert [account.promise for account in ledger.accounts()] == [ZeroConcentratedDP(0.5)]
    assert ledger.entries() == []


def test_protecting_anew_does_not_renew_the_budget(sitr: Sitr) -> None:
    assert sitr("protect", "visits.parquet", *PERSON, *BUDGET).code == 0
    asked = ("visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.3)")
    assert sitr("ask", *asked).code == 0
    assert sitr("protect", "visits.parquet", *PERSON, *BUDGET, "--force").code == 0
    assert sitr("ask", *asked, "--fresh", "--json").error()["error"] == "BudgetExceeded"
    richer = ("--budget", "zcdp(9)", "--ledger", "sitr.db", "-o", "richer.yaml")
    assert sitr("protect", "visits.parquet", *PERSON, *richer, "--json").error()["error"] == "DescriptionError"


@pytest.mark.parametrize(
    ("unit", "caps"),
    [
        (("--unit-row",), "Protects each row, add-remove. "),
        (
            ("--unit", "patient_id", "--max-groups", "1", "--max-rows-per-group", "1"),
            "at most 1 group and 1 row in each",
        ),
        (PERSON, "with at most 3 groups and 2 rows in each. "),
    ],
)
def test_caps_are_told_in_whole_words(sitr: Sitr, unit: tuple[str, ...], caps: str) -> None:
    assert caps in sitr("protect", "visits.parquet", *unit).out


def test_the_file_is_read_once(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    monkeypatch.setattr("sitr.backends.sources.ParquetFile.verify", lambda self: reads.append(self.path.name))
    assert sitr("protect", "visits.parquet", *PERSON, "--keys", "ward=Surgery").code == 0
    assert reads == ["visits.parquet"]


def test_json(sitr: Sitr) -> None:
    told = sitr("protect", "visits.parquet", "--unit-row", "--keys", "days=1", "--bounds", "cost=0:1", "--json").told()
    assert list(told) == [
        *("description", "name", "neighbors", "max_groups", "max_rows_per_group", "max_rows", "columns", "budget"),
    ]
    assert (told["description"], told["name"], told["neighbors"]) == ("visits.sitr.yaml", "visits", "row, add-remove")
    columns = {column["name"]: column for column in told["columns"]}
    assert columns["days"] == {"name": "days", "type": "integer", "bounds": None, "granularity": None, "keys": [1]}
    assert columns["cost"]["bounds"] == ["0", "1"]
    assert told["budget"] is None


def test_keys_from_a_file(sitr: Sitr) -> None:
    Path("wards.txt").write_text("\ufeffIntensive, care\r\n\nقسم القلب\nNULL\n", encoding="utf-8")
    done = sitr("protect", "visits.parquet", "--unit-row", "--keys-file", "ward=wards.txt", "--json")
    keys = next(column["keys"] for column in done.told()["columns"] if column["name"] == "ward")
    assert keys == ["Intensive, care", "قسم القلب", None]


def test_types_of_a_csv_file(sitr: Sitr) -> None:
    Path("wards.csv").write_text("ward,open,beds\nA,true,1\nB,false,2\n")
    words = ("protect", "wards.csv", "--unit-row", "--type", "beds=real", "--keys", "open=TRUE,false", "--json")
    refused = sitr(*words)
    assert (refused.code, refused.error()["error"], refused.out) == (2, "DescriptionError", "")
    assert "ward text, open boolean, beds real" in refused.error()["given"]
    assert not Path("wards.sitr.yaml").exists()
    (proposed,) = re.findall(r"--type ward=text --type open=boolean --type beds=real", refused.error()["do"])
    described = []
    for confirmed in (["--accept-types"], shlex.split(proposed)[:4]):
        done = sitr(*words, *confirmed, "--force")
        found = {column["name"]: (column["type"], column["keys"]) for column in done.told()["columns"]}
        assert found == {"ward": ("text", None), "open": ("boolean", [True, False]), "beds": ("real", None)}
        described.append(Path("wards.sitr.yaml").read_text())
    assert described[0] == described[1]


@pytest.mark.parametrize("command", ["histogram", "synthesize"])
def test_a_csv_file_by_itself_wants_a_description(sitr: Sitr, command: str) -> None:
    Path("wards.csv").write_text("ward,open,beds\nA,true,1\nB,false,2\n")
    options = {"histogram": ("--column", "ward"), "synthesize": ("-o", "rows.csv")}[command]
    refused = sitr(command, "wards.csv", *options, "--unit-row", "--price", "pure(1)", "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")
    assert "sitr start wards.csv" in refused.error()["do"]


def test_names_that_need_quotes_are_quoted_in_the_advice(sitr: Sitr) -> None:
    told = sitr("protect", "visits.parquet", "--unit-row", *BUDGET, "--name", "two words", "-o", "my visits.yaml").out
    assert """sitr preview 'my visits.yaml' 'SELECT COUNT(*) AS n FROM "two words"' --price""" in told


def test_overwriting_is_refused(sitr: Sitr) -> None:
    assert sitr("protect", "visits.parquet", "--unit-row").code == 0
    before = Path("visits.sitr.yaml").read_text()
    refused = sitr("protect", "visits.parquet", *PERSON, "--json")
    assert (refused.code, refused.error()["error"]) == (1, "FileError")
    assert "--force" in refused.error()["do"]
    assert Path("visits.sitr.yaml").read_text() == before
    assert sitr("protect", "visits.parquet", *PERSON, "--force").code == 0
    assert Path("visits.sitr.yaml").read_text() != before


def test_data_are_never_overwritten(sitr: Sitr) -> None:
    before = Path("visits.parquet").read_bytes()
    refused = sitr("protect", "visits.parquet", "--unit-row", "-o", "visits.parquet", "--force", "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")
    assert Path("visits.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("missing.parquet", "--unit-row"), 1, "SourceError"),
        ((".", "--unit-row"), 2, "BadUsage"),
        (("..", "--unit-row"), 2, "BadUsage"),
        (("/", "--unit-row"), 2, "BadUsage"),
        (("", "--unit-row"), 2, "BadUsage"),
        ((".", "--unit-row", "-o", "here.yaml"), 1, "SourceError"),
        (("notes.txt", "--unit-row"), 1, "SourceError"),
        (("fake.parquet", "--unit-row"), 1, "SourceError"),
        (("visits.parquet", "--unit", "patient", *PERSON[2:]), 2, "DescriptionError"),
        (("visits.parquet", "--unit", "patient_id"), 2, "BadUsage"),
        (("visits.parquet", *PERSON, "--max-groups", "0"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--max-groups", "3"), 2, "BadUsage"),
        (("visits.parquet",), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", *PERSON), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--bounds", "price=0:5"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--bounds", "ward=0:5"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--bounds", "cost=5:0"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--bounds", "cost=nan:5"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--bounds", "cost=0-5"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--granularity", "cost=0.01"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--granularity", "cost=fine"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--keys", "days=few"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--keys", "admitted=yesterday"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--keys", "cost=1"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--keys", "wing=A"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--keys", "ward=A,A"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--keys", "ward="), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--keys", "ward=A", "--keys-file", "ward=notes.txt"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--keys-file", "ward=missing.txt"), 1, "FileError"),
        (("visits.parquet", "--unit-row", "--type", "cost=money"), 2, "DescriptionError"),
        (("visits.parquet", "--unit-row", "--budget", "zcdp(0.5)"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--ledger", "sitr.db"), 2, "BadUsage"),
        (("visits.parquet", "--unit-row", "--budget", "zcdp(-1)", "--ledger", "sitr.db"), 2, "InvalidPromise"),
        (("visits.parquet", "--unit-row", "--budget", "0.5", "--ledger", "sitr.db"), 2, "InvalidPromise"),
        (("visits.parquet", "--unit-row", "--budget", "zcdp(0.5)", "--ledger", "missing/sitr.db"), 1, "LedgerError"),
        (("visits.parquet", "--unit-row", "--budget", "zcdp(0.5)", "--ledger", "notes.txt"), 1, "LedgerError"),
        (("visits.parquet", "--unit-row", "--budget", "zcdp(0.5)", "--ledger", "other.db"), 1, "LedgerError"),
        (("visits.parquet", "--unit-row", "-o", "missing/visits.yaml"), 1, "FileError"),
    ],
)
def test_refusals(sitr: Sitr, words: tuple[str, ...], code: int, error: str) -> None:
    Path("notes.txt").write_text("Beds are counted on Mondays, and in the morning only.\n" * 20)
    Path("fake.parquet").write_text("ward,cost\nA,1\n")
    with closing(sqlite3.connect("other.db")) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    refused = sitr("protect", *words, "--json")
    assert (refused.code, refused.error()["error"]) == (code, error)
    assert not list(Path().glob("*.yaml"))


@pytest.mark.parametrize(
    ("key", "kind", "written"),
    [("days=few", "integer", "integers like 0"), ("admitted=31.01.2024", "date", "dates like 2024-01-31")],
)
def test_a_key_of_another_type_is_named_with_the_type(sitr: Sitr, key: str, kind: str, written: str) -> None:
    refused = sitr("protect", "visits.parquet", "--unit-row", "--keys", key, "--json").error()
    column, _, value = key.partition("=")
    assert refused["given"] == f"The column {column!r} has type {kind}, so {value!r} cannot be one of its keys."
    assert written in refused["do"]


@pytest.mark.usefixtures("folder")
def test_yes_and_no_are_keys_of_a_column_of_text(sitr: Sitr) -> None:
    Path("ship.csv").write_text("id,survived\n" + "".join(f"{n},{'true' if n % 2 else 'false'}\n" for n in range(20)))
    words = ("protect", "ship.csv", "--unit-row", "--accept-types", "--keys", "survived=yes,no")
    refused = sitr(*words, "--json").error()
    assert "'survived' has type boolean, so 'yes' cannot be one of its keys" in refused["given"]
    assert "Write true or false" in refused["do"]
    assert "--type survived=text" in refused["do"]
    assert sitr(*words, "--type", "survived=text").code == 0


@pytest.mark.usefixtures("folder")
def test_a_source_that_is_not_there_is_named_before_a_description_that_is(sitr: Sitr) -> None:
    Path("missing.sitr.yaml").touch()
    refused = sitr("protect", "missing.xlsx", "--unit-row", "--json").error()
    assert refused["given"] == "There is no file at missing.xlsx."


def test_a_budget_with_gamma(sitr: Sitr) -> None:
    budget = ("--budget", "random(approximate(1, 1e-6), 0.05)", "--ledger", "sitr.db")
    refused = sitr("protect", "visits.parquet", "--unit-row", *budget, "--json")
    assert refused.code == 2
    assert "--relation replace-one" in refused.error()["do"]
    assert not Path("visits.sitr.yaml").exists()
    done = sitr("protect", "visits.parquet", "--unit-row", "--relation", "replace-one", *budget)
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    assert "All answers together may cost random(approximate(epsilon=1.0, delta=1e-06), gamma=0.05)" in words
    assert "Assumes exchangeable data; protects a random newcomer, not every person" in words
    assert "--price 'approximate(epsilon=0.1, delta=1e-07)'" in words
    promise = RandomDP(ApproximateDP(1.0, 1e-6), 0.05)
    assert load(Path("visits.sitr.yaml")).promise == promise
    assert SqlLedger("sitr.db").account("visits").promise == promise
    dear = sitr("preview", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "pure(2)")
    assert "at most approximate(epsilon=1.0, delta=1e-06) is left" in dear.out
    random = sitr("ask", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "random(pure(0.1), 0.01)")
    assert random.code == 2
    asked = sitr("ask", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "pure(0.1)")
    assert (asked.code, asked.err) == (0, "")
    assert "γ = 0 of ε = 1, δ = 10⁻⁶, γ = 0.05, finite-sample" in " ".join(asked.out.split())
    compared = sitr("compare", "--ledger", "sitr.db", "--delta", "1e-6")
    assert (compared.code, compared.err) == (0, "")


def test_a_cap_on_all_rows_is_enough(sitr: Sitr) -> None:
    done = sitr("protect", "visits.parquet", "--unit", "patient_id", "--max-rows", "6", *BUDGET, "--json")
    assert done.told()["max_rows"] == 6
    written = yaml.safe_load(Path("visits.sitr.yaml").read_text())
    assert (written["max_groups"], written["max_rows_per_group"], written["max_rows"]) == (6, 6, 6)
    asked = ("ask", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.1)", "--json")
    assert sitr(*asked).told()["caps"] == {"max_groups": 1, "max_rows_per_group": 6, "max_rows": None}
    assert sitr(*asked, "--max-rows", "2").told()["caps"]["max_rows_per_group"] == 2


def test_a_table_in_a_database_of_duckdb(sitr: Sitr) -> None:
    with duckdb.connect("hospital.duckdb") as engine:
        engine.execute("CREATE TABLE stays AS FROM 'visits.parquet'; CREATE VIEW seen AS FROM stays")
        engine.execute("CREATE TABLE wards AS SELECT DISTINCT ward FROM stays")
    told = sitr("protect", "hospital.duckdb", *PERSON, *BUDGET)
    assert "nothing says which one is protected" in told.err
    assert "Its tables are stays, wards: add for example --table stays" in told.err
    assert "seen" not in told.err
    assert "is a view" in sitr("protect", "hospital.duckdb", "--table", "seen", *PERSON, *BUDGET).err
    done = sitr("protect", "hospital.duckdb", "--table", "stays", "--public", "wards=wards", *PERSON, *BUDGET)
    assert (done.code, done.err) == (0, "")
    written = yaml.safe_load(Path("stays.sitr.yaml").read_text())
    assert (written["source"], written["table"], written["name"]) == ("hospital.duckdb", "stays", "stays")
    assert written["public"] == {"wards": {"table": "wards"}}
    asked = sitr("ask", "stays.sitr.yaml", "SELECT COUNT(*) AS n FROM stays", "--price", "zcdp(0.1)")
    assert (asked.code, asked.err) == (0, "")
    bare = sitr("histogram", "hospital.duckdb", "--column", "days", "--price", "zcdp(0.1)", *PERSON)
    assert "is a database without a description" in bare.err


def test_codes_that_are_doubles_are_explained(sitr: Sitr) -> None:
    """The error says two ways to group by them, and both work."""
    with duckdb.connect("codes.duckdb") as engine:
        engine.execute("CREATE TABLE answers AS SELECT range AS id, (range % 3)::DOUBLE AS code FROM range(300)")
    protect = ("protect", "codes.duckdb", "--table", "answers", "--unit-row", "--budget", "pure(9)", "--ledger", "c.db")
    told = sitr(*protect, "--keys", "code=0,1,2").err
    assert "has type real, so it cannot have keys" in told
    bounds = re.search(r"\((--bounds \S+ --granularity \S+)\)", told)
    by = re.search(r"group by (CAST\(code AS INTEGER\))", told)
    assert bounds is not None
    assert by is not None
    assert sitr(*protect, *bounds[1].replace("0:9", "0:2").split()).code == 0
    sql = f"SELECT {by[1]} AS code, COUNT(*) AS n FROM answers GROUP BY {by[1]}"
    rows = sitr("ask", "answers.sitr.yaml", sql, "--price", "pure(5)", "--bias", "off", "--json").told()["rows"]
    assert [row["key"] for row in rows] == [[0], [1], [2], [None]]
    Path("codes.csv").write_text("id,code\n" + "".join(f"{row},{row % 3}.0\n" for row in range(300)))
    words = ("--type", "id=integer", "--type", "code=integer", "--keys", "code=0,1,2")
    assert sitr("protect", "codes.csv", "--unit-row", *words).code == 0


def test_the_help_of_table_does_not_promise_views(sitr: Sitr) -> None:
    """Views of DuckDB are refused; PostgreSQL's are read."""
    told = " ".join(sitr("protect", "--help").out.split())
    assert "The table, if SOURCE is a database; in PostgreSQL also a view." in told


def test_a_step_that_nobody_chose_has_two_digits(sitr: Sitr) -> None:
    Path("fees.csv").write_text("fee\n1.5\n")
    told = sitr("protect", "fees.csv", "--unit-row", "--type", "fee=real", "--bounds", "fee=0:30").out
    assert "≈ 1.5 × 10⁻⁵" in told
    assert "1.52587890625" not in told
    assert "52587890625" in Path("fees.sitr.yaml").read_text() or "1/65536" in Path("fees.sitr.yaml").read_text()


def test_a_person_in_each_month_has_a_budget_of_each_month(sitr: Sitr, tmp_path: Path) -> None:
    days = ["2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"]
    (tmp_path / "visits.csv").write_text(
        "id,admitted\n" + "".join(f"{place},{day}\n" for place, day in enumerate(days))
    )
    budget = ("--budget", "pure(100)", "--ledger", tmp_path / "sitr.db", "--accept-types")
    who = ("--unit", "id", "--max-rows", "3")
    wrong = sitr("protect", tmp_path / "visits.csv", *who, "--period", "admitted", *budget)
    assert "--period admitted:month" in " ".join(wrong.err.split())
    assert sitr("protect", tmp_path / "visits.csv", *who, "--period", "admitted:month", *budget).code == 0
    asked = (tmp_path / "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "pure(40)", "--bias", "off")
    assert "does not name one month" in " ".join(sitr("ask", *asked).err.split())
    told = sitr("ask", *asked, "--period", "2026-03", "--json").told()
    assert told["rows"][0]["values"][0]["value"] == 2
    assert told["receipt"]["dataset"] == "visits@2026-03"
    shown = " ".join(sitr("preview", *asked, "--period", "2026-04").out.split())
    assert "Each person in each month" in shown
    assert "left now ε = 100" in shown
    assert "visits@2026-03" in sitr("ledger", "show", tmp_path / "sitr.db").out
