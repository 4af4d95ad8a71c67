"""From the words of a command line to a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import promise

if TYPE_CHECKING:
    from sitr.session.question import Question


def question(description: Path, sql: str, *, budget: str | None, ledger: Path | None) -> Question:
    """The checked question; a budget and a ledger that are given here come before the description's."""
    from sitr.session.dataset import open as open_description

    promised = promise(budget) if budget is not None else None
    dataset = open_description(description)
    return dataset.budget(promised, ledger=ledger).sql(sql)
