"""Errors are told in three lines or as JSON, with the right exit code and without a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr import errors
from sitr.cli.terminal import table, wrapped
from sitr.errors import Excerpt, SitrError, cells, printable
from sitr.report.text.terminal import as_text
from tests.cli.terminal import talk

Sitr = Callable[..., Any]

ASK = ("ask", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.1)")
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SitrError)]
BAD_INPUT = {
    "InvalidParameter",
    "InvalidUse",
    "InvalidPromise",
    "IncompatiblePromises",
    "DescriptionError",
    "QuestionError",
    "UnknownName",
    "ForbiddenConstruct",
    "BadUsage",
}


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("pathlib.Path.exists", lambda _: True)  # the command looks for the description first
    monkeypatch.setattr("sitr.session.dataset.open", fail)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_its_exit_code(sitr: Sitr, monkeypatch: pytest.MonkeyPatch, kind: type[SitrError]) -> None:
    failing(monkeypatch, kind(wanted="This.", given="That.", do="Something."))
    done = sitr(*ASK, "--json")
    assert done.code == (2 if kind.__name__ in BAD_INPUT else 1)
    said = {"wanted": "This.", "given": "That.", "do": "Something.", "excerpt": None}
    assert done.error() == {"error": kind.__name__} | said


def test_an_error_points_at_a_part_of_a_text(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a\n\tb\x1b[31m [red]c"
    place = Excerpt.of(text, text.index("c"), len(text))
    failing(monkeypatch, errors.QuestionError(given="The c is wrong.", do="Leave it out.", excerpt=place))
    assert sitr(*ASK, "--json").error()["excerpt"] == {
        "text": "\tb\x1b[31m [red]c",
        "line": 2,
        "column": 14,
        "length": 1,
    }
    assert sitr(*ASK).err.splitlines() == [
        "error: The c is wrong. Leave it out.",
        "line 2:     b�[31m [red]c",
        "                        ^",
    ]


def test_an_error_is_one_line_of_two_sentences(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(
        monkeypatch, errors.BudgetExceeded(wanted="this", given="that " * 50 + "one", do="[red]Try[/red] :cat: again.")
    )
    done = sitr(*ASK)
    assert done.out == ""
    assert done.err == "error: Expected this, got " + "that " * 50 + "one. [red]Try[/red] :cat: again.\n"


LONG = (
    "SELECT ward, AVG(cost) AS mean_cost_of_a_visit, LAG(cost) OVER (ORDER BY day) AS before FROM visits GROUP BY ward"
)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_an_error_on_a_terminal_is_broken_between_words(sitr: Sitr, description: Path, language: str) -> None:
    words = ("ask", description, LONG, "--price", "zcdp(0.1)", "--lang", language)
    plain = sitr(*words)
    text = talk(*words, folder=description.parent, width=60).text
    assert plain.code == 2
    assert " ".join(text.split()) == " ".join(plain.err.split())  # no word is lost or broken
    kept = [line for line in plain.err.splitlines() if "^" in line or line.startswith(("SELECT", "line ", "السطر "))]
    assert len(kept) >= 3
    lines = text.splitlines()
    assert [line for line in lines if line in kept] == kept  # what is pointed at, and what is there to paste
    others = [line for line in lines if line not in kept]
    assert len(others) > 3
    assert all(cells(line) <= 60 for line in others)


def test_json_on_a_terminal_is_not_broken(description: Path) -> None:
    text = talk("ask", description, LONG, "--price", "zcdp(0.1)", "--json", folder=description.parent, width=40).text
    assert json.loads(text)["error"] == "ForbiddenConstruct"


def test_a_word_is_longer_than_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert wrapped("one two three-and-more four") == "one two\nthree-and-more\nfour"
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert wrapped("one two three-and-more four") == "one two three-and-more four"


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (FileNotFoundError(2, "No such file", "gone"), "Cannot use the file gone: No such file."),
        (OSError("a broken disk"), "a broken disk."),
    ],
)
def test_system_errors_are_reported(sitr: Sitr, monkeypatch: pytest.MonkeyPatch, error: OSError, given: str) -> None:
    failing(monkeypatch, error)
    done = sitr(*ASK, "--json")
    assert done.code == 1
    assert done.error()["given"] == given


def test_interruption_is_quiet(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    done = sitr(*ASK)
    assert (done.code, done.out, done.err) == (130, "", "")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("ask",), "DESCRIPTION"),
        (("ask", "visits.sitr.yaml", "SELECT 1"), "--price"),
        (("ask", "--prize", "zcdp(1)"), "--prize"),
        (("demo", "--rows", "many"), "--rows"),
        (("demo", "--rows", "0"), "--rows"),
        (("protect", "visits.parquet", "--relation", "cousins"), "cousins"),
        (("ledger", "show"), "LEDGER"),
    ],
)
def test_usage_errors_look_like_all_others(sitr: Sitr, words: tuple[str, ...], named: str) -> None:
    plain, machine = sitr(*words), sitr(*words, "--json")
    assert plain.code == machine.code == 2
    (line,) = plain.err.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(" --help to see how to use it.")
    assert named in line
    assert machine.error()["error"] == "BadUsage"


def test_colours_are_for_terminals_that_want_them(sitr: Sitr) -> None:
    plain = sitr("ask")
    coloured = sitr("ask", environment={"FORCE_COLOR": "1"})
    refused = sitr("ask", environment={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b" not in plain.err
    assert "\x1b[1;31merror:" in coloured.err
    assert "\x1b[1;31m" not in refused.err


def test_names_cannot_act_on_the_terminal(sitr: Sitr, description: Path) -> None:
    done = sitr("ask", description, 'SELECT SUM("\x1b[31mred\u202e") AS n FROM visits', "--price", "zcdp(0.1)")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_printable_keeps_other_scripts() -> None:
    assert printable("قسم القلب ± 3 €") == "قسم القلب ± 3 €"


def test_tables_of_commands_cut_no_word() -> None:
    cells = ("a_data_set_with_a_name_that_is_longer_than_the_terminal", "person (patient_identifier), add-remove")
    made = table("data set", "protects each")
    made.add_row(*cells)
    for width in (120, 40, 12):
        letters = [letter for letter in as_text(made, width=width) if letter.isalpha() or letter in "_…"]
        wanted = [
            letter for letter in "".join(("data set", "protects each", *cells)) if letter.isalpha() or letter == "_"
        ]
        assert sorted(letters) == sorted(wanted)


def test_the_list_of_commands_has_whole_sentences(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for language in ("en", "ar"):
        for words in ((), ("ledger",)):
            shown = sitr("--lang", language, *words, "--help").out
            listed = shown.split("\n\n")[-1]
            assert "..." not in listed
            assert "…" not in listed
