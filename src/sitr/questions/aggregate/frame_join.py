"""Joins in Python calls, as sources: `budget.join("wards", on="ward")`, and `how="semi"` for IN (SELECT …)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Call, Expression, Name
from sitr.questions.aggregate.sources import Among, Join, Select, Selected, Source

Columns = str | Sequence[str] | None


class How(Enum):
    """Which rows a join keeps, by their names in narwhals and polars."""

    INNER = "inner"
    LEFT = "left"
    SEMI = "semi"
    ANTI = "anti"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table, or of earlier joins, that meet a condition."""

    source: Source
    condition: Expression | None = None


def matched(left: Source, other: Rows, *, on: Columns, left_on: Columns, right_on: Columns, how: str) -> Source:
    """The rows of a source that match other rows, as SQL would say it.

    >>> from sitr.questions.aggregate.sources import from_text
    >>> from_text(matched("visits", Rows("wards"), on="ward", left_on=None, right_on=None, how="left"))
    'visits LEFT JOIN wards USING (ward)'
    >>> from_text(matched("visits", Rows("wards"), on="ward", left_on=None, right_on=None, how="anti"))
    '(SELECT * FROM visits WHERE ward NOT IN (SELECT ward FROM wards))'
    """
    kind = _how(how)
    ours, theirs = _columns(on, left_on, right_on)
    if kind in (How.SEMI, How.ANTI):
        if len(ours) != 1:
            raise QuestionError(
                wanted='one column to match by in how="semi" and how="anti"',
                given=", ".join(ours),
                do='Write join("wards", on="ward", how="semi").',
            )
        among = Select(other.source, (Selected(theirs[0], Name(theirs[0])),), other.condition)
        return Among(left, Name(ours[0]), among, kind is How.ANTI)
    if other.condition is not None or not isinstance(other.source, str):
        raise QuestionError(
            given=f"Rows that were chosen cannot be joined with how={how!r}.",
            do='Join the table itself, or write how="semi" or how="anti".',
        )
    if on is not None:
        return Join(left, other.source, using=ours, outer=kind is How.LEFT)
    here = left if isinstance(left, str) else None
    pairs = [Call("=", (Name(one, here), Name(two, other.source))) for one, two in zip(ours, theirs, strict=True)]
    return Join(left, other.source, pairs[0] if len(pairs) == 1 else Call("AND", tuple(pairs)), outer=kind is How.LEFT)


def _how(how: object) -> How:
    known = [each.value for each in How]
    if how not in known:
        raise QuestionError(
            wanted=f"how to be one of {', '.join(known)}", given=repr(how), do='Write join("wards", on="ward").'
        )
    return How(how)


def _columns(on: Columns, left_on: Columns, right_on: Columns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if (on is None) == (left_on is None and right_on is None):
        raise QuestionError(
            wanted="on, or else left_on and right_on, to say which columns must be equal",
            given="neither" if on is None else "both",
            do='Write join("wards", on="ward").',
        )
    ours, theirs = (_names(on), _names(on)) if on is not None else (_names(left_on), _names(right_on))
    if not ours or len(ours) != len(theirs):
        raise QuestionError(
            wanted="as many columns in left_on as in right_on",
            given=f"{len(ours)} and {len(theirs)}",
            do='Write join("wards", left_on="ward", right_on="name").',
        )
    return ours, theirs


def _names(columns: Columns) -> tuple[str, ...]:
    listed = columns if isinstance(columns, list | tuple) else (columns,)
    found = () if columns is None else tuple(listed)
    for each in found:
        if not isinstance(each, str):
            raise QuestionError(
                wanted="names of columns to join by", given=repr(each), do='Write join("wards", on="ward").'
            )
    return found
