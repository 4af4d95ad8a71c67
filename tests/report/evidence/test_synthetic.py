"""The checker derives, from caps and bounds alone, how far one unit moves what is measured about synthetic rows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.audit.checker.sitr_check import distance
from sitr.dataset.schema import Kind
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.quality_plan import Judged
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.sheet import Sheet
from sitr.report.evidence.synthetic import moves
from tests.oracles.axes import granular, keyed

AXES = (
    granular("age", Kind.INTEGER, 0, 9, Fraction(1), 5, nulls=True),
    keyed("ward", Kind.TEXT, keys=("a", "b", "c")),
    granular("cost", Kind.INTEGER, 0, 9, Fraction(1), 10),
    keyed("ok", Kind.BOOLEAN, keys=(False, True)),
)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("most_rows", [1, 3])
def test_the_distance_of_every_measurement_is_derived(relation: Relation, most_rows: int) -> None:
    sheet = Sheet(AXES, Row(), relation, most_rows)
    question = SyntheticQuestion(
        sheet, "town", Method.MARGINALS, quality=ZeroConcentratedDP(0.1), judged=Judged(1, triples=True)
    )
    plan = question.plan(ZeroConcentratedDP(1.0))
    names = [each.name for each in plan.measurements]
    assert names[-5:] == ["distances", "correlations", "triples", "subgroups", "regression"]
    for each, moved in zip(plan.measurements, moves(plan), strict=True):
        assert moved is not None
        assert each.distance is not None
        found = distance(moved[0].to_dict())
        assert found["l1"] == each.distance.l1
        assert found["l2_squared"] == each.distance.l2_squared
        assert found["largest"] == each.distance.largest
