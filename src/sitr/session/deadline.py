"""Answers that leave at a time that is fixed before any row is read.

How long a reading takes depends on the rows. With SITR_ANSWER_ROWS set to a public number of rows, such as 10000000, an
answer leaves when

    4 · (0.25 s + rows · (0.5 µs · scans + 0.05 µs · (measurements + nodes))
              + 15 ns · (100 · rows + 10,000,000) · letters)

have passed since the charge, and so does the error if there is none. All of these numbers are public: the steward
declares the rows, the plan has the measurements, and the question has scans of the table, nodes of expressions and
passes over the letters of texts (`sitr.session.cost`). The factor is generous, so that the time is nearly always
enough: `benchmarks/deadlines.py` compares it with what several shapes of questions take.

Texts have at most 100 letters on average, unless SITR_ANSWER_LETTERS declares another public number, and 1,000 more may
have 10,000 letters each, which is what a pattern sees of a text. So a slow condition that is evaluated for the rows of
one person only, whose texts are long, has its time in every deadline.

A question with two stages has a deadline for each: the second one begins when the first has left.

An answer that takes longer leaves at the next multiple of this time. Which multiple it is depends on the rows, and no
promise covers it: its receipt, the kept answer and its certificate say so. Without the setting nothing is promised
about time, and certificates say that.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sitr.dataclass import dataclass
from sitr.errors import InvalidUse
from sitr.ledger.departure import Departure
from sitr.namespace import Later
from sitr.plans.plan import Plan

if TYPE_CHECKING:
    from sitr.session import cost as costs
    from sitr.session.cost import Cost
else:  # it knows all readings, and a preview reads nothing
    costs = Later("sitr.session.cost")

VARIABLE, LETTERS_VARIABLE = "SITR_ANSWER_ROWS", "SITR_ANSWER_LETTERS"
FACTOR, START, SCAN, EACH, LETTER = 4, 0.25, 5e-7, 5e-8, 1.5e-8
"""A generous factor; the seconds of a question, of a row in a scan, of a row and a node, and of a letter in a pass."""
PIECE = 1e9
"""The longest sleep in one piece, in seconds."""
USUAL, LONG = 100, 1_000
"""The letters of a text on average, and the texts that may be as long as they can."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the steward declares about all tables: their rows, and the letters of a text on average, at most."""

    rows: int
    letters: int = USUAL


def declared() -> Declared | None:
    """The public numbers in the environment; None if answers leave when they are ready."""
    rows = _number(VARIABLE, example=10_000_000)
    letters = _number(LETTERS_VARIABLE, example=USUAL)
    return None if rows is None else Declared(rows, USUAL if letters is None else letters)


def _number(variable: str, *, example: int) -> int | None:
    given = os.environ.get(variable, "").strip()
    if not given:
        return None
    if not re.fullmatch("[0-9]{1,15}", given):
        raise InvalidUse(
            wanted=f"a public number such as {example} in {variable}",
            given=repr(given),
            do="Correct the variable, or unset it: then answers leave when they are ready.",
        )
    return int(given)


def seconds(public: Declared, measurements: int, work: Cost) -> float:
    """How long an answer takes in all, from public numbers.

    >>> from sitr.session.cost import Cost
    >>> count = Cost(nodes=2, scans=1)
    >>> round(seconds(Declared(10_000_000), 1, count)), round(seconds(Declared(1000), 1, count + Cost(letters=3)), 4)
    (27, 2.8206)
    """
    row = SCAN * max(work.scans, 1) + EACH * (measurements + work.nodes)
    letters = public.letters * public.rows + LONG * costs.LONGEST
    return FACTOR * (START + public.rows * row + LETTER * letters * work.letters)


@contextmanager
def padded(plan: Plan, public: Declared | None, reading: Any) -> Iterator[list[Departure]]:
    """Wait until the deadline, however the work inside ends; if it is over already, until its next multiple.

    The list has the departure afterwards; it stays empty where nothing is promised about time.
    """
    departed: list[Departure] = []
    if public is None:
        yield departed
        return
    whole = seconds(public, len(plan.measurements), costs.cost(reading)) + plan.solving
    start = time.monotonic()
    try:
        yield departed
    finally:
        used = time.monotonic() - start
        multiple = max(math.ceil(used / whole), 1)
        _wait(multiple * whole - used)
        departed.append(Departure(whole, multiple))


def _wait(rest: float) -> None:
    """Sleep in pieces: the system refuses centuries, and that error would lose an answer that was paid for."""
    while rest > PIECE:
        time.sleep(PIECE)
        rest -= PIECE
    time.sleep(rest)
