"""A mechanism on one column: checked without data, charged, then released."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sitr.backends.backend import Backend
from sitr.dataset.schema import NUMERIC, Table
from sitr.errors import BackendFailure, QuestionError
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.ledger import Ledger
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import Coins, Keystream, system_coins
from sitr.numbers import Number, exact, upward
from sitr.report import released as report
from sitr.report import text as terminal
from sitr.sensitivity.proposed import Proposed
from sitr.sensitivity.smooth import Smooth
from sitr.session.question import account_name, check_unchanged


@runtime_checkable
class Releasing(Protocol):
    """A mechanism that turns the values of all people into an answer, with noise that a rule fits to them."""

    @property
    def sensitivity(self) -> object:
        """The rule: what one person moves, learned from the values or from a population."""

    @property
    def relation(self) -> Relation:
        """The neighbours that it protects."""

    def promise(self) -> Promise:
        """What it promises to one unit."""

    def release(self, values: Any, /, *, coins: Coins | None = None) -> Any:
        """The answer with its noise."""


@dataclass(frozen=True, slots=True, repr=False)
class Released:
    """What a mechanism released, with its promise and its papers."""

    record: report.Record

    @property
    def value(self) -> Any:
        """What the mechanism released; of a composition, what each of its parts did."""
        return self.record.value

    @property
    def promise(self) -> Kept:
        """What was spent, in the flavor of the budget."""
        return self.record.charge

    @property
    def private(self) -> bool:
        """False only if the answer was drawn with test coins."""
        return self.record.private

    def to_dict(self) -> dict[str, object]:
        """Everything on the certificate, for machines."""
        return report.to_dict(self.record)

    def certificate(self, path: str | Path) -> Path:
        """Write the certificate: one HTML file that says what was released and what it promises."""
        target = Path(path)
        target.write_text(report.page(self.record), encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.render(self.record))


def released(
    table: Table,
    backend: Backend,
    ledger: Ledger,
    mechanism: Releasing | Composed,
    *,
    column: str,
    missing: Number,
    coins: Coins | None,
) -> Released:
    """Check what is public; charge, durably; then read the column; then add the noise. In this order, always."""
    tossed = coins if coins is not None else system_coins()
    parts = _parts(mechanism)
    _check_neighbors(table)
    name, instead = _numeric(table, column), _finite(missing)
    check_unchanged(table, backend)
    _check_size(parts, backend.size())
    entry, budget = ledger.charge(account_name(table), price=mechanism.promise(), question=f"{name}: {mechanism!r}")
    answers = _answers(parts, lambda: backend.numbers(name, missing=instead), tossed)
    if answers is None:
        raise BackendFailure(
            wanted="The mechanism was to release its answer.",
            given="It reported an error, which is withheld because it could tell of the data.",
            do="Check the mechanism on made-up data; the charge stands, because the data were touched.",
        )
    record = report.Record(
        value=answers if isinstance(mechanism, Composed) else answers[0],
        mechanism=repr(mechanism),
        column=name,
        missing=instead,
        charge=entry.price,
        private=type(tossed) is Keystream,
        dataset=table.name,
        neighbors=table.neighbors(),
        entry=entry.number,
        at=entry.at,
        by=entry.by,
        version=entry.version,
        budget=budget,
        exposed=_exposed(parts),
    )
    return Released(record)


def _answers(
    parts: tuple[Releasing, ...], values: Callable[[], NDArray[np.float64]], coins: Coins
) -> tuple[Any, ...] | None:
    """What the mechanisms release; None if one fails.

    The error and the values stay in this frame: an error that is raised after it has returned leads to neither.
    """
    rows = values()
    try:
        return tuple(part.release(rows, coins=coins) for part in parts)
    except Exception:  # noqa: BLE001 - whatever a mechanism says of the data must not be told
        return None


def _exposed(parts: tuple[Releasing, ...]) -> float:
    """How much of δ may be mass at L = +∞: somebody exposed outright, and not a little more than ε."""
    tests = (part.exposed() for part in parts if isinstance(part, ProposeTestRelease))
    return upward(min(Fraction(1), sum(map(exact, tests), Fraction(0))))


def _parts(mechanism: object) -> tuple[Releasing, ...]:
    """The mechanisms that see the values: one, or those of a plan.

    Noise for sums and counts is no such mechanism: it would be added to each person's value by itself.
    """
    given = mechanism.parts if isinstance(mechanism, Composed) else (mechanism,)
    parts = tuple(part for part in given if isinstance(part, Releasing) and part.relation is Relation.REPLACE_ONE)
    if len(parts) < len(given):
        raise QuestionError(
            wanted="A mechanism was wanted that fits its noise to the values of all people, one of whom is replaced, "
            "or a Composed of such.",
            given=f"{mechanism!r} was given.",
            do="Give for example RandomNoise or SmoothNoise; sums and counts are asked for in SQL. Nothing was spent.",
        )
    return parts


def _check_neighbors(table: Table) -> None:
    if not isinstance(table.unit, Row) or table.relation is not Relation.REPLACE_ONE:
        raise QuestionError(
            wanted="A data set was wanted in which each row is a person, and neighbours replace one row.",
            given=f"{table.name} protects each {table.neighbors()}.",
            do="Protect it with unit=sitr.Row() and relation=sitr.Relation.REPLACE_ONE, if that is what is meant.",
        )


def _numeric(table: Table, column: str) -> str:
    found = table.column(column)
    if found.kind not in NUMERIC:
        raise QuestionError(
            wanted="A column of numbers was wanted.",
            given=f"{found.name} is of type {found.kind.value}.",
            do="Choose a column of type integer or real; nothing was spent.",
        )
    return found.name


def _finite(missing: Number) -> float:
    if isinstance(missing, bool) or not isinstance(missing, Number) or not math.isfinite(missing):
        raise QuestionError(
            wanted="missing is the number that rows without one count as.",
            given=f"{missing!r} was given.",
            do="Write a number within the bounds of the mechanism, chosen without looking at the data.",
        )
    return float(missing)


def _check_size(parts: tuple[Releasing, ...], size: int) -> None:
    """Rules for one number of people say which, others if they know theirs for this one.

    It is public here, so that what is wrong with it is told before the charge.
    """
    for part in parts:
        fitted = getattr(part.sensitivity, "size", size)
        if fitted != size:
            raise QuestionError(
                wanted=f"A mechanism was wanted that is fitted to {size} rows, the public number of rows here.",
                given=f"{part!r} is fitted to {fitted}.",
                do=f"Make its rule with size={size}; nothing was spent.",
            )
        if isinstance(rule := part.sensitivity, Smooth | Proposed):
            rule.check(size)
