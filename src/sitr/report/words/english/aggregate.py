"""The sentences of answers to aggregate questions, in English."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from sitr.dataclass import dataclass
from sitr.dataset.schema import Key
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.partition import PartitionSelection
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.numbers import exact
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bias import Amount, Why
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.clamping import Clamping
from sitr.questions.aggregate.expressions.typed import TEMPORAL
from sitr.questions.aggregate.keys import KeyThreshold
from sitr.questions.aggregate.other import Rest, RowKey
from sitr.questions.aggregate.plan import KEYS, AggregatePlan, NoisyTerm
from sitr.questions.aggregate.targeted import Met
from sitr.report.figures import (
    CONFIDENCE,
    about,
    at_least,
    at_most,
    chance,
    counted,
    number,
    percent,
    shortened,
    step,
    visible,
)
from sitr.report.headline import Headline
from sitr.report.words.english.nouns import caps, nobody, noise, unit, units
from sitr.report.words.english.ranks import RankWords
from sitr.report.words.measured import ends, keys_only, without_keys
from sitr.report.words.notation import notation

if TYPE_CHECKING:  # it brings Arrow, which most reports of budgets do not need
    from sitr.questions.aggregate.release import Release


@dataclass(frozen=True, slots=True)
class AggregateWords:
    """An answer with keys and columns."""

    def contribution(self, query: BoundedQuery, /) -> str:
        """The most that one unit can contribute, and the rows that belong to no unit."""
        if not isinstance(query.unit, Person):
            return "One row counts once. A person with several rows is protected less: row by row, not as a whole."
        return (
            f"Each person contributes {caps(query)}. Rows beyond these caps are left out at random, and rows without "
            f"a value in {visible(query.unit.column)} are always left out."
        )

    def error(self) -> str:
        """What an error means, and what it does not include."""
        return (
            f"Each number, taken alone, is within ± the error of the exact answer with {about(CONFIDENCE * 100)}% "
            "probability; the bias from clamping and caps is not included."
        )

    def left_out(self, why: Why, of: str, query: BoundedQuery, /, *, total: bool = False) -> str:
        """A heading: the share of people from whom something was left out, perhaps of all groups together."""
        what = f"{units(query)} with rows cut" if why is Why.ROWS else f"{units(query)} with {visible(of)} clamped"
        return f"{what}, in all groups" if total else what

    def too_small(self) -> str:
        """In place of a share whose interval is too wide to mean anything."""
        return "price too small to tell"

    def unmeasured(self, name: str, /) -> str:
        """A heading of a column whose bias was not measured."""
        return f"{name} (bias not measured)"

    def bias(self, query: BoundedQuery, /, *, total: bool = False) -> str:
        """What is known about the bias, in each group or only in all groups together."""
        if not query.leaves_out:
            return "Caps and bounds leave nothing out of this answer."
        if query.watch is None:
            return (
                "Caps and bounds may leave rows and values out. How many was not measured, so the true numbers of the "
                "table may lie outside these intervals."
            )
        return (
            f"{about(query.watch.share * 100)}% of the price measures from how many {units(query)} something is left "
            "out by caps and bounds"
            + (", in all groups together: this is too little to tell for each group" if total else "")
            + f". {self._how_much(query)}"
        )

    def _how_much(self, query: BoundedQuery) -> str:
        if query.watch is None or query.watch.rows is None:
            return "How much is left out is not measured."
        most = counted(query.watch.rows.rows, "row")
        return f"It also measures how many rows the caps leave out, counting up to {most} of each {unit(query)}."

    def cut(self, key: RowKey | None, share: Amount, query: BoundedQuery, /, *, counts: bool = False) -> str:
        """Rows were left out of a group, or of all groups together (None); `counts` if COUNT(*) is shown."""
        count = (
            "the exact count of all rows is larger than the bounded one, and may be above this interval"
            if counts
            else "with these rows the exact numbers may lie outside their intervals"
        )
        said = f"{self._share(key, share, query)} rows left out by the caps: {count}"
        if query.watch is None or query.watch.rows is None:
            return f"{said}; by how much was not measured."
        return f"{said}."

    def clamped(
        self,
        key: RowKey | None,
        share: Amount,
        of: str,
        query: BoundedQuery,
        /,
        *,
        moved: Sequence[str],
        ranked: Sequence[str],
    ) -> str:
        """Values were clamped in a group, or in all groups together (None).

        This moves some columns; quantiles, minima and maxima only if they lie beyond the bounds themselves.
        """
        said = f"{self._share(key, share, query)} values of {visible(of)} beyond its bounds"
        names, quantiles = (", ".join(map(visible, each)) for each in (moved, ranked))
        its = "its interval" if len(moved) == 1 else "their intervals"
        parts = [f"without the bounds, {names} may lie outside {its}"] if moved else []
        them = "it lies" if len(ranked) == 1 else "they lie"
        parts += [f"{quantiles} would differ only if {them} beyond the bounds"] if ranked else []
        return f"{said}: {'; '.join(parts)}."

    def _share(self, key: RowKey | None, share: Amount, query: BoundedQuery) -> str:
        where = " in all groups together" if key is None else f" in the group {self._group(key, query)}" if key else ""
        if share.tells:
            some = f"About {percent(share.value)} (± {percent(share.error)})"
        else:
            some = f"At least {at_least(100 * share.low, digits=2)}%"
        return f"{some} of the {units(query)}{where} had"

    def _group(self, key: RowKey, query: BoundedQuery) -> str:
        """A group by the names and values of its columns: a value alone, such as 0, says nothing."""
        return " · ".join(f"{visible(of.name)} = {self.key(part)}" for of, part in zip(query.keys, key, strict=False))

    def beyond(self, people: Amount, query: BoundedQuery, /) -> str:
        """How many people had rows in more groups than the cap, or lost groups by the cap on all rows."""
        some = (
            f"About {about(people.value)} (± {about(people.error)})" if people.low else f"At most {about(people.high)}"
        )
        if query.max_rows is not None:
            return f"{some} {units(query)} had rows in groups where the caps left out all of them."
        return (
            f"{some} {units(query)} had rows in more than "
            f"{counted(query.max_groups, 'group')}; the rest of their rows were left out."
        )

    def rows_lost(self, rows: Amount, second: int, query: BoundedQuery, /) -> str:
        """How many rows the caps left out, up to a second cap."""
        most = f"counting up to {counted(second, 'row')} of each {unit(query)}"
        where = " of all groups together" if query.keys else ""
        if not rows.low:
            return f"The caps left out at most {about(rows.high)} rows{where}, {most}."
        return (
            f"At least about {about(rows.value)} (± {about(rows.error)}) rows{where} were left out by the caps, {most}."
        )

    def rows_lost_error(self, error: str, /) -> str:
        """How precisely the number of rows that are left out will be known."""
        return f"The number of rows left out will be known to ± {error}, with {about(CONFIDENCE * 100)}% probability."

    def lost_rows(self, second: int, query: BoundedQuery, /) -> str:
        """The name of the measurement of rows that were left out, up to a second cap."""
        return f"rows left out, up to {counted(second, 'row')} of each {unit(query)}"

    def clamping(self, both: Clamping, /) -> str:
        """Which bounds of a sum have less noise."""
        rows, person = both.rows, both.person
        found = (
            f"{visible(both.column)}: ± {at_most(rows.error)} if each row is clamped, {visible(rows.sql)}; "
            f"± {at_most(person.error)} if each person's total in a group is clamped once, {visible(person.sql)}, and "
            "all their rows there count."
        )
        if person.error < rows.error:
            return f"{found} The total is better, unless many totals lie beyond its bounds."
        if person.error > rows.error:
            return f"{found} The rows are better, unless many rows are left out."
        return f"{found} The total is better if people have more rows than the cap."

    def together(self, cells: int | None, /) -> str:
        """What an error means where noisy numbers selected or sorted the rows."""
        if cells == 0:
            return "No number is shown, so there is no error."
        measured = "cells that are released" if cells is None else f"{counted(cells, 'cell')} that were measured"
        one = " The errors given here are for a single released key, and are larger for more." if cells is None else ""
        return (
            f"Noisy numbers selected or sorted the rows, so the intervals hold together for all {measured}, with "
            f"{about(CONFIDENCE * 100)}% probability; the bias from clamping and caps is not included.{one}"
        )

    def other_error(self) -> str:
        """Of which row the errors are that are given before a release."""
        return "The errors given here are those of the row (other), which has the most noise; other rows have less."

    def weights(self, shares: Sequence[tuple[str, Fraction]], /) -> str:
        """How a question divides its price by weights."""
        return (
            f"The price is shared by weight: {', '.join(f'{visible(name)} {percent(part)}' for name, part in shares)}."
        )

    def targets(self, found: Sequence[Met], rows: int | None, /) -> str:
        """Whether the errors of a plan meet the targets of the question."""
        where = "" if rows is None else f", for groups of {counted(rows, 'row')}"
        said = [
            f"{visible(each.name)} ± {about(each.error)} ({'meets' if each.holds else 'misses'} ± {about(each.target)})"
            for each in found
        ]
        return f"The price is shared so that all errors are equally far from their targets{where}: {', '.join(said)}."

    def at_rows(self, error: str, rows: int, /) -> str:
        """An error that depends on the number of rows."""
        return f"{error} at {counted(rows, 'row')}"

    def unlimited(self) -> str:
        """The error of a column that only the data limit."""
        return "depends on the data"

    def none_left(self, cells: int, /) -> str:
        """What an answer means whose rows were all left out by HAVING, LIMIT or OFFSET."""
        return (
            f"HAVING, LIMIT and OFFSET left none of the {counted(cells, 'measured row')}. This answer was paid for; it "
            "does not mean that the data are empty."
        )

    def negative(self, plan: AggregatePlan, /) -> str:
        """Why a count can be below 0, in an answer where one is."""
        if plan.threshold is None:
            return "A count below 0 means a small exact count: the noise was larger than the count itself."
        reached = (
            "" if isinstance(plan.threshold, PartitionSelection) else ", which has other noise, reached the threshold"
        )
        chosen = "was selected by its number" if not reached else "is shown because its number"
        return (
            f"A count below 0 means a small exact count with larger noise. Its key {chosen} of "
            f"{units(plan.query)}{reached}."
        )

    def exposure(self, plan: AggregatePlan, /) -> str:
        """P(L = +∞), the probability that somebody is exposed outright."""
        mass, who = plan.infinite_mass(), unit(plan.query)
        if mass == 0.0:
            return nobody(plan.query)
        often = f"With probability at most {at_most(mass)} ({chance(mass)}) a key that only one {who} has"
        if plan.shared_delta:
            return (
                f"{often} is shown by chance, or a key is missing that would be shown for certain if one {who} more "
                f"had it: either would expose one {who} outright."
            )
        return f"{often} passes the threshold by chance and is shown, which would expose that {who} outright."

    def tail(self, plan: Plan, /) -> str:
        """The finite tail, which degrades gracefully."""
        if plan.finite_tail() > 0.0 and plan.shared_delta:
            return (
                f"With other data, up to {at_most(plan.finite_tail())} of the same δ covers unusual noise, and keys "
                "that are shown or missing against the odds. The odds may then change by more than a factor of e^ε, "
                "but by a finite factor."
            )
        if plan.finite_tail() > 0.0:
            return (
                f"A further {at_most(plan.finite_tail())} of δ covers unusually large noise. Privacy then degrades "
                "gracefully: the odds may change by more than a factor of e^ε, but always by a finite factor, and "
                "larger factors are rarer."
            )
        if isinstance(plan.price, ApproximateZeroConcentratedDP) and plan.infinite_mass() > 0.0:
            return (
                "Apart from that, the loss has no fixed ceiling, but a thin tail like a Gaussian's: ρ bounds the "
                "probability of large losses, and every loss is finite."
            )
        if isinstance(plan.price, GaussianDP):
            return (
                "The loss has no fixed ceiling, but the tail of a Gaussian: μ bounds the probability of large losses, "
                "and every loss is finite."
            )
        if isinstance(plan.price, ZeroConcentratedDP | ApproximateZeroConcentratedDP):
            return (
                "The loss has no fixed ceiling, but a thin tail like a Gaussian's: ρ bounds the probability of large "
                "losses, and every loss is finite."
            )
        return "There is no finite tail: the loss never exceeds ε in any other way."

    def shown_keys(self, plan: AggregatePlan, /) -> str:
        """How it was decided which keys are shown."""
        if not plan.query.keys:
            return "The question has no groups, so the answer has one row, whatever the data are."
        if plan.threshold is None:
            many = plan.query.cells != 1
            declared = f"All {number(plan.query.cells or 0)} keys were" if many else "The only key was"
            return (
                f"{declared} declared public. {'Each' if many else 'It'} is in the answer, with noise, whether or not "
                "the data hold it."
            )
        query = plan.query
        chosen, rest = (
            ", ".join(visible(key.name) for place, key in enumerate(query.keys) if (place in query.selected) is inside)
            for inside in (True, False)
        )
        whose, one = (f"The keys of {chosen}", f"A value of {chosen}") if rest else ("The keys", "A key")
        beside = f", and then with a row for every public key of {rest}" if rest else ""
        rule = f"{one} is shown {_when(plan.threshold, query)}{beside}."
        own = f" {self._counted(plan)}" if plan.counted is not None else ""
        return f"{whose} are not public. {rule}{own} {self._left_out_keys(plan)}"

    def _counted(self, plan: AggregatePlan) -> str:
        assert plan.counted is not None
        return (
            f"{visible(plan.counted.name)} is this noisy number itself, measured once. Near the threshold it is more "
            "often too large than too small, so its interval reaches far down there: it holds for keys that are shown."
        )

    def _left_out_keys(self, plan: AggregatePlan) -> str:
        if not plan.query.other:
            return "Other keys are left out, and their number is not released."
        draws = plan.other_draws
        many = f"{number(draws)} draws" if draws > 1 else "one draw"
        return (
            "All other keys are together in the row (other), which is measured after the shown keys are fixed, with "
            f"{many} of the noise of each column. Their number is not released."
        )

    def public(self, query: BoundedQuery, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        limits = [f"the caps: {caps(query)} for each person"] if isinstance(query.unit, Person) else []
        known = [
            f"the {counted(len(key.keys), 'key')} of {visible(key.name)}: {self._listed(key.keys)}"
            for key in query.keys
            if key.keys is not None
        ]
        clamps = {
            f"the bounds of {visible(term.of.text)}, {' to '.join(ends(term))}"
            + ("" if term.of.kind in TEMPORAL else f", and its granularity, {step(term.granularity)}"): None
            for term in query.terms
            if term.of is not None and term.quantised is not None
        }
        size = [f"the number of {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        return ("the names and types of the columns, and the question itself", *size, *limits, *known, *clamps)

    def _listed(self, keys: tuple[Key, ...]) -> str:
        first = ", ".join(shortened(self.key(key), most=24) for key in keys[:6])
        return first + (f" and {number(len(keys) - 6)} more" if len(keys) > 6 else "")

    def moved(self, query: BoundedQuery, /) -> str:
        """A heading: how far one unit moves a number."""
        return f"one {unit(query)} moves it by"

    def sensitivity(self, far: Distance, query: BoundedQuery, /) -> str:
        """How far one unit moves what is measured."""
        return (
            f"one {unit(query)} moves a number by at most {number(far.largest)}, the whole column by {number(far.l1)} "
            f"(sum of squares: {number(far.l2_squared)}), in granules"
        )

    def in_granules(self, law: str, /) -> str:
        """A law of noise whose scale is in granules."""
        return f"{law}, in granules"

    def checking(self, query: BoundedQuery, /) -> str:
        """What the symbols of the checks mean."""
        return (
            f"Δ is how far one {unit(query)} can move a column, in granules; the size of the noise is in granules too."
        )

    def exact_sizes(self, sizes: Sequence[tuple[str, str]], /) -> str:
        """The sizes of the noise of the measurements as fractions."""
        return f"Exact sizes: {'; '.join(f'{visible(name)}: {size}' for name, size in sizes)}."

    def beyond_groups(self, query: BoundedQuery, /) -> str:
        """The name of the measurement of people who had rows in more groups than the cap."""
        return f"{units(query)} beyond the cap on {'rows' if query.max_rows is not None else 'groups'}"

    def checks(self, plan: AggregatePlan, headline: Headline, /) -> tuple[str, ...]:
        """The arithmetic from noise to price: one line per measurement and one for the sum."""
        lines = [f"{visible(each.measurement.name)}: {_share(each, plan)}" for each in plan.first]
        if plan.beyond is not None:
            lines.append(f"{self.beyond_groups(plan.query)}: {_cost(plan.beyond)}")
        if plan.lost is not None and plan.query.counted_up_to is not None:
            lines.append(f"{self.lost_rows(plan.query.counted_up_to, plan.query)}: {_cost(plan.lost)}")
        if plan.threshold is not None:
            lines.append(f"keys: {_threshold(plan.threshold, plan[KEYS].distance)}")
        return (*lines, f"together: {_together(plan, cast('Kept', headline.promise))}")

    def released(self, release: Release, /) -> str:
        """What was released, in a few words."""
        names = ", ".join(visible(column.name) for column in release.plan.columns)
        return f"{names}: {counted(len(release.rows), 'row')}"

    def error_of(self, errors: Sequence[tuple[str, str]], /, *, unmeasured: bool = False) -> str:
        """The error of each column, in a few words."""
        shown = "; ".join(f"{visible(name)} {error}" for name, error in errors)
        rest = "; bias not measured" if unmeasured else ""
        return f"{shown} (with {about(CONFIDENCE * 100)}% probability{rest})"

    def empty(self, plan: AggregatePlan, /) -> str:
        """What an answer without rows means."""
        least = getattr(plan.threshold, "least", None)
        none = "No key was selected." if least is None else f"No key reached the threshold of {number(least)}."
        return f"{none} This answer was paid for; it does not mean that the data are empty."

    def largest(self, shown: int, total: int, /) -> str:
        """A note that all keys are drawn, or only the largest."""
        if shown == total:
            return f"{counted(total, 'bar')}, each with its 95% interval."
        return f"The largest {number(shown)} of {number(total)} keys are drawn."

    def chart(self, names: Sequence[str], /) -> str:
        """The title of a chart of these columns."""
        return f"{', '.join(map(visible, names))}, with 95% intervals"

    def key(self, part: Key | Rest, /) -> str:
        """A value of a grouping column."""
        match part:
            case Rest.OTHER:
                return "(other)"
            case None:
                return "(no value)"
            case bool():
                return "true" if part else "false"
            case date():
                return part.isoformat()
            case "":
                return "(empty text)"
            case _:
                return visible(str(part))

    def label(self, key: RowKey, /) -> str:
        """A whole key in one line."""
        return " · ".join(map(self.key, key)) if key else "all rows"


def _cost(measured: Measurement) -> str:
    """The cost of a measurement of one number."""
    law, far = measured.mechanism, measured.distance
    assert isinstance(law, Noise)
    assert far is not None
    formula, symbol = law.arithmetic
    moved = far.l2_squared if law.euclidean else far.l1
    return f"{formula.format(moved=number(moved), size=about(law.size))} {_result(law.cost(), symbol)}"


def _share(measured: NoisyTerm, plan: AggregatePlan) -> str:
    """The cost of one measurement, from its sensitivity and its noise."""
    if measured.choice is not None:
        return RankWords().cost(measured.choice, plan)
    law, (formula, symbol) = measured.noise, measured.noise.arithmetic
    moved = measured.distance.l2_squared if law.euclidean else measured.distance.l1
    return f"{formula.format(moved=number(moved), size=about(law.size))} {_result(law.cost(), symbol)}"


def _when(selected: KeyThreshold, query: BoundedQuery) -> str:
    """When a key is shown."""
    if isinstance(selected, PartitionSelection):
        return (
            f"with a probability that grows with its number of {units(query)} as fast as the price allows: at least "
            f"{about(CONFIDENCE * 100)}% from {number(selected.error())} {units(query)} on"
        )
    return (
        f"if its number of {units(query)}, with noise ({noise(selected.noise)}), is at least {number(selected.least)}"
    )


def _threshold(threshold: KeyThreshold, far: Distance | None) -> str:
    if isinstance(threshold, PartitionSelection):
        parts = f"ε/{number(threshold.keys)} and 1 − (1 − δ)^(1/{number(threshold.keys)})"
        epsilon, delta = (at_most(exact(each), digits=6) for each in (threshold.epsilon, threshold.delta))
        return (
            f"optimal selection with {parts} for each of {number(threshold.keys)} keys, ε ≤ {epsilon} and δ ≤ {delta}"
        )
    law, (formula, symbol) = threshold.noise, threshold.noise.arithmetic
    assert far is not None  # people are counted
    first = formula.format(moved=number(far.l2_squared if law.euclidean else far.l1), size=about(law.size))
    single = f"1 − (1 − p)^{threshold.groups} ≤ {at_most(threshold.promise().delta)} = δ"
    chance_of_one = f"with p = P({threshold.each} + noise ≥ {number(threshold.least)})"
    return f"{first} {_result(law.cost(), symbol)}; {single}, {chance_of_one}"


def _together(plan: AggregatePlan, promise: Kept) -> str:
    """The sum of the shares, then the conversion if there is one, then the price."""
    if keys_only(plan):
        return f"the keys alone, {notation(promise)}, within the price {notation(plan.price)}"
    match without_keys(plan):
        case ZeroConcentratedDP(rho):
            steps = [f"ρ ≤ {at_most(rho, digits=6)}"]
        case GaussianDP(mu):
            steps = [f"√Σμ² ≤ {at_most(mu, digits=6)}"]
        case PureDP(epsilon):
            steps = [f"ε ≤ {at_most(epsilon, digits=6)}"]
        case _:
            steps = [RankWords().together()]
    if plan.threshold is not None:
        how = "promises" if isinstance(plan.price, ApproximateZeroConcentratedDP) else "losses"
        steps.append(f"with the keys {notation(promise)}, by the sum of their {how}")
    elif isinstance(plan.price, ApproximateDP) and plan.price.delta > 0:
        steps.append(f"which is {notation(promise)}")
    return ", ".join([*steps, f"within the price {notation(plan.price)}"])


def _result(share: Fraction, symbol: str) -> str:
    text = at_most(share, digits=6)
    return f"{'=' if at_least(share, digits=6) == text else '≤'} {text} = {symbol}"
