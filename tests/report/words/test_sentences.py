"""Every sentence of every language, said of several things: Arabic holds no English, and both have the same numbers."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest

from sitr.accounting.anytime import Reading
from sitr.accounting.compare import compare
from sitr.accounting.filter import Filter
from sitr.accounting.in_advance import InAdvance, NoTotal
from sitr.accounting.theorems.theorem import Total
from sitr.accounting.training import Training
from sitr.errors import NotPrivate
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.departure import Departure
from sitr.ledger.receipt import Paid
from sitr.ledger.shares import Left
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import Provenance
from sitr.numbers import Interval
from sitr.questions.aggregate.bias import Amount, Why
from sitr.questions.aggregate.clamping import ClampedSum, Clamping
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.other import Rest, with_other
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.targeted import Met
from sitr.questions.synthetic.agreement import Agreement, TableFit
from sitr.questions.synthetic.figures import Coefficient
from sitr.questions.synthetic.plan import plan as planned_rows
from sitr.questions.synthetic.validity import Checked, Demand
from sitr.questions.tables.quality import QualityRule
from sitr.report.figured import Figured
from sitr.report.headline import Headline, headline
from sitr.report.level import Level
from sitr.report.statistic import ReplacedRow
from sitr.report.views import views
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from tests.report import test_histogram as histograms
from tests.report import test_several as drawn_together
from tests.report import test_statistic as statistics
from tests.report import test_synthetic as synthesized
from tests.report import test_tables as tabulated
from tests.report.conftest import RELEASES, certified, planned, table
from tests.report.test_comparison import PLANS
from tests.report.words.arabic.conftest import CASES, drawn_rows, english
from tests.report.words.test_languages import parts

RANDOM = RandomDP(ApproximateDP(0.5, 1e-7), 0.04, Basis.ASYMPTOTIC, parts=(("newcomer", 0.03),))
KEPT = (PureDP(0.5), ApproximateDP(1.0, 1e-6), ZeroConcentratedDP(0.1, xi=0.1), RANDOM)


def _with_other_keys() -> Iterator[AggregatePlan]:
    """Plans with keys of both kinds, and with a row for other keys."""
    for price, groups in ((ApproximateDP(1.0, 1e-6), 1), (ApproximateDP(1.0, 1e-6), 60)):
        mixed = planned(
            "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ward, urgent", price, max_groups=groups
        )
        yield mixed
        yield fit(with_other(mixed.query), price)


@cache
def samples() -> dict[str, list[Any]]:
    """A few values of every type that a sentence takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        releases = [RELEASES[name]() for name in RELEASES if name != "hostile"]
        counts = [histograms.made(*case) for name, case in CASES.items() if name != "nothing"]
        portrait = drawn_rows()
        published = [tabulated.made(price) for price in tabulated.PRICES]
        published.append(tabulated.made(tabulated.PRICES[0], unit=Person("id"), measures=("count",)))
    plans = [*(release.plan for release in releases), *_with_other_keys()]
    found = [headline(plan) for plan in plans] + [Headline.of(RANDOM)]
    seen = [views(one, None) for one in found]
    compared = [compare(plan, delta=1e-6) for plan in PLANS.values()]
    statistic, receipt = statistics.RECORD
    described = table(keys={"ward": ("a", "b", None)})
    return {
        "TheoremResult": [row for one in compared for row in one.rows],
        "Interval": [Interval(0.25, 0.5), Interval(0.0, 0.5), Interval(0.5, 0.5)],
        "Why": [*Why],
        "Provenance": [*Provenance],
        "Clamping": [
            Clamping("س", ClampedSum("س", first), ClampedSum("س", second))
            for first, second in ((4.0, 2.0), (2.0, 4.0), (4.0, 4.0))
        ],
        "Amount": [Amount(Fraction(62, 100), Fraction(58, 100), Fraction(66, 100))],
        "GroupedQuantile": [
            GroupedQuantile(rate=Fraction(1, 8), level=Fraction(1, 2), low=0, high=100, each=2, groups=3)
        ],
        "TablesPlan": [one.plan for one in published],
        "Workload": [published[0].plan.workload],
        "Node": [((0, 2), (1, 1)), ((0, 1),), ()],
        "Measure": [*published[0].plan.measures],
        "QualityRule": [QualityRule(), QualityRule(small=12)],
        "str": ["س"],
        "Container[str]": [(), {"س"}],
        "float": [0.25, 1e-6],
        "float | None": [None, 0.25],
        "int": [1, 2, 5, 12, 100],
        "int | None": [None, 1, 2, 5],
        "bool": [True, False],
        "Number": [Fraction(1, 4)],
        "Training": [Training(60_000, 256, 60, 1.1), Training(60_000, 256, 1, 1.1)],
        "Schedule": [*PLANS.values()],
        "Fraction": [Fraction(1), Fraction(5)],
        "Total | None": [None, Total(0.5, 0.75, two_sided=True)],
        "Total": [Total(0.5, 0.75, two_sided=True), Total(0.0, 0.75, two_sided=False)],
        "Receipt": [certified(releases[0]).receipt, receipt],
        "SeveralPlan": [drawn_together.made().plan],
        "Crowd": [drawn_together.made()],
        "Mapping[str, int] | None": [None, {"س": 5}],
        "Sequence[Sequence[str]]": [[("س", "ص")] * count for count in (1, 3, 12)],
        "Sequence[str]": [("س", "ص")],
        "Sequence[Left]": [(Left("س", PureDP(0.5), PureDP(1.0)), Left("ص", PureDP(1.5), PureDP(2.0)))],
        "Iterable[str]": [("س", "ص")],
        "Sequence[tuple[str, str]]": [(("س", "± 1"),)],
        "Sequence[tuple[str, Fraction]]": [(("س", Fraction(1)), ("ص", Fraction(4)))],
        "Sequence[Met]": [(Met("س", Fraction(5), Fraction(4)),), (Met("س", Fraction(4), Fraction(5)),)],
        "BoundedQuery": [plan.query for plan in plans],
        "AggregatePlan": plans,
        "Plan": plans,
        "Headline": found,
        "Key | Rest": [None, True, False, "", date(2026, 1, 2), 7, Rest.OTHER],
        "RowKey": [(), (None, 7), (Rest.OTHER, 7)],
        "RowKey | None": [None, (), (None, 7), (Rest.OTHER, 7)],
        "Release": releases,
        "Distance": [plans[0].noisy[0].distance],
        "Filter": [Filter(PureDP(2.0)).consent(PureDP(0.5)), statistics.BUDGET],
        "Filter | None": [None, Filter(PureDP(2.0))],
        "Reading": [Reading(PureDP(0.5), 0.5), Reading(PureDP(0.5), 0.5, 1e-6), Reading(PureDP(0.5), None)],
        "InAdvance": [
            InAdvance(1e-6, 0.25, 12, 5),
            InAdvance(1e-6, 0.25, 12, 5, summed=0.5),
            *(InAdvance(1e-6, None, 12, 5, why) for why in NoTotal),
        ],
        "Kept": [*KEPT],
        "Kept | None": [None, *KEPT],
        "ProvedView": [view for one in seen for view in one.rows],
        "Views": seen,
        "date": [date(2026, month, 2) for month in range(1, 13)],
        "Level": [*Level],
        "Axis": [axis for one in counts for axis in one.grid.axes if axis.column.name != "ward"],
        "HistogramPlan": [one.plan for one in counts],
        "Histogram": [*counts, counts[0].nonnegative()],
        "Protects": [
            table(),
            table(relation=Relation.REPLACE_ONE),
            ReplacedRow(),
            replace(table(), unit=ReplacedRow().unit),
        ],
        "Noise": [each.noise for plan in plans for each in plan.noisy],
        "StatisticPlan": [statistic.plan],
        "StatisticRelease": [statistic, statistics.made(1, 2)[0]],
        "Any": [None, 7, Fraction(1, 4), (1, None)],
        "Column": list(described.columns),
        "Table": [described, replace(described, unit=ReplacedRow().unit), replace(described, unit=Person("day"))],
        "Mapping[str, float]": [{}, {"س": 0.5}],
        "Exception": [ValueError("س")],
        "SynthesisPlan": [planned_rows(synthesized.SHEET, synthesized.PRICE)],
        "Quality": [synthesized.FOUND, synthesized.PUBLIC],
        "Portrait": [portrait],
        "Figure": list(synthesized.FOUND.single),
        "Sequence[Coefficient]": [(Coefficient("age", 0.5, 0.75, 0.1), Coefficient("sex = m", -0.25, -0.25, 0.1))],
        "Agreement": [
            Agreement((TableFit(("س",), 0.5, 0.1), TableFit(("س", "ع"), 0.25, 0.1))[:count]) for count in (1, 2)
        ],
        "Checked": [Checked(demand, ("س",), 0) for demand in Demand],
        "Entry": [receipt.entry],
        "Figured": [*Figured],
        "tuple[float, float] | None": [None, (0.75, 0.25)],
        "tuple[Departure, ...]": [(), (Departure(7.0),), (Departure(7.0), Departure(9.0, 2))],
        "Paid": [Paid("س", receipt.neighbors, receipt.entry, receipt.standing)],
    }


FITS = (TableFit(("س",), 0.5, 0.1), TableFit(("س", "ع"), 0.25, 0.1))

BARE = {"accounting.adaptively", "accounting.reason", "accounting.setting", "aggregate.checks", "entry", "synthetic.of"}
"""These may hold nothing but names, formulas and messages, which have a catalogue of their own."""

SENTENCES = [name for name, value in parts(ENGLISH) if callable(value)]


def of(words: Any, name: str) -> Any:
    for part in name.split("."):
        words = getattr(words, part)
    return words


def said(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case tuple():
            for part in value:
                yield from said(part)


def calls(name: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The sentence with each of the samples, one parameter after another."""
    parameters = inspect.signature(of(ENGLISH, name)).parameters.values()
    values = {each.name: samples()[str(each.annotation)] for each in parameters}
    longest = max((len(each) for each in values.values()), default=1)
    for place in range(longest):
        chosen = {each.name: values[each.name][place % len(values[each.name])] for each in parameters}
        named = {each.name: chosen[each.name] for each in parameters if each.kind is each.KEYWORD_ONLY}
        yield [chosen[each.name] for each in parameters if each.name not in named], named


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_holds_no_english_and_the_same_numbers(name: str) -> None:
    for values, named in calls(name):
        first, second = (list(said(of(words, name)(*values, **named))) for words in (ENGLISH, ARABIC))
        for one, other in zip_longest(first, second):
            assert isinstance(one, str)
            assert isinstance(other, str)
            assert bool(one) == bool(other)
            assert english(other) == [], other
            letters = re.sub("[\u2066\u2068][^\u2069]*\u2069", "", one)
            if re.search("[a-z]{3}", letters) and name not in BARE:
                assert re.search("[\u0621-\u064a]", other), (one, other)
            assert numbers(other) <= numbers(one) | {"1", "2", "95", "24"}, (one, other)


def numbers(text: str) -> set[str]:
    """The numbers in a text."""
    return set(re.findall(r"\d[\d,.]*\d|\d", text))
