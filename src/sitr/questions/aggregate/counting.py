"""The question that also counts the rows which caps leave out: see `sitr.questions.aggregate.second_cap`."""

from __future__ import annotations

from dataclasses import replace

from sitr.errors import QuestionError
from sitr.questions.aggregate.bind import BoundedQuery

MOST_COUNTED = 10**9
"""The largest second cap: sums over all people stay far from the largest integers of every engine."""


def counting(query: BoundedQuery, rows: object) -> BoundedQuery:
    """The same query, which also counts the rows that are left out, up to this many rows of each person; None for none.

    It must have a share of the price for what is left out already.
    """
    if rows is None:
        return query
    do = "Write for example bias_rows=200 (--bias-rows 200), from public knowledge."
    if type(rows) is not int or not query.max_rows_per_group < rows <= MOST_COUNTED:
        raise QuestionError(
            wanted=f"a whole number for bias_rows, above the cap of {query.max_rows_per_group} rows and at most "
            f"{MOST_COUNTED}",
            given=repr(rows),
            do=do,
        )
    if query.share is None:
        raise QuestionError(
            wanted="a share of the price for what is left out, together with bias_rows",
            given='bias="off", which spends nothing on it',
            do="Leave bias out to spend 5%, or leave bias_rows out.",
        )
    found = replace(query, counted_up_to=rows)
    if found.watch is None or found.watch.rows is None:
        raise QuestionError(
            given="No caps leave rows out of this question.", do="Leave bias_rows (--bias-rows) out: it would be 0."
        )
    return found
