"""SDMX-CSV 2.0, read by a reader that was written from the standard."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pytest

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import QualityRule
from sitr.questions.tables.sdmx import identifiers, written
from tests.report.test_tables import made

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

RULE = QualityRule(good=0.001, fair=0.05, poor=0.1)
ID = r"[A-Za-z][A-Za-z0-9_\-]*"
CODE = r"[A-Za-z0-9_@$\-]+"


def read(text: str) -> Iterator[dict[str, tuple[str, str]]]:
    """Observations: for each component its code and its name, as "labels=both" writes them.

    The first columns are STRUCTURE, STRUCTURE_ID and ACTION, the separator follows STRUCTURE, and identifiers end at
    the first ": ".
    """
    assert text.startswith("STRUCTURE,")
    assert "\r\n" in text
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    components = [name.partition(": ")[0] for name in head[3:]]
    assert len(set(components)) == len(components)
    assert all(re.fullmatch(ID, each) for each in components)
    for row in rows:
        assert len(row) == len(head)
        assert row[0] in ("dataflow", "datastructure", "dataprovision")
        assert re.match(rf"{ID}:{ID}\(\d+\.\d+\.\d+\)", row[1])
        assert row[2] in ("I", "A", "R", "D", "M")
        yield {name: value.partition(": ")[::2] for name, value in zip(components, row[3:], strict=True)}


@pytest.fixture
def publication() -> PublishedTables:
    return made(ZeroConcentratedDP(0.02))


def test_every_number_is_an_observation_with_a_key_of_its_own(publication: PublishedTables) -> None:
    found = list(read(written(publication, rule=RULE, withhold=False)))
    plan = publication.plan
    assert len(found) == sum(map(plan.workload.cells, plan.workload.tables)) * len(plan.measures)
    dimensions = list(found[0])[:3]
    keys = [tuple(each[name][0] for name in dimensions) for each in found]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(CODE, code) for key in keys for code in key)
    totals = [each for each in found if all(each[name][0] == "_T" for name in dimensions[:2])]
    assert [each["MEASURE"][1] for each in totals] == ["count", "sum of ع", "mean of ع"]
    assert float(totals[0]["OBS_VALUE"][0]) == float(publication.cells(plan.measures[0], ()))
    first = plan.workload.tables[0]
    shown = {(each[dimensions[0]][1], each[dimensions[1]][1]): each for each in found if each["MEASURE"][1] == "count"}
    labels = [level.labels for level in (plan.workload.ladders[place].levels[-1] for place in (0, 1))]
    low, high = publication.ends(plan.measures[0], first)
    for one, row in enumerate(labels[0]):
        for other, column in enumerate(labels[1]):
            each = shown[row, column]
            assert float(each["OBS_VALUE"][0]) == publication.cells(plan.measures[0], first)[one, other]
            assert float(each["LOWER_95"][0]) == low[one, other]
            assert float(each["UPPER_95"][0]) == high[one, other]


def test_what_is_too_uncertain_is_suppressed(publication: PublishedTables) -> None:
    found = list(read(written(publication, rule=RULE, withhold=True)))
    status = {each["QUALITY"][0]: each["OBS_STATUS"][0] for each in found}
    assert status.items() >= {"X": "Q"}.items()
    assert all((each["OBS_VALUE"][0] == "") == (each["OBS_STATUS"][0] == "Q") for each in found)


def test_levels_and_odd_names_have_codes_of_their_own() -> None:
    assert identifiers(["a-b", "a b", "ACTION", "1", "", "_T"], taken={"ACTION", "_T"}) == [
        "A_B",
        "A_B_2",
        "ACTION_2",
        "X_1",
        "X",
        "T",
    ]
