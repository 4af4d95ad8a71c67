"""`sitr synthesize` pays before it looks, refuses before it pays, and writes what was paid for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from sitr.dataset.hospital import WARDS, hospital
from sitr.errors import BackendFailure
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

PRICE = ("--price", "zcdp(0.05)")
FEW = ("--columns", "ward,insurance", "--domain", "domain.yaml")
DOMAIN = """\
insurance: {keys: [public, private, self-paid]}
age_band: {keys: ["0-17", "18-39", "40-64", "65-79", "80+"]}
"""


@pytest.fixture(autouse=True)
def domain(folder: Path) -> None:
    (folder / "domain.yaml").write_text(DOMAIN)


def entries(ledger: str = "sitr.db") -> int:
    return len(SqlLedger(ledger, create=False).entries()) if Path(ledger).exists() else 0


def test_rows_of_a_described_data_set(sitr: Sitr, description: Path) -> None:
    words = ("--rows", 500, "-o", "rows.parquet", "--certificate", "page.html", "--plot", "plot.svg")
    done = sitr("synthesize", description, *PRICE, *FEW, *words)
    assert (done.code, done.err) == (0, "")
    assert "500 rows drawn. Written: rows.parquet, page.html, plot.svg" in done.out
    assert "ρ = 0.45 of ρ = 0.5" in done.out
    rows = pyarrow.parquet.read_table("rows.parquet")
    original = pyarrow.parquet.read_schema("visits.parquet")
    assert [(f.name, f.type) for f in rows.schema] == [(n, original.field(n).type) for n in ("ward", "insurance")]
    assert rows.num_rows == 500
    assert Path("page.html").read_text().startswith("<!DOCTYPE html>")
    assert Path("plot.svg").read_text().startswith("<svg")
    assert entries() == 1


@pytest.mark.parametrize(
    ("name", "read"), [("rows.csv", pyarrow.csv.read_csv), ("rows.arrow", pyarrow.feather.read_table)]
)
def test_other_files(sitr: Sitr, description: Path, name: str, read: Callable[[str], pa.Table]) -> None:
    assert sitr("synthesize", description, *PRICE, *FEW, "--rows", 20, "-o", name).code == 0
    assert read(name).column_names == ["ward", "insurance"]
    assert read(name).num_rows == 20
    about = Path(f"{name}.about.json")
    assert about.exists() == name.endswith(".csv")  # an Arrow file says it in its metadata
    if about.exists():
        told = json.loads(about.read_text())
        assert (told["synthetic"], told["private"], told["rows"], told["file"]) == (True, True, 20, "rows.csv")
        assert [each["name"] for each in told["columns"]] == ["ward", "insurance"]
        assert told["price"]["notation"] == "zcdp(rho=0.05)"
        assert told["about"].startswith("These rows are synthetic: they imitate visits and belong to nobody.")


def test_json(sitr: Sitr, description: Path) -> None:
    words = ("--quality", "zcdp(0.01)", "--rows", 100, "-o", "rows.csv", "--json")
    told = sitr("synthesize", description, *PRICE, *FEW, *words).told()
    assert (told["kind"], told["drawn"], told["written"]) == (
        *("synthetic rows", 100),
        ["rows.csv", "rows.csv.about.json"],
    )
    assert told["price"]["notation"] == "zcdp(rho=0.06)"
    assert told["quality"]["price"]["notation"] == "zcdp(rho=0.01)"
    assert len(told["quality"]["pairs"]) == 1
    assert entries() == 1


def test_a_target_is_compared_for_a_price(sitr: Sitr, description: Path) -> None:
    words = ("--quality", "zcdp(0.4)", "--target", "insurance", "--rows", 100, "-o", "rows.csv", "--json")
    told = sitr("synthesize", description, *PRICE, *FEW, *words).told()["quality"]
    assert {each["columns"][0].partition(" = ")[0] for each in told["subgroups"]} == {"insurance"}
    assert told["told_apart"]["columns"] == ["ward", "insurance"]
    assert told["triples"] == []


def test_people_with_all_their_rows(sitr: Sitr, description: Path) -> None:
    words = ("--people", "--constant", "insurance", "--rows-per-person", 3, "-o", "rows.parquet", "--json")
    done = sitr("synthesize", description, *PRICE, *FEW, *words)
    assert (done.code, done.err) == (0, "")
    content = json.loads(done.out)
    assert content["people"] == {"constant": ["insurance"], "order": None}
    rows = pyarrow.parquet.read_table("rows.parquet")
    assert rows.column_names == ["patient_id", "ward", "insurance"]
    assert max(Counter(rows["patient_id"].to_pylist()).values()) <= 3
    assert not any(check["broken"] for check in content["validity"])
    refused = sitr("synthesize", description, *PRICE, *FEW, "--order", "ward", "-o", "other.parquet")
    assert refused.code != 0
    assert "whole numbers, dates or timestamps" in refused.err
    assert entries() == 1


def test_a_bar_is_for_people_before_a_terminal(sitr: Sitr, description: Path) -> None:
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"}
    words = ("synthesize", description, *PRICE, *FEW, "--rows", 5)
    seen = sitr(*words, "-o", "one.csv", environment=terminal)
    assert (seen.code, "Reading, adding noise and fitting" in seen.err) == (0, True)
    assert "Reading" not in seen.out
    machine = sitr(*words, "-o", "two.csv", "--json", environment=terminal)
    assert (machine.code, machine.err) == (0, "")


def test_a_preview_spends_nothing(sitr: Sitr, description: Path) -> None:
    shown = sitr("synthesize", description, *PRICE, *FEW, "--preview")
    assert (shown.code, entries()) == (0, 0)
    assert "ward × insurance" in shown.out
    told = sitr("synthesize", description, *PRICE, *FEW, "--preview", "--json").told()
    assert told["kind"] == "preview of synthetic rows"
    both = sitr("synthesize", description, *PRICE, *FEW, "--quality", "zcdp(0.01)", "--preview")
    assert "ρ = 0.06: ρ = 0.05 for the rows, and ρ = 0.01 to measure their quality" in both.out
    assert "left then  ρ = 0.44" in both.out
    poor = sitr("synthesize", description, *PRICE, *FEW, "--quality", "zcdp(0.46)", "--preview", "--json").told()
    assert (poor["budget"]["after"], entries()) == (None, 0)


@pytest.fixture
def declared(sitr: Sitr) -> str:
    """A description that declares a public table: the visits of another hospital."""
    pyarrow.parquet.write_table(hospital(500), "published.parquet")
    words = ("--unit-row", "--keys", f"ward={','.join(WARDS)}", "--public", "published=published.parquet")
    done = sitr("protect", "visits.parquet", *words, "--budget", "zcdp(0.5)", "--ledger", "sitr.db")
    assert done.code == 0
    return "visits.sitr.yaml"


def test_triples_are_fitted_where_they_are_wanted(sitr: Sitr, description: Path) -> None:
    columns = ("--columns", "ward,insurance,age_band", "--domain", "domain.yaml", "--fit-triples", "--preview")
    shown = sitr("synthesize", description, *PRICE, *columns)
    assert (shown.code, entries()) == (0, 0)
    assert "AND FIT TRIPLES" in shown.out
    refused = sitr("synthesize", description, *PRICE, *FEW, "--fit-triples", "--preview")
    assert "3 to 15 columns" in refused.err


def test_a_declared_public_table(sitr: Sitr, declared: str) -> None:
    words = ("--rows", 100, "-o", "rows.csv", "--certificate", "page.html", "--holdout", "published")
    done = sitr("synthesize", declared, *PRICE, *FEW, *words)
    assert done.code == 0
    assert "with the public table published" in done.out
    assert "with the public table published" in Path("page.html").read_text()


@pytest.mark.parametrize("holdout", ["visits.parquet", "published.parquet", "visits", "nobody"])
def test_an_undeclared_table_is_refused_before_the_charge(sitr: Sitr, declared: str, holdout: str) -> None:
    """The protected file above all: its exact distances would be free."""
    words = ("--rows", 100, "-o", "rows.csv", "--holdout", holdout, "--json")
    refused = sitr("synthesize", declared, *PRICE, *FEW, *words)
    assert (refused.code, refused.error()["error"]) == (2, "UnknownName")
    near = holdout == "published.parquet"
    assert ("Did you mean 'published'?" if near else "--public census=FILE") in refused.error()["do"]
    assert entries() == 0
    assert not Path("rows.csv").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--holdout", "published", "--target", "nobody"), "QuestionError"),
        (("--holdout", "published", "--quality", "zcdp(0.01)"), "BadUsage"),
        (("--target", "ward"), "BadUsage"),
        (("--triples",), "BadUsage"),
        (("--quality", "zcdp(0.01)", "--triples"), "QuestionError"),
        (("--quality", "zcdp(0.01)", "--target", "nobody"), "QuestionError"),
    ],
)
def test_a_comparison_that_must_fail_is_refused_before_the_charge(
    sitr: Sitr, declared: str, words: tuple[str, ...], error: str
) -> None:
    refused = sitr("synthesize", declared, *PRICE, *FEW, "--rows", 100, "-o", "rows.csv", *words, "--json")
    assert refused.error()["error"] == error
    assert entries() == 0
    assert not Path("rows.csv").exists()


def test_an_empty_public_table_is_refused_before_the_charge(sitr: Sitr, declared: str) -> None:
    pyarrow.parquet.write_table(hospital(500)[:0], "published.parquet")
    words = ("--rows", 100, "-o", "rows.csv", "--holdout", "published", "--json")
    assert sitr("synthesize", declared, *PRICE, *FEW, *words).error()["error"] == "QuestionError"
    assert entries() == 0


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_table_that_became_the_protected_one_is_refused(sitr: Sitr, declared: str, link: Any) -> None:
    Path("published.parquet").unlink()
    link(Path("published.parquet"), Path("visits.parquet").resolve())
    refused = sitr("synthesize", declared, *PRICE, *FEW, "-o", "rows.csv", "--holdout", "published", "--json")
    assert refused.error()["error"] == "DescriptionError"
    assert entries() == 0


def test_rules(sitr: Sitr, description: Path) -> None:
    rule = ("--never", "ward = 'Maternity' AND insurance <> 'public'")
    assert sitr("synthesize", description, *PRICE, *FEW, *rule, "--rows", 2000, "-o", "rows.csv").code == 0
    rows = pyarrow.csv.read_csv("rows.csv").to_pylist()
    assert {row["insurance"] for row in rows if row["ward"] == "Maternity"} <= {"public"}
    assert {row["insurance"] for row in rows} == {"public", "private", "self-paid"}


def test_a_file_by_itself_is_paid_for_once(sitr: Sitr) -> None:
    words = ("synthesize", "visits.parquet", *PRICE, "--columns", "insurance,age_band", "--domain", "domain.yaml")
    unit = ("--unit", "patient_id", "--rows-per-person", 2)
    assert sitr(*words, *unit, "--preview").code == 0
    assert not Path("visits.sitr.db").exists()
    assert sitr(*words, *unit, "--rows", 10, "-o", "one.csv").code == 0
    assert entries("visits.sitr.db") == 1
    assert sitr(*words, *unit, "--rows", 10, "-o", "again.csv").code == 0
    assert Path("again.csv").read_text() == Path("one.csv").read_text()
    fresh = sitr(*words, *unit, "--rows", 10, "-o", "two.csv", "--fresh", "--json")
    assert (fresh.code, fresh.error()["error"]) == (1, "BudgetExceeded")
    assert not Path("two.csv").exists()
    assert entries("visits.sitr.db") == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("-o", "rows.txt"), "BadUsage"),
        ((), "BadUsage"),
        (("-o", "visits.parquet"), "FileError"),
        (("-o", "rows.csv", "--unit-row"), "BadUsage"),
        (("-o", "rows.csv", "--columns", "nobody"), "UnknownName"),
        (("-o", "rows.csv", "--columns", "insurance"), "DescriptionError"),
        (("-o", "rows.csv", "--columns", "ward", "--quality", "zcdp(0.46)"), "BudgetExceeded"),
        (("-o", "rows.csv", "--columns", "ward", "--never", "ward ="), "QuestionError"),
        (("-o", "rows.csv", "--columns", "ward", "--rows", "-5"), "QuestionError"),
        (("-o", "rows.csv", "--columns", "ward", "--holdout", "nowhere.csv"), "UnknownName"),
        (("-o", "rows.csv", "--columns", "ward", "--domain", "wrong.yaml"), "BadUsage"),
    ],
)
def test_refusals_cost_nothing(sitr: Sitr, description: Path, words: tuple[str, ...], error: str) -> None:
    Path("wrong.yaml").write_text("ward: {bins: 3, odd: 4}")
    assert sitr("synthesize", description, *PRICE, *words, "--json").error()["error"] == error
    assert entries() == 0


def test_a_file_by_itself_is_opened_for_one_flavor(sitr: Sitr) -> None:
    words = ("--unit-row", *FEW, "--columns", "insurance", "--quality", "pure(1)", "-o", "rows.csv", "--json")
    assert "of one flavor" in sitr("synthesize", "visits.parquet", *PRICE, *words).error()["wanted"]
    assert not Path("visits.sitr.db").exists()


@pytest.mark.usefixtures("description")
def test_a_described_file_is_not_taken_by_itself(sitr: Sitr) -> None:
    refused = sitr("synthesize", "visits.parquet", *PRICE, "--unit-row", "-o", "rows.csv", "--json").error()
    assert "visits.sitr.yaml" in refused["do"]


def test_of_a_file_by_itself_the_unit_is_said(sitr: Sitr) -> None:
    for words, missing in (
        ((), "missing --unit COLUMN with --rows-per-person (or --unit-row)."),
        (("--unit", "patient_id"), "missing --rows-per-person."),
        (("--unit", "patient_id", "--unit-row", "--rows-per-person", 2), "both"),
    ):
        refused = sitr("synthesize", "visits.parquet", *PRICE, *words, "-o", "rows.csv", "--json").error()
        assert refused["given"].endswith(missing)
        assert "--unit" in refused["do"]


@pytest.mark.parametrize("option", ["--price", "--quality"])
def test_a_gamma_buys_no_rows(sitr: Sitr, option: str) -> None:
    words = ("synthesize", "visits.parquet", "--unit-row", "-o", "rows.csv", "--json")
    prices = {"--price": "pure(1)", "--quality": "pure(1)"} | {option: "random(pure(1), 0.05)"}
    refused = sitr(*words, *(word for price in prices.items() for word in price)).error()
    assert refused["error"] == "QuestionError"
    assert "protects everybody" in refused["do"]
    assert not Path("visits.sitr.db").exists()


def test_prices_that_do_not_add_up_want_a_budget(sitr: Sitr) -> None:
    words = ("synthesize", "visits.parquet", *PRICE, "--unit-row", "--quality", "pure(0.1)", "-o", "rows.csv", "--json")
    assert sitr(*words).error()["error"] == "IncompatiblePromises"


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_rows_that_cannot_be_written_are_not_lost(
    sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("synthesize", description, *PRICE, *FEW, "--rows", 20)
    with monkeypatch.context() as broken:
        broken.setattr("pyarrow.csv.CSVWriter", full)
        done = sitr(*words, "-o", "rows.csv", "--plot", "plot.svg", "--quality", "zcdp(0.01)", "--json")
    assert done.code == 1
    assert done.told()["written"] == ["plot.svg"]
    assert entries() == 1
    error = json.loads(done.err)
    assert (error["error"], error["given"]) == ("FileError", "Could not write rows.csv (No space left on device).")
    assert "Repeat the command without --fresh" in error["do"]
    again = sitr(*words, "-o", "rows.csv", "--quality", "zcdp(0.01)")
    assert (again.code, entries()) == (0, 1)
    assert "ρ = 0.44 of ρ = 0.5" in again.out
    assert "with the data, for ρ = 0.01" in again.out  # measured once, and kept
    assert pyarrow.csv.read_csv("rows.csv").num_rows == 20


@pytest.mark.parametrize(("failure", "code"), [(KeyboardInterrupt(), 130), (OSError(5, "Input/output error"), 1)])
def test_an_interrupted_fit_says_where_the_tables_are(
    sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise failure

    words = ("synthesize", description, *PRICE, *FEW, "--rows", 20, "-o", "rows.csv")
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.synthesis.portrait", stop)
        done = sitr(*words)
    (kept,) = Path().glob("*.answers/*.json")
    assert (done.code, entries()) == (code, 1)
    assert str(kept.resolve()) in done.err
    assert sitr(*words).code == 0
    assert entries() == 1


def test_a_measurement_that_fails_costs_no_rows(sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BackendFailure(wanted="a.", given="b.", do="c.")

    words = ("synthesize", description, *PRICE, *FEW, "--rows", 20, "-o", "rows.csv", "--quality", "zcdp(0.01)")
    with monkeypatch.context() as broken:
        broken.setattr("sitr.questions.synthetic.quality.privately", fail)
        done = sitr(*words)
    assert (done.code, entries()) == (1, 1)
    (kept,) = Path().glob("*.answers/*.json")
    assert str(kept.resolve()) in done.err
    again = sitr(*words)
    assert (again.code, entries()) == (0, 1)
    assert "was not measured: it is lost" in again.out
    assert pyarrow.csv.read_csv("rows.csv").num_rows == 20


def test_the_same_request_draws_again_for_free(sitr: Sitr, description: Path) -> None:
    words = ("synthesize", description, *FEW, "--rows", 5, "--json")
    prices = (PRICE, PRICE, ("--price", "zcdp(0.1)"), (*PRICE, "--fresh"))
    told = [sitr(*words, *price, "-o", f"{place}.csv").told() for place, price in enumerate(prices)]
    assert [each["receipt"]["entry"] for each in told] == [1, 1, 2, 3]
    assert Path("0.csv").read_text() == Path("1.csv").read_text() != Path("3.csv").read_text()
    assert entries() == 3


@pytest.mark.parametrize("failure", [OSError(12, "Cannot allocate memory"), KeyboardInterrupt()], ids=repr)
def test_rows_that_cannot_be_drawn_leave_their_tables(
    sitr: Sitr, description: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise failure

    words = ("synthesize", description, *PRICE, *FEW, "-o", "rows.csv")
    with monkeypatch.context() as broken:
        broken.setattr("sitr.session.synthetic.Synthetic.draw", stop)
        done = sitr(*words)
    (kept,) = Path().glob("*.answers/*.json")
    assert done.code != 0
    assert str(kept.resolve()) in done.err
    assert (sitr(*words).code, entries()) == (0, 1)


KILLED = """
    import os, signal
    from sitr.session import synthesis

    def dying(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    synthesis.portrait = dying
    from sitr.cli.main import main
    main()
"""


@pytest.mark.sampled(2)
def test_a_killed_fit_loses_nothing(sitr: Sitr, description: Path) -> None:
    """The process dies between the charge with its noise, and the fit: the same command fits and spends nothing."""
    words = ("synthesize", str(description), *PRICE, *FEW, "--rows", "20")
    command = [sys.executable, "-c", textwrap.dedent(KILLED), *words, "-o", "rows.csv"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    (kept,) = Path().glob("*.answers/*.json")
    noisy = json.loads(kept.read_text())["released"]
    assert not Path("rows.csv").exists()
    again = sitr(*words, "-o", "rows.csv", "--model", "model.sitr")
    assert (again.code, entries()) == (0, 1)
    assert "kept answer of entry 1" in again.out
    assert "ρ = 0.45 of ρ = 0.5" in again.out
    assert json.loads(kept.read_text())["released"] == noisy  # fitted again, not measured again
    assert sitr("draw", "model.sitr", "--rows", 30, "-o", "more.csv").code == 0
    assert (pyarrow.csv.read_csv("more.csv").num_rows, entries()) == (30, 1)


RULED = """\
insurance: {keys: [public, private, self-paid]}
ward: {derived: {insurance: {public: Surgery, private: Maternity, self-paid: Surgery}}}
days: {bounds: [0, 60], at_most: visit_id}
visit_id: {bounds: [0, 60], null_with: days, bins: 10}
"""


def test_rules_in_files_and_options(sitr: Sitr, description: Path) -> None:
    """The same rules, spelled in YAML and as options, hold in every row."""
    Path("rules.yaml").write_text(RULED)
    words = ("synthesize", description, *PRICE, "--rows", 2000, "--columns", "insurance,ward,days,visit_id")
    done = sitr(*words, "--domain", "rules.yaml", "-o", "yaml.parquet")
    assert (done.code, done.err) == (0, "")
    options = ("--ordered", "days <= visit_id", "--together", "days,visit_id", "--derived")
    plain = "insurance: {keys: [public, private, self-paid]}\ndays: {bounds: [0, 60]}\nvisit_id: {bounds: [0, 60]}\n"
    Path("plain.yaml").write_text(plain)
    case = "ward=CASE WHEN insurance = 'private' THEN 'Maternity' ELSE 'Surgery' END"
    assert sitr(*words, "--domain", "plain.yaml", *options, case, "-o", "options.parquet").code == 0
    for name in ("yaml", "options"):
        rows = pyarrow.parquet.read_table(f"{name}.parquet").to_pylist()
        assert all((row["ward"] == "Maternity") == (row["insurance"] == "private") for row in rows)
        assert all((row["days"] is None) == (row["visit_id"] is None) for row in rows)
        assert all(row["days"] is None or row["days"] <= row["visit_id"] for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--derived", "ward"), "--derived COLUMN=EXPRESSION"),
        (("--ordered", "days < cost"), "--ordered 'A <= B'"),
        (("--derived", "ward=insurance) IS NULL OR (insurance"), "is not one expression"),
        (("--together", "ward"), "two or more imitated columns"),
    ],
)
def test_wrong_rules_cost_nothing(sitr: Sitr, description: Path, words: tuple[str, str], message: str) -> None:
    refused = sitr("synthesize", description, *PRICE, *FEW, "--rows", 5, "-o", "rows.csv", *words, "--json").error()
    assert message in f"{refused['wanted']} {refused['given']}"
    assert entries() == 0
