"""`--lang ar` speaks Arabic only: reports, tables and files; code, names and JSON stay as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.cli.main import COMMANDS, GROUPS
from sitr.dataset.hospital import WARDS
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

WARD = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"
PRICE = ("--price", "zcdp(0.05)")
NAMES = {*WARDS, "ward", "visits", "total"}


def latin(text: str) -> set[str]:
    """Latin words outside of isolates, which hold formulas, code and the user's own words."""
    return set(re.findall(r"[A-Za-z]{2,}", re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", " ", text)))


def test_an_answer_is_in_arabic(sitr: Sitr, description: Path) -> None:
    done = sitr("ask", description, WARD, *PRICE, "--lang", "ar")
    assert (done.code, done.err) == (0, "")
    assert "الخصوصية التفاضلية المركزة الصفرية" in done.out
    assert latin(done.out) <= NAMES
    again = sitr("ask", description, WARD, *PRICE, "--lang", "ar")
    assert "ولم يُنفق شيء" in again.out
    assert latin(again.out) <= NAMES
    assert "zero-concentrated differential privacy" in sitr("ask", description, WARD, *PRICE).out


def test_a_preview_is_in_arabic_but_for_the_question(sitr: Sitr, description: Path) -> None:
    done = sitr("preview", description, WARD, *PRICE, "--lang", "ar", environment={"COLUMNS": "400"})
    assert done.code == 0
    assert latin(done.out.replace(WARD, "")) <= NAMES | {"COUNT", "SUM", "cost"}


def test_the_locale_chooses_arabic(sitr: Sitr, description: Path) -> None:
    arabic = {"LANG": "ar_EG.UTF-8", "LC_ALL": None, "LC_MESSAGES": None}
    assert latin(sitr("ask", description, WARD, *PRICE, environment=arabic).out) <= NAMES


def test_files_are_in_arabic_and_json_is_in_english(sitr: Sitr, description: Path) -> None:
    files = ("--certificate", "page.html", "--label", "card.html", "--plot", "chart.svg", "-o", "rows.json")
    assert sitr("ask", description, WARD, *PRICE, *files, "--lang=ar").code == 0
    for page in ("page.html", "card.html"):
        assert '<html lang="ar" dir="rtl">' in Path(page).read_text(encoding="utf-8")
    assert "مع فترات" in Path("chart.svg").read_text(encoding="utf-8")
    assert not re.search("[\u0621-\u064a]", Path("rows.json").read_text(encoding="utf-8"))
    verified = sitr("verify", "page.html", "--ledger", "sitr.db", "--lang", "ar")
    assert verified.code == 0
    assert verified.out.startswith("صحيحة")


def test_a_ledger_is_in_arabic(sitr: Sitr, description: Path) -> None:
    sitr("ask", description, "SELECT COUNT(*) AS n FROM visits", *PRICE)
    for command in (("ledger", "show"), ("ledger", "answers")):
        done = sitr(*command, "sitr.db", "--lang", "ar", environment={"COLUMNS": "400"})
        assert done.code == 0
        (entry,) = SqlLedger("sitr.db", create=False).entries()
        assert latin(done.out.replace(entry.by, "")) <= {"SELECT", "COUNT", "AS", "FROM", "visits"}


@pytest.mark.parametrize(
    "words",
    [
        ("calibrate", "sigma", "--epsilon", "1", "--delta", "1e-5", "--steps", "3"),
        ("dpsgd", "--examples", "60000", "--batch", "600", "--epochs", "1", "--epsilon", "3", "--delta", "1e-5"),
        ("account", "schedule.yaml", "--delta", "1e-6"),
        ("compare", "schedule.yaml", "--delta", "1e-6"),
        ("convert", "zcdp(0.5)", "--to", "approximate", "--delta", "1e-6", "--group", "2"),
    ],
    ids=lambda words: words[0],
)
def test_accounts_are_in_arabic(sitr: Sitr, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "schedule.yaml").write_text("- {pure: {epsilon: 0.1}, times: 10}\n")
    done = sitr(*words, "--lang", "ar")
    assert (done.code, done.err) == (0, "")
    assert re.search("[\u0621-\u064a]", done.out)
    assert latin(done.out) <= {"approximate", "epsilon", "delta"}


def said_in_arabic(text: str) -> bool:
    """Whether a text holds Arabic, and outside of isolates no words but code: options, and what is in quotes."""
    outside = re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", " ", text)
    return bool(re.search("[\u0621-\u064a]", text)) and not re.search(r"[A-Za-z]{3,}", outside)


def english_inside(text: str) -> list[str]:
    """English sentences that an isolate hides: four plain words in a row."""
    code = r"SELECT|pip install|--\w+"
    isolates = re.findall("[\u2066\u2068]([^\u2066\u2068\u2069]*)\u2069", text)
    return [each for each in isolates if re.search(r"(?:\b[a-z]{2,}\b ){3}", each) and not re.search(code, each)]


COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    "words",
    [
        ("ask", "visits.sitr.yaml", "SELECT wrd, COUNT(*) FROM visits GROUP BY wrd", *PRICE),
        ("ask", "visits.sitr.yaml", "SELEC ward", *PRICE),
        ("ask", "visits.sitr.yaml", "SELECT COUNT(*) FROM visit", *PRICE),
        ("ask", "visits.sitr.yaml", "SELECT STRING_AGG(cost) FROM visits", *PRICE),
        ("ask", "visits.sitr.yaml", "SELECT COUNT(*) FROM visits JOIN wards ON a = b", *PRICE),
        ("ask", "visits.sitr.yaml", COUNT, "--price", "zcdpp(1)"),
        ("ask", "visits.sitr.yaml", COUNT, "--price", "zcdp(9)"),
        ("ask", "visits.sitr.yaml", COUNT, "--prise", "zcdp(9)"),
        ("ask", "visits.sitr.yaml", COUNT, *PRICE, "--certificate", "page.txt"),
        ("ask", "visits.sitr.yaml", COUNT, *PRICE, "--title", "A title"),
        ("ask", "visits.sitr.yaml"),
        ("ask", "nothing.yaml", COUNT, *PRICE),
        ("aks",),
        ("ledger", "shwo"),
        ("ledger", "show", "nothing.db"),
        ("ledger", "answers", "nothing.db"),
        ("show", "nothing.db", "7"),
        ("verify", "visits.parquet", "--ledger", "nothing.db"),
        ("registry", "visits.sitr.yaml", "-o", "."),
        ("registry", "visits.sitr.yaml", "-o", ".", "--sector", "x", *("--purpose", "x", "--region", "x")),
        ("start", "nothing.csv"),
        ("start", "visits.parquet"),
        ("protect", "visits.parquet"),
        ("histogram", "visits.sitr.yaml", "--column", "wrd", *PRICE),
        ("synthesize", "visits.sitr.yaml", "--columns", "ward", *PRICE),
        ("calibrate", "sigma", "--epsilon", "1", "--delta", "1e-5", "--steps", "x"),
        ("calibrate", "tau", "--epsilon", "1", "--delta", "1e-5"),
        ("convert", "pure(1)", "--to", "foo"),
        ("explain", "pure(-1)"),
        ("explain", "pure(1)", "more"),
        ("explain", "pure(1)", "--digits", "roman"),
        ("explain",),
    ],
    ids=" ".join,
)
def test_errors_are_in_arabic_with_their_suggestions(sitr: Sitr, description: Path, words: tuple[str, ...]) -> None:
    assert description.exists()
    done = sitr(*words, "--lang", "ar")
    assert done.code in (1, 2)
    assert done.out == ""
    first, *_ = done.err.split("\n")
    assert said_in_arabic(first), done.err
    assert english_inside(done.err) == []


def test_questions_that_are_not_sql_are_in_arabic_in_a_ledger_and_on_pages(sitr: Sitr, description: Path) -> None:
    wide: dict[str, str | None] = {"COLUMNS": "400"}
    files = ("--certificate", "page.html")
    histogram = sitr("histogram", description, "--column", "ward", *PRICE, *files, "--lang", "ar")
    assert histogram.code == 0
    preview = sitr(
        "histogram",
        description,
        "--column",
        "cost",
        "--bins",
        "5",
        *PRICE,
        "--preview",
        "--lang",
        "ar",
        environment=wide,
    )
    assert preview.out.startswith("هيستوغرام")
    for command in ("show", "answers"):
        done = sitr("ledger", command, "sitr.db", "--lang", "ar", environment=wide)
        assert "هيستوغرام" in done.out
        assert "HISTOGRAM" not in done.out
        assert "HISTOGRAM OF ward" in sitr("ledger", command, "sitr.db", environment=wide).out
    assert "HISTOGRAM" not in sitr("verify", "page.html", "--ledger", "sitr.db", "--lang", "ar").out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "HISTOGRAM OF" not in page.partition("<template")[0]


INDIC = ("--lang", "ar", "--digits", "arabic-indic")


def latin_digits(text: str) -> list[str]:
    """Words with Latin digits outside of isolates that hold names and code."""
    outside = re.sub("\u2068[^\u2068\u2069]*\u2069|\u2066[^\u2066\u2069]*[A-Za-z]{2}[^\u2066\u2069]*\u2069", " ", text)
    return re.findall(r"\S*[0-9]\S*", outside)


def test_digits_are_chosen_by_option_or_environment(sitr: Sitr, description: Path) -> None:
    done = sitr("ask", description, WARD, *PRICE, *INDIC)
    assert (done.code, done.err) == (0, "")
    assert re.search("[٠-٩]", done.out)
    assert latin_digits(done.out) == []
    environment: dict[str, str | None] = {"SITR_DIGITS": "arabic-indic"}
    assert sitr("ask", description, WARD, *PRICE, "--lang", "ar", environment=environment).out.count("٪") > 0
    assert not re.search("[٠-٩]", sitr("ask", description, WARD, *PRICE, environment=environment).out)
    chosen = sitr("ask", description, WARD, *PRICE, "--lang", "ar", "--digits=latin", environment=environment)
    assert not re.search("[٠-٩]", chosen.out)


def test_files_have_the_chosen_digits_and_json_has_its_own(sitr: Sitr, description: Path) -> None:
    files = ("--certificate", "page.html", "--label", "card.html", "--plot", "chart.svg", "-o", "rows.json")
    done = sitr("ask", description, WARD, *PRICE, *files, *INDIC, "--json")
    assert done.code == 0
    for name in ("page.html", "card.html", "chart.svg"):
        assert re.search("[٠-٩]", Path(name).read_text(encoding="utf-8"))
    assert not re.search("[٠-٩٫٬٪]", done.out + Path("rows.json").read_text(encoding="utf-8"))
    assert sitr("verify", "page.html", "--ledger", "sitr.db", *INDIC).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "zcdp(0.5)"),
        ("convert", "zcdp(0.5)", "--to", "approximate", "--delta", "1e-6", "--group", "2"),
        ("calibrate", "sigma", "--epsilon", "1", "--delta", "1e-5", "--steps", "3"),
        ("compare", "schedule.yaml", "--delta", "1e-6"),
    ],
    ids=lambda words: words[0],
)
def test_accounts_have_the_chosen_digits_and_json_has_its_own(sitr: Sitr, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "schedule.yaml").write_text("- {pure: {epsilon: 0.1}, times: 10}\n")
    done = sitr(*words, *INDIC)
    assert done.code == 0
    assert re.search("[٠-٩]", done.out)
    promises = re.compile(r"\w+\([\w=., -]*\)")  # as they are written on the command line
    assert latin_digits(promises.sub("", done.out)) == []
    assert not re.search("[٠-٩٫٬٪]", sitr(*words, *INDIC, "--json").out)


def test_unknown_digits_are_refused(sitr: Sitr) -> None:
    done = sitr("explain", "pure(1)", "--digits", "roman")
    assert done.code == 2
    assert "Expected --digits with one of latin, arabic-indic, got 'roman'." in done.err
    assert sitr("explain", "pure(1)", environment={"SITR_DIGITS": "roman"}).code == 2


def test_a_ledger_has_the_chosen_digits_but_not_in_questions(sitr: Sitr, description: Path) -> None:
    sitr("ask", description, "SELECT COUNT(*) AS n7 FROM visits", *PRICE)
    for command in ("show", "answers"):
        done = sitr("ledger", command, "sitr.db", *INDIC, environment={"COLUMNS": "400"})
        assert "SELECT COUNT(*) AS n7 FROM visits" in done.out
        assert latin_digits(done.out.replace("n7", "")) == []
        assert re.search("[٠-٩]", done.out)


@pytest.mark.parametrize("command", [(), *((name,) for name in (*COMMANDS, *GROUPS)), ("ledger", "show")], ids=" ".join)
def test_help_is_in_arabic_but_for_code(sitr: Sitr, command: tuple[str, ...]) -> None:
    done = sitr(*command, "--help", "--lang", "ar", environment={"COLUMNS": "200"})
    assert done.code == 0
    assert not re.search(r"<[a-z]+( range)?>|<list|\[default|\[required|\[OPTIONS|\[ARGS|Show this", done.out)
    plain = re.sub(r"\u2066[^\u2069]*\u2069|مثال: (.+\n)+|sitr [a-z -]+|--[a-z-]+ [a-z]+", "", done.out)
    assert re.findall(r"\b[a-z]{3,} [a-z]{3,}\b", plain) == []


@pytest.mark.parametrize(
    "schedule",
    [
        "a: 1",
        "- pure: x",
        "- pure: {epsilon: 1}\n  times: -3",
        "- gaussian: {sigm: 1}",
        "- pure: {epsilon: -1}",
        "- gauss: 1",
    ],
)
def test_errors_in_a_schedule_are_in_arabic(sitr: Sitr, folder: Path, schedule: str) -> None:
    (folder / "wrong.yaml").write_text(schedule)
    told = sitr("--lang", "ar", "account", folder / "wrong.yaml", "--delta", "1e-6").err
    assert "المتوقَّع" in told
    for isolate in re.findall("\u2068([^\u2069]*)\u2069", told):
        assert not re.search(r"\b(in|of|to|the|list|number|names)\b", isolate), told
