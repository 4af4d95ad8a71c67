"""What data sets, budgets and questions show of themselves: facts about what is public, and what is left."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Column as Described
from sitr.dataset.schema import Table as Description
from sitr.namespace import Later
from sitr.neighbors.unit import Person
from sitr.report.envelope import promise_dict
from sitr.report.figures import legible, shortened, visible
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role, periods
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    from sitr.accounting.in_advance import InAdvance
    from sitr.report import standing as shown_standing
else:  # only the paper of a budget needs it
    shown_standing = Later("sitr.report.standing")

_MOST_LETTERS = 60
"""The most letters of a list of public values, and of a question in one line."""


def dataset(table: Description, facts: Facts = (), *, words: Words | None = None) -> Paper:
    """What is public about a data set; more `facts` come last. For machines it is

    ============  ======================================================================================================
    name          of the data set
    protects      who is protected; `caps` are `max_groups`, `max_rows_per_group` and `max_rows` or null
    columns       `name`, `type`, `bounds` (`low`, `high`, `granularity`) and the number of public `keys`, each or null
    ============  ======================================================================================================
    """
    words = in_words(words)
    rows = [_described(column, table, words) for column in table.columns]
    headings = (
        PaperColumn(words.label("column"), Role.KEY),
        *(PaperColumn(words.label(name)) for name in ("type", "bounds", "public values")),
    )
    say = words.summary
    return Paper(
        words,
        "",
        (("protects", words.protected(table)), ("caps", say.caps(table)), *facts),
        lambda: _dataset(table),
        value=say.dataset(table),
        table=PaperTable(headings, lambda: rows, len(rows)),
    )


def _described(column: Described, table: Description, words: Words) -> tuple[str, ...]:
    say = words.summary
    if isinstance(table.unit, Person) and column.name == table.unit.column:
        values = say.identifies()
    else:
        listed = words.comma.join(words.aggregate.key(key) for key in column.keys or ())
        values = say.values(column, shortened(listed, most=_MOST_LETTERS))
    return visible(column.name), type_of(column, words), say.bounds(column), values


def type_of(column: Described, words: Words) -> str:
    """The type of a column, with the zone in which its moments are read."""
    found = words.label(column.kind.value)
    return found if column.zone is None else f"{found} ({column.zone})"


def _plain(end: object) -> float | str | None:
    """A bound as JSON: a date is text, and has no granularity."""
    return float(end) if isinstance(end, Fraction) else None if end is None else str(end)


def _bounds(column: Described) -> dict[str, float | str | None] | None:
    if column.bounds is None:
        return None
    low, high, granularity = map(_plain, (*column.bounds, column.granularity))
    return {"low": low, "high": high, "granularity": granularity}


def _dataset(table: Description) -> dict[str, Any]:
    return {
        "kind": "data set",
        "name": table.name,
        "protects": table.neighbors(),
        "caps": {
            "max_groups": table.max_groups,
            "max_rows_per_group": table.max_rows_per_group,
            "max_rows": table.max_rows,
        },
        "columns": [
            {
                "name": column.name,
                "type": column.kind.value,
                "bounds": None
                if column.bounds is None
                else dict(
                    zip(("low", "high", "granularity"), map(_plain, (*column.bounds, column.granularity)), strict=True)
                ),
                "keys": None if column.keys is None else len(column.keys),
            }
            for column in table.columns
        ],
    }


def budget(
    name: str,
    table: Description,
    standing: Filter,
    *,
    in_advance: InAdvance | None = None,
    words: Words | None = None,
) -> Paper:
    """What is spent and what is left of a budget, and what its promise means.

    `in_advance` is the total of the same charges as a plan fixed in advance, which the budget does not use.
    """
    words = in_words(words)
    facts: Facts = (
        ("promise", words.promise(standing.promise)),
        *periods(table, words),
        ("meaning", shown_standing.meaning(standing, table, words)),
        ("spent", words.notation(standing.spent())),
        ("left", words.notation(standing.remaining(), left=True)),
        ("answers", words.numerals(str(standing.charges))),
        *((("in advance", words.standing.in_advance(fixed)),) if (fixed := in_advance) and fixed.telling else ()),
    )
    return Paper(
        words,
        "",
        facts,
        lambda: {
            "kind": "budget",
            "dataset": name,
            "protects": table.neighbors(),
            "promise": promise_dict(standing.promise),
            "spent": promise_dict(standing.spent()),
            "remaining": promise_dict(standing.remaining()),
            "answers": standing.charges,
            **shown_standing.recorded_dict(standing, in_advance),
        },
        value=words.summary.budget(name, standing),
        standing=standing,
    )


def question(text: str, table: Description, standing: Filter, *, words: Words | None = None) -> Paper:
    """A checked question, before it has a price."""
    words = in_words(words)
    say = words.summary
    facts: Facts = (
        ("question", words.question(legible(text))),
        ("protects", say.unit(table)),
        ("caps", say.caps(table)),
        ("left now", words.left_of(standing)),
        ("next", say.next_step()),
    )
    remaining = standing.remaining()
    content = {"kind": "question", "question": text, "dataset": table.name, "remaining": promise_dict(remaining)}
    return Paper(words, "", facts, lambda: content)


def in_one_line(text: str) -> str:
    """A question, cut to fit in a line with other words."""
    return shortened(visible(legible(text)), most=2 * _MOST_LETTERS)
