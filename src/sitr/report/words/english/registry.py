"""The sentences of a record for the registry of deployments, which is in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.accounting.anytime import reading
from sitr.accounting.filter import Filter
from sitr.dataset.schema import Table
from sitr.flavors.random import RandomDP
from sitr.ledger.entry import Account, Entry
from sitr.neighbors.unit import Person
from sitr.report.figures import counted, visible
from sitr.report.words.english.english import RANDOM
from sitr.report.words.english.standing import StandingWords
from sitr.report.words.notation import notation


@dataclass(frozen=True, slots=True)
class RegistryWords:
    """What a budget promises, and how it is kept, for readers of a registry."""

    def description(self, entries: Sequence[Entry], synthetic: bool, /) -> str:
        """The data product."""
        what = "Synthetic rows" if synthetic else "Answers to questions about a protected table"
        return f"{what}, released with calibrated noise under one budget ({counted(len(entries), 'release')} so far)."

    def unit(self, person: bool, /) -> str:
        """The privacy unit."""
        return "Person" if person else "Row"

    def adjacent(self, account: Account, table: Table | None, /) -> str:
        """What adjacent data sets are."""
        person, replaced = account.neighbors.startswith("person"), account.neighbors.endswith("replace-one")
        each = f" in one {account.neighbors.partition(') in each ')[2].partition(' ')[0]}"
        whose = f"all rows of one person{each if ') in each ' in account.neighbors else ''}" if person else "one row"
        how = f"replacing {whose} by others" if replaced else f"adding or removing {whose}"
        unit = None if table is None else table.unit
        column = f" A person is one value of the column {visible(unit.column)}." if isinstance(unit, Person) else ""
        return f"Two tables are adjacent if they differ by {how}.{column}"

    def unprotected(self, account: Account, table: Table | None, /) -> str:
        """What is not protected."""
        size = " The number of rows or persons is public." if account.neighbors.endswith("replace-one") else ""
        if table is None:
            return f"What was declared public before the first question: column names, caps, bounds and keys.{size}"
        keys = [column.name for column in table.columns if column.keys is not None]
        bounds = [column.name for column in table.columns if column.quantised is not None]
        listed = [
            f"{what} of {', '.join(map(visible, names))}"
            for what, names in (("keys", keys), ("bounds", bounds))
            if names
        ]
        declared = ", ".join(["names and types of columns", *listed])
        return f"What was declared public before the first question: {declared}.{size}"

    def parameters(self, standing: Filter, listed: bool, /) -> str:
        """The budget, and how much of it is spent; `listed` if the registry has a field for each parameter."""
        if (shown := reading(standing)) is not None:
            return StandingWords().odometer(shown)
        spent = notation(standing.spent())
        random = f" {RANDOM}" if isinstance(standing.promise, RandomDP) else ""
        only = "" if listed else " They stand only here, because the registry does not have a field for each of them."
        return (
            f"The parameters are the budget for all releases together, {notation(standing.promise)}.{only} "
            f"{counted(standing.charges, 'release')} spent {spent} of it.{random}"
        )

    def model(self) -> str:
        """The deployment model."""
        return "A trusted curator holds the rows and adds the noise. Readers see noisy answers only."

    def many(self, *, capped: bool) -> str:
        """How privacy loss is managed over time."""
        if not capped:
            return "There is no cap: every release is recorded, and the total grows with each."
        return "The budget never resets. When it is spent, the data are used for no further release."

    def access(self) -> str:
        """How the budget is shared."""
        return "All questions are paid from one budget, whoever asks them, so that collusion gains nothing."

    def static(self) -> str:
        """What happens when data change."""
        return "The budget belongs to the data set as it was described; new rows do not renew it."

    def post_processing(self) -> str:
        """Work on released numbers."""
        return "Rounding, sums, charts and synthetic rows are computed from the noisy numbers and cost nothing."

    def composition(self, account: Account, /) -> str:
        """How losses are added."""
        return (
            "Each release is charged before any row is read. The parameters of all charges are added and never exceed "
            f"{notation(account.promise)}; this holds even if every question is chosen after seeing earlier answers."
        )

    def preprocessing(self, table: Table | None, /) -> str:
        """What is done with rows before noise is added."""
        if table is None or not isinstance(table.unit, Person):
            return "Values are clamped to public bounds."
        total = "" if table.max_rows is None else f" and {counted(table.max_rows, 'row')} in all"
        return (
            f"One person counts in at most {counted(table.max_groups, 'group')}, with at most "
            f"{counted(table.max_rows_per_group, 'row')} in each{total}; other rows are left out at random. "
            "Values are clamped to public bounds."
        )

    def mechanisms(self, versions: Sequence[str], /) -> str:
        """The noise and the software."""
        made = f" (version {', '.join(versions)})" if versions else ""
        return (
            f"Sitr{made}. Noise is fitted to the sensitivity of each question. It is drawn from the entropy of the "
            "operating system, unless a caller gave test coins, which the ledger does not record. Counts and sums are "
            "whole numbers of granules with noise from exact integer samplers, so that no floating-point number meets "
            "the data before the noise. Error messages and empty groups look the same for adjacent tables. Timing is "
            "not protected."
        )

    def notes(self, account: Account, standing: Filter, /) -> str:
        """Where the numbers of the record come from."""
        return f"Written by Sitr from its ledger: {counted(standing.charges, 'charge')} to {visible(account.dataset)}."
