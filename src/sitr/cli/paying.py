"""On which account a question is charged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.dataclass import dataclass

if TYPE_CHECKING:
    from sitr.session.budget import Budget

Account = Annotated[
    str | None, typer.Option(help="The sub-budget that pays, such as ana or team/ana; see sitr ledger allot.")
]


@dataclass(frozen=True, slots=True)
class Paying:
    """The sub-budget that pays; without one, the budget of the data set."""

    account: Account = None

    def budget(self, whole: Budget) -> Budget:
        """The budget that pays."""
        if self.account is None:
            return whole
        name = self.account.casefold()
        return whole.account(name.removeprefix(f"{whole.table.name.casefold()}/"))


BUDGET = Paying()
"""The budget of the data set pays."""
