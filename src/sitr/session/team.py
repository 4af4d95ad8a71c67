"""What a team does with one budget: divide it, set rules, and ask for approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from sitr.errors import InvalidUse, quoted
from sitr.flavors.notation import write
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.roles import Duty, Member
from sitr.ledger.rules import Rules
from sitr.namespace import Later
from sitr.session.desk import Desk
from sitr.session.period import Periodic

if TYPE_CHECKING:
    from sitr.ledger import approval, steward
    from sitr.ledger.proposals import Proposal
    from sitr.ledger.shares import Accounts
else:  # only those need them who share a budget
    approval, steward = Later("sitr.ledger.approval"), Later("sitr.ledger.steward")


class Shared(Periodic):
    """A budget that several people use.

    Its sub-budgets have names such as `ana` or `team/ana`, and they are allocations: a charge to one is accepted by it
    and by all accounts above it, or by none, and only the budget of the data set is a promise to its people.
    """

    __slots__ = ()
    _at: Desk

    def account(self, name: str) -> Self:
        """The same budget, whose questions are charged to a sub-budget: `budget.account("ana").sql(…)`."""
        found = self._on(share=self._path(name))
        steward.tree(self._at.ledger, self._at.account).share(found._at.warrant.share)
        return found

    def allot(self, name: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> Self:
        """Make a sub-budget below this one, or change what it may use, and return it. An act of the steward.

        `budget.allot("ana", "zcdp(0.1)")` and `budget.allot("ana", rho=0.1)` are the same. The sub-budgets may add up
        to more than there is: then the budget of the data set still refuses whatever exceeds its promise.
        """
        path = self._path(name)
        steward.allot(self._at.ledger, self._at.account, path, price_of(amount, **amounts))
        return self._on(share=path)

    def reserve(self, name: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> None:
        """Set an amount aside for a sub-budget, what it has spent included: its siblings cannot use it."""
        steward.reserve(self._at.ledger, self._at.account, self._path(name), price_of(amount, **amounts))

    def move(self, source: str, target: str, amount: Price | None = None, **amounts: Unpack[Amounts]) -> None:
        """Move a part of one sub-budget to another."""
        paths = self._path(source), self._path(target)
        steward.move(self._at.ledger, self._at.account, *paths, price_of(amount, **amounts))

    def accounts(self) -> Accounts:
        """The budget of the data set and all its sub-budgets."""
        return steward.tree(self._at.ledger, self._at.account)

    def rules(self) -> Rules:
        """The rules that the steward has set."""
        return steward.state(self._at.ledger, self._at.account).rules

    def rule(
        self, *, least: Price | None = None, questions: int = 0, seconds: int = 0, approval: Price | None = None
    ) -> Rules:
        """Set the rules of the data set: a least price, and a rate of questions. They replace earlier ones.

        `budget.rule(least="zcdp(0.0001)", questions=60, seconds=3600)` refuses lower prices, and more than 60 charges
        in an hour, before anything is spent. Prices above `approval` need an approved request.
        """
        texts = ["" if given is None else write(price_of(given)) for given in (least, approval)]
        return steward.rule(self._at.ledger, self._at.account, Rules(texts[0], questions, seconds, texts[1]))

    def assign(self, user: str, duty: Duty | None, *, account: str = "") -> Mapping[str, Member]:
        """Give a user a role, or take it away with None; an analyst may have a sub-budget. Returns all roles.

        `budget.assign("ana", sitr.ledger.Duty.ANALYST, account="ana")`. The first role must be a steward's; from then
        on only stewards assign roles, divide the budget, set rules and decide about requests.
        """
        if not isinstance(user, str) or not isinstance(duty, Duty | None):
            raise InvalidUse(
                wanted="the name of a user and a sitr.ledger.Duty", given=quoted((user, duty)), do="Correct it."
            )
        path = self._path(account) if account else ""
        return steward.assign(self._at.ledger, self._at.account, user, duty, share=path)

    def roles(self) -> Mapping[str, Member]:
        """Everybody's role; none if nobody has one."""
        return steward.state(self._at.ledger, self._at.account).members

    def keyed(self, key: str) -> Self:
        """The same budget, whose next question is charged once under this key of yours, however often it is asked.

        A question that is repeated with the same key gets the kept answer and spends nothing, also after a crash or a
        lost connection. Another question with the same key is refused.
        """
        if not isinstance(key, str) or not 0 < len(key) <= 200:
            raise InvalidUse(wanted="a key of 1 to 200 letters", given=quoted(key), do="Choose a new text.")
        return self._on(key=key)

    def approved(self, request: int) -> Self:
        """The same budget, whose next question is the one that was approved under this number."""
        if not isinstance(request, int) or isinstance(request, bool) or request < 1:
            raise InvalidUse(wanted="the number of a request", given=quoted(request), do="See budget.queue().")
        return self._on(request=request)

    def paying(
        self,
        *,
        period: str | None = None,
        account: str | None = None,
        request: int | None = None,
        key: str | None = None,
    ) -> Self:
        """The same budget, of a period, on a sub-budget, for an approved request and under a key, as far as given.

        The name of the sub-budget may begin with the name of the data set, as ledgers show it.
        """
        found = self if period is None else self.period(period)
        if account is not None:
            found = found.account(account.casefold().removeprefix(f"{found._at.account}/"))
        found = found if request is None else found.approved(request)
        return found if key is None else found.keyed(key)

    def queue(self) -> list[Proposal]:
        """All requests for this data set, oldest first."""
        return approval.queue(self._at.ledger, self._at.account)

    def approve(self, request: int, *, reason: str = "") -> Proposal:
        """Approve a request that somebody else made. This is never revised."""
        return approval.approve(self._at.ledger, request, reason=reason)

    def refuse(self, request: int, *, reason: str = "") -> Proposal:
        """Refuse a request that somebody else made. This is never revised."""
        return approval.refuse(self._at.ledger, request, reason=reason)

    def _path(self, name: object) -> str:
        """A path from the budget of the data set. Case is ignored, as in the names of data sets."""
        if not isinstance(name, str):
            raise InvalidUse(wanted="the name of a sub-budget", given=quoted(name), do='Write for example "ana".')
        above = self._at.warrant.share
        return f"{above}/{name.casefold()}" if above else name.casefold()

    def _on(self, **changed: Any) -> Self:
        at = replace(self._at, warrant=replace(self._at.warrant, **changed))
        return cast("Self", replace(cast("Any", self), _at=at))
