"""From the words of a command line to a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import promise
from sitr.cli.terminal import BadUsage
from sitr.errors import DescriptionError

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.query.frame import Condition
    from sitr.session.budget import Budget
    from sitr.session.dataset import Dataset
    from sitr.session.question import Question


def question(description: Path, sql: str, *, budget: str | None, ledger: Path | None) -> Question:
    """The checked question, charged to the budget that the description names; only if it names none, to one given here.

    A second ledger would be a second budget for the same people: whoever may ask could ask for ever.
    """
    opened = dataset_budget(description, budget=budget, ledger=ledger)
    try:
        return opened.sql(sql)
    except DescriptionError as error:  # of a SUM without bounds
        do = f"{error.do} The option of sitr protect is --bounds COLUMN=LOW:HIGH."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do) from None


def dataset_budget(description: Path, *, budget: str | None, ledger: Path | None) -> Budget:
    """The one budget of a described data set."""
    from sitr.session.dataset import open as open_description

    promised = promise(budget) if budget is not None else None
    return _budget(open_description(description), promised, ledger, named_in=description)


def condition(text: str, *, table: str) -> Condition:
    """What is written after a WHERE."""
    from sitr.query.frame import Condition
    from sitr.query.sql import parse

    name = table.replace('"', '""')
    where = parse(f'SELECT COUNT(*) AS n FROM "{name}" WHERE {text}').where
    assert where is not None
    return Condition(where)


def _budget(dataset: Dataset, promised: Kept | None, ledger: Path | None, *, named_in: Path) -> Budget:
    from sitr.flavors.notation import write

    named = dataset.described
    if named is None or named.promise is None or named.ledger is None:
        if promised is None or ledger is None:
            raise BadUsage(
                wanted=f"A question is charged to a budget, and {named_in} names none.",
                given=f"{'--ledger' if ledger is None else '--budget'} is missing.",
                do="Give --budget 'zcdp(0.5)' --ledger sitr.db, the same with each question, or to sitr protect.",
            )
        return dataset.budget(promised, ledger=ledger)
    others = [] if promised in (None, named.promise) else [f"--budget {write(promised)}"]
    others += [] if ledger is None or ledger.resolve() == named.ledger.resolve() else [f"--ledger {ledger}"]
    if others:
        raise BadUsage(
            wanted=f"{named_in} names the one budget of this data set: {write(named.promise)} in {named.ledger}.",
            given=f"{' '.join(others)} was given.",
            do="Leave it out; nothing was spent.",
        )
    return dataset.budget()
