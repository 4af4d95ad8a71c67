"""Scores of canaries from a CSV file: what is read, and which line is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.audit.canaries.scores import read_scores
from sitr.errors import FileError, SourceError


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "scores.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_every_way_to_say_yes_and_no(tmp_path: Path) -> None:
    said = ["1", "true", "YES", " in ", "0", "False", "no", "out"]
    rows = "\n".join(f"{place},{word}" for place, word in enumerate(said))
    scores, included = read_scores(written(tmp_path, f"score,included\n{rows}\n"))
    assert scores == [float(place) for place in range(8)]
    assert included == [True] * 4 + [False] * 4


def test_columns_by_name_and_a_mark_at_the_beginning(tmp_path: Path) -> None:
    """Spreadsheets write a byte-order mark, and other columns."""
    found = read_scores(written(tmp_path, "\ufeffname,included,score\r\na,1,-2.5e-3\r\n"))
    assert found == ([-0.0025], [True])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("score,included\n1,1\n2,maybe\n", 3),
        ("score,included\nx,1\n", 2),
        ("score\n1\n", 2),
        ("points,included\n1,1\n", 2),
        ("score,included\n1\n", 2),
        ("score,included\n", 1),
        ("", 1),
    ],
)
def test_the_line_that_cannot_be_read_is_named(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(SourceError, match=f"Line {line} of"):
        read_scores(written(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Cannot read"):
        read_scores(tmp_path / "missing.csv")
    with pytest.raises(FileError, match="not text in UTF-8"):
        read_scores(written(tmp_path, b"\xff\xfe\x00"))
