"""Questions of a batch that read the same rows with the same caps: what several of them need is measured once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sitr.questions.aggregate.after import AS_RELEASED
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.nodes import After, Named


@dataclass(frozen=True, slots=True)
class SharedReading:
    """One query with the terms of several questions, and the places of these questions in the batch."""

    query: BoundedQuery
    members: tuple[int, ...]


def shared_readings(queries: Sequence[BoundedQuery]) -> tuple[SharedReading, ...]:
    """The questions by what they read. A question joins the first group whose query then measures what both need.

    They must agree in everything but their columns and what is done with the released rows: rows, keys, caps, bounds,
    and the share for the bias.
    """
    found: list[SharedReading] = []
    for place, query in enumerate(queries):
        for index, group in enumerate(found):
            joined = _together(group.query, query)
            members = (*group.members, place)
            if joined is not None and _complete(joined, [queries[member] for member in members]):
                found[index] = SharedReading(joined, members)
                break
        else:
            found.append(SharedReading(_alone(query), (place,)))
    return tuple(found)


def _alone(query: BoundedQuery) -> BoundedQuery:
    """The query as it is measured: columns that only HAVING or ORDER BY use are columns like the others."""
    columns = (*query.columns, *(column for _, column in query.after.hidden))
    named = tuple(Named(str(place), column.aggregate) for place, column in enumerate(columns, start=1))
    spoken = replace(query.query, aggregates=named, after=After())
    return replace(query, query=spoken, columns=columns, after=AS_RELEASED, split=None)


def _together(one: BoundedQuery, other: BoundedQuery) -> BoundedQuery | None:
    """One query with the columns of both, each once; None if they differ in anything else."""
    more = _alone(other)
    if _without_columns(one) != _without_columns(more):
        return None
    columns = (*one.columns, *(column for column in more.columns if column not in one.columns))
    return _alone(replace(one, columns=columns))


def _without_columns(query: BoundedQuery) -> BoundedQuery:
    return replace(query, query=replace(query.query, aggregates=()), columns=())


def _complete(joined: BoundedQuery, members: Sequence[BoundedQuery]) -> bool:
    """Whether it measures all that its members need, in the same way, and nothing else."""
    needed = {terms for member in members for terms in member.measured}
    beyond = {(member.watch is not None and member.watch.beyond, _rows(member)) for member in members}
    return needed == set(joined.measured) and len(beyond) == 1


def _rows(query: BoundedQuery) -> bool:
    return query.watch is not None and query.watch.rows is not None
