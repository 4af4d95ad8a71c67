"""Formats that are declared for CSV files."""

from __future__ import annotations

import pytest

from sitr.dataset.csv_format import check_written
from sitr.errors import DescriptionError


@pytest.mark.parametrize("marker", ["", " NA", "NA\t", chr(0xDCFF), "a" + chr(0xD800)])
def test_a_null_marker_that_no_field_can_be_is_refused(marker: str) -> None:
    """Bytes of a shell that are not UTF-8 arrive as half characters, which DuckDB cannot be given."""
    check_written({"nulls": ["NA", "-", "غير معروف", "\U0001f5ff"]})
    with pytest.raises(DescriptionError, match="a list of values that mean no value"):
        check_written({"nulls": ["NA", marker]})
