"""Synthetic rows of several tables of the same people: one charge to all budgets or to none, one read, one release."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Unpack, cast, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitr import arguments
from sitr.backends.derivation import with_derived
from sitr.backends.duckdb import open_source
from sitr.backends.several import SeveralTables
from sitr.dataset.publication import Published
from sitr.dataset.schema import Kind
from sitr.errors import InvalidUse, QuestionError, quoted, unknown_name
from sitr.flavors.price import Amounts, Price
from sitr.neighbors.unit import Person
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import Number
from sitr.questions.synthetic.agreement import Agreement
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.crowd import Crowd, Rows, crowd
from sitr.questions.synthetic.diaries import ROWS_IN, Found, diaries
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.field import Progress
from sitr.questions.synthetic.several import SeveralMeasured, SeveralQuestion, several
from sitr.questions.synthetic.validity import Checked, checked
from sitr.report import several as report
from sitr.report.chart.synthetic import chart
from sitr.report.paper import Paper
from sitr.report.text import terminal
from sitr.session import joined, model_file
from sitr.session.answer import Answer
from sitr.session.ask import ask
from sitr.session.chart import Chart, drawn
from sitr.session.model_file import SavedModel
from sitr.session.public import named
from sitr.session.request import Request
from sitr.session.shown import certified, chosen, once
from sitr.session.synthesis import Synthesis
from sitr.session.synthetic import BATCH, check_number, noting, repeatable

COMPARABLE = (Kind.INTEGER, Kind.TEXT)
"""What ids can be, so that the same person has the same id in every engine."""


@dataclass(frozen=True, repr=False, eq=False)
class SeveralSynthetic(Answer):
    """A fitted imitation of several tables of the same people: draw as many people as you like, whenever you like."""

    crowd: Crowd
    people: int | None = None
    """How many people the tables have; None for as many as the data, by noisy count."""

    @property
    def paper(self) -> Paper:
        """What is shown of the noisy tables and of the models."""
        return once(self, lambda: report.answer(self.crowd, self.receipt))

    @cached_property
    def tables(self) -> Rows:
        """Synthetic rows by table: drawn at the first use, and the same ever after."""
        with noting(lambda: self.receipt):
            return self.draw(self.people, coins=repeatable(self.receipt))

    @cached_property
    def table(self) -> pa.Table:
        """The drawn people: the number of each, and how many rows they have in each table; the rows are in `tables`."""
        ids = [pc.cast(self.tables[each.table][each.unit.column], pa.int64()) for each in self.crowd.diaries.tables]
        people = np.unique(np.concatenate([own.to_numpy() for own in ids])) if ids else np.empty(0, np.int64)
        columns = {"person": pa.array(people, pa.int64())}
        for each, own in zip(self.crowd.diaries.tables, ids, strict=True):
            places = np.searchsorted(people, own.to_numpy())
            columns[f"{ROWS_IN}{each.table}"] = pa.array(np.bincount(places, minlength=len(people)), pa.int64())
        return pa.table(columns).replace_schema_metadata(self._mark)

    def draw(self, people: int | None = None, *, coins: Coins | None = None) -> Rows:
        """New people with their rows in each table, by its name; as many people as in the data, by noisy count.

        Ids are numbers from 1, and the same number is the same person in all tables.
        """
        check_number(people)
        return self._drawn(people, coins if coins is not None else system_coins())

    def _drawn(self, people: int | None, coins: Coins, *, after: int = 0) -> Rows:
        """The rows; people are numbered after this number."""
        drawn = self.crowd.draw(self.crowd.size if people is None else people, coins=coins, after=after)
        return {name: rows.replace_schema_metadata(self._mark) for name, rows in self._derived(drawn).items()}

    @property
    def _mark(self) -> dict[str, str]:
        return {"sitr": json.dumps({"synthetic": True, "private": self.private})}

    def _derived(self, tables: Mapping[str, pa.Table]) -> Rows:
        """The tables with their derived columns."""
        rules = zip(self.crowd.diaries.tables, self.crowd.structures, self.crowd.schemas, strict=True)
        return {
            each.table: with_derived(
                tables[each.table].select([each.unit.column, *each.names]), structure.derived, schema
            )
            for each, structure, schema in rules
        }

    def batches(self, people: int | None = None, *, coins: Coins | None = None, most: int = BATCH) -> Iterator[Rows]:
        """New people like those of `draw`, at most this many at a time, for files that do not fit into the memory."""
        check_number(people)
        tossed = coins if coins is not None else system_coins()
        wanted, done = self.crowd.size if people is None else people, 0
        while True:
            now = min(most, wanted - done)
            yield self._drawn(now, tossed, after=done)
            done += now
            if done >= wanted:
                return

    def save(self, path: str | Path) -> Path:
        """Write the models to a file, from which `sitr.load_together` and `sitr draw` draw people, for free."""
        target = arguments.path(path, of="model.sitr")
        model_file.write(target, SavedModel(replace(self.crowd, measured=self.released), self.receipt, self.people))
        return target

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each count, by table, for the tables that are fixed before any row is read."""
        return {each.name: each.error(confidence=confidence) for each in self.crowd.plan.known()}

    def agreement(self, tables: Mapping[str, pa.Table] | None = None) -> dict[str, Agreement]:
        """How closely rows follow the noisy tables they were made from: of people under "", and by table."""
        return self.crowd.agreement(self._codes(tables))

    def validity(self, tables: Mapping[str, pa.Table] | None = None) -> dict[str, tuple[Checked, ...]]:
        """How many rows of each table break a type, a bound or a rule: none that Sitr drew."""
        found, made = self._given(tables), self.crowd
        again = self._derived(found)
        people = {each.table: found[each.table][each.unit.column] for each in made.diaries.tables}
        parts = zip(made.diaries.tables, made.schemas, made.structures, made.never, strict=True)
        return {
            each.table: checked(
                each.axes,
                each,
                schema=schema,
                structure=structure,
                never=never,
                rows=found[each.table],
                again=again[each.table],
                among={name: people[name] for name in made.plan.everyone if name != each.table},
            )
            for each, schema, structure, never in parts
        }

    def measure(self, *_: object, **__: object) -> NoReturn:
        """Not offered for several tables."""
        raise _not_measured()

    def compare(self, *_: object, **__: object) -> NoReturn:
        """Not offered for several tables."""
        raise InvalidUse(
            given="Several tables cannot be compared with public ones.",
            do="Use agreement() and validity(), which are free, or ask for one table by itself.",
        )

    @overload
    def plot(self, *, table: str = "", lang: str | None = None, digits: str | None = None) -> Chart: ...
    @overload
    def plot(
        self, path: str | Path, *, table: str = "", lang: str | None = None, digits: str | None = None
    ) -> Path: ...
    def plot(
        self, path: str | Path | None = None, *, table: str = "", lang: str | None = None, digits: str | None = None
    ) -> Chart | Path:
        """People, or the rows of a `table` with several rows of a person, beside the noisy tables.

        A notebook draws the chart; with a path, write it to this SVG file instead.
        """
        known, codes = self.crowd.portraits(), self._codes(None)
        if table not in known:
            names = [name for name in known if name]
            raise unknown_name(table, names, lacks="There is no chart of the rows of")
        with chosen(lang, digits):
            return drawn(chart(known[table], codes[table]), path)

    def certificate(
        self,
        path: str | Path,
        *,
        lang: str | None = None,
        digits: str | None = None,
        **publication: Unpack[Published],
    ) -> Path:
        """Write one page for all tables: what was measured, and how closely the rows of `tables` follow it."""
        with chosen(lang, digits):
            paper = report.answer(
                self.crowd,
                self.receipt,
                rows={name: rows.num_rows for name, rows in self.tables.items()},
                codes=self._codes(None),
                checked=self.validity(),
            )
            return certified(path, paper, self.publication.changed(**publication))

    def about(self, name: str, rows: int, schema: pa.Schema) -> dict[str, Any]:
        """What a file of rows of one of the tables is, for formats that cannot say it themselves."""
        return report.about(self.crowd, self.receipt, name, rows, schema)

    def _given(self, tables: Mapping[str, pa.Table] | None) -> Mapping[str, pa.Table]:
        given, names = self.tables if tables is None else tables, [each.table for each in self.crowd.diaries.tables]
        for name in names:
            if name not in given:
                raise unknown_name(name, list(given), lacks="The tables have no")
        return given

    def _codes(self, tables: Mapping[str, pa.Table] | None) -> dict[str, Codes]:
        """The cells of rows: of people under no name, and by table."""
        return self.crowd.codes(self._read(self._given(tables)))

    def _read(self, tables: Mapping[str, pa.Table]) -> list[Found]:
        """The first rows of each person, as the data were read."""
        return [named(open_source(tables[each.table], types={}), each) for each in self.crowd.diaries.tables]

    def _brief(self) -> str:
        say = self.paper.words.summary
        columns = tuple(f"{each.table}.{name}" for each in self.crowd.diaries.tables for name in each.names)
        shown = replace(self.paper, value=say.synthetic(columns))
        return terminal.as_text(terminal.brief(shown, say.answer(self.receipt, None)))


@dataclass(frozen=True, slots=True, repr=False)
class SeveralSynthesis(Request[SeveralSynthetic]):
    """A request for synthetic rows of several tables of the same people."""

    requests: tuple[Synthesis, ...] = ()

    @property
    def several(self) -> SeveralQuestion:
        """The question."""
        return cast("SeveralQuestion", self.question)

    def release(
        self,
        price: Price | None = None,
        *,
        people: int | None = None,
        coins: Coins | None = None,
        fresh: bool = False,
        progress: Progress | None = None,
        **amounts: Unpack[Amounts],
    ) -> SeveralSynthetic:
        """Charge the price to the budgets of all tables, keep the noisy tables, and fit models to them.

        If one of the budgets cannot pay, none is charged. The `tables` of the answer have this number of `people`; by
        default as many as the data, by noisy count. Kept tables are fitted again for free.
        """
        paid = self._paid(price, amounts)
        check_number(people)
        schemas = tuple(each.drawn_schema() for each in self.requests)
        released, receipt = ask(self.question, paid, at=self.at, coins=coins, fresh=fresh)
        with noting(lambda: receipt):
            fitted = self._fitted(released, schemas, progress)
        return SeveralSynthetic(released, receipt, self, fitted, people)

    def _fitted(self, released: SeveralMeasured, schemas: tuple[pa.Schema, ...], progress: Progress | None) -> Crowd:
        asked = self.several
        return crowd(released, schemas=schemas, never=asked.never, structures=asked.structures, progress=progress)


def load_together(path: str | Path) -> SeveralSynthetic:
    """The models of several tables in a file that `save` wrote: draw as many people as you like, for free.

    The file is checked before it is used, and no code in it is run. It needs neither the data nor the ledgers.
    """
    found = model_file.read(arguments.path(path, of="model.sitr"))
    if not isinstance(found.portrait, Crowd):
        raise InvalidUse(given=f"{path} holds the model of one table.", do="Read it with sitr.load(…).")
    return SeveralSynthetic(found.portrait.measured, found.receipt, None, found.portrait, found.rows)


def synthesize_together(
    *requests: Synthesis, first: Collection[str] = (), everyone: Collection[str] = ()
) -> SeveralSynthesis:
    """Synthetic rows of several tables of the same people, drawn together: the same number is the same person.

    Each request is a `budget.synthesize(…)` with `people=True`, or one of a table with at most one row of each person,
    such as a table of patients: its columns are the same for all rows of a person in all tables. The rows of each table
    depend on these columns, on the number of rows in every table, and on the row before. `first` names columns, such as
    "visits.ward", whose value in a person's first row also counts as a column of the person, so that the rows of other
    tables depend on it. In the tables that `everyone` names, such as "patients", every drawn person has a row.

    The price is charged to the budgets of all tables, or to none. Each budget keeps its promise for its own table.
    """
    for each in requests:
        if not isinstance(each, Synthesis):
            raise QuestionError(
                wanted="requests for synthetic rows of several tables",
                given=quoted(each),
                do="Write for example sitr.synthesize_together(visits.synthesize(people=True), "
                "drugs.synthesize(people=True)).",
            )
    arguments.several(first, name="first", example='["visits.ward"]')
    arguments.several(everyone, name="everyone", example='["patients"]')
    first, everyone = tuple(first), tuple(everyone)
    for name in (*first, *everyone):
        if not isinstance(name, str):
            raise QuestionError(
                wanted="names of columns and tables as texts",
                given=quoted(name),
                do='Write for example first=["visits.ward"], everyone=["patients"].',
            )
    together = [_of_people(each) for each in requests]
    if any(each.at.elsewhere is not None for each in together):
        raise QuestionError(
            given="Several tables cannot be drawn together from a server.",
            do="Ask where the data and the ledger are.",
        )
    parts = [(each.at.table.name, cast("Diary", each.synthetic.diary)) for each in together]
    if together:
        at, *others = (each.at for each in together)
        beside = joined.checked(at, others, public=())
        _check_ids(together)
    question = several(
        diaries(parts, first=_dotted(first, [name for name, _ in parts])),
        methods=[each.synthetic.method for each in together],
        never=[each.synthetic.never for each in together],
        structures=[each.synthetic.structure for each in together],
        everyone=tuple(dict.fromkeys(everyone)),
    )
    desks = {each.at.table.name: each.at for each in together}
    joint = replace(
        at,
        beside=beside,
        rows=lambda: SeveralTables({name: desk.backend for name, desk in desks.items()}, at.table.name),
    )
    return SeveralSynthesis(question, joint, SeveralSynthetic, requests=tuple(together))


def _of_people(request: Synthesis) -> Synthesis:
    """The request, with the rows of each person together."""
    asked, table = request.synthetic, request.at.table
    if asked.quality is not None:
        raise _not_measured()
    if asked.fit_triples:
        raise QuestionError(
            given=f"The request for {table.name} wants tables of triples, which are not measured for several tables.",
            do="Leave out fit_triples; nothing was spent.",
        )
    if asked.diary is not None:
        return request
    if not isinstance(asked.sheet.unit, Person):
        return request  # `joined.checked` says what is wrong
    if asked.sheet.most_rows > 1:
        raise QuestionError(
            given=f"A person may have {asked.sheet.most_rows} rows in {table.name}, and the request does not say that "
            "they are drawn together.",
            do=f"Ask for the rows of {table.name} with people=True, or set rows_per_person=1.",
        )
    sheet = asked.sheet
    own = Diary(sheet.axes, tuple(range(len(sheet.axes))), asked.sheet.unit, sheet.relation, 1)
    return replace(request, question=replace(asked, diary=own), columns=(asked.sheet.unit.column, *request.columns))


def _check_ids(requests: Sequence[Synthesis]) -> None:
    """Refuse ids that cannot be compared between tables."""
    kinds = {
        each.at.table.name: each.at.table.column(cast("Person", each.at.table.unit).column).kind for each in requests
    }
    different = len(set(kinds.values())) > 1
    for name, kind in kinds.items():
        if different or kind not in COMPARABLE:
            raise QuestionError(
                wanted="ids that are whole numbers in all tables, or texts in all of them",
                given=", ".join(f"{each.value} in {table}" for table, each in kinds.items()),
                do=f"Store the ids of {name} in the type of the others.",
            )


def _dotted(first: Collection[str], tables: Sequence[str]) -> list[tuple[str, str]]:
    """Columns by table, from table.column; names of tables may have dots."""
    found = []
    for each in first:
        owners = [name for name in tables if each.startswith(f"{name}.")]
        found.append((owners[0], each[len(owners[0]) + 1 :]) if owners else ("", each))
    return found


def _not_measured() -> InvalidUse:
    return InvalidUse(
        given="The quality of several tables cannot be measured for a price.",
        do="Use agreement() and validity(), which are free, or ask for one table by itself.",
    )
