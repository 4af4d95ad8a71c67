"""What a command counts: a described data set, or a file by itself, which is opened for one price."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sitr.cli.options import promise
from sitr.cli.question import dataset_budget
from sitr.errors import BadUsage
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.session.budget import Budget
    from sitr.session.dataset import Dataset

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Who:
    """Who is protected in a file without description, as it was written; `caps` is how these are written."""

    unit: str | None
    row: bool
    max_groups: int | None
    max_rows_per_group: int | None
    caps: str
    relation: Relation | None = None

    def unsaid(self, described: Path) -> None:
        """Refuse what the description says already."""
        given = {"--unit": self.unit is not None, "--unit-row": self.row, "--relation": self.relation is not None}
        if any(given.values()):
            raise BadUsage(
                wanted=f"{described} says who is protected.",
                given=f"{' '.join(option for option, said in given.items() if said)} was given too.",
                do="Leave it out; nothing was spent.",
            )

    def protect(self, source: Path) -> Dataset:
        """The file behind the veil."""
        from sitr.backends.duckdb import CSV
        from sitr.session.dataset import protect

        capped = None not in (self.max_groups, self.max_rows_per_group)
        if (self.unit is not None) == self.row or not (self.row or capped):
            raise BadUsage(
                wanted="Of a file without description it must be said who is protected: by the column of persons, "
                "with caps, or as each row.",
                given="Both ways were given." if self.unit is not None and self.row else "Something of it is missing.",
                do=f"Write for example --unit patient_id {self.caps}; --unit-row is right only where nobody can have "
                "two rows.",
            )
        if source.name.lower().endswith(CSV):
            raise BadUsage(
                wanted="A CSV file does not declare the types of its columns, so somebody must confirm them first.",
                given=f"{source} has no description.",
                do=f"Write one with sitr protect {shlex.quote(str(source))}, or convert the file to Parquet.",
            )
        return protect(
            source,
            unit=self.unit if self.unit is not None else Row(),
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            relation=self.relation or Relation.ADD_REMOVE,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """SOURCE and the options beside it. A file by itself is opened for the `prices` that are paid here, if no budget is
    given: a second time, nothing is left of it."""

    path: Path
    who: Who
    command: str
    prices: tuple[Kept, ...]
    budget: str | None
    ledger: Path | None

    def preview(self, ask: Callable[[Budget], Found]) -> Found:
        """What `ask` finds. For a file by itself it leaves no ledger behind."""
        return ask(self._described()) if self._is_description else self._rehearsed(self._by_itself(), ask)

    def opened(self, ask: Callable[[Budget], object]) -> Budget:
        """The budget. For a file by itself it is made only if `ask` finds nothing wrong: a ledger that was opened on
        wrong terms would stand in the way of the right ones."""
        if self._is_description:
            return self._described()
        data = self._by_itself()
        self._rehearsed(data, ask)
        return data.budget(self._promised, ledger=self.ledger or self._beside)

    @property
    def _is_description(self) -> bool:
        return self.path.suffix in (".yaml", ".yml")

    @property
    def _beside(self) -> Path:
        """The ledger of a file by itself."""
        return self.path.with_name(self.path.name.split(".")[0] + ".sitr.db")

    @property
    def _promised(self) -> Kept:
        return reduce(add, self.prices) if self.budget is None else promise(self.budget)

    def _described(self) -> Budget:
        self.who.unsaid(self.path)
        return dataset_budget(self.path, budget=self.budget, ledger=self.ledger)

    def _by_itself(self) -> Dataset:
        """The file behind the veil. A session would refuse a second budget too; here it is said what to write."""
        from sitr.session.terms import fixed_terms

        if (fixed := fixed_terms(self.path, None)) is not None:
            raise BadUsage(
                wanted=f"{self.path} is described by {fixed.path}, which names its one budget.",
                given="The file itself was given, as if nothing were spent on it yet.",
                do=f"Write sitr {self.command} {fixed.path}; nothing was spent.",
            )
        return self.who.protect(self.path)

    def _rehearsed(self, data: Dataset, ask: Callable[[Budget], Found]) -> Found:
        """Before anything is opened."""
        return ask(data.rehearsal(self._promised))
