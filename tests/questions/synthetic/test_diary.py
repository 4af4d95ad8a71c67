"""People and their steps: one person moves the tables by no more than the distances say, by enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Column, Kind, Table, describe
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diary import Diary, diary
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import keyed

SEX, WARD = keyed("sex", Kind.TEXT, keys=("f", "m")), keyed("ward", Kind.TEXT, keys=("a", "b"), nulls=True)
SMALL = Diary((SEX, WARD), (0,), Person("id"), Relation.ADD_REMOVE, 2)


def read(people: list[tuple[tuple[int, int], ...]]) -> Codes:
    """What a backend reads of people with these rows of cells."""
    rows = [(who, place + 1, *cells) for who, own in enumerate(people) for place, cells in enumerate(own)]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def counts(codes: Codes, shape: tuple[int, ...], columns: tuple[int, ...]) -> Codes:
    sizes = [shape[place] for place in columns]
    cells = np.ravel_multi_index(tuple(codes[:, place] for place in columns), sizes)
    return np.bincount(cells, minlength=int(np.prod(sizes)))


def every_person() -> list[tuple[tuple[int, int], ...]]:
    """All people with one or two rows of two sexes (which may change: the first row counts) and three cells of ward."""
    rows = list(product(range(2), range(3)))
    return [own for number in (1, 2) for own in product(rows, repeat=number)]


@pytest.mark.parametrize("relation", Relation)
def test_one_person_moves_every_table_by_at_most_its_distance(relation: Relation) -> None:
    """All tables of one, two or three columns, with any person added, removed or replaced, beside two others."""
    made = Diary(SMALL.axes, SMALL.constant, SMALL.unit, relation, 2)
    others = [((0, 1), (0, 1)), ((1, 2),)]
    people, steps = made.people_sheet(), made.steps_sheet()
    farthest = {"people": 0, "steps": 0}
    for name, sheet, cut in (("people", people, made.people), ("steps", steps, made.steps)):
        shape, distance = sheet.grid.shape, sheet.distance()
        tables = [each for size in (1, 2, 3) for each in combinations(range(len(shape)), size)]
        seen = {own: [counts(cut(read([*others, own])), shape, each) for each in tables] for own in every_person()}
        without = [counts(cut(read(others)), shape, each) for each in tables]
        pairs = [(own, without) for own in seen.values()]
        if relation is Relation.REPLACE_ONE:
            pairs = list(combinations(seen.values(), 2))
        for one, other in pairs:
            for left, right in zip(one, other, strict=True):
                apart = np.abs(left - right)
                assert apart.sum() <= distance.l1
                assert (apart**2).sum() <= distance.l2_squared
                assert apart.max() <= distance.largest
                farthest[name] = max(farthest[name], int((apart**2).sum()))
        assert farthest[name] == distance.l2_squared  # no smaller distance would do


def test_a_cap_that_counts_less_would_be_found() -> None:
    """The tables of steps move by two rows: the distance of people is too small for them."""
    added = counts(SMALL.steps(read([((0, 1), (0, 1))])), SMALL.steps_sheet().grid.shape, (0,))
    assert added.sum() > SMALL.people_sheet().distance().l1


def test_people_and_steps_of_a_small_town() -> None:
    found = read([((0, 1), (1, 0)), ((1, 2),)])
    mixed = found[[2, 1, 0]]
    for codes in (found, mixed):  # whatever the order in which rows come
        assert SMALL.people(codes).tolist() == [[1, 0], [0, 1]]
        # rows of the person, sex of the first row, place, previous ward (2: none), ward
        assert SMALL.steps(codes).tolist() == [[1, 0, 0, 2, 1], [1, 0, 1, 1, 0], [0, 1, 0, 2, 2]]
        assert SMALL.whose(SMALL.steps(codes)).tolist() == [1, 1, 2]
    assert SMALL.people(read([])).shape == (0, 2)
    assert SMALL.steps(read([])).shape == (0, 5)


TOWN = pa.table(
    {
        "id": [1, 1, 1, 2, None, 3, 3, 3, 3],
        "sex": ["f", "f", "f", "m", "m", "f", "f", "f", "f"],
        "ward": ["a", "b", "b", None, "a", "b", "a", "a", "b"],
        "day": [3, 1, 2, 5, 1, 7, None, 7, 6],
    }
)
COLUMN = Column("day", Kind.INTEGER)
ORDERED = Diary((SEX, WARD), (0,), Person("id"), Relation.ADD_REMOVE, 3, COLUMN)


@pytest.mark.parametrize("salt", range(4))
def test_a_backend_reads_the_first_rows_in_order(salt: int) -> None:
    rows = open_source(TOWN, types={}).read(ORDERED, salt=salt)
    sorted_ = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    own = {who: [tuple(row[2:]) for row in sorted_ if row[0] == who] for who in (1, 2, 3)}
    assert own[1] == [(0, 1), (0, 1), (0, 0)]
    assert own[2] == [(1, 2)]  # nobody without an id
    assert own[3][0] == (0, 1)
    assert sorted(own[3][1:]) == [(0, 0), (0, 1)]  # on the same day by a hash; the row without a day is the last


def test_which_rows_are_read_depends_on_no_other_person() -> None:
    orders = set()
    for salt in range(12):
        whole = ORDERED.steps(open_source(TOWN, types={}).read(ORDERED, salt=salt)).tolist()
        alone = TOWN.filter(pc.equal(TOWN["id"], 3))
        mine = ORDERED.steps(open_source(alone, types={}).read(ORDERED, salt=salt)).tolist()
        assert [row for row in whole if row in mine][-3:] == mine
        orders.add(tuple(map(tuple, mine)))
    assert len(orders) == 2  # the two rows of the same day come in either order


def test_what_is_declared_is_checked() -> None:
    kinds = {"id": Kind.INTEGER, "sex": Kind.TEXT, "ward": Kind.TEXT, "previous_ward": Kind.TEXT}

    def told(unit: Person | Row) -> tuple[Table, Sheet]:
        axes = tuple(keyed(name, Kind.TEXT, keys=("a", "b")) for name in ("sex", "ward"))
        few = isinstance(unit, Person)
        table = describe(
            "t",
            kinds=kinds,
            unit=unit,
            relation=Relation.ADD_REMOVE,
            max_groups=1 if few else None,
            max_rows_per_group=2 if few else None,
            bounds={},
            granularity={},
            keys={},
        )
        return table, Sheet(axes, unit, Relation.ADD_REMOVE, 2)

    table, sheet = told(Person("id"))
    assert diary(table, sheet, constant=("sex",)).varying == (1,)
    for wrong, why in (
        ({"constant": ("sexx",)}, "not one of the imitated columns"),
        ({"constant": ("sex", "ward")}, "Every column is constant"),
        ({"order": "ward"}, "ordered by a column of whole numbers"),
        ({"order": "id"}, "not one of the imitated columns"),
    ):
        with pytest.raises(SitrError, match=why):
            diary(table, sheet, **wrong)
    with pytest.raises(SitrError, match="protects each row"):
        diary(*told(Row()))
    taken = Sheet((*sheet.axes, keyed("previous_ward", Kind.TEXT, keys=("a",))), sheet.unit, sheet.relation, 2)
    for constant in ((), ("previous_ward",)):
        with pytest.raises(SitrError, match="'previous_ward' is needed"):
            diary(table, taken, constant=constant)
