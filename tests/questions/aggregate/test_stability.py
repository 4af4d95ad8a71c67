from __future__ import annotations

import pytest

from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.stability import people, stability

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
KEYS = ["A", "B", "C", "D", "E", "F"]
BY_WARD = "SELECT ward, {} AS x FROM visits GROUP BY ward"
WHOLE = "SELECT {} AS x FROM visits"


def distance(bounded) -> tuple[int, int, int]:
    far = stability(bounded, bounded.terms[0])
    assert far is not None
    return far.l1, far.l2_squared, far.largest


@pytest.mark.parametrize(
    ("aggregate", "add", "replace"),
    [
        # m = 2 groups of 6, c = 3 rows: m·c, m·c², c; two units in different groups change twice as many.
        ("COUNT(*)", (6, 18, 3), (12, 36, 3)),
        ("COUNT(days)", (6, 18, 3), (12, 36, 3)),
        ("COUNT(DISTINCT id)", (2, 2, 1), (4, 4, 1)),
        # cost in [0, 10] by halves: 20 granules, so 60 in a cell.
        ("SUM(cost)", (120, 7200, 60), (240, 14400, 60)),
        # days in [−2, 5]: 15 in a cell, and from −6 to 15 where both units are in the same group; 4·15² > 2·21².
        ("SUM(days)", (30, 450, 15), (60, 900, 21)),
    ],
)
def test_known_values(ask, aggregate, add, replace):
    assert distance(ask(BY_WARD.format(aggregate), keys={"ward": KEYS})) == add
    assert distance(ask(BY_WARD.format(aggregate), keys={"ward": KEYS}, relation=REPLACE)) == replace
    assert distance(ask(BY_WARD.format(aggregate))) == add  # unknown keys: there may be any number
    assert distance(ask(BY_WARD.format(aggregate), relation=REPLACE)) == replace


@pytest.mark.parametrize(
    ("bounds", "add", "replace"),
    [
        ((0, 4), (8, 32, 4), (16, 64, 4)),
        ((-4, 0), (8, 32, 4), (16, 64, 4)),
        ((-4, 4), (8, 32, 4), (16, 128, 8)),  # the same two groups pulled to opposite ends: 2·8² > 4·4²
        ((3, 4), (8, 32, 4), (16, 64, 4)),  # a unit may also be absent from a group: 0 counts
        ((-4, -3), (8, 32, 4), (16, 64, 4)),
        ((4, 4), (8, 32, 4), (16, 64, 4)),
        ((-1, 4), (8, 32, 4), (16, 64, 5)),
    ],
)
def test_a_sum_moves_by_its_clamp(ask, bounds, add, replace):
    changed = {"bounds": {"days": bounds}, "granularity": {}, "max_rows_per_group": 1}
    assert distance(ask(BY_WARD.format("SUM(days)"), **changed)) == add
    assert distance(ask(BY_WARD.format("SUM(days)"), **changed, relation=REPLACE)) == replace


def test_one_bar_is_a_count_and_several_are_a_vector(ask):
    """Two bars can move against each other when a person is replaced; one bar can only move by c."""
    one, two = WHOLE.format("HISTOGRAM(days, 0, 2)"), WHOLE.format("HISTOGRAM(days, 0, 2, 5)")
    assert distance(ask(one, max_groups=1)) == distance(ask(two, max_groups=1)) == (3, 9, 3)
    assert distance(ask(one, max_groups=1, relation=REPLACE)) == (3, 9, 3)
    assert distance(ask(two, max_groups=1, relation=REPLACE)) == (6, 18, 3)


def test_a_finer_granularity_counts_more_granules(ask):
    coarse, fine = (ask(BY_WARD.format("SUM(cost)"), granularity={"cost": step}) for step in (0.5, 0.125))
    assert distance(fine)[0] == 4 * distance(coarse)[0]
    assert distance(fine)[1] == 16 * distance(coarse)[1]
    assert distance(fine)[2] == 4 * distance(coarse)[2]


@pytest.mark.parametrize(
    ("keys", "groups", "add", "replace"),
    [
        (1, 5, (3, 9, 3), (3, 9, 3)),  # one cell: both units are in it
        (2, 5, (6, 18, 3), (6, 18, 3)),
        (3, 2, (6, 18, 3), (9, 27, 3)),  # two of three each: at least one is shared
        (4, 2, (6, 18, 3), (12, 36, 3)),
    ],
)
def test_there_are_no_more_groups_than_cells(ask, keys, groups, add, replace):
    described = {"keys": {"ward": KEYS[:keys]}, "max_groups": groups}
    assert distance(ask(BY_WARD.format("COUNT(*)"), **described)) == add
    assert distance(ask(BY_WARD.format("COUNT(*)"), **described, relation=REPLACE)) == replace


def test_cells_are_combinations_of_keys(ask):
    sql = "SELECT ward, urgent, COUNT(*) AS x FROM visits GROUP BY ward, urgent"
    keys = {"ward": ["A", "B", None], "urgent": [True, False]}
    assert distance(ask(sql, keys=keys, max_groups=100)) == (18, 54, 3)
    assert distance(ask(sql, keys={"ward": ["A"]}, max_groups=100)) == (9, 27, 3)  # false, true and NULL
    bounded = sql.replace("urgent", "days")  # -2 to 5 and NULL
    assert distance(ask(bounded, keys={"ward": ["A"]}, max_groups=100)) == (27, 81, 3)
    unknown = sql.replace("urgent", "born")
    assert distance(ask(unknown, keys={"ward": ["A"]}, max_groups=100)) == (300, 900, 3)  # one of the two is unknown


@pytest.mark.parametrize(
    ("aggregate", "add", "replace"),
    [
        ("COUNT(*)", (6, 36, 6), (6, 36, 6)),
        ("COUNT(DISTINCT id)", (1, 1, 1), (1, 1, 1)),
        ("SUM(days)", (30, 900, 30), (42, 1764, 42)),
    ],
)
def test_without_keys_there_is_one_group_with_the_rows_of_all(ask, aggregate, add, replace):
    assert distance(ask(WHOLE.format(aggregate), max_groups=2)) == add
    assert distance(ask(WHOLE.format(aggregate), max_groups=2, relation=REPLACE)) == replace


def test_a_row_is_one_row_in_one_group(ask):
    described = {"unit": Row(), "max_groups": None, "max_rows_per_group": None}
    assert distance(ask(BY_WARD.format("COUNT(*)"), **described)) == (1, 1, 1)
    assert distance(ask(BY_WARD.format("COUNT(*)"), **described, relation=REPLACE)) == (2, 2, 1)
    assert distance(ask(BY_WARD.format("SUM(days)"), **described)) == (5, 25, 5)


def test_a_condition_moves_nothing(ask):
    """It can only take rows away, and each person's own."""
    plain, chosen = ask(WHOLE.format("SUM(days)")), ask(WHOLE.format("SUM(days)") + " WHERE days > 3")
    assert distance(plain) == distance(chosen)


@pytest.mark.parametrize(("relation", "expected"), [(ADD, Distance(2, 2, 1)), (REPLACE, Distance(4, 4, 1))])
def test_people_are_counted_once_in_each_group(ask, relation, expected):
    bounded = ask(BY_WARD.format("SUM(cost)"), relation=relation)
    assert people(bounded) == expected
