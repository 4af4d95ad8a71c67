"""Tables from files and Arrow tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sitr.audit.exact.mechanism import finite
from sitr.audit.exact.reading import read_table
from sitr.errors import FileError, InvalidParameter


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("input,yes,no\nyes,3/4,0.25\nno,1/4,3/4\n")
    table = read_table(path)
    assert (table.inputs, table.outcomes) == (("yes", "no"), ("yes", "no"))
    assert table.exact_row(0) == (Fraction(3, 4), Fraction(1, 4))
    path.write_text("a,b\n0.333333333333,0.666666666667\n0.1,0.9\n")
    assert read_table(str(path)).inputs == ("1", "2")
    path.write_text("a,b\n0.3333333333333333,0.6666666666666666\n0.5,0.5\n")
    assert read_table(path).rows is None


@pytest.mark.parametrize("text", ["", "a,b\n", "input,a\nx,1,2\n", "input\n1\n"])
def test_what_is_no_csv_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(FileError, match="as a table of probabilities"):
        read_table(tmp_path / "table.csv")
    with pytest.raises(FileError, match="Cannot read"):
        read_table(tmp_path / "missing.csv")
    (tmp_path / "words.csv").write_text("input,a,b\nx,some,words\n")
    with pytest.raises(InvalidParameter, match=r"0\.25 or 1/3"):
        read_table(tmp_path / "words.csv")


def test_parquet_and_arrow(tmp_path: Path) -> None:
    table = pa.table({"input": ["x", "y"], "a": [0.25, 0.75], "b": [0.75, 0.25]})
    parquet.write_table(table, tmp_path / "table.parquet")
    for read in (read_table(tmp_path / "table.parquet"), read_table(table)):
        assert (read.inputs, read.outcomes) == (("x", "y"), ("a", "b"))
        assert read.rows is not None
    assert read_table(table.drop_columns(["input"])).inputs == ("1", "2")
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(FileError, match="no Parquet file"):
        read_table(tmp_path / "bad.parquet")
    with pytest.raises(FileError, match="Cannot read"):
        read_table(tmp_path / "missing.parquet")
    with pytest.raises(InvalidParameter):
        read_table(pa.table({"a": [0.5, None], "b": [0.5, 1.0]}))


def test_arrays_are_tables() -> None:
    assert finite(np.array([[0.25, 0.75], [0.75, 0.25]])).epsilon().odds == 3


@pytest.mark.parametrize("cell", ["1e400", "-1e400", "1e999999999", "1/1e999999999"])
def test_numbers_beyond_floats_are_refused_at_once(cell: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"input,a,b\nx,{cell},0\ny,0,1\n")
    with pytest.raises(InvalidParameter, match="probabilities"):
        read_table(tmp_path / "table.csv")
