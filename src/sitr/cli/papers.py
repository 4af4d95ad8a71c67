"""Files that hold an answer: each is written whatever happens to the others, and a paid answer is never lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Protocol

from sitr.cli.terminal import json_text, say_json
from sitr.errors import FileError

if TYPE_CHECKING:
    from sitr.ledger.ledger import Ledger

Writers = Mapping[Path, Callable[[Path], object]]
Failures = dict[Path, Exception]


class Answered(Protocol):
    """Any answer that machines can read."""

    def to_dict(self) -> dict[str, object]:
        """Everything on its certificate."""


def write_each(writers: Writers) -> Failures:
    """Write every file; what fails is returned, and no half-written file is left."""
    failed: Failures = {}
    for path, write in writers.items():
        try:
            write(path)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files and the answer come first
            failed[path] = error
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return failed


def write_answer(answer: Answered, writers: Writers, *, ledger: Ledger) -> None:
    """Write every file; if one fails, keep the whole answer in another place and say where."""
    if failed := write_each(writers):
        kept = _fallback(answer, ledger)
        raise unwritten(failed, f"The answer was paid for. It is kept in {kept}." if kept else "The answer is above.")


def unwritten(failed: Failures, do: str) -> FileError:
    """What to say of files that could not be written."""
    reasons = (f"{path}: {getattr(error, 'strerror', None) or type(error).__name__}." for path, error in failed.items())
    return FileError(wanted="Every file was to be written.", given=" ".join(reasons), do=do)


def _fallback(answer: Answered, ledger: Ledger) -> Path | None:
    """The answer as JSON: beside the ledger, or in the folder for temporary files, or on standard output."""
    content = answer.to_dict()
    home: Path | None = getattr(ledger, "path", None)
    stem = home.stem if home is not None else "sitr"
    for folder in (*([home.parent] if home is not None else []), Path(gettempdir())):
        path = folder / f"{stem}.entry-{content['entry']}.json"
        with suppress(OSError), path.open("x", encoding="ascii") as file:
            file.write(json_text(content) + "\n")
            return path
    say_json(content)
    return None
