"""Roles: who divides a budget and approves, who charges it, and who only reads.

A data set without roles belongs to whoever has its ledger. Once somebody is its steward, only stewards change roles,
divide the budget, set rules and decide about requests; an analyst charges one sub-budget and those below it; an auditor
reads. Names are those of the system, or those that a server knows. On a shared file roles are recorded and checked by
every client and by `sitr ledger verify`, but whoever can write to the file can write in another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from sitr.dataclass import dataclass
from sitr.errors import InvalidUse, NotAllowed, quoted


class Duty(Enum):
    """What somebody may do with a budget."""

    STEWARD = "steward"
    ANALYST = "analyst"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody's role, and the sub-budget that an analyst may charge; the whole budget if it is empty."""

    duty: Duty
    share: str = ""


Members = Mapping[str, Member]
"""Roles by the names of users."""


def check_steward(members: Members, by: str) -> None:
    """Refuse what only a steward may do."""
    if members and (by not in members or members[by].duty is not Duty.STEWARD):
        raise NotAllowed(
            given=f"{by} is {_role(members, by)} here, and only a steward may do this.",
            do="Ask a steward; nothing was changed.",
        )


def check_charge(members: Members, by: str, share: str) -> None:
    """Refuse a charge by somebody who may not charge this account."""
    if not members or (by in members and members[by].duty is Duty.STEWARD):
        return
    if by not in members or members[by].duty is not Duty.ANALYST:
        raise NotAllowed(
            given=f"{by} is {_role(members, by)} here, and only analysts and stewards may ask.",
            do="Ask a steward to make you an analyst; nothing was spent.",
        )
    own = members[by].share
    if own and share != own and not share.startswith(f"{own}/"):
        raise NotAllowed(
            given=f"{by} may charge the sub-budget {own}, not {share or 'the budget itself'}.",
            do=f"Ask with --account {own}; nothing was spent.",
        )


def assigned(members: Members, user: str, duty: Duty | None, share: str, *, by: str) -> dict[str, Member]:
    """The roles after one was given, or taken away if it is None. There is always a steward."""
    check_steward(members, by)
    if not user.isprintable() or not 0 < len(user) <= 100:
        raise InvalidUse(wanted="the name of a user", given=quoted(user), do="Correct it; nothing was changed.")
    if share and duty is not Duty.ANALYST:
        raise InvalidUse(given="Only an analyst has a sub-budget.", do="Leave the account out; nothing was changed.")
    made = {name: member for name, member in members.items() if name != user}
    made |= {} if duty is None else {user: Member(duty, share)}
    if all(member.duty is not Duty.STEWARD for member in made.values()):
        raise NotAllowed(
            given="Then nobody would be the steward.", do="Make somebody else a steward first; nothing was changed."
        )
    return dict(sorted(made.items()))


def _role(members: Members, by: str) -> str:
    return f"an {members[by].duty.value}" if by in members else "nobody"
