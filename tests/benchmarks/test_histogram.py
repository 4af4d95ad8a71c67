"""The benchmark of histograms measures what it claims to measure. No times are compared."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.histogram import (
    CASES,
    DEFAULT,
    DENSE,
    KNOWN,
    SEED,
    STABILITY,
    Counting,
    Range,
    Sparse,
    best_cpu,
    counting,
    errors,
    errors_table,
    projecting,
    ranges,
    report,
    rules,
    targets,
)
from sitr.questions.histogram.projection import Ties


def test_tables_are_as_full_as_stated() -> None:
    counts = Sparse(40, 300, 5, 1.0).draw(np.random.default_rng(1))
    assert counts.sum() == 300
    assert (counts > 0).sum() <= 5


def test_without_noise_no_rule_has_an_error() -> None:
    counts = SEED.draw(np.random.default_rng(2))
    for name, rule in rules(SEED).items():
        if name != STABILITY:  # it always drops small counts
            assert np.abs(rule(counts.astype(float)) - counts / 500).sum() == pytest.approx(0.0)


def test_the_known_order_of_the_rules_is_found() -> None:
    """Drop smallest is far ahead for few full cells, then the soft threshold."""
    found = errors(SEED, repeat=40)
    drop, soft = found[SEED, Ties.DROP_SMALLEST.value], found[SEED, Ties.SOFT_THRESHOLD.value]
    assert drop < 0.15 < soft < 0.4 < found[SEED, Ties.BY_INDEX.value]
    assert found[SEED, DEFAULT] <= 1.05 * drop
    dense = errors(DENSE, repeat=20)
    assert (
        dense[DENSE, DEFAULT] <= 1.05 * dense[DENSE, Ties.PROPORTIONAL.value] < dense[DENSE, Ties.DROP_SMALLEST.value]
    )
    real = errors(SEED, repeat=40, real=True)
    assert real[SEED, Ties.SOFT_THRESHOLD.value] == pytest.approx(KNOWN[SEED, Ties.SOFT_THRESHOLD.value], rel=0.15)


def test_sitr_and_duckdb_count_the_same_file(tmp_path: Path) -> None:
    found = list(counting(tmp_path, 1_000, repeat=1))
    assert [one.kind for one in found] == ["real", "integer"]
    assert all(one.sitr > 0 and one.duckdb > 0 for one in found)
    assert best_cpu(lambda: sum(range(100_000)), repeat=2) > 0


def test_intervals_of_ranges_contain_the_sum_as_often_as_stated() -> None:
    found = list(ranges(runs=1_000, repeat=1, cells=(5, 2_000)))
    assert [(one.noise, one.cells) for one in found[:2]] == [("Laplace", 5), ("Laplace", 2_000)]
    assert all(one.seconds > 0 for one in found)
    assert all(abs(one.held - 0.95) < 0.04 for one in found if one.cells == 5)
    assert all(math.isnan(one.held) for one in found if one.cells == 2_000)


def test_targets_are_judged_and_reported() -> None:
    found = {(case, name): 0.1 for case in CASES for name in (DEFAULT, *(ties.value for ties in Ties))}
    counted = [Counting(10, "real", 3.0, 1.0)]
    summed = [Range("Laplace", 7, 0.97, 0.2), Range("Laplace", 9, math.nan, 0.01)]
    judged = list(targets(found, dict(KNOWN), counted, {"x": 0.5}, summed))
    verdicts = {target.text: target.verdict for target in judged}
    assert verdicts["distance from 95% of what is held, sums of 7 cells, Laplace"] == "FAIL"
    assert verdicts["CPU seconds, interval of a range of cells"] == "FAIL"
    assert verdicts["CPU / DuckDB's GROUP BY, 10 rows, real"] == "FAIL"
    assert [verdict for text, verdict in verdicts.items() if "known" in text] == ["pass"] * (len(KNOWN) - 1)
    missing = list(targets(found, {}, counted, {}, []))
    assert any(math.isnan(target.found) and target.verdict == "not measured" for target in missing)
    assert json.dumps(report(found, counted, projecting(repeat=1, cells=100), summed, judged))
    assert errors_table(found, dict(KNOWN)).row_count == len(found)
