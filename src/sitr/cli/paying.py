"""On which account a question is charged, and by whose leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.dataclass import dataclass

if TYPE_CHECKING:
    from sitr.session.budget import Budget

Account = Annotated[
    str | None, typer.Option(help="The sub-budget that pays, such as ana or team/ana; see sitr ledger allot.")
]
Request = Annotated[int | None, typer.Option(min=1, help="The number of the approved request that this answers.")]
Key = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key", metavar="KEY", help="A text of your own: asked again with it, nothing is charged twice."
    ),
]


@dataclass(frozen=True, slots=True)
class Paying:
    """The sub-budget that pays, the request that allows it, and the key by which it is repeated."""

    account: Account = None
    request: Request = None
    idempotency_key: Key = None

    def budget(self, whole: Budget) -> Budget:
        """The budget that pays."""
        found = on_account(whole, self.account)
        found = found if self.request is None else found.approved(self.request)
        return found if self.idempotency_key is None else found.keyed(self.idempotency_key)


def on_account(whole: Budget, account: str | None) -> Budget:
    """The sub-budget of this name, with or without that of the data set."""
    if account is None:
        return whole
    return whole.account(account.casefold().removeprefix(f"{whole.table.name.casefold()}/"))


BUDGET = Paying()
"""The budget of the data set pays."""
