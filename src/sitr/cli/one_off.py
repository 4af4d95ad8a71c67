"""The SOURCE of a command: a description, or a Parquet file with options that say who is protected in it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import promise, unit_of
from sitr.errors import BadUsage, no_description, no_source
from sitr.neighbors.relation import Relation

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.session.budget import Budget
    from sitr.session.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Who:
    """The options that say who is protected in a file without a description; `caps` is an example of the caps."""

    unit: str | None
    row: bool
    max_groups: int | None
    max_rows_per_group: int | None
    caps: str
    relation: Relation | None = None

    def check_unset(self, description: Path) -> None:
        """Refuse options that the description sets."""
        given = {"--unit": self.unit is not None, "--unit-row": self.row, "--relation": self.relation is not None}
        if any(given.values()):
            raise BadUsage(
                given=f"{' '.join(option for option, said in given.items() if said)} cannot be combined with "
                f"{description}, which says who is protected.",
                do="Leave it out; nothing was spent.",
            )

    def protect(self, source: Path) -> Dataset:
        """The protected file."""
        from sitr.backends.duckdb import CSV
        from sitr.session.dataset import protect

        unit = unit_of(self.unit, row=self.row, caps=f" {self.caps}")
        if not self.row and None in (self.max_groups, self.max_rows_per_group):
            raise BadUsage(
                wanted="--unit with a limit on what one person contributes",
                given=f"--unit {self.unit}",
                do=f"Write for example --unit {self.unit} {self.caps}.",
            )
        if source.name.lower().endswith(CSV):
            raise BadUsage(
                given=f"{source} is a CSV file without a description, so the types of its columns are not confirmed.",
                do=f"Run sitr protect {shlex.quote(str(source))} first, or convert the file to Parquet.",
            )
        return protect(
            source,
            unit=unit,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            relation=self.relation or Relation.ADD_REMOVE,
        )


def opened(source: Path, who: Who, *prices: Kept, budget: str | None, ledger: Path | None) -> Budget:
    """The budget that a description names, or a one-off budget for these prices: see `Dataset.one_off`."""
    described = source.suffix in (".yaml", ".yml")
    if not source.exists():
        raise no_description(source) if described else no_source(source)
    promised = promise(budget) if budget is not None else None
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a budget
    from sitr.session.terms import check_undescribed

    if described:
        who.check_unset(source)
        return open_description(source).budget(promised, ledger=ledger)
    check_undescribed(source)
    return who.protect(source).one_off(*(prices if promised is None else (promised,)), ledger=ledger)
