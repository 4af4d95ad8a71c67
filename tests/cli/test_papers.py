"""A file that cannot be written costs neither the other files nor the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.cli.papers import TABLES, publish, unwritten, write_each
from sitr.errors import FileError, NotKept
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

ASKED = ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--price", "zcdp(0.05)")


def full(path: Path) -> None:
    path.write_text("half of")
    raise OSError(28, "No space left on device")


def odd(_: Path) -> None:
    raise TypeError("a column of a type that CSV does not know")


def test_the_others_are_written(tmp_path: Path) -> None:
    bad, good, odder = (tmp_path / name for name in ("bad.csv", "good.csv", "odd.csv"))
    failed = write_each({bad: full, good: lambda path: path.write_text("whole"), odder: odd})
    assert list(failed) == [bad, odder]
    assert good.read_text() == "whole"
    assert not bad.exists()
    assert unwritten(failed, "Go on.").given == (
        f"Could not write {bad} (No space left on device), {odder} (TypeError)."
    )


def asked(ledger: Path | str) -> Any:
    people = pa.table({"ward": ["a", "b", "b"], "age": [1, 2, 3]})
    data = sitr.protect(people, unit=sitr.Row(), keys={"ward": ["a", "b"]}, name="people")
    return data.budget(sitr.PureDP(5), ledger=ledger).group_by("ward").agg(n=sitr.count())


def test_a_file_that_fails_names_the_kept_answer_and_how_to_read_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = asked(tmp_path / "my ledger.db")
    answer = request.release(sitr.PureDP(1))
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    files = {bad: lambda _, path: full(path), good: TABLES[".csv"]}
    with pytest.raises(FileError) as told:
        publish(answer, files, as_json=False, whole=True)
    kept = tmp_path / "my ledger.answers" / "entry-1.json"
    assert answer.receipt.kept == kept
    assert f"is kept in {kept}: repeat the command" in told.value.do
    assert good.exists()
    assert "left" in capsys.readouterr().out
    again = request.release(sitr.PureDP(1))
    publish(again, {bad: TABLES[".csv"]}, as_json=True, whole=False)
    assert bad.read_text() == good.read_text()
    assert json.loads(capsys.readouterr().out)["receipt"]["kept"] == str(kept)


def test_an_answer_that_is_kept_nowhere_is_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sitr.session.kept._write", lambda *_, **__: full(tmp_path / "any"))
    with pytest.warns(NotKept):
        answer = asked(tmp_path / "sitr.db").release(sitr.PureDP(1))
    with pytest.raises(FileError, match="is above"):
        publish(answer, {tmp_path / "bad.csv": lambda _, path: full(path)}, as_json=False, whole=False)
    assert json.loads(capsys.readouterr().out)["rows"]


@pytest.fixture(name="run")
def command(sitr: Sitr) -> Sitr:
    """`sitr` as a function; here the name is that of the package."""
    return sitr


def test_a_certificate_and_a_label_name_their_publisher(run: Sitr, description: Path) -> None:
    said = ("--title", "Visits by ward", "--organisation", "Clinic", "--contact", "a@b", "--purpose", "Beds")
    files = ("--certificate", "page.html", "--label", "label.html")
    assert run("ask", description, *ASKED, *files, *said, "--caveat", "Late.", "--caveat", "Few.").code == 0
    page, label = Path("page.html").read_text("utf-8"), Path("label.html").read_text("utf-8")
    for part in ("Visits by ward", "Clinic", "a@b", "Beds", "Late.", "Few."):
        assert part in page
    for part in ("Visits by ward", "Clinic", "a@b"):
        assert part in label


def test_the_description_names_the_publisher_unless_an_option_does(run: Sitr, description: Path) -> None:
    description.write_text(description.read_text("utf-8") + "publication: {title: Beds, contact: a@b}\n", "utf-8")
    assert run("ask", description, *ASKED, "--certificate", "page.html", "--title", "Visits by ward").code == 0
    page = Path("page.html").read_text("utf-8")
    assert "<h1><bdi>Visits by ward</bdi></h1>" in page
    assert "a@b" in page


@pytest.mark.parametrize(
    "words",
    [
        ("--title", "Visits"),
        ("--caveat", "Late."),
        ("--certificate", "page.html", "--label", "page.html"),
        ("--label", "label.pdf"),
    ],
)
def test_pages_that_cannot_be_written_are_refused_before_the_charge(
    run: Sitr, description: Path, words: tuple[str, ...]
) -> None:
    error = run("ask", description, *ASKED, *words, "--json").error()
    assert error["error"] == "BadUsage"
    assert "nothing was spent" in error["do"]
    assert SqlLedger("sitr.db", create=False).entries() == []


def test_synthetic_rows_have_a_label_too(run: Sitr, description: Path) -> None:
    words = ("--columns", "ward", "--rows", 50, "-o", "rows.csv", "--label", "label.html", "--title", "Wards")
    assert run("synthesize", description, "--price", "zcdp(0.05)", *words).code == 0
    label = Path("label.html").read_text("utf-8")
    assert "50 rows of 1 column" in label
    assert "Wards" in label
