"""Questions in SQL: one, a batch of several, or advice about its caps and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from sitr.dataset.schema import Bound, Table, adjusted
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.promise import Promise
from sitr.namespace import Later
from sitr.neighbors.unit import Person
from sitr.numbers import Number
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bias import SHARE as BIAS
from sitr.questions.aggregate.bias import share_of
from sitr.questions.aggregate.bigquery import Options, rewritten, without_unit
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.counting import counting
from sitr.questions.aggregate.key_domains import Keys, with_keys
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.top_keys import spelled_out
from sitr.questions.aggregate.view import protected
from sitr.questions.aggregate.view_source import tables
from sitr.session.aggregate import AggregateAnswer, AggregateRequest
from sitr.session.desk import Desk, check_kind
from sitr.session.request import Request
from sitr.session.team import Shared

if TYPE_CHECKING:
    from sitr.questions.suggest import question as suggestions
    from sitr.questions.suggest import spreads
    from sitr.session import auto, grouping, joined, payable
    from sitr.session import batch as batched
    from sitr.session import public as published
    from sitr.session import suggest as suggesting
    from sitr.session.batch import Batch
    from sitr.session.public import Source
    from sitr.session.suggest import Suggestion
else:  # each kind of question loads what it needs when it is asked
    auto = Later("sitr.session.auto")
    grouping = Later("sitr.session.grouping")
    batched = Later("sitr.session.batch")
    spreads = Later("sitr.questions.suggest.spreads")
    suggesting = Later("sitr.session.suggest")
    suggestions = Later("sitr.questions.suggest.question")
    joined = Later("sitr.session.joined")
    payable = Later("sitr.session.payable")
    published = Later("sitr.session.public")


class InSql(Shared):
    """A budget that answers questions in SQL, one by one or several at once."""

    __slots__ = ()
    _at: Desk
    public: Mapping[str, Source]
    others: tuple[Desk, ...]

    @property
    def table(self) -> Table:
        """What is public about the data set."""
        return self._at.table

    def sql(
        self,
        text: str,
        *,
        bias: Number | str = BIAS,
        bias_rows: int | None = None,
        caps: str | None = None,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
        keys: Keys | None = None,
        other: bool = False,
        weights: Mapping[str, Number] | None = None,
        price: Price | None = None,
    ) -> AggregateRequest:
        """A question in SQL: one SELECT with keys, and aggregates such as COUNT(*), SUM(cost), AVG(cost) or VAR(cost).

        Aggregates can have FILTER (WHERE …) and be computed with: 100.0 * COUNT_IF(days > 3) / COUNT(*). WHERE selects
        rows, GROUP BY lists the keys, also with CUBE, ROLLUP and GROUPING SETS, whose groupings are tables that add up;
        HAVING, ORDER BY and LIMIT act on the released rows and are free. Names with spaces or signs need double quotes.
        An error points at the offending part of the text.

        `bias` is the share of the price that measures from how many people caps and bounds leave something out;
        "off" spends nothing on it, and then the answer says that its bias is not measured. `bias_rows`, a second public
        cap, counts the rows that are left out too, up to this many rows of each person. `max_groups`,
        `max_rows_per_group`, `max_rows` (of a person in the whole question), `bounds` and `keys` take the place of
        those of the description, for this question only; like these, they are public and must not be chosen by looking
        at the rows. Keys are a list, or the column of a declared public table that has them:
        `keys={"ward": "wards.ward"}`. With `caps="auto"`, a tenth of the price chooses both caps from the data,
        privately, and the rest answers with them; bounds stay as they are. Where keys are not public, `other` adds one
        row for everything whose key is not shown. `weights`, such as {"n": 1, "total": 4}, say how the price is shared
        by the columns; see `AggregateRequest.weights` and `targets`. `price` is paid if `release` names no other; a
        mistake in the question is shown together with what stands against it.
        """
        do = 'Write sql("SELECT COUNT(*) AS n FROM …").'
        if isinstance(text, Request):
            do = "This is a request already: write request.release(price)."
        check_kind(text, str, wanted="a question as SQL text", do=do)
        plain, options = rewritten(text)
        said = options or Options()
        _refuse_other_unit(said, self._at.table, text)
        table = adjusted(
            self._at.table,
            max_groups=said.max_groups if max_groups is None else max_groups,
            max_rows_per_group=max_rows_per_group,
            max_rows=said.max_rows if max_rows is None else max_rows,
            bounds=bounds,
        )
        table = with_keys(table, keys, self._catalog(table))
        paid: Promise | None = None if price is None else price_of(price)
        if paid is None and said.epsilon is not None:
            paid = ApproximateDP(said.epsilon, said.delta or 0.0)
        found = asked(
            spelled_out(plain),
            table,
            catalog=self._catalog(table),
            beyond=lambda query: payable.obstacles_of_price(paid, query, (self._at, *self.others)),
        )
        if found.query.sets:
            beyond = {"other": other, "bias_rows": bias_rows, "caps": caps, "weights": weights}
            return grouping.requested(found, table, self._desk(found), price=paid, given=beyond)
        found = with_other(found) if other else found
        question = AggregateQuestion(counting(found.watching(share_of(bias)), bias_rows))
        request = AggregateRequest(question, self._desk(found), AggregateAnswer, price=paid)
        if caps is not None:
            given = {"max_groups": max_groups or said.max_groups, "max_rows_per_group": max_rows_per_group}
            given |= {"max_rows": table.max_rows, "bias_rows": bias_rows}
            request = auto.requested(request, caps, given=given)
        return request if weights is None else request.weights(weights)

    def ask(
        self, text: str, price: Price, *, key: str | None = None, request: int | None = None, **limits: Any
    ) -> AggregateAnswer:
        """Ask a question in SQL and pay for it; `limits` are those of `sql`.

        With a `key` of your own, the question is charged once, however often you repeat it: see `keyed`. With a
        `request`, it is the one that was approved: see `approved`.
        """
        at = self if key is None else self.keyed(key)
        at = at if request is None else at.approved(request)
        return at.sql(text, **limits).release(price)

    def batch(
        self,
        questions: Iterable[AggregateRequest] | Mapping[str, AggregateRequest],
        *,
        weights: Sequence[Number] | Mapping[str, Number] | None = None,
    ) -> Batch:
        """Several questions, made by `sql` or `agg`, with one plan that is fixed in advance and charged once.

        The price is for all of them: each gets a share, equal or by its weight, and what several of them need is
        measured once. An approximate price buys more here than for questions one by one, because the loss of all
        measurements together decides. Names are those of a dictionary, or else "1", "2", …: `answers["1"]`.
        """
        question, asked = batched.requested(questions, weights=weights, at=self._at)
        at = self._desk(*question.queries)
        batched.check_beside(asked, at)
        return batched.Batch(question, at, batched.BatchAnswer, requests=asked)

    def suggest(self, question: str, *, price: Price | None = None, **amounts: Unpack[Amounts]) -> Request[Suggestion]:
        """Caps and bounds for a question in SQL, or for the sum of a column, chosen privately.

        `release(…)` pays for noisy histograms of the groups and rows of people and of the values that are summed; the
        caps and bounds with the least expected error, noise and what they leave out, follow from them. `price` is what
        the question itself will cost, also as `rho=0.05` or `epsilon=1`: ten times the price of the suggestion, unless
        it is given.
        """
        check_kind(question, str, wanted="a question or the name of a column", do='Write suggest("cost").')
        plain, _ = rewritten(suggesting.question_of(question, self._at.table))
        wide = suggesting.widened(self._at.table)
        target = suggesting.checked(asked(plain, wide, catalog=self._catalog(wide))).watching(BIAS)
        later = None if price is None and not amounts else price_of(price, **amounts)
        found = suggestions.SuggestionQuestion(target, spreads.measured(target), later)
        return Request(found, self._desk(target), suggesting.Suggestion)

    def _catalog(self, table: Table) -> Catalog:
        """The tables that a question can name."""
        opened = (self._at.rows, *(other.rows for other in self.others))
        found = published.catalog(table, self.public, *opened) if self.public else Catalog(table)
        return replace(found, beside=tuple(other.table for other in self.others)) if self.others else found

    def _desk(self, *queries: BoundedQuery) -> Desk:
        """The desk, with the public tables and the other protected tables that questions join."""
        alone = not self.others and all(len(protected(query.view)) == 1 for query in queries)
        at = self._at if alone else joined.desk(self._at, [query.view for query in queries], self.others)
        public = {name: self.public[name] for query in queries for name in tables(query.view)}
        return at if not public else replace(at, rows=lambda: published.beside(at.rows(), public), public=public)


def _refuse_other_unit(said: Options, table: Table, text: str) -> None:
    """Whoever asks does not choose who is protected."""
    unit = table.unit.column if isinstance(table.unit, Person) else None
    if said.unit is not None and (unit is None or said.unit.lower() != unit.lower()):
        raise _other_unit(said.unit, table, text)


def _other_unit(named: str, table: Table, text: str) -> QuestionError:
    refusal = QuestionError(
        given=f"The question names {named!r} as the privacy unit, but this data set protects each {table.neighbors()}.",
        do="Leave privacy_unit_column out: the description says who is protected.",
    )
    return refusal.among((), instead=without_unit(text))
