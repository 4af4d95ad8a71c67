"""Which inputs are neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.audit.exact.neighbors import Neighbors, neighboring
from sitr.audit.exact.table import Table
from sitr.errors import FileError, InvalidParameter


def table(*names: object) -> Table:
    return Table.of([[1]] * len(names), inputs=names)  # type: ignore[arg-type]


def test_relations() -> None:
    named = table("a", "b", "c")
    assert neighboring(named, "all").tolist() == [[0, 1], [0, 2], [1, 2]]
    assert neighboring(named, Neighbors.ADJACENT).tolist() == [[0, 1], [1, 2]]
    assert neighboring(named, [("c", "a"), ("a", "c"), ("b", "b")]).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    "names", [("00", "01", "10", "11"), ("0 0", "0 1", "1 0", "1 1"), ("0,0", "0,1", "1,0", "1,1")]
)
def test_hamming(names: tuple[str, ...]) -> None:
    assert neighboring(table(*names), "hamming").tolist() == [[0, 1], [0, 2], [1, 3], [2, 3]]


def test_pairs_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("a,b\n\nb, c\n")
    assert neighboring(table("a", "b", "c"), tmp_path / "pairs.csv").tolist() == [[0, 1], [1, 2]]
    with pytest.raises(FileError, match="Cannot read"):
        neighboring(table("a", "b"), str(tmp_path / "missing.csv"))
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="no CSV file"):
        neighboring(table("a", "b"), tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("names", "neighbors", "message"),
    [
        (("a", "b"), "near", "neighbours: all"),
        (("a", "b"), [("a", "x")], "name of an input"),
        (("a", "b"), [("a",)], "pairs of neighbouring"),
        (("a", "b"), [], "at least one pair"),
        (("a",), "all", "at least one pair"),
        (("a b", "c"), "hamming", "same number of records"),
    ],
)
def test_what_is_no_relation(names: tuple[str, ...], neighbors: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        neighboring(table(*names), neighbors)
