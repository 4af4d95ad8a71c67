"""`sitr start`: from a file to a description that can be asked, by a few questions."""

from __future__ import annotations

from dataclasses import replace

from sitr.cli.choices import (
    AcceptTypes,
    Bounds,
    Choices,
    Decimal,
    Force,
    Granularity,
    KeysFile,
    Name,
    Neighbors,
    PublicTables,
    Rows,
    Target,
    Types,
)
from sitr.cli.dialogue import on_terminal
from sitr.cli.interview import interview
from sitr.cli.options import Budget, Json, Keys, Ledger, MaxGroups, MaxRows, Unit, UnitRow
from sitr.cli.protect import describe, looked
from sitr.neighbors.relation import Relation


def start(
    source: Rows,
    unit: Unit = None,
    unit_row: UnitRow = False,
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRows = None,
    bounds: Bounds = None,
    granularity: Granularity = None,
    keys: Keys = None,
    keys_file: KeysFile = None,
    types: Types = None,
    decimal: Decimal = None,
    accept_types: AcceptTypes = False,
    relation: Neighbors = Relation.ADD_REMOVE,
    name: Name = None,
    public: PublicTables = None,
    budget: Budget = None,
    ledger: Ledger = None,
    output: Target = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Set up a data set by answering questions.

    Looks at the names and types of columns, asks who is protected and what is public, proposes answers, writes the
    description, opens the budget and shows what to ask next. Every answer can be given as an option. Without a
    terminal, missing options are refused, all at once; the ledger is then SOURCE.sitr.db unless another is given.

    Example: sitr start visits.csv
    """
    choices = Choices(
        source,
        unit,
        unit_row,
        max_groups,
        max_rows_per_group,
        bounds,
        granularity,
        keys,
        keys_file,
        types,
        decimal,
        accept_types,
        relation,
        name,
        public,
        budget,
        ledger,
        output,
        force,
    )
    choices.check_target()
    if on_terminal(as_json=as_json):
        describe(*interview(choices), as_json=as_json)
        return
    found = looked(choices, as_json=as_json)
    choices = replace(choices, ledger=ledger if ledger is not None else choices.beside(".sitr.db"))
    choices.check_complete(found, budget=True)
    describe(choices, found, as_json=as_json)
