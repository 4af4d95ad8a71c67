"""Who is protected, in the words that English sentences share."""

from __future__ import annotations

from sitr.mechanisms.additive import Noise
from sitr.neighbors.unit import Person
from sitr.numbers import Number, exact
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.report.figures import about, counted
from sitr.report.words.protects import Protects


def unit(query: Protects) -> str:
    """The unit of protection in one word."""
    return "person" if isinstance(query.unit, Person) else "row"


def units(query: Protects) -> str:
    """The unit of protection in the plural."""
    return "people" if isinstance(query.unit, Person) else "rows"


def caps(query: BoundedQuery) -> str:
    """The most rows of one person."""
    groups = f" in each of at most {counted(query.max_groups, 'group')}" if query.keys else ""
    total = "" if query.max_rows is None else f", and at most {counted(query.max_rows, 'row')} in all"
    return f"at most {counted(query.max_rows_per_group, 'row')}{groups}{total}"


def noise(law: Noise, *, granularity: Number = 1) -> str:
    """The law of the noise and its scale, with the value of one granule."""
    parameter = "scale" if law.symbol == "scale" else f"{law.symbol} ="
    return f"{law.law}, {parameter} {about(law.size * exact(granularity))}"


def nobody(query: Protects) -> str:
    """No answer has an infinite loss."""
    return f"Nobody can be exposed outright: no possible answer rules a {unit(query)} in or out for certain."
