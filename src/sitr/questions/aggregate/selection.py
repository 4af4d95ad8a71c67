"""The mechanism that selects unknown keys, and whether it shows the numbers that it selects them by."""

from __future__ import annotations

from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import Same
from sitr.questions.aggregate.stability import people
from sitr.questions.aggregate.term import Term


def counted_term(query: BoundedQuery) -> Term | None:
    """The term whose numbers a threshold on people can show, because they are the numbers that it selects keys by.

    It is the number of people of each key, or of rows where a person has one row in a group at most. All keys must be
    selected, without public ones beside them, and the number must be shown by itself: what is computed from it, the
    row for other keys and the shares of people left out need noise that knows nothing of a threshold. A division of the
    price that the question asks for is kept as it is.
    """
    if query.known or len(query.selected) < len(query.keys) or query.other or query.split is not None:
        return None
    watched = () if query.watch is None else query.watch.terms
    for term in query.shown_terms:
        if not isinstance(term, Term) or term in watched or not _counts_people(query, term):
            continue
        columns = [column for _, column in (*query.shown, *query.after.hidden) if term in column.terms]
        if all(isinstance(column.formula, Same) and not column.end for column in columns):
            return term
    return None


def _counts_people(query: BoundedQuery, term: Term) -> bool:
    if term.where is not None or term.cut or term.total or term.quantised is not None:
        return False
    return term.people or (term.of is None and query.max_rows_per_group == 1)


def selection(query: BoundedQuery, price: ApproximateDP) -> Threshold | PartitionSelection:
    """The one that shows keys of fewer people.

    The number of people of a key is not shown, so nothing needs their noisy number: the optimal selection shows a key
    of n people with the largest probability that its share of (ε, δ) allows, more than any threshold can [DVG22]. Two
    tables differ in at most k keys, or 2k where a unit is replaced; then a threshold, of which only k keys can expose
    the unit, may need fewer people.
    """
    keys = query.max_groups * (2 if query.changes is Relation.REPLACE_ONE else 1)
    threshold = Threshold.fitting(price, sensitivity=people(query).l1, groups=query.max_groups)
    optimal = PartitionSelection(price.epsilon, price.delta, keys)
    return optimal if optimal.error() <= threshold.error() else threshold
