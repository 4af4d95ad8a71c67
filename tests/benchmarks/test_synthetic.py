"""The benchmark measures what it claims: errors of known tables, and targets with the right direction."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import known_tables
from benchmarks.known_tables import known_table
from benchmarks.synthetic import (
    Census,
    Found,
    ask,
    bootstrap,
    described,
    errors,
    flights,
    independent,
    independent_laplace,
    mean_error,
    ours,
    spread,
    targets,
)
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

GENERATOR = np.random.default_rng(2)
AGE = GENERATOR.integers(0, 6, 4000)
CENSUS = Census(("age", "ward", "ok"), (6, 3, 2), np.column_stack([AGE, AGE // 2, GENERATOR.integers(0, 2, 4000)]))


def test_errors() -> None:
    assert mean_error(CENSUS, CENSUS.rows) == 0.0
    apart = np.column_stack([AGE, (AGE // 2 + 1) % 3, CENSUS.rows[:, 2]])
    assert mean_error(CENSUS.only(["age", "ward"]), apart[:, :2]) == pytest.approx(2.0)


def test_errors_of_triples() -> None:
    assert errors(CENSUS, CENSUS.rows, size=3) == [0.0]
    apart = np.column_stack([AGE, (AGE // 2 + 1) % 3, CENSUS.rows[:, 2]])
    assert errors(CENSUS, apart, size=3) == [pytest.approx(2.0)]


def test_a_described_file_is_cut_into_its_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,k\n0,b\n9.9,a\n50,\n,a\n")
    (tmp_path / "a.yaml").write_text("x: {bounds: [0, 10], bins: 5}\nk: {keys: [a, b], null: true}\n")
    census = described(tmp_path / "a.csv", tmp_path / "a.yaml")
    assert (census.names, census.cells) == (("x", "k"), (6, 3))
    assert census.rows.tolist() == [[0, 1], [4, 0], [4, 2], [5, 0]]


def test_methods_have_the_expected_order() -> None:
    near, far = ours(CENSUS), independent(CENSUS)
    assert near.error < 0.5 * far.error
    assert 0 < bootstrap(CENSUS).error < far.error
    assert near.draw > 0


def test_laplace_noise_is_better_for_few_columns_and_worse_for_many() -> None:
    """Of d shares, Laplace noise grows with d and Gaussian noise with √d. At (0.1, 10⁻⁹) they meet near a dozen."""
    rho = ZeroConcentratedDP.fitting(ApproximateDP(0.1, 1e-9)).rho

    def both(census: Census) -> tuple[float, float]:
        found = [(independent_laplace(census, epsilon=0.1).error, independent(census, rho=rho).error) for _ in range(3)]
        return float(np.mean([each[0] for each in found])), float(np.mean([each[1] for each in found]))

    few = Census(("a", "b"), (64, 64), GENERATOR.integers(0, 64, (3_000, 2)))
    laplace, gauss = both(few)
    assert laplace < gauss
    many = Census(tuple(f"c{n}" for n in range(40)), (16,) * 40, GENERATOR.integers(0, 16, (20_000, 40)))
    laplace, gauss = both(many)
    assert gauss < laplace


def test_a_table_of_a_package_is_cut_into_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"x": [0.0, 9.99, 50.0, None], "k": ["b", "a", None, "a"], "other": 1})
    described = {"x": (0.0, 10.0), "k": None}
    monkeypatch.setattr(known_tables, "KNOWN", {"mine": (lambda: rows, described)})
    cells, ordered, codes = known_table("mine")
    assert (cells, ordered) == ({"x": 65, "k": 3}, ["x"])
    assert codes.tolist() == [[0, 1], [63, 0], [63, 2], [64, 0]]
    wide = pd.DataFrame(
        {"n": np.arange(100), "k": np.arange(100) % 3, "same": 1, "id": [f"p{n}" for n in range(100)] * 1}
    )
    bounds = dict(known_tables._by_itself(wide))
    low, high = bounds.pop("n") or (math.nan, math.nan)
    assert (low, round(high, 1)) == (0.0, 98.9)
    assert bounds == {"k": None, "id": None}


def test_made_up_flights_depend_on_each_other() -> None:
    census = flights(20_000)
    assert census.rows.shape == (20_000, 11)
    assert (census.rows.min(axis=0) >= 0).all()
    assert (census.rows.max(axis=0) < census.cells).all()
    carrier, plane = (census.rows[:, census.names.index(name)] for name in ("carrier", "plane"))
    assert (plane // 4 == carrier).all()
    assert (flights(20_000).rows == census.rows).all()
    generator = np.random.default_rng(1)
    torn = np.column_stack([generator.permutation(column) for column in census.rows.T])
    assert mean_error(census, torn) > 0.3


def test_targets() -> None:
    judged = targets(Found(0.07, 100.0, 4.0), Found(0.03, 1.0))
    assert [target.verdict for target in judged] == ["pass", "pass", "FAIL", "pass"]
    assert targets(Found(), Found())[0].verdict == "not measured"


def test_missing_libraries_are_reported() -> None:
    found = ask("smartnoise-synth MST", CENSUS)
    assert math.isnan(found.error) == bool(found.trouble)


def test_several_runs_have_a_mean_and_a_spread() -> None:
    assert spread([0.25]) == "0.2500"
    assert spread([0.1, 0.2, 0.3]) == "0.2000 ± 0.1000"
    assert spread([math.nan, 0.2]) == ""
