"""Answers that leave at a time that is fixed before any row is read.

How long a reading takes depends on the rows. With SITR_ANSWER_ROWS set to a public number of rows, such as 10000000, an
answer leaves when

    4 · (0.25 s + rows · (0.2 µs · (1 + measurements + nodes) + 15 ns · 10,000 letters · parts))

have passed since the charge, and so does the error if there is none. All of these numbers are public: the steward
declares the rows, the plan has the measurements, and the question has nodes of expressions and parts of patterns
(`sitr.session.cost`). The factor is generous, so that the time is nearly always enough. A pattern may take 60 ns for
each letter and part, so that questions with patterns wait long; this is what hides how many rows they were tried on.

A question with two stages has a deadline for each: the second one begins when the first has left.

An answer that takes longer leaves at the next multiple of this time, without a warning. Which multiple it is depends
on the rows, and no promise covers it: late answers are outside of the promise about time. So are texts of more than
10,000 letters. Without the setting nothing is promised about time.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sitr.errors import InvalidUse
from sitr.plans.plan import Plan
from sitr.session.cost import LETTERS, Cost, cost

VARIABLE = "SITR_ANSWER_ROWS"
FACTOR, START, EACH, LETTER = 4, 0.25, 2e-7, 1.5e-8
"""A generous factor, the seconds of any question, those of a row and a node, and those of a letter and a part."""


def declared() -> int | None:
    """The public number of rows in the environment; None if answers leave when they are ready."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return None
    if not re.fullmatch("[0-9]{1,15}", given):
        raise InvalidUse(
            wanted=f"a public number of rows such as 10000000 in {VARIABLE}",
            given=repr(given),
            do="Correct the variable, or unset it: then answers leave when they are ready.",
        )
    return int(given)


def seconds(rows: int, measurements: int, work: Cost) -> float:
    """How long an answer takes in all, from public numbers.

    >>> seconds(10_000_000, 2, Cost()), round(seconds(1000, 2, Cost(nodes=3, parts=10)), 4)
    (25.0, 7.0048)
    """
    row = EACH * (1 + measurements + work.nodes) + LETTER * LETTERS * work.parts
    return FACTOR * (START + rows * row)


@contextmanager
def padded(plan: Plan, rows: int | None, reading: Any) -> Iterator[None]:
    """Wait until the deadline, however the work inside ends; if it is over already, until its next multiple."""
    if rows is None:
        yield
        return
    whole = seconds(rows, len(plan.measurements), cost(reading))
    start = time.monotonic()
    try:
        yield
    finally:
        used = time.monotonic() - start
        time.sleep(max(math.ceil(used / whole), 1) * whole - used)
