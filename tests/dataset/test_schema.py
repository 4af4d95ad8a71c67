from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataset.schema import IDENTIFYING, MOST_STEPS, Column, Kind, Quantised, Table, describe, public_keys, quantise
from sitr.errors import DescriptionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row

NAN, INF = math.nan, math.inf


def refused(word: str):
    return pytest.raises(DescriptionError, match=word)


# Names


@pytest.mark.parametrize(
    "changed",
    [
        {"bounds": {"Cost": (0, 1)}, "granularity": {}},
        {"bounds": {"price": (0, 1)}, "granularity": {}},
        {"granularity": {"price": 1}},
        {"keys": {"wards": ["A"]}},
        {"unit": Person("ID")},
        {"unit": Person("person")},
    ],
)
def test_unknown_columns_are_refused(visits, changed):
    with refused(r"The data set visits has no column .*\. (Did you mean|Choose one of)"):
        visits(**changed)


def column(name: str) -> Column:
    return Column(name, Kind.TEXT)


TABLE = Table(
    "t", tuple(map(column, ["Ward", "city", "City", "المدينة", "a b", 'a"b'])), Row(), Relation.ADD_REMOVE, 1, 1
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Ward", "Ward"),
        ("ward", "Ward"),
        ("WARD", "Ward"),
        ("city", "city"),
        ("City", "City"),
        ("CITY", None),  # two fit
        ("المدينة", "المدينة"),
        ("A B", "a b"),
        ('A"b', 'a"b'),
        ("ward ", None),
        ("wards", None),
        ("", None),
    ],
)
def test_a_name_is_found_as_written_or_else_in_any_case_if_only_one_fits(name, found):
    assert TABLE.find(name) == (column(found) if found is not None else None)


@pytest.mark.parametrize("changed", [{"kinds": {"id": Kind.INTEGER, "\ud800": Kind.TEXT}}, {"name": "visits\udcff"}])
def test_names_can_be_written(changed):
    described: dict[str, Any] = {"name": "visits", "kinds": {"id": Kind.INTEGER}} | changed
    described |= {"bounds": {}, "granularity": {}, "keys": {}, "max_groups": 1, "max_rows_per_group": 1}
    with refused("valid Unicode text"):
        describe(described.pop("name"), unit=Person("id"), relation=Relation.ADD_REMOVE, **described)


def test_neighbors_in_words(visits):
    assert visits(relation=Relation.REPLACE_ONE).neighbors() == "person (id), replace-one"
    assert TABLE.neighbors() == "row, add-remove"


# Units and caps


@pytest.mark.parametrize("cap", [0, -1, 1.0, 1.5, True, "2", None, NAN, INF])
@pytest.mark.parametrize("name", ["max_groups", "max_rows_per_group"])
def test_caps_are_whole_numbers_of_at_least_1(visits, name, cap):
    with refused(f"a whole number of at least 1 for {name}"):
        visits(**{name: cap})


def test_caps_may_be_huge(visits):
    assert visits(max_groups=10**30).max_groups == 10**30


@pytest.mark.parametrize(("groups", "rows"), [(None, None), (1, 1), (1, None), (None, 1)])
def test_a_row_needs_no_caps(visits, groups, rows):
    table = visits(unit=Row(), max_groups=groups, max_rows_per_group=rows)
    assert (table.max_groups, table.max_rows_per_group) == (1, 1)


@pytest.mark.parametrize(("groups", "rows"), [(2, None), (None, 2), (2, 2), (0, None), (None, 0), (-1, 1), ("1", 1)])
def test_a_row_has_no_other_caps(visits, groups, rows):
    with refused("caps of 1, where the unit is a row"):
        visits(unit=Row(), max_groups=groups, max_rows_per_group=rows)


def test_a_real_number_identifies_nobody(visits):
    with refused("cannot identify a person"):
        visits(unit=Person("cost"))


@pytest.mark.parametrize("kind", Kind)
def test_few_kinds_identify_a_person(visits, kind):
    kinds = {"id": kind, "cost": Kind.REAL, "days": Kind.INTEGER}
    if kind in IDENTIFYING:
        assert visits(kinds=kinds).unit == Person("id")
    else:
        assert kind in (Kind.REAL, Kind.ZONED, Kind.OTHER)
        with refused("cannot identify a person"):
            visits(kinds=kinds)


# Bounds and granularity


@pytest.mark.parametrize(
    ("kind", "bounds", "granularity", "expected"),
    [
        (Kind.INTEGER, (-2, 5), None, Quantised(-2, 5, Fraction(1))),
        (Kind.INTEGER, (0.5, 5.5), None, Quantised(1, 5, Fraction(1))),  # inwards: a value never leaves the bounds
        (Kind.INTEGER, (-5.5, -0.5), None, Quantised(-5, -1, Fraction(1))),
        (Kind.INTEGER, (0, 100), 10, Quantised(0, 10, Fraction(10))),
        (Kind.INTEGER, (5, 5), None, Quantised(5, 5, Fraction(1))),
        (Kind.REAL, (0, 1), 0.1, Quantised(0, 10, Fraction(1, 10))),  # a tenth is meant, not its nearest double
        (Kind.REAL, (0.1, 0.3), 0.1, Quantised(1, 3, Fraction(1, 10))),
        (Kind.REAL, (0, 1), Fraction(1, 3), Quantised(0, 3, Fraction(1, 3))),
        (Kind.REAL, (0, 1), 1, Quantised(0, 1, Fraction(1))),
        (Kind.REAL, (0, 1), None, Quantised(0, 2**20, Fraction(1, 2**20))),
        (Kind.REAL, (-1024, 1), None, Quantised(-(2**20), 2**10, Fraction(1, 2**10))),
        (Kind.INTEGER, (0, MOST_STEPS), None, Quantised(0, 2**53, Fraction(1))),
        (Kind.INTEGER, (-MOST_STEPS, 0), None, Quantised(-(2**53), 0, Fraction(1))),
        (Kind.REAL, (0, MOST_STEPS), 1, Quantised(0, 2**53, Fraction(1))),
    ],
)
def test_bounds_in_granules(kind, bounds, granularity, expected):
    assert quantise("x", kind, bounds, granularity) == expected


@given(
    st.floats(-1e12, 1e12), st.floats(-1e12, 1e12), st.sampled_from([None, 0.01, 0.5, 3, 1000]), st.sampled_from(Kind)
)
def test_granules_lie_within_the_bounds_and_reach_them(one, other, granularity, kind):
    bounds = low, high = min(one, other), max(one, other)
    try:
        made = quantise("x", kind, bounds, granularity)
    except DescriptionError:
        return
    ends = made.lower * made.granularity, made.upper * made.granularity
    assert Fraction(repr(low)) <= ends[0] < Fraction(repr(low)) + made.granularity
    assert Fraction(repr(high)) - made.granularity < ends[1] <= Fraction(repr(high))
    assert granularity is None or made.granularity == Fraction(str(granularity))
    assert 0 < max(-made.lower, made.upper) <= MOST_STEPS or made.upper < 0 < -made.lower <= MOST_STEPS


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL])
@pytest.mark.parametrize(
    "bounds",
    [
        (0, NAN),
        (NAN, 0),
        (0, INF),
        (-INF, 0),
        (5, 0),
        (1, math.nextafter(1, 0)),
        (0, 0),
        (0.0, -0.0),
        (0, 10**400),
        (0,),
        (0, 1, 2),
        (None, 1),
        (1j, 2),
        ([0], [1]),
        ("0", "10"),
        (False, True),
        (0, True),
        (0, 10**5_000),
        "05",
        5,
        None,
    ],
)
def test_impossible_bounds_are_refused(visits, kind, bounds):
    with refused("bounds"):
        visits(bounds={"days" if kind is Kind.INTEGER else "cost": bounds}, granularity={})


@pytest.mark.parametrize("granularity", [0, -1, -0.0, NAN, INF, [1], 1j, "0.5", True, 11, 10**400, 1e-15, 5e-324])
def test_impossible_granularities_are_refused(visits, granularity):
    """Not positive; coarser than the bounds; or so fine that a double cannot hold every step."""
    with refused("granularity"):
        visits(bounds={"cost": (0, 10)}, granularity={"cost": granularity})


@pytest.mark.parametrize("bounds", [(0.2, 0.8), (-0.8, 0.8), (0, 2**53 + 1), (-(2**53) - 1, 0)])
def test_an_integer_column_wants_an_integer_within_its_bounds(bounds):
    with refused(r"2\^53 steps"):
        quantise("days", Kind.INTEGER, bounds, None)


@pytest.mark.parametrize("high", [5e-324, 1e-310, 1e-300, 1e-6, 1.0, 1e300])
def test_a_granularity_is_a_number_that_a_backend_can_divide_by(high):
    try:
        made = quantise("cost", Kind.REAL, (0, high), None)
    except DescriptionError:
        return
    assert float(made.granularity) > 0
    assert made.upper > 0


@pytest.mark.parametrize("name", ["ward", "urgent", "scan"])
def test_only_numbers_and_dates_have_bounds(visits, name):
    with refused("so it cannot have bounds"):
        visits(bounds={name: (0, 1)}, granularity={})


DAYS = (date(2024, 2, 29), date(2024, 3, 2))
TIMES = tuple(map(datetime.fromisoformat, ("1969-12-31T23:59:59", "2024-03-02T12:30:00")))


@pytest.mark.parametrize(
    ("name", "bounds", "found"),
    [
        ("born", DAYS, DAYS),
        ("born", ("2024-02-29", "2024-03-02"), DAYS),
        ("born", (date.min, date.max), (date.min, date.max)),
        ("seen", TIMES, TIMES),
        ("seen", tuple(map(str, TIMES)), TIMES),
        ("seen", DAYS, tuple(map(datetime.fromisoformat, ("2024-02-29", "2024-03-02")))),
        ("days", (-2, 5), (-2, 5)),
        ("cost", (0, 10), (0, 10)),
        ("id", None, None),
    ],
)
def test_bounds_have_the_type_of_their_column(visits, name, bounds, found):
    column = visits(bounds={} if bounds is None else {name: bounds}, granularity={}).column(name)
    assert column.bounds == found
    assert (column.granularity is None) == (name in ("born", "seen", "id"))


@pytest.mark.parametrize("name", ["born", "seen"])
@pytest.mark.parametrize(
    "bounds", [(0, 1), DAYS[::-1], ("29.2.2024", "2024-03-02"), (None, None), 5, ("2024-01-01T00:00:00+01:00",) * 2]
)
def test_impossible_bounds_of_dates_are_refused(visits, name, bounds):
    with refused(f"bounds .first, last. for '{name}'"):
        visits(bounds={name: bounds}, granularity={})


def test_dates_have_no_granularity(visits):
    with refused("without a granularity"):
        visits(bounds={"born": DAYS}, granularity={"born": 1})


def test_a_granularity_wants_bounds(visits):
    with refused("but no bounds"):
        visits(bounds={}, granularity={"cost": 0.5})


# Keys


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Kind.TEXT, ["B", "A", None, ""]),
        (Kind.TEXT, ("مكة", "it's")),
        (Kind.TEXT, [None]),
        (Kind.INTEGER, range(3)),
        (Kind.INTEGER, [-(2**63), 2**63 - 1]),
        (Kind.BOOLEAN, [True, False, None]),
        (Kind.DATE, [date(1, 1, 1), date(9999, 12, 31)]),
    ],
)
def test_keys_keep_their_order(kind, keys):
    assert public_keys("x", kind, keys) == tuple(keys)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Kind.TEXT, []),
        (Kind.TEXT, "AB"),
        (Kind.TEXT, ""),
        (Kind.TEXT, ["A", "A"]),
        (Kind.TEXT, [None, "A", None]),
        (Kind.TEXT, [1]),
        (Kind.TEXT, [b"A"]),
        (Kind.TEXT, [["A"]]),
        (Kind.TEXT, ["A", NAN]),
        (Kind.INTEGER, b"AB"),
        (Kind.TEXT, 5),
        (Kind.TEXT, None),
        (Kind.INTEGER, ["1"]),
        (Kind.INTEGER, [1.0]),
        (Kind.INTEGER, [True]),
        (Kind.INTEGER, [2**63]),
        (Kind.INTEGER, [-(2**63) - 1]),
        (Kind.BOOLEAN, [1, 0]),
        (Kind.BOOLEAN, ["true"]),
        (Kind.DATE, ["2024-01-01"]),
        (Kind.DATE, [datetime.fromisoformat("2024-01-01")]),
    ],
)
def test_impossible_keys_are_refused(kind, keys):
    with refused(f"a list of distinct keys .* for 'x'|'x' has type {kind.value}, so .* cannot be one of its keys"):
        public_keys("x", kind, keys)


def test_keys_with_an_offset_from_utc_are_refused():
    with refused("of the column 'x' has an offset from UTC. Write keys as the times in the zone"):
        public_keys("x", Kind.TIMESTAMP, [datetime.fromisoformat("2024-01-01T00:00:00+02:00")])


def test_a_key_of_another_type_is_named_with_the_way_out():
    with refused("'x' has type boolean, so 'yes' cannot be one of its keys.*of type bool; .*types={'x': 'text'}"):
        public_keys("x", Kind.BOOLEAN, ["yes", "no"])


@pytest.mark.parametrize("kind", [Kind.REAL, Kind.OTHER])
def test_some_columns_have_no_keys(kind):
    with refused("so it cannot have keys"):
        public_keys("x", kind, [])


def test_the_keys_of_truth_values_are_public_by_type(visits):
    """All values of the type, NULL included, so that no row is left out; declared keys take precedence."""
    kinds = {"id": Kind.INTEGER, "ok": Kind.BOOLEAN, "ward": Kind.TEXT}
    plain = {"kinds": kinds, "unit": Row(), "max_groups": None, "max_rows_per_group": None}
    table = visits(**plain, bounds={}, granularity={}, keys={})
    assert [column.keys for column in table.columns] == [None, (False, True, None), None]
    assert visits(**plain, bounds={}, granularity={}, keys={"ok": [True]}).column("ok").keys == (True,)


def test_text_that_no_table_can_hold_is_no_key():
    """Half a character cannot be written down: an answer with it would fail after the charge."""
    with refused("distinct keys .* for 'x'"):
        public_keys("x", Kind.TEXT, ["\ud800"])
