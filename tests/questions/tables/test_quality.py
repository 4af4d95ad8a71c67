"""Quality marks: from noisy numbers, by a public rule."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.errors import InvalidParameter
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.questions.tables.quality import QualityRule, small, variation
from tests.report.test_tables import made

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


def test_marks_change_at_their_limits() -> None:
    rule = QualityRule(good=0.1, fair=0.2, poor=0.3)
    assert rule.mark(np.array([0.1, 0.11, 0.2, 0.21, 0.3, 0.31])).tolist() == ["A", "B", "B", "C", "C", "X"]


@pytest.mark.parametrize("limits", [{"good": 0}, {"good": 0.2, "fair": 0.1}, {"poor": 0.01}, {"small": -1}])
def test_limits_in_disorder_are_refused(limits) -> None:
    with pytest.raises(InvalidParameter):
        QualityRule(**limits)


def test_variation_is_the_deviation_by_the_number() -> None:
    found = made(ZeroConcentratedDP(0.5))
    plan, (count, total, mean) = found.plan, found.plan.measures
    node = plan.workload.tables[0]
    exact = np.sqrt(plan.variances(count, node)) / np.abs(found.cells(count, node))
    np.testing.assert_allclose(variation(found, count, node), exact)
    assert (variation(found, total, node) > 0).all()
    assert np.isfinite(variation(found, mean, node)).all()


def test_only_counts_are_small() -> None:
    found = made(ZeroConcentratedDP(0.5))
    count, total, _ = found.plan.measures
    node = found.plan.workload.tables[0]
    assert small(found, count, node, QualityRule(small=10**6)).all()
    assert not small(found, count, node, QualityRule(small=0)).any()
    assert not small(found, total, node, QualityRule(small=10**6)).any()
