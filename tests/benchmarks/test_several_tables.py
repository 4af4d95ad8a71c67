"""What the benchmark of several tables compares, on tables that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import several_tables as benchmark


def small(planes: int = 200) -> benchmark.Frames:
    """Large planes fly far, with one carrier, and are cancelled where they start."""
    plane = np.arange(planes)
    large, flown = plane % 2 == 0, np.repeat(plane, 3)
    of = large[flown]
    return {
        "planes": pd.DataFrame({"plane": plane, "manufacturer": np.where(large, "A", "B"), "seats": 40 + 200 * large}),
        "flights": pd.DataFrame({
            "plane": flown, "date": np.tile([1, 20, 300], planes), "carrier": np.where(of, "x", "y"),
            "origin": np.where(of, "j", "l"), "distance": np.where(of, 2500, 300),
        }),
        "cancelled": pd.DataFrame({"plane": plane[::2], "origin": "j", "month": 1 + plane[::2] % 12}),
    }  # fmt: skip


def test_distances_are_those_of_shares_between_tables() -> None:
    data = small()
    true = benchmark.shares(data)
    assert set(benchmark.apart(true, true).values()) == {0.0}
    assert ("manufacturer", "carrier") in true
    assert ("origin", "origin of cancelled") in true
    assert ("rows of planes", "rows of flights") in true
    far = benchmark.apart(true, benchmark.shares(benchmark.exchanged(data)))
    assert far["manufacturer", "carrier"] == pytest.approx(1.0, abs=0.2)  # of 2: half of the rows are elsewhere
    assert benchmark.apart(true, benchmark.shares(benchmark.again(data)))["manufacturer", "carrier"] < 0.3
    kinds = {benchmark.kind(pair) for pair in true}
    assert kinds == {"numbers of rows", "planes × flights", "planes × cancelled", "flights × cancelled"}
    assert benchmark.kind(("carrier", "origin of cancelled")) == "flights × cancelled"


def test_what_passes_between_tables_is_kept(tmp_path: Path) -> None:
    data = small(2000)
    made = benchmark.request(data, tmp_path, ("flights.carrier",)).release(rho=2)
    drawn = {name: made.tables[name].to_pandas() for name in data}
    true = benchmark.shares(data)
    ours, mixed = (benchmark.apart(true, benchmark.shares(rows)) for rows in (drawn, benchmark.exchanged(drawn)))
    for pair in (("manufacturer", "carrier"), ("seats", "distance"), ("carrier", "origin of cancelled")):
        assert ours[pair] < 0.2
    assert mixed["manufacturer", "carrier"] > 0.6
