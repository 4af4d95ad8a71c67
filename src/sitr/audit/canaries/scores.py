"""Scores of canaries in a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

from sitr.errors import FileError, SourceError

YES, NO = frozenset({"1", "true", "yes", "in"}), frozenset({"0", "false", "no", "out"})


def read_scores(path: Path) -> tuple[list[float], list[bool]]:
    """The columns `score` and `included`; the latter is 1 or 0, true or false, yes or no, in or out."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else "it is not text in UTF-8"
        raise FileError(given=f"Cannot read {path}: {reason}.", do="Check the path.") from None
    scores, included = [], []
    for number, row in enumerate(rows, start=2):
        said = str(row.get("included", "")).strip().lower()
        try:
            score = float(row["score"])
        except (KeyError, TypeError, ValueError):
            raise _unreadable(path, number) from None
        if said not in YES | NO:
            raise _unreadable(path, number)
        scores.append(score)
        included.append(said in YES)
    if not rows:
        raise _unreadable(path, 1)
    return scores, included


def _unreadable(path: Path, line: int) -> SourceError:
    return SourceError(
        given=f"Line {line} of {path} has no score with a yes or no.",
        do="Write a CSV file with the columns score and included, which is 1 or 0.",
    )
