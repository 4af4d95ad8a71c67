"""What is shown of synthetic rows of several tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Column, Kind
from sitr.errors import NotPrivate
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.crowd import Crowd, crowd
from sitr.questions.synthetic.diaries import diaries
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.several import several
from sitr.questions.synthetic.validity import Checked, Demand
from sitr.report import several as report
from sitr.report.paper import Paper
from sitr.report.words.words import Words
from tests.oracles.axes import granular, keyed
from tests.report.test_synthetic import RECEIPT

PRICE = ZeroConcentratedDP(0.5)
ID = Person("id")
DAY = Column("day", Kind.INTEGER)


@cache
def made() -> Crowd:
    """Patients, visits in order, and drugs in no order; the first ward is a column of people."""
    sex, ward = keyed("sex", Kind.TEXT, keys=("f", "m")), keyed("ward", Kind.TEXT, keys=("a", "b"))
    day, drug = granular("day", Kind.INTEGER, 0, 9, Fraction(1), 5), keyed("drug", Kind.TEXT, keys=("x", "y"))
    of = diaries(
        [
            ("visits", Diary((ward, day), (), ID, Relation.ADD_REMOVE, 4, DAY)),
            ("patients", Diary((sex,), (), ID, Relation.ADD_REMOVE, 1)),
            ("drugs", Diary((drug,), (), ID, Relation.ADD_REMOVE, 3)),
        ],
        first=[("visits", "ward")],
    )
    asked = several(of, methods=[Method.JOINT, None, None], never=[(), (), ()], everyone=("patients",))
    dice = np.random.default_rng(3)

    def read(columns: Sequence[int], rows: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.object_]], Codes]:
        person = np.sort(dice.integers(0, 300 // rows, 300))[:300] if rows > 1 else np.arange(300)
        place = np.arange(300) - np.searchsorted(person, person) + 1
        codes = np.column_stack([person, place, *(dice.integers(0, cells, 300) for cells in columns)])[place <= rows]
        return codes[:, 0].astype(str).astype(object), codes

    exact = [read((2, 5), 4), read((2,), 1), read((2,), 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        released = asked.answer(asked.plan(PRICE), exact, coins=TestCoins(1))
    schemas = tuple(
        pa.schema([("id", pa.int64()), *((name, pa.int64() if name == "day" else pa.string()) for name in table.names)])
        for table in of.tables
    )
    return crowd(released, schemas=schemas, never=asked.never, structures=asked.structures)


def cells() -> dict[str, Codes]:
    """The cells of drawn rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        rows = made().draw(100, coins=TestCoins(2))
    tables, read = made().diaries.tables, []
    for table in tables:
        ids = rows[table.table]["id"].to_numpy()
        place = np.arange(len(ids)) - np.searchsorted(ids, ids) + 1
        codes = [
            rows[table.table]["day"].to_numpy() // 2
            if axis.column.name == "day"
            else np.array([axis.keys.index(value) for value in rows[table.table][axis.column.name].to_pylist()])  # type: ignore[union-attr]
            for axis in table.axes
        ]
        read.append((ids.astype(str).astype(object), np.column_stack([ids, place, *codes]).astype(np.int64)))
    return made().codes(read)


def page(*, words: Words | None = None) -> Paper:
    """The paper of a page."""
    checked = {"visits": tuple(Checked(demand, ("day",), 0) for demand in Demand)}
    return report.answer(
        made(), RECEIPT, rows={"visits": 200, "patients": 100, "drugs": 90}, codes=cells(), checked=checked, words=words
    )


def test_the_page_says_what_is_drawn_and_what_is_lost() -> None:
    found = {section.heading: section for section in page().sections()}
    assert "Several budgets" not in found  # the receipt of these tests is of one budget
    (depends,) = found["How the rows were made"].sentences
    assert "on the first value of visits.ward" in depends
    assert any("come in no common order" in item for item in found["What the rows cannot carry"].items)
    assert "everyone has a row in patients" in found["Assumed public knowledge"].items
    fits = found["How closely the rows follow the noisy tables"].table
    assert fits is not None
    assert {row[0] for row in fits.rows()} == {"people", "rows of visits", "rows of drugs"}


def test_the_preview_lists_the_tables_of_each_part() -> None:
    paper = report.preview(made().plan, Filter(ZeroConcentratedDP(1.0)))
    assert paper.table is not None
    rows = [row[0] for row in paper.table.rows()]
    assert rows[0] == "people: rows_in_visits"
    assert {row.partition(":")[0] for row in rows} == {"people", "rows of visits", "rows of drugs"}
    content = paper.to_dict()
    assert [each["table"] for each in content["expected"]] == [None, "visits", "drugs"]
    assert content["everyone"] == ["patients"]


def test_a_file_says_what_it_is() -> None:
    about = report.about(made(), RECEIPT, "drugs", 7, pa.schema([("id", pa.int64())]))
    assert (about["table"], about["rows"], about["synthetic"]) == ("drugs", 7, True)
    assert about["drawn_with"] == ["visits", "patients"]


def test_json_of_rows() -> None:
    found = made().agreement(cells())
    content = report.content_of_rows(found, {"visits": (Checked(Demand.AMONG, ("id", "patients"), 3),)})
    assert set(content["fit"]) == {"", "visits", "drugs"}
    assert content["validity"]["visits"] == [{"demand": "among", "columns": ["id", "patients"], "broken": 3}]
