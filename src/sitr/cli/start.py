"""`sitr start`: from a file to a description that can be asked, by a few questions."""

from __future__ import annotations

from dataclasses import replace

from sitr.cli.choices import Choices
from sitr.cli.dialogue import on_terminal
from sitr.cli.grouped import grouped
from sitr.cli.interview import interview
from sitr.cli.options import Json
from sitr.cli.protect import describe, looked


@grouped
def start(choices: Choices, as_json: Json = False) -> None:
    """Set up a data set by answering questions.

    Looks at the names and types of columns, asks who is protected and what is public, proposes answers, writes the
    description, opens the budget and shows what to ask next. Every answer can be given as an option. Without a
    terminal, missing options are refused, all at once; the ledger is then SOURCE.sitr.db unless another is given.

    Example: sitr start visits.csv
    """
    choices.check_target()
    if on_terminal(as_json=as_json):
        describe(*interview(choices), as_json=as_json)
        return
    found = looked(choices, as_json=as_json)
    choices = replace(choices, ledger=choices.ledger or choices.beside(".sitr.db"))
    choices.check_complete(found, budget=True)
    describe(choices, found, as_json=as_json)
