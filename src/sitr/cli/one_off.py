"""The SOURCE of a command: a description, or a Parquet file with options that say who is protected in it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.far import far
from sitr.cli.options import (
    MaxGroups,
    MaxInAll,
    MaxRows,
    Place,
    Unit,
    UnitRow,
    example_of,
    listed,
    missing_who,
    promise,
    unit_of,
)
from sitr.cli.terminal import Command
from sitr.errors import BadUsage, no_description, no_source
from sitr.neighbors.relation import Relation

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.session.budget import Budget
    from sitr.session.dataset import Dataset


CAPS = ("--max-groups", "--max-rows-per-group")


@dataclass(frozen=True, slots=True)
class Who:
    """The options that say who is protected in a file without a description; `options` are those of the caps."""

    unit: Unit = None
    unit_row: UnitRow = False
    max_groups: MaxGroups = None
    max_rows_per_group: MaxRows = None
    relation: Annotated[Relation | None, typer.Option(help="How neighbouring data sets differ.")] = None
    options: tuple[str, ...] = CAPS
    max_rows: MaxInAll = None

    def check_unset(self, description: Path) -> None:
        """Refuse options that the description sets."""
        given = {"--unit": self.unit is not None, "--unit-row": self.unit_row, "--relation": self.relation is not None}
        if any(given.values()):
            raise BadUsage(
                given=f"{' '.join(option for option, said in given.items() if said)} cannot be combined with "
                f"{description}, which says who is protected.",
                do="Leave it out; nothing was spent.",
            )

    def missing(self) -> list[str]:
        """The options that a file without a description needs as well."""
        caps = [cap or self.max_rows for cap in (self.max_groups, self.max_rows_per_group)][-len(self.options) :]
        return missing_who(self.unit, row=self.unit_row, caps=dict(zip(self.options, caps, strict=True)))

    def protect(self, source: Path) -> Dataset:
        """The protected file."""
        from sitr.backends.formats import CSV, is_database_file
        from sitr.session.dataset import protect

        if missing := self.missing():
            raise BadUsage(
                given=f"{source} has no description that says who is protected: missing {listed(missing)}.",
                do=f"Write for example {example_of(self.unit, self.options)}; use --unit-row only if nobody can have "
                "two rows.",
            )
        if source.name.lower().endswith(CSV):
            raise BadUsage(
                given=f"{source} is a CSV file without a description, so the types of its columns are not confirmed.",
                do=f"Run sitr start {shlex.quote(str(source))} first, or convert the file to Parquet.",
            )
        if is_database_file(source):
            raise BadUsage(
                given=f"{source} is a database without a description, so nothing says which table is asked about.",
                do=f"Run sitr protect {shlex.quote(str(source))} --table visits first, with who is protected.",
            )
        return protect(
            source,
            unit=unit_of(self.unit, row=self.unit_row),
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            max_rows=self.max_rows,
            relation=self.relation or Relation.ADD_REMOVE,
        )


class SourceCommand(Command):
    """A command on a SOURCE: if options are missing, those that say who is protected are named with the others."""

    def missing(self, ctx: Any, given: Mapping[str, Any]) -> list[str]:
        missing = super().missing(ctx, given)
        if missing and not described(Path(given.get("source") or "x.yaml")):
            options = ("--rows-per-person",) if "rows_per_person" in {each.name for each in self.params} else CAPS
            caps = {option: given.get(option[2:].replace("-", "_")) or given.get("max_rows") for option in options}
            missing += missing_who(given.get("unit"), row=bool(given.get("unit_row")), caps=caps)
        return missing


def described(source: Path) -> bool:
    """Whether SOURCE is a description, and not a file of rows."""
    return source.suffix in (".yaml", ".yml")


def opened(source: Path, who: Who, *prices: Kept, budget: str | None, ledger: Place | None) -> Budget:
    """The budget that a description names, or a one-off budget for these prices: see `Dataset.one_off`."""
    there = far(source, who.unit, who.unit_row, who.relation, budget, ledger)
    if there is not None:
        return there
    if not source.exists():
        raise no_description(source) if described(source) else no_source(source)
    promised = promise(budget) if budget is not None else None
    from sitr.ledger.terms import check_undescribed
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a budget

    if described(source):
        who.check_unset(source)
        return open_description(source).budget(promised, ledger=ledger)
    check_undescribed(source)
    return who.protect(source).one_off(*(prices if promised is None else (promised,)), ledger=ledger)
