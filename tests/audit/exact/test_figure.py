"""A figure names its pair and its outcomes in few words."""

from __future__ import annotations

from sitr.audit.exact.figure import SHOWN, Figure
from sitr.numbers import Interval


def test_ends_and_places() -> None:
    found = Figure(Interval(0.5, 0.75), ("a", ("prior 1", "yes")), ("x", "y"))
    assert (found.lower, found.upper) == (0.5, 0.75)
    assert found.place().startswith("a → ")
    assert "yes" in found.place()
    assert found.event() == "x, y"


def test_many_outcomes_are_counted_and_not_listed() -> None:
    names = tuple(f"z{place}" for place in range(SHOWN + 3))
    assert Figure(Interval(0, 1), ("a", "b"), names).event() == "z0, z1, z2, z3, z4, z5, … (3 more)"
    assert "more" not in Figure(Interval(0, 1), ("a", "b"), names[:SHOWN]).event()
