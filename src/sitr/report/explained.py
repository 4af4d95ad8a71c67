"""A question as a tree: what is read, how it is bounded, what is measured and what is shown. No row is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich.text import Text
from rich.tree import Tree

from sitr.errors import SitrError
from sitr.flavors.arrows import Kept
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.composed import concentrated
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.neighbors.distance import Distance
from sitr.numbers import exact
from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.expressions.expression import spelled
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.plan import BEYOND, KEYS, AggregatePlan
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.second_cap import LOST
from sitr.questions.aggregate.sources import from_text
from sitr.questions.aggregate.stability import stability
from sitr.questions.aggregate.term import Term
from sitr.questions.aggregate.view import Base, Joined, Matching, OfPeople, Paired, PerPerson, TableRows
from sitr.report.envelope import promise_dict
from sitr.report.figures import CONFIDENCE, at_most, percent
from sitr.report.words.measured import ends
from sitr.report.words.words import Words, in_words


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the tree, and what is below it."""

    line: str
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """A bounded question, and its plan if it has a price."""

    query: BoundedQuery
    plan: AggregatePlan | None = None

    def branches(self, words: Words | None = None) -> Branch:
        """The whole tree in one language."""
        words, query = in_words(words), self.query
        below: tuple[Branch, ...] = (
            Branch(words.label("read"), tuple(_read(query, words))),
            Branch(words.label("bounded"), tuple(_bounded(query, words))),
            Branch(words.label("measured"), tuple(self._measured(words))),
            Branch(words.label("shown"), tuple(_shown(query, words))),
        )
        if self.plan is not None:
            below += (Branch(f"{words.label('price')}: {words.promise(_kept(self.plan))}"),)
        return Branch(words.question(text(query.query)), below)

    def to_dict(self) -> dict[str, Any]:
        """For machines: `question`, `price` or null, and what is `read`, `bounded`, `measured` and `shown`."""
        query = self.query
        after = query.query.after.sql().strip()
        return {
            "question": text(query.query),
            "price": None if self.plan is None else promise_dict(_kept(self.plan)),
            "read": {
                "from": from_text(query.query.table),
                "where": None if query.where is None else query.where.text,
            },
            "bounded": {
                "clamped": [
                    {"of": of.text, "low": low, "high": high, "by": "person" if total else "row"}
                    for of, low, high, total in _clamped(query)
                ],
                "max_groups": query.max_groups,
                "max_rows_per_group": query.max_rows_per_group,
                "max_rows": query.max_rows,
                "keys": {key.name: None if key.keys is None else len(key.keys) for key in query.keys},
            },
            "measured": [line.to_dict() for line in self._lines()],
            "shown": {
                "columns": [
                    {"name": name, "formula": column.aggregate.sql(), "from": [term.name for term in column.terms]}
                    for name, column in query.shown
                ],
                "hidden": [column.aggregate.sql() for _, column in query.after.hidden],
                "after": after or None,
            },
        }

    def _lines(self) -> Iterator[_Line]:
        """What is measured, with its share of the price where that is known."""
        query, plan = self.query, self.plan
        if plan is None:
            for terms in query.measured:
                yield _Line(terms[0].name, terms[0] in query.shown_terms, stability(query, terms[0]))
            return
        shares = _shares(plan)
        for place, each in enumerate(plan.measurements):
            terms = plan.families[place] if place < len(plan.families) else ()
            shown = each.name == KEYS or bool(terms and terms[0] in query.shown_terms)
            yield _Line(each.name, shown, each.distance, each, shares[place] if shares else None)

    def _measured(self, words: Words) -> Iterator[Branch]:
        say = words.explained
        for line in self._lines():
            watch = self.query.watch
            lost = "" if watch is None or watch.rows is None else say.rows_lost(watch.rows.rows)
            name = {KEYS: say.keys(), BEYOND: say.beyond(), LOST: lost}.get(line.name) or say.measurement(line.name)
            yield Branch(name, tuple(map(Branch, line.facts(self.query, words))))


@dataclass(frozen=True, slots=True)
class _Line:
    """One measurement."""

    name: str
    shown: bool
    distance: Distance | None
    measurement: Measurement | None = None
    share: Fraction | None = None

    @property
    def error(self) -> Fraction | None:
        """The 95% error in the unit of what is measured; None without noise."""
        found = self.measurement
        if found is None or not isinstance(found.mechanism, Noise):
            return None
        return found.mechanism.error(confidence=CONFIDENCE) * found.granularity

    def facts(self, query: BoundedQuery, words: Words) -> Iterator[str]:
        say, found = words.explained, self.measurement
        if not self.shown and self.name not in (BEYOND, LOST):
            yield say.about_bias()
        if found is not None and isinstance(found.mechanism, GroupedQuantile):
            yield words.ranks.sensitivity(found.mechanism, query)
            yield words.ranks.choice(found.mechanism)
        elif self.distance is not None:
            yield words.aggregate.sensitivity(self.distance, query)
        if found is not None and isinstance(found.mechanism, Noise):
            yield words.noise(found.mechanism, granularity=found.granularity)
        if self.error is not None:
            yield say.error(at_most(self.error))
        if self.share is not None:
            yield say.share(percent(self.share))

    def to_dict(self) -> dict[str, Any]:
        far, found = self.distance, self.measurement
        noise = found.mechanism if found is not None and isinstance(found.mechanism, Noise) else None
        return {
            "name": self.name or "keys",
            "shown": self.shown,
            "distance": far and {"l1": far.l1, "l2_squared": far.l2_squared, "largest": far.largest},
            "granularity": None if found is None else str(found.granularity),
            "noise": noise and {"law": noise.law, "parameter": _parameter(noise), "size": float(noise.size)},
            "error": None if self.error is None else float(self.error),
            "share": None if self.share is None else float(self.share),
        }


def drawn(branch: Branch) -> Tree:
    """The tree with lines, for a terminal."""

    def grow(tree: Tree, some: tuple[Branch, ...]) -> Tree:
        for each in some:
            grow(tree.add(Text(each.line)), each.below)
        return tree

    return grow(Tree(Text(branch.line)), branch.below)


def _kept(plan: AggregatePlan) -> Kept:
    return plan.price


def _read(query: BoundedQuery, words: Words) -> Iterator[Branch]:
    say, below = words.explained, tuple(_source(query.view.rows, words))
    yield Branch(say.where(query.where.text), below) if query.where is not None else below[0]
    yield Branch(words.protected(query))


def _source(base: Base, words: Words) -> Iterator[Branch]:
    say = words.explained
    match base:
        case TableRows(table):
            yield Branch(say.table(table))
        case PerPerson(view, keys):
            yield Branch(
                say.per_person(", ".join(name for name, _ in keys)), tuple(_view(view.rows, view.where, words))
            )
        case Joined(view, table, on=on, outer=outer):
            yield Branch(say.joined(table, on.text, outer), tuple(_view(view.rows, view.where, words)))
        case Matching(view, table, _, on, _, _, outside):
            yield Branch(say.matching(table, on.text, outside), tuple(_view(view.rows, view.where, words)))
        case OfPeople(view, people, outside):
            below = tuple(branch for each in (view, people) for branch in _view(each.rows, each.where, words))
            yield Branch(say.of_people(outside), below)
        case Paired(view, other, name, spoken=spoken, outer=outer, most=most):
            sides = tuple(branch for each in (view, other) for branch in _view(each.rows, each.where, words))
            yield Branch(words.joins.explained(name, spelled(spoken), most, outer), sides)
        case _:
            below = tuple(branch for view in base.views for branch in _view(view.rows, view.where, words))
            yield Branch(say.together(len(base.views)), below)


def _view(base: Base, where: Any, words: Words) -> Iterator[Branch]:
    below = tuple(_source(base, words))
    if where is None:
        yield from below
    else:
        yield Branch(words.explained.where(where.text), below)


def _clamps(query: BoundedQuery) -> Iterator[tuple[Quantity, tuple[str, str], bool]]:
    """The bounds of what is measured, each once; and whether they are those of a person's total."""
    seen = set()
    for term in query.terms:
        if term.of is not None and term.quantised is not None:
            total = isinstance(term, Term) and term.total
            found = (term.of.text, ends(term), total)
            if found not in seen:
                seen.add(found)
                yield term, found[1], total


def _clamped(query: BoundedQuery) -> Iterator[tuple[Typed, str, str, bool]]:
    """The same for machines: exact numbers, or dates, as text."""
    for term, written, total in _clamps(query):
        assert term.of is not None
        assert term.quantised is not None
        low, high = written if term.of.kind in TEMPORAL else map(str, term.quantised.ends)
        yield term.of, low, high, total


def _parameter(noise: Noise) -> str:
    return "scale" if noise.symbol == "scale" else "sigma"


def _bounded(query: BoundedQuery, words: Words) -> Iterator[Branch]:
    say = words.explained
    for term, (low, high), total in _clamps(query):
        assert term.of is not None
        yield Branch((say.total_clamped if total else say.clamped)(term.of.text, low, high))
    yield Branch(words.aggregate.contribution(query))
    for key in query.keys:
        known = None if key.keys is None else say.public_keys(key.name, len(key.keys), key.clamped)
        yield Branch(known or say.unknown_keys(key.name))


def _shown(query: BoundedQuery, words: Words) -> Iterator[Branch]:
    say = words.explained
    for name, column in query.shown:
        measured = ", ".join(dict.fromkeys(term.name for term in column.terms))
        yield Branch(say.column(name, column.aggregate.sql(), measured))
    for _, column in query.after.hidden:
        yield Branch(say.hidden(column.aggregate.sql()))
    if after := query.query.after.sql().strip():
        yield Branch(say.after(after))


def _shares(plan: AggregatePlan) -> list[Fraction] | None:
    """The share of each measurement: of all ε where noise adds up so, else of all ρ; None if some have neither."""
    parts = [_epsilon(each) for each in plan.measurements]
    if None in parts:
        parts = [_rho(each) for each in plan.measurements]
    if None in parts:
        return None
    whole = sum((part for part in parts if part is not None), Fraction(0))
    return [part / whole for part in parts if part is not None] if whole else None


def _epsilon(each: Measurement) -> Fraction | None:
    promise = each.mechanism.promise()
    epsilon = getattr(promise, "epsilon", None)
    pure = getattr(promise, "delta", 0) == 0 or each.name == KEYS
    return exact(epsilon) if epsilon is not None and pure else None


def _rho(each: Measurement) -> Fraction | None:
    promise = each.mechanism.promise()
    if (rho := getattr(promise, "rho", None)) is not None:
        return exact(rho)
    if (mu := getattr(promise, "mu", None)) is not None:
        return exact(mu) ** 2 / 2
    try:
        return exact(concentrated(each.mechanism).rho)
    except SitrError:
        return None
