"""`sitr start` asks for what is missing, shows and needs no value of a row, and ends with a question ready to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from sitr.dataset.description import load
from sitr.ledger.sql import SqlLedger
from tests.cli.terminal import talk

Sitr = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
HEADER = '\ufeffرقم المريض;القسم;"التكلفة; ""إجمالي""";مدخن;أيام;visit_id\r\n'
WARDS = ("قلب", "جراحة; عامة", "")
SECRET = "zzSECRETzz"


def awkward(folder: Path, *, secret: str = SECRET) -> Path:
    """Visits with quotes, Arabic headers, a byte order mark, semicolons, decimal commas and missing values."""
    rows = [
        f'{row % 40};"{WARDS[row % 3]}";{row},5;{("yes", "no", "")[row % 3]};{row % 7 or ""};{row}\r\n'
        for row in range(300)
    ]
    path = folder / "زيارات.csv"
    path.write_text(HEADER + "".join(rows) + f'7;"{secret} ""x""";7.654,32;yes;;300\r\n', encoding="utf-8", newline="")
    return path


ANSWERS = {
    "Bounds of التكلفة": "0:500",
    "Step of التكلفة": "0.5",
    "Bounds of أيام": "0:30",
    "Public values of القسم": "قلب,جراحة; عامة,NULL",
    "Public values of مدخن": "-",
}


def test_from_an_awkward_file_to_a_first_table(tmp_path: Path, sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = awkward(tmp_path)
    done = talk("start", source.name, answers=ANSWERS, folder=tmp_path)
    assert done.code == 0, done.text
    assert "These look like ids: رقم المريض, visit_id." in done.text
    assert "Column, its number, or row [رقم المريض]: " in done.text
    assert "Bounds of visit_id" not in done.text
    for value in (SECRET, "654,32", "299"):
        assert value not in done.text
    written = yaml.safe_load(Path("زيارات.sitr.yaml").read_text("utf-8"))
    assert written["csv"]["delimiter"] == ";"
    assert written["csv"]["decimal"] == ","
    assert written["unit"] == {"person": "رقم المريض"}
    assert (written["max_groups"], written["max_rows_per_group"]) == (3, 2)
    assert written["columns"]['التكلفة; "إجمالي"'] == {"type": "real", "bounds": [0, 500], "granularity": 0.5}
    assert written["columns"]["القسم"] == {"type": "text", "keys": ["قلب", "جراحة; عامة", None]}
    assert written["columns"]["أيام"] == {"type": "integer", "bounds": [0, 30], "granularity": 1}
    assert written["columns"]["مدخن"] == {"type": "text"}
    _, preview, ask = (shlex.split(line)[1:] for line in done.text.splitlines() if line.startswith("  sitr "))
    assert (preview[0], ask[0]) == ("preview", "ask")
    assert sitr(*preview).code == 0
    assert list(SqlLedger("زيارات.sitr.db", create=False).entries()) == []
    rows = sitr(*ask, "--json").told()["rows"]
    assert [row["key"] for row in rows] == [["قلب"], ["جراحة; عامة"], [None]]


def test_the_conversation_is_in_arabic_too(tmp_path: Path) -> None:
    """All that is asked, explained and refused; names, code, options and the answers to be typed stay as they are."""
    source = awkward(tmp_path)
    answers = {"[رقم المريض]": "nobody", "[3]": "many", "[yes]": "نعم"}
    done = talk("start", source.name, "--lang", "ar", answers=answers, folder=tmp_path)
    assert done.code == 0, done.text
    lines = [line for line in done.text.splitlines() if not line.startswith("  sitr ")]
    outside = re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", " ", "\n".join(lines))
    kinds = r"\((?:integer|real|text|boolean|date|timestamp)\)"  # beside their translations
    proposed = r"\[[^\]]*\]: .*"  # and what was typed
    found = set(re.findall(r"[A-Za-z]{3,}", re.sub(f"{kinds}|{proposed}", " ", outside)))
    assert found <= {"visit", "nobody"}
    assert "\u2068'nobody'\u2069" in done.text  # a sentence that refuses it
    assert (tmp_path / "زيارات.sitr.yaml").exists()


def test_the_conversation_in_the_tutorial_is_true(tmp_path: Path) -> None:
    """What it types leads to what it shows, line by line; `...` stands for any lines."""
    text = (ROOT / "docs" / "tutorials" / "first-hour.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n\$ sitr start clinic.csv\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (made,) = re.findall(r"^\$ echo -e '(.*)' > clinic.csv$", text, re.MULTILINE)
    (tmp_path / "clinic.csv").write_text(made.replace("\\n", "\n") + "\n")
    typed = dict(re.findall(r"^((?:Corrections|Bounds of|Step of|Public values of).*?): (\S+)$", shown, re.MULTILINE))
    assert len(typed) == 4
    done = talk("start", "clinic.csv", answers=typed, folder=tmp_path)
    heard = iter([line.rstrip() for line in done.text.splitlines() if line.strip()])
    for line in filter(str.strip, shown.splitlines()):
        assert line == "..." or line.rstrip() in heard, line


def test_the_answers_are_the_options(tmp_path: Path, sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same description comes from questions, from options of `start`, and from options of `protect`."""
    monkeypatch.chdir(tmp_path)
    source = awkward(tmp_path)
    done = talk("protect", source.name, answers=ANSWERS, folder=tmp_path)
    (words,) = (shlex.split(line) for line in done.text.splitlines() if line.startswith("  sitr protect "))
    before = Path("زيارات.sitr.yaml").read_bytes()
    for command in ("start", "protect"):
        again = sitr(command, *words[2:], "--force")
        assert (again.code, again.err) == (0, "")
        assert Path("زيارات.sitr.yaml").read_bytes() == before


def test_what_is_asked_does_not_depend_on_values(tmp_path: Path) -> None:
    """Two files with the same types, and nothing else in common, lead to the same conversation."""
    talks = []
    for secret, folder in (("one", tmp_path / "a"), ("quite another; value", tmp_path / "b")):
        folder.mkdir()
        source = awkward(folder, secret=secret)
        if secret == "one":
            lines = source.read_text("utf-8-sig").splitlines()
            source.write_text("\n".join([lines[0], *reversed(lines[50:])]), encoding="utf-8")
        talks.append(talk("start", source.name, folder=folder))
    assert talks[0] == talks[1]
    assert talks[0].code == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("prompt", "key"), [("Column, its number", "\x03"), ("Budget", "\x04"), ("yes or no", "\x03"), ("yes or no", "no")]
)
def test_an_interrupt_leaves_nothing_behind(folder: Path, prompt: str, key: str) -> None:
    before = set(folder.iterdir())
    done = talk("start", "visits.parquet", answers={prompt: key}, folder=folder)
    assert done.code == 130
    assert done.text.endswith("Stopped: nothing was written.\n")
    assert set(folder.iterdir()) == before


@pytest.mark.slow
def test_a_wrong_answer_is_explained_and_asked_for_again(folder: Path) -> None:
    wrong = {
        "or row [patient_id]": "cost",
        "counts in [3]": "0",
        "in each group [2]": "many",
        "Bounds of days": "9:1",
        "Bounds of cost": "5",
        "Public values of ward": "A,A",
        "Budget": "0.5",
        "Ledger": "missing/sitr.db",
        "yes or no": "perhaps",
    }
    done = talk("start", "visits.parquet", answers=wrong, folder=folder)
    assert done.code == 0, done.text
    for prompt in wrong:
        assert done.text.count(f"{prompt}") == 2, prompt
    for word in ("'cost' of type real", "at least 1, got 0", "cannot be understood", "low ≤ high", "distinct keys"):
        assert word in done.text
    described = load(folder / "visits.sitr.yaml")
    assert described.table.find("ward") is not None
    assert all(column.keys is None and column.quantised is None for column in described.table.columns)


@pytest.mark.slow
def test_types_can_be_corrected_and_a_column_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("id,code,smokes\n1,7,yes\n2,8,no\n")
    answers = {"Corrections": "code=text, smokes=boolean", "Column, its number": "1", "Name of": "beds"}
    done = talk("start", "stays.csv", answers=answers, folder=tmp_path)
    assert done.code == 0, done.text
    assert "Column, its number, or row: " in done.text  # an id of what? nothing is proposed
    written = yaml.safe_load((tmp_path / "stays.sitr.yaml").read_text())
    assert (written["unit"], written["name"]) == ({"person": "id"}, "beds")
    assert written["columns"] == {
        "id": {"type": "integer"},
        "code": {"type": "text"},
        "smokes": {"type": "boolean", "keys": [False, True, None]},
    }


@pytest.mark.slow
def test_a_decimal_mark_that_the_rows_do_not_show_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text('id,cost\n1,"2,5"\n2,"n/a"\n')
    answers = {"Corrections": "cost=real", "Decimal mark": ",", "Column, its number": "1"}
    done = talk("start", "stays.csv", answers=answers, folder=tmp_path)
    assert done.code == 0, done.text
    assert "Decimal mark of this file (. or ,): " in done.text  # nothing is proposed
    written = yaml.safe_load((tmp_path / "stays.sitr.yaml").read_text())
    assert (written["csv"]["decimal"], written["columns"]["cost"]["type"]) == (",", "real")


@pytest.mark.slow
def test_each_row_can_be_one_person(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("age;row\n31;1\n44;2\n")
    answers = {"Column, its number": "each row", "Bounds of age": "0:120", "Bounds of row": ""}
    done = talk("start", "survey.csv", answers=answers, folder=tmp_path)
    assert done.code == 0, done.text
    assert "The most groups" not in done.text
    assert yaml.safe_load((tmp_path / "survey.sitr.yaml").read_text())["unit"] == "row"


@pytest.mark.slow
def test_options_are_not_asked_for(folder: Path) -> None:
    words = ("--unit", "patient_id", "--max-groups", 2, "--bounds", "cost=0:9", "--keys", "ward=A", "--name", "stays")
    done = talk("start", "visits.parquet", *words, "--budget", "zcdp(0.5)", folder=folder)
    assert done.code == 0, done.text
    prompts = [line.partition(" [")[0] for line in done.text.splitlines() if line.endswith("]: ")]
    assert prompts == [
        "The most rows of one person that count in each group",
        "Ledger",
        "Write visits.sitr.yaml and open the budget in visits.sitr.db? (yes or no)",
    ]


def test_the_budget_of_a_described_file_stays(folder: Path, description: Path) -> None:
    refused = talk("start", "visits.parquet", folder=folder)
    assert refused.code == 1
    assert "already exists" in refused.text
    done = talk("start", "visits.parquet", "--force", folder=folder)
    assert done.code == 0, done.text
    assert "already names the budget of this file, zcdp(rho=0.5)" in done.text
    assert "Budget [" not in done.text
    assert load(folder / description).ledger == folder / "sitr.db"


MISSING = "--unit COLUMN with --max-groups and --max-rows-per-group (or --unit-row)"


@pytest.mark.parametrize("command", ["start", "protect"])
def test_without_a_terminal_all_missing_options_are_named_at_once(folder: Path, sitr: Sitr, command: str) -> None:
    before = set(folder.iterdir())
    refused = sitr(command, "visits.parquet", "--json").error()
    assert refused["error"] == "BadUsage"
    assert refused["given"] == f"Missing {MISSING}{' and --budget' if command == 'start' else ''}."
    assert "--unit patient_id --max-groups 3 --max-rows-per-group 2" in refused["do"]
    assert set(folder.iterdir()) == before


def test_the_advice_for_missing_options_works(tmp_path: Path, sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = awkward(tmp_path)
    refused = sitr("start", source, "--json").error()
    assert "--budget" in refused["given"]
    assert "مدخن text, أيام integer, visit_id integer, with decimal commas" in refused["given"]
    options = refused["do"].removesuffix(" --accept-types alone confirms all that was detected.")
    advice = shlex.split(options.removeprefix("Add for example ").removesuffix("."))
    done = sitr("start", source, *advice)
    assert (done.code, done.err) == (0, "")


def plain(folder: Path) -> Path:
    path = folder / "plain.csv"
    path.write_text(
        "person_id,class,cost,day\n" + "".join(f"{row},{row % 3},{row}.5,0{row}/02/2024\n" for row in range(1, 10))
    )
    return path


ASKED = {
    "Corrections": "ok",
    "Format of dates": "%d/%m/%Y",
    "Bounds of class": "",
    "Bounds of cost": "0:50",
    "Step of cost": "0.5",
    "Public values of class": "0,1,2",
}


@pytest.mark.slow
def test_codes_are_proposed_as_keys_and_dates_are_declared(tmp_path: Path) -> None:
    plain(tmp_path)
    done = talk("start", "plain.csv", answers=ASKED, folder=tmp_path)
    assert done.code == 0, done.text
    assert done.text.index("Format of dates (such as %d.%m.%Y)") < done.text.index("Corrections")
    written = load(tmp_path / "plain.sitr.yaml")
    assert written.format is not None
    assert written.format.date_format == "%d/%m/%Y"
    column = written.table.find("class")
    assert column is not None
    assert column.keys == (0, 1, 2)
    (words,) = (shlex.split(line) for line in done.text.splitlines() if line.startswith("  sitr protect "))
    assert "--accept-types" not in words
    assert words[words.index("--date-format") + 1] == "%d/%m/%Y"


@pytest.mark.slow
def test_one_answer_can_be_taken_back_after_another(tmp_path: Path) -> None:
    """Two steps back from the budget, over the name of the table, to the codes; then forward again."""
    plain(tmp_path)
    forward = talk("start", "plain.csv", answers=ASKED, folder=tmp_path)
    before = (tmp_path / "plain.sitr.yaml").read_bytes()
    for made in tmp_path.glob("plain.sitr.*"):
        made.unlink() if made.is_file() else None
    again = {**ASKED, "Public values of class": "7,8", "Budget": "<", "Name of the table": "<"}
    back = talk("start", "plain.csv", answers=again, folder=tmp_path, then={"Public values of class": "0,1,2"})
    assert back.code == 0, back.text
    assert (tmp_path / "plain.sitr.yaml").read_bytes() == before
    assert back.text.count("Public values of class") == forward.text.count("Public values of class") + 1
    assert back.text.count("Corrections") == forward.text.count("Corrections")  # answers given again are not shown


@pytest.mark.slow
def test_there_is_nothing_before_the_first_question(tmp_path: Path) -> None:
    plain(tmp_path)
    done = talk("start", "plain.csv", answers={"Format of dates": "<"}, folder=tmp_path)
    assert "This is the first question." in done.text
    assert done.code == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [80, 120])
def test_every_line_fits_the_terminal(tmp_path: Path, width: int) -> None:
    """Except commands, which are copied."""
    plain(tmp_path)
    done = talk("start", "plain.csv", answers=ASKED, folder=tmp_path, width=width)
    assert done.code == 0, done.text
    assert not [line for line in done.text.splitlines() if len(line) > width and not line.startswith("  sitr ")]


def test_the_tables_of_a_database_are_listed(tmp_path: Path, sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("hospital.duckdb") as engine:
        engine.execute('CREATE TABLE stays (patient_id INTEGER, ward VARCHAR); CREATE TABLE "My Beds" (bed INTEGER)')
        engine.execute("CREATE VIEW seen AS FROM stays")
    answers = {"Table, or its number": "bedds"}
    done = talk("start", "hospital.duckdb", answers=answers, then={"Table, or its number": "2"}, folder=tmp_path)
    assert done.code == 0, done.text
    assert "There is no table 'bedds'." in done.text
    assert '1  "My Beds"' in done.text
    assert "seen" not in done.text
    assert yaml.safe_load(Path("stays.sitr.yaml").read_text("utf-8"))["table"] == "stays"
    told = sitr("start", "hospital.duckdb", "--lang", "ar").err
    assert "stays" in told
    assert "Its tables" not in told
    made = sitr("start", "hospital.duckdb", "--table", '"My Beds"', "--unit-row", "--budget", "pure(1)")
    assert made.code == 0, made.err


@pytest.mark.parametrize(("answer", "zone"), [("", "UTC"), ("europe/paris", "Europe/Paris")])
def test_the_zone_of_moments_is_asked_for(tmp_path: Path, answer: str, zone: str) -> None:
    lines = [f"{row},2024-0{1 + row % 9}-01T00:30:00+02:00" for row in range(40)]
    (tmp_path / "visits.csv").write_text("patient_id,at\n" + "\n".join(lines) + "\n")
    done = talk("start", "visits.csv", answers={"Time zone of at": answer}, folder=tmp_path)
    assert done.code == 0, done.text
    assert "Time zone of at [UTC]: " in done.text
    assert f"--zone at={zone}" in done.text.replace("\r\n", " ")
    assert yaml.safe_load((tmp_path / "visits.sitr.yaml").read_text("utf-8"))["columns"]["at"] == {
        "type": "timestamptz",
        "zone": zone,
    }
