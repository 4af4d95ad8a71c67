"""The benchmark of tables runs, and finds less error than equal shares."""

from __future__ import annotations

from benchmarks.tables import measured, question


def test_small_tables_are_measured() -> None:
    found = measured(question(4, 3, (1, 2)), 500)
    assert found["tables"] == 10
    assert found["cells"] == 4 * 3 + 6 * 9
    assert found["largest error"] < found["error of equal shares"]
    assert found["above the optimum, %"] <= 1
