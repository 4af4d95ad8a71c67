"""The questions of `sitr start`: every answer becomes an option, as if it had been written on the command line.

Only names and types of columns are looked at and shown. Each answer is checked at once. Nothing is written before the
last answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.backends.formats import is_database_file
from sitr.cli.dialogue import Back, Dialogue, yes
from sitr.cli.identifiers import identifies, identifies_person
from sitr.cli.options import Place, interval, keys_of, ledger_place, named, number, promise
from sitr.cli.progress import working
from sitr.cli.terminal import console
from sitr.cli.terminal import table as empty
from sitr.errors import BadUsage, unknown_name

if TYPE_CHECKING:
    from sitr.backends.csv import CsvFile
    from sitr.cli.choices import Choices
    from sitr.dataset.csv_format import DeclaredFormat
    from sitr.dataset.schema import Kind
    from sitr.session.dataset import Unprotected

ROW, REST, RIGHT = "row", "-", "ok"
GROUPS, ROWS, BUDGET = "3", "2", "approximate(1, 1e-6)"

INTRODUCTION = """\
Only the names and types of columns are looked at. No value is shown, and nothing is written before the last answer.
Everything you answer is public: use laws, price lists or published reports, never the rows.
Press Enter to accept a proposal in [brackets]; answer < to go back to the previous question, and Ctrl-C to stop."""
TABLE = "Which table is protected? A database can have many, and each has a description and a budget of its own."
WRITTEN = {
    "delimiter": "A delimiter separates the values of a line. This one was found in the rows:",
    "quote": "A quote encloses values that contain the delimiter. This one was found in the rows:",
    "header": "Does the first line name the columns, or is it a row like the others?",
    "decimal": "Some programs write decimal numbers as 1.234,56, others as 1234.56.",
    "date_format": "How are dates written? %d is the day, %m the month, %Y the year, and %y its last two digits.",
    "timestamp_format": "How are timestamps written? %H is the hour, %M the minute, and %S the second.",
}
QUESTIONS = {
    "delimiter": "Delimiter of this file",
    "quote": "Quote of this file",
    "header": "Header in the first line (yes or no)",
    "decimal": "Decimal mark of this file (. or ,)",
    "date_format": "Format of dates (such as %d.%m.%Y)",
    "timestamp_format": "Format of timestamps (such as %d.%m.%Y %H:%M)",
}
TYPES = """\
These types come from the rows, where a single row can decide, and they become public. Correct whatever should differ:
a column can be integer, real, text, boolean (for true and false, or yes and no), date, timestamp or timestamptz (with
an offset such as +02:00). Values that do not fit count as missing."""
ZONES = """\
In which time zone are moments read? Months, days and hours are those of its clocks, such as Europe/Paris; UTC is the
same everywhere."""
WHO = """\
Who is protected? A person with all of their rows: choose the column that identifies a person.
If each row is one person, and nobody can have two rows, answer "{row}"."""
CAPS = """\
How much of one person counts? Higher caps mean more noise; rows beyond the caps are left out at random.
Choose what is enough for most people."""
SUMS = f"""\
Which numbers should be summed? Each needs bounds, because the noise of a sum must hide its largest possible value.
Values outside are moved to the nearer bound. Enter skips a column, and {REST} skips all that are left."""
STEPS = "To which step are they recorded, such as 0.01 for cents? Without an answer: a millionth of the range, roughly."
GROUPED = f"""\
Which text columns have values that everybody knows? An answer then lists exactly these groups, even empty ones.
Without them, an answer shows only groups that clearly more than one person has, and the budget needs a δ.
Write NULL for a missing value. Enter skips a column, and {REST} skips all that are left."""
CODES = f"""\
Which whole numbers are codes of categories, such as 1 for yes and 2 for no? List them to group by them.
Enter skips a column, and {REST} skips all that are left."""
NAME = "Questions call the table by its name, and the ledger keeps its budget under this name."
COST = """\
How much may all answers together cost, forever? Sitr refuses every answer beyond this budget; less is safer and
noisier. With ε = 1, anything that anyone could conclude is at most 2.72 times as likely with a person's data as
without them, plus at most δ. You must be able to justify these numbers."""
LEDGER = "The ledger records what was spent. Keep it on a local disk, and never delete it."


Look = Callable[["Choices"], "Unprotected"]


def interview(choices: Choices) -> tuple[Choices, Unprotected]:
    """The choices with the answers to everything that they leave open, and the columns of the source.

    To go back, all is asked again, and all but the last answer are given again.
    """
    known: dict[str, Unprotected] = {}

    def look(choices: Choices) -> Unprotected:
        key = f"{choices.table} {choices.types} {choices.written}"
        if key not in known:
            with working(f"Looking at the columns of {choices.shown}", quiet=False):
                known[key] = choices.look()
        return known[key]

    at = Dialogue(console())
    try:
        while True:
            try:
                return _asked(at, choices, look)
            except Back:
                at = Dialogue(at.out, tuple(at.given[:-1]))
    except KeyboardInterrupt:
        at.say("Stopped: nothing was written.")
        raise


def _asked(at: Dialogue, choices: Choices, look: Look) -> tuple[Choices, Unprotected]:
    if tables := _tables(choices):
        at.say(INTRODUCTION)
        choices = _table(at, choices, tables)
    found = look(choices)
    if not tables:
        at.say(INTRODUCTION)
    choices, found = _types(at, choices, found, look)
    kinds = found.backend.kinds()
    choices = _caps(at, _unit(at, _zones(at, choices, kinds), kinds))
    choices = _keys(at, _bounds(at, choices, kinds), kinds)
    choices = _budget(at, choices, found)
    at.say(f"Bounds and keys can also be added later, by editing {choices.target}. The same without questions:")
    at.say(f"  {shlex.join(choices.words())}", whole=True)
    done = f"Write {choices.target} and open the budget in {choices.ledger}? (yes or no)"
    if not at.ask(done, yes, proposal="yes"):
        raise KeyboardInterrupt
    return choices, found


def _tables(choices: Choices) -> list[str]:
    """The tables of a database file, if none is chosen."""
    from sitr.backends.duckdb_table import tables_in

    if choices.table is not None or not isinstance(choices.source, Path) or not is_database_file(choices.source):
        return []
    return tables_in(choices.source)


def _table(at: Dialogue, choices: Choices, known: list[str]) -> Choices:
    """Which table is protected. Its name decides how the description is called."""

    def read(text: str) -> Choices:
        named = column_of(text, known, lacks="There is no table")
        made = replace(choices, table=named)
        made.check_target()
        return made

    at.say(TABLE, *(f"{place}  {name}" for place, name in enumerate(known, start=1)))
    return at.ask("Table, or its number", read, proposal=known[0] if len(known) == 1 else None)


def _types(at: Dialogue, choices: Choices, found: Unprotected, look: Look) -> tuple[Choices, Unprotected]:
    """The columns; in a CSV file, also the confirmation of what was detected."""
    if found.file is None or choices.accept_types or found.confirmed:
        _show(at, found)
        return choices, found
    while (file := found.file) is not None:
        if (doubt := _doubt(file, choices.written)) is not None:
            at.say(WRITTEN[doubt])
            detected = getattr(file.format, doubt)
            proposal = None if doubt == "decimal" and file.unmarked else "no" if detected is False else detected
            choices, found = at.ask(QUESTIONS[doubt], _looking(choices, doubt, look), proposal=proposal)
            continue
        _show(at, found)
        at.say(TYPES)
        question = f"Corrections (such as code=text, smokes=boolean), or {RIGHT}"
        changed = at.ask(question, _looking(choices, "types", look), proposal=RIGHT)
        if changed[0] == choices:
            break
        choices, found = changed
    assert found.file is not None
    return replace(choices, types=[f"{name}={kind.value}" for name, kind in found.file.columns]), found


def _doubt(file: CsvFile, written: DeclaredFormat) -> str | None:
    """A part of the format that is unusual and not declared: with another delimiter, also the decimal mark."""
    from sitr.backends.confirmation import unusual

    found = unusual(file)
    marked = {"decimal"} if "delimiter" in found else set()
    return next((name for name in WRITTEN if name in found.keys() | marked and name not in written), None)


def _looking(choices: Choices, what: str, look: Look) -> Callable[[str], tuple[Choices, Unprotected]]:
    """Reads a part of the format or corrections of types, and looks at the file again with them."""

    def read(text: str) -> tuple[Choices, Unprotected]:
        new = choices
        if what != "types":
            said: dict[str, Any] = {what: yes(text) if what == "header" else text}
            new = replace(choices, **said)
        elif text != RIGHT:
            changes = named("--type", map(str.strip, text.split(",")), lambda _, kind: kind.strip())
            types = named("--type", choices.types, lambda _, kind: kind) | changes
            new = replace(choices, types=[f"{name}={kind}" for name, kind in types.items()])
        return new, look(new)

    return read


def _show(at: Dialogue, found: Unprotected) -> None:
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    if at.replaying:
        return
    words = in_words()
    grid = empty("", words.label("column"), words.label("type"))
    for place, (name, kind) in enumerate(found.backend.kinds().items(), start=1):
        shown = words.label(kind.value)
        # Corrections are written in English, so that name stays visible beside its translation.
        both = kind.value if shown == kind.value else f"{shown} ({kind.value})"
        grid.add_row(words.numerals(str(place)), visible(name), both)
    at.out.print()
    at.out.print(grid)


def _zones(at: Dialogue, choices: Choices, kinds: Mapping[str, Kind]) -> Choices:
    """The time zone of each column of moments."""
    from sitr.dataset.schema import Kind
    from sitr.dataset.zone import zone

    given = named("--zone", choices.zones, lambda _, text: text)
    asked = [name for name, kind in kinds.items() if kind is Kind.ZONED and name not in given]
    if not asked:
        return choices
    at.say(ZONES)
    found = {name: at.ask(f"Time zone of {name}", lambda text: zone(text).name, proposal="UTC") for name in asked}
    return replace(choices, zones=_items(given | found))


def _unit(at: Dialogue, choices: Choices, kinds: Mapping[str, Kind]) -> Choices:
    """Who is protected."""
    from sitr.dataset.schema import IDENTIFYING

    if choices.unit is not None or choices.unit_row:
        return choices
    able = [name for name, kind in kinds.items() if kind in IDENTIFYING]
    ids = sorted(filter(identifies, able), key=identifies_person, reverse=True)
    row = ROW if ROW not in kinds else "each row"

    def read(text: str) -> Choices:
        if text == row:
            return replace(choices, unit_row=True)
        name = column_of(text, kinds)
        if name not in able:
            raise BadUsage(
                wanted="a column that can identify a person",
                given=f"{name!r} of type {kinds[name].value}",
                do=f"Choose another column, or {row} if nobody can have two rows.",
            )
        return replace(choices, unit=name)

    at.say(WHO.format(row=row), *([f"These look like ids: {', '.join(ids)}."] if ids else []))
    best = ids[0] if ids and identifies_person(ids[0]) else None
    return at.ask(f"Column, its number, or {row}", read, proposal=best)


def column_of(text: str, kinds: Iterable[str], *, lacks: str = "There is no column") -> str:
    """The column or table of this name, or else of this number in the list."""
    names = list(kinds)
    if text in names:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    alike = [name for name in names if name.casefold() == text.casefold()]
    if len(alike) != 1:
        raise unknown_name(text, names, lacks=lacks)
    return alike[0]


def _caps(at: Dialogue, choices: Choices) -> Choices:
    """What one person may contribute."""
    groups, rows = choices.max_groups, choices.max_rows_per_group
    if choices.unit is None or choices.max_rows is not None or None not in (groups, rows):
        return choices
    at.say(CAPS)
    if groups is None:
        groups = at.ask("The most groups of an answer that one person counts in", _cap, proposal=GROUPS)
    if rows is None:
        rows = at.ask("The most rows of one person that count in each group", _cap, proposal=ROWS)
    return replace(choices, max_groups=groups, max_rows_per_group=rows)


def _cap(text: str) -> int:
    if int(text) < 1:
        raise BadUsage(wanted="a whole number of at least 1", given=text, do="Choose a larger one.")
    return int(text)


def _bounds(at: Dialogue, choices: Choices, kinds: Mapping[str, Kind]) -> Choices:
    """The bounds and steps of numbers that may be summed."""
    from sitr.dataset.schema import NUMERIC, Kind, quantise

    def check(name: str, ends: str, step: str = "") -> None:
        quantise(name, kinds[name], interval(ends), number(step) if step else None)

    numbers = [] if choices.bounds is not None else _others(choices, kinds, NUMERIC)
    if not numbers:
        return choices
    at.say(SUMS)
    bounds = dict(_each(at, "Bounds of {} (LOW:HIGH, such as 0:5000)", numbers, check))
    reals = [name for name in bounds if kinds[name] is Kind.REAL and choices.granularity is None]
    if reals:
        at.say(STEPS)
    steps = dict(_each(at, "Step of {}", reals, lambda name, step: check(name, bounds[name], step)))
    return replace(choices, bounds=_items(bounds), granularity=_items(steps) or choices.granularity)


def _keys(at: Dialogue, choices: Choices, kinds: Mapping[str, Kind]) -> Choices:
    """The public values of text columns, and of whole numbers that are not summed and so may be codes."""
    from sitr.dataset.schema import Kind, public_keys

    def check(name: str, text: str) -> None:
        public_keys(name, kinds[name], keys_of(text.split(","), kinds[name], column=name))

    if choices.keys is not None or choices.keys_file is not None:
        return choices
    summed = named("--bounds", choices.bounds, lambda _, text: text)
    codes = [name for name in _others(choices, kinds, (Kind.INTEGER,)) if name not in summed]
    keys: dict[str, str] = {}
    for columns, words in ((_others(choices, kinds, (Kind.TEXT,)), GROUPED), (codes, CODES)):
        if columns:
            at.say(words)
            keys |= _each(at, "Public values of {} (A,B,C)", columns, check)
    return replace(choices, keys=_items(keys))


def _others(choices: Choices, kinds: Mapping[str, Kind], wanted: tuple[Kind, ...]) -> list[str]:
    """The columns of these types that are no ids."""
    ids = {choices.unit, *filter(identifies, kinds)}
    return [name for name, kind in kinds.items() if kind in wanted and name not in ids]


def _each(
    at: Dialogue, question: str, columns: list[str], check: Callable[[str, str], object]
) -> Iterator[tuple[str, str]]:
    """The answers by column, without those that were skipped."""
    for name in columns:

        def read(text: str, name: str = name) -> str:
            if text not in ("", REST):
                check(name, text)
            return text

        text = at.ask(question.format(name), read, proposal="")
        if text == REST:
            return
        if text:
            yield name, text


def _items(said: Mapping[str, str]) -> list[str] | None:
    return [f"{name}={text}" for name, text in said.items()] or None


def _budget(at: Dialogue, choices: Choices, found: Unprotected) -> Choices:
    """The name of the table, its budget and its ledger. If a description beside the file fixes them, they stay."""
    from sitr.flavors.notation import write
    from sitr.ledger.terms import allowed, fixed_terms

    def affordable(text: str) -> str:
        allowed(choices.relation, promise(text))
        return text

    fixed = fixed_terms(choices.file, None)
    if fixed is not None and fixed.promise is not None:
        at.say(f"{fixed.path} already names the budget of this file, {write(fixed.promise)}. It stays the only one.")
        return replace(choices, name=fixed.table.name, budget=write(fixed.promise), ledger=fixed.ledger)
    if choices.name is None:
        at.say(NAME)
        choices = replace(choices, name=at.ask("Name of the table", _name, proposal=found.name(None)))
    if choices.budget is None:
        at.say(COST)
        choices = replace(choices, budget=at.ask("Budget", affordable, proposal=BUDGET))
    if choices.ledger is None:
        at.say(LEDGER)
        choices = replace(choices, ledger=at.ask("Ledger", _ledger, proposal=str(choices.beside(".sitr.db"))))
    return choices


def _name(text: str) -> str:
    from sitr.dataset.literals import writable

    if not writable(text):
        raise BadUsage(wanted="a name of valid Unicode text", given=repr(text), do="Choose another name.")
    return text


def _ledger(text: str) -> Place:
    from sitr.ledger.sql import SqlLedger

    path = ledger_place(text)
    if not isinstance(path, Path):
        return path
    if path.exists():
        SqlLedger(path, create=False)
    elif not path.parent.is_dir():
        raise BadUsage(wanted="a file in a folder that exists", given=text, do="Create the folder, or choose another.")
    return path
