"""People in several tables: one person moves the tables by no more than the distances say, by enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diaries import ChangingSheet, Diaries, Found, diaries
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import keyed

SEX = keyed("sex", Kind.TEXT, keys=("f", "m"))
WARD, DRUG = keyed("ward", Kind.TEXT, keys=("a", "b")), keyed("drug", Kind.TEXT, keys=("x", "y"), nulls=True)
ID = Person("id")

Rows = tuple[tuple[int, ...], ...]
"""The cells of the rows of one person in one table."""


def made(relation: Relation = Relation.ADD_REMOVE, most: int = 2) -> Diaries:
    """Patients with a sex, visits with wards, and drugs; the first ward is a column of people."""
    tables = [
        ("patients", Diary((SEX,), (), ID, relation, 1)),
        ("visits", Diary((WARD,), (), ID, relation, most)),
        ("drugs", Diary((DRUG,), (), ID, relation, 1 if most == 1 else 2)),
    ]
    return diaries(tables, first=[("visits", "ward")] if most > 1 else [])


def read(table: list[tuple[str, Rows]]) -> Found:
    """What a backend reads of people, by id, with these rows of cells."""
    names = np.array([name for name, rows in table for _ in rows], object)
    rows = [(who, place, *cells) for who, (_, own) in enumerate(table) for place, cells in enumerate(own, start=1)]
    return names, np.array(rows, dtype=np.int64).reshape(-1, 3)


def tables_of(of: Diaries, people: list[tuple[str, tuple[Rows, ...]]]) -> list[tuple[Sheet, Codes]]:
    """The sheets of people and steps, with their rows."""
    found = of.found([read([(name, own[place]) for name, own in people if own[place]]) for place in range(3)])
    steps = [(table.steps_sheet(), of.steps(found, i)) for i, table in enumerate(of.tables) if table.varying]
    return [(of.people_sheet(), of.people(found)), *steps]


def counted(of: Diaries, people: list[tuple[str, tuple[Rows, ...]]]) -> list[list[Codes]]:
    """Every marginal of up to two columns of every sheet, exactly."""
    found = []
    for sheet, codes in tables_of(of, people):
        shape = sheet.grid.shape
        chosen = [each for size in (1, 2) for each in combinations(range(len(shape)), size)]
        found.append([_counts(codes, shape, each) for each in (*chosen, tuple(range(len(shape))))])
    return found


def _counts(codes: Codes, shape: tuple[int, ...], columns: tuple[int, ...]) -> Codes:
    sizes = [shape[place] for place in columns]
    return np.bincount(np.ravel_multi_index(tuple(codes[:, place] for place in columns), sizes), minlength=0)


def apart(one: Codes, other: Codes) -> Codes:
    size = max(len(one), len(other))
    return np.abs(np.pad(one, (0, size - len(one))) - np.pad(other, (0, size - len(other))))


def every_part(cells: int, most: int) -> list[Rows]:
    """All rows that one person can have in one table, none included."""
    return [
        tuple((cell,) for cell in own) for number in range(most + 1) for own in product(range(cells), repeat=number)
    ]


OTHERS: list[tuple[str, tuple[Rows, ...]]] = [("7", (((0,),), ((1,), (0,)), ())), ("8", ((), ((0,),), ((2,),)))]


def neighbours(
    relation: Relation,
) -> list[tuple[list[tuple[str, tuple[Rows, ...]]], list[tuple[str, tuple[Rows, ...]]]]]:
    """Pairs of towns that differ by a person's rows in one table, in some of them, or in all of them.

    With replace-one, the rows of one person leave the same tables that those of another enter.
    """
    sexes, wards, drugs = every_part(2, 1), [(), ((0,), (0,)), ((1,), (1,)), ((0,), (1,))], [(), ((2,), (2,)), ((0,),)]
    people = list(product(sexes, wards, drugs))
    places = [each for size in (1, 2, 3) for each in combinations(range(3), size)]
    found = []
    for own, gone in product(people, places):
        left = tuple(() if place in gone else part for place, part in enumerate(own))
        if relation is Relation.ADD_REMOVE:
            found.append(([*OTHERS, ("9", own)], [*OTHERS, ("9", left)]))
            continue
        for other in people[::7]:
            came = tuple(part if place in gone else () for place, part in enumerate(other))
            stays = tuple(() if place in gone else part for place, part in enumerate(other))
            both = tuple(one or two for one, two in zip(came, stays, strict=True))
            found.append(([*OTHERS, ("5", stays), ("9", own)], [*OTHERS, ("5", both), ("9", left)]))
    return found


@pytest.mark.parametrize("relation", Relation)
def test_one_person_moves_every_table_by_at_most_its_distance(relation: Relation) -> None:
    """Whichever tables the person leaves; and some pair of neighbours attains the distance of people and of visits."""
    of = made(relation)
    distances = [sheet.distance() for sheet, _ in tables_of(of, OTHERS)]
    farthest = [0] * len(distances)
    for one, other in neighbours(relation):
        for place, (left, right) in enumerate(zip(counted(of, one), counted(of, other), strict=True)):
            for here, there in zip(left, right, strict=True):
                moved = apart(here, there)
                assert moved.sum() <= distances[place].l1
                assert (moved**2).sum() <= distances[place].l2_squared
                assert moved.max(initial=0) <= distances[place].largest
                farthest[place] = max(farthest[place], int((moved**2).sum()))
    people, *steps = (distance.l2_squared for distance in distances)
    assert farthest[1:] == steps  # no smaller distance would do
    assert farthest[0] == (people if relation is Relation.ADD_REMOVE else 5)  # which is less than 8, as promised


@pytest.mark.parametrize("relation", Relation)
def test_the_distance_of_a_single_table_would_be_too_small(relation: Relation) -> None:
    """A broken twin: sheets that take the rows of a person to come or go together are refuted by the same towns."""
    of = made(relation)
    single = [Sheet(sheet.axes, sheet.unit, sheet.relation, sheet.most_rows) for sheet, _ in tables_of(of, OTHERS)]
    refuted = set()
    for one, other in neighbours(relation):
        for place, (left, right) in enumerate(zip(counted(of, one), counted(of, other), strict=True)):
            far = single[place].distance()
            if any((apart(here, there) ** 2).sum() > far.l2_squared for here, there in zip(left, right, strict=True)):
                refuted.add(place)
    assert refuted == {0, 1, 2}


def test_people_and_steps_of_a_small_town() -> None:
    of = made()
    (people, who), (visits, wards), (drugs, taken) = tables_of(of, [("9", (((1,),), (), ((2,),))), *OTHERS])
    assert people.names == ("rows_in_patients", "patients.sex", "rows_in_visits", "visits.first_ward", "rows_in_drugs")
    # NULL (the last cell) where a person is not in a table; who is in none is no row
    assert sorted(who.tolist()) == [[0, 2, 1, 0, 1], [1, 0, 2, 1, 0], [1, 1, 0, 2, 1]]
    # the person without the first ward, which the first row has itself; place, previous ward, ward
    assert visits.names[-3:] == ("place_of_row", "previous_ward", "ward")
    assert "visits.first_ward" not in visits.names
    assert sorted(wards.tolist()) == [[0, 2, 1, 1, 0, 2, 0], [1, 0, 2, 0, 0, 2, 1], [1, 0, 2, 0, 1, 1, 0]]
    assert "visits.first_ward" in drugs.names
    assert sorted(taken.tolist()) == [[0, 2, 1, 0, 1, 0, 2, 2], [1, 1, 0, 2, 1, 0, 2, 2]]
    assert of.tables[1].whose(np.array(wards)).tolist() == [1, 1, 2] or len(wards) == 3


def test_people_are_the_same_in_all_tables_by_their_ids_alone() -> None:
    """Engines number the people of a table each in their own way."""
    of = made()
    one = of.found([read([("b", ((0,),)), ("a", ((1,),))]), read([("a", ((0,), (1,)))]), read([("c", ((0,),))])])
    assert of.people(one).tolist() == [[1, 1, 2, 0, 0], [1, 0, 0, 2, 0], [0, 2, 0, 2, 1]]
    assert of.people(of.found([read([]), read([]), read([])])).shape == (0, 5)


def test_an_engine_that_takes_several_texts_for_one_person_has_one_person() -> None:
    of = made()
    names, codes = np.array(["A", "a"], object), np.array([[4, 1, 0], [4, 2, 1]])
    nothing = read([])
    found = of.found([nothing, (names, codes), nothing])
    assert of.people(found).tolist() == [[0, 2, 2, 0, 0]]


TOWN = pa.table({"id": ["p2", "p1", "p1", "p1", None], "ward": ["a", "a", "b", "b", "a"]})


def test_a_backend_reads_ids_as_text() -> None:
    table = made().tables[1]
    for town, ids in ((TOWN, ["p1", "p1", "p2"]), (_numbered(TOWN), ["-1", "-1", "2"])):
        names, codes = open_source(town, types={}).read(table, salt=3)
        assert sorted(names.tolist()) == ids
        assert codes.shape == (3, 3)
        assert {codes[row, 0] for row in np.flatnonzero(names == ids[0])} != {
            codes[row, 0] for row in np.flatnonzero(names == ids[2])
        }
        assert sorted(codes[names == ids[0], 1]) == [1, 2]


def _numbered(town: pa.Table) -> pa.Table:
    return town.set_column(0, "id", pa.array([2, -1, -1, -1, None], pa.int32()))


def test_what_is_declared_is_checked() -> None:
    visits, patients = Diary((WARD,), (), ID, Relation.ADD_REMOVE, 2), Diary((SEX,), (), ID, Relation.ADD_REMOVE, 1)
    for wrong, first, why in (
        ([("visits", visits)], [], "2 to 16 tables"),
        ([("visits", visits)] * 17, [], "2 to 16 tables"),
        ([("visits", visits), ("patients", patients)], [("patients", "sex")], "differ between the rows"),
        ([("visits", visits), ("patients", patients)], [("visits", "wards")], "differ between the rows"),
        (
            [
                ("visits", replace(visits, axes=(keyed("place_of_row", Kind.TEXT, keys=("a",)),))),
                ("patients", patients),
            ],
            [],
            "'place_of_row' is needed",
        ),
    ):
        with pytest.raises(SitrError, match=why):
            diaries(wrong, first=first)
    of = diaries([("visits", visits), ("patients", patients)])
    assert isinstance(of.people_sheet(), ChangingSheet)
    assert [table.steps_sheet().most_rows for table in of.tables if table.varying] == [2]
