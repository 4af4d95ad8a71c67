"""Rows of one joint table: exactly its law, in the types of the columns, and none that breaks a rule."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from sitr.errors import FewerThanAsked
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.frame import column
from sitr.questions.arrow import arrow_type
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.sheet import Sheet


@pytest.fixture
def joint(sheet: Sheet, town: Codes) -> Portrait:
    planned = plan(sheet, ZeroConcentratedDP(0.5), method=Method.JOINT)
    schema = pa.schema([(axis.column.name, arrow_type(axis.column.kind)) for axis in sheet.axes])
    rule = ((column("ok") == False) & (column("ward") == "d")).expression  # noqa: E712
    measured = measure(planned, town, coins=TestCoins(4))
    return portrait(measured, schema=schema, never=(rule,))


def test_marginals_are_sums(joint: Portrait) -> None:
    whole = joint.model
    assert isinstance(whole, np.ndarray)
    cube = whole.reshape(joint.plan.sheet.grid.shape)
    np.testing.assert_allclose(joint.marginal(1), cube.sum(axis=(0, 2, 3)))
    np.testing.assert_allclose(joint.marginal(0, 2), cube.sum(axis=(1, 3)))
    np.testing.assert_allclose(joint.marginal(2, 0), joint.marginal(0, 2).T)


def test_rows_follow_the_table_given_the_rule(joint: Portrait) -> None:
    rows = joint.draw(60_000, coins=TestCoins(9))
    wards, oks = rows["ward"].to_pylist(), rows["ok"].to_pylist()
    counts = np.zeros((4, 2))
    for ward, ok in zip(wards, oks, strict=True):
        counts["abcd".index(ward), int(ok)] += 1
    assert counts[3, 0] == 0
    share = joint.marginal(1, 3).copy()
    share[3, 0] = 0.0
    expected = share / share.sum() * 60_000
    known = expected > 0
    statistic = float(((counts - expected)[known] ** 2 / expected[known]).sum())
    low, high = chi2.ppf([1e-7, 1 - 1e-7], known.sum() - 1)
    assert low < statistic < high
    wrong = joint.marginal(1, 3) * 60_000  # the law without the rule would be noticed
    assert float(((counts - wrong) ** 2 / wrong).sum()) > high


def test_the_schema_says_what_it_is(joint: Portrait) -> None:
    rows = joint.draw(0, coins=TestCoins(1))
    assert rows.schema.names == ["age", "ward", "cost", "ok"]


def test_a_rule_that_forbids_everything(joint: Portrait) -> None:
    nothing = Portrait(joint.measured, joint.model, joint.schema, (column("ok").is_in([True, False]).expression,))
    assert nothing.draw(0, coins=TestCoins(1)).num_rows == 0
    with pytest.warns(FewerThanAsked, match="Only 0 of 5 rows could be drawn.* Loosen the rules"):
        assert nothing.draw(5, coins=TestCoins(1)).num_rows == 0
