"""`sitr ledger allot`, `reserve`, `move`, `rules` and `role`: divide a budget, and say who may do what with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.ledger_care import Where, opened_ledger
from sitr.cli.options import Json, promise
from sitr.cli.terminal import Command, console, say_json, table
from sitr.errors import BadUsage
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from sitr.ledger.roles import Member
    from sitr.ledger.rules import Rules
    from sitr.ledger.shares import Accounts

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The sub-budget, such as clinic/ana.")]
Amount = Annotated[str, typer.Argument(metavar="AMOUNT", help="How much, such as 'zcdp(0.1)'.")]

ALLOCATED = "Sub-budgets are allocations, not promises: only the budget of the data set is guaranteed."
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def allot(ledger: Where, account: Account, amount: Amount, as_json: Json = False) -> None:
    """Make a sub-budget, or change what it may use.

    A charge to clinic/ana counts in it and in clinic, and is accepted by both or by none. Sub-budgets may add up to
    more than there is: then clinic still refuses whatever exceeds its promise. This is recorded in the ledger.

    Example: sitr ledger allot sitr.db clinic/ana 'zcdp(0.1)'
    """
    from sitr.ledger import steward

    found = opened_ledger(ledger)
    dataset, path = steward.named(found, account.casefold())
    _show(steward.allot(found, dataset, path, promise(amount)), as_json=as_json)


def reserve(ledger: Where, account: Account, amount: Amount, as_json: Json = False) -> None:
    """Set an amount aside for a sub-budget, so that others cannot use it.

    What it has spent is part of the amount. This is recorded in the ledger.

    Example: sitr ledger reserve sitr.db clinic/ana 'zcdp(0.05)'
    """
    from sitr.ledger import steward

    found = opened_ledger(ledger)
    dataset, path = steward.named(found, account.casefold())
    _show(steward.reserve(found, dataset, path, promise(amount)), as_json=as_json)


def move(
    ledger: Where,
    account: Annotated[str, typer.Argument(metavar="FROM", help="The sub-budget that gives.")],
    to: Annotated[str, typer.Argument(metavar="TO", help="The sub-budget that takes.")],
    amount: Amount,
    as_json: Json = False,
) -> None:
    """Move a part of one sub-budget to another.

    This is recorded in the ledger.

    Example: sitr ledger move sitr.db clinic/ana clinic/ben 'zcdp(0.02)'
    """
    from sitr.ledger import steward

    found = opened_ledger(ledger)
    (dataset, source), (other, target) = (steward.named(found, name.casefold()) for name in (account, to))
    if dataset != other:
        raise BadUsage(
            wanted="two sub-budgets of one data set",
            given=f"{account} and {to}",
            do="Budgets of different data sets are promises to different people; nothing was changed.",
        )
    _show(steward.move(found, dataset, source, target, promise(amount)), as_json=as_json)


def rules(
    ledger: Where,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The data set in the ledger.")],
    least: Annotated[str | None, typer.Option(help="The least price, such as 'zcdp(0.0001)'.")] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="N/hour", help="The most questions in a second, minute, hour or day.")
    ] = None,
    approve_above: Annotated[
        str | None, typer.Option(help="The largest price that needs no approval, such as 'zcdp(0.01)'.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove all rules.")] = False,
    as_json: Json = False,
) -> None:
    """Show the rules of a data set, or set them.

    A price below the least one, and a question above the rate, are refused before anything is spent. A price above
    --approve-above needs an approved request. New rules take the place of all earlier ones. This is recorded in the
    ledger.

    Example: sitr ledger rules sitr.db clinic --least 'zcdp(0.0001)' --rate 60/hour
    """
    from sitr.flavors.notation import write
    from sitr.ledger import steward
    from sitr.ledger.rules import Rules

    found = opened_ledger(ledger)
    name, given = dataset.casefold(), (least, rate, approve_above)
    if none and any(given):
        raise BadUsage(wanted="--none alone, or rules to set", given="both", do="Leave one of them out.")
    if none or any(given):
        questions, seconds = _rate(rate)
        texts = ["" if text is None else write(promise(text)) for text in (least, approve_above)]
        made = Rules(texts[0], questions, seconds, texts[1])
        _tell(name, steward.rule(found, name, made), as_json=as_json)
    else:
        _tell(name, steward.state(found, name).rules, as_json=as_json)


def role(
    ledger: Where,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The data set in the ledger.")],
    user: Annotated[str | None, typer.Argument(metavar="USER", help="The user, as the system knows them.")] = None,
    duty: Annotated[
        str | None, typer.Argument(metavar="ROLE", help="steward, analyst, auditor, or none to take it away.")
    ] = None,
    account: Annotated[str, typer.Option(help="The sub-budget that an analyst may charge, such as ana.")] = "",
    as_json: Json = False,
) -> None:
    """Show the roles in a data set, or give somebody one.

    Once there is a steward, only stewards assign roles, divide the budget, set rules and decide about requests. An
    analyst asks, on one sub-budget if it is given. An auditor reads. On a shared file this is recorded and checked by
    every client, but not enforced against whoever writes to the file in another name.

    Example: sitr ledger role sitr.db clinic ana analyst --account ana
    """
    from sitr.ledger import steward
    from sitr.ledger.roles import Duty

    found, name = opened_ledger(ledger), dataset.casefold()
    known = {each.value: each for each in Duty}
    if user is None:
        members = steward.state(found, name).members
    elif duty not in (*known, "none"):
        raise BadUsage(
            wanted="steward, analyst, auditor or none", given=repr(duty), do="Write one of them after the user."
        )
    else:
        path = account.casefold().removeprefix(f"{name}/")
        members = steward.assign(found, name, user, known.get(str(duty)), share=path)
    _roles(name, members, as_json=as_json)


def _roles(dataset: str, members: Mapping[str, Member], *, as_json: bool) -> None:
    from sitr.report.figures import visible
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words

    if as_json:
        several = [
            {"user": user, "role": each.duty.value, "account": f"{dataset}/{each.share}" if each.share else dataset}
            for user, each in members.items()
        ]
        say_json({"dataset": dataset, "roles": several})
        return
    if not members:
        console().print(said("Nobody has a role: everybody who can write to the ledger may do everything."))
        return
    words = in_words()
    grid = table(*map(words.label, ("who", "role", "account")))
    for user, each in members.items():
        account = f"{dataset}/{each.share}" if each.share else dataset
        grid.add_row(visible(user), words.label(each.duty.value), visible(account))
    text.show(grid, out=console())


def add_to(app: typer.Typer) -> None:
    """Add the commands to `sitr ledger`."""
    for command in (allot, reserve, move, rules, role):
        app.command(command.__name__, cls=Command)(command)


def _rate(text: str | None) -> tuple[int, int]:
    """The number and the seconds in a rate such as 60/hour."""
    if text is None:
        return 0, 0
    number, _, period = text.partition("/")
    if not number.isdecimal() or not int(number) or period not in SECONDS:
        raise BadUsage(
            wanted="--rate such as 60/hour, with second, minute, hour or day", given=repr(text), do="Correct the rate."
        )
    return int(number), SECONDS[period]


def shares_content(accounts: Accounts) -> list[dict[str, object]]:
    """Sub-budgets as JSON."""
    from sitr.report.envelope import promise_dict

    return [
        {
            "account": accounts.name(path),
            "share": promise_dict(accounts.promise.with_coordinates(share.cap, up=False)),
            "reserved": promise_dict(accounts.promise.with_coordinates(share.reserve, up=True)),
            "spent": promise_dict(accounts.promise.with_coordinates(share.paid, up=True)),
            "left": promise_dict(accounts.left(path)),
            "charges": share.charges,
        }
        for path, share in accounts.shares.items()
    ]


def shares_table(accounts: Accounts) -> Table:
    """Sub-budgets on the terminal."""
    from sitr.report.figures import visible
    from sitr.report.words.words import in_words

    words = in_words()
    grid = table(*map(words.label, ("sub-budget", "share", "reserved", "spent", "left")))
    for path, share in accounts.shares.items():
        amounts = (
            accounts.promise.with_coordinates(share.cap, up=False),
            accounts.promise.with_coordinates(share.reserve, up=True),
            accounts.promise.with_coordinates(share.paid, up=True),
        )
        left = words.notation(accounts.left(path), left=True)
        grid.add_row(visible(accounts.name(path)), *map(words.notation, amounts), left)
    return grid


def notes(accounts: Accounts) -> list[str]:
    """What readers of sub-budgets must know."""
    from sitr.report.figures import visible

    found = [said(ALLOCATED)]
    for path in ("", *accounts.shares):
        if accounts.exceeded(path):
            name = visible(accounts.name(path))
            more = f"The sub-budgets of {name} add up to more than it has; it still refuses whatever exceeds that."
            found.append(said(more))
    return found


def _show(accounts: Accounts, *, as_json: bool) -> None:
    from sitr.report.text import terminal as text

    if as_json:
        say_json({"dataset": accounts.dataset, "shares": shares_content(accounts), "notes": notes(accounts)})
        return
    out = console()
    text.show(shares_table(accounts), out=out)
    for note in notes(accounts):
        out.print(note, soft_wrap=True)


def _tell(dataset: str, found: Rules, *, as_json: bool) -> None:
    from sitr.report.figures import visible

    if as_json:
        rate = {"questions": found.questions, "seconds": found.seconds} if found.questions else None
        say_json({"dataset": dataset, "least": found.least or None, "rate": rate, "approval": found.approval or None})
        return
    out, name = console(), visible(dataset)
    if found.least:
        out.print(said(f"{name}: a price is at least {found.least}."), soft_wrap=True)
    if found.questions:
        often = f"{name}: at most {found.questions} questions are answered within {found.seconds} seconds."
        out.print(said(often), soft_wrap=True)
    if found.approval:
        out.print(said(f"{name}: prices above {found.approval} need approval."), soft_wrap=True)
    if not found.least and not found.questions and not found.approval:
        out.print(said(f"{name} has no rules."), soft_wrap=True)
