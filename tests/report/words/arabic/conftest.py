"""Every kind of answer, from the fixtures of the reports."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from sitr.accounting.filter import Filter
from sitr.errors import NotPrivate
from sitr.flavors.pure import PureDP
from sitr.noise.coins import TestCoins
from sitr.questions.arrow import arrow_type
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.validity import Checked, Demand
from sitr.report import aggregate, histogram, statistic, synthetic
from sitr.report.paper import Paper
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.words import Words
from tests.report import test_histogram as histograms
from tests.report import test_several as drawn_together
from tests.report import test_statistic as statistics
from tests.report import test_synthetic as synthesized
from tests.report.conftest import RELEASES, certified

PLAIN = statistics.made(1, 2, price=PureDP(0.5), budget=Filter(PureDP(1.0)).consent(PureDP(0.5)))


CASES: dict[str, Any] = {**histograms.CASES}


def _aggregate(name: str, *, words: Words = ARABIC) -> Paper:
    return aggregate.answer(*certified(RELEASES[name]()), words=words)


def _histogram(name: str, *, words: Words = ARABIC) -> Paper:
    found = histograms.made(*CASES[name])
    return histogram.answer(found, histograms.receipt(found), words=words)


def _processed(*, words: Words = ARABIC) -> Paper:
    found = histograms.made(*CASES["flat"]).nonnegative().lattice().simplex()
    return histogram.answer(found, histograms.receipt(found), words=words)


def drawn_rows() -> Portrait:
    """The fitted model of the tests of synthetic rows."""
    schema = pa.schema([(axis.column.name, arrow_type(axis.column.kind)) for axis in synthesized.AXES])
    planned = plan(synthesized.SHEET, synthesized.PRICE)
    return portrait(measure(planned, synthesized.CODES, coins=TestCoins(1)), schema=schema, never=())


def _statistic(record: Any, *, words: Words = ARABIC) -> Paper:
    return statistic.answer(*record, words=words)


def _synthetic(*, words: Words = ARABIC) -> Paper:
    judged = synthetic.quality(synthesized.FOUND, None, private=True, words=words)
    checked = tuple(Checked(demand, ("age",), place % 2 * 7) for place, demand in enumerate(Demand))
    return synthetic.answer(
        drawn_rows(), synthesized.RECEIPT, rows=synthesized.CODES, judged=judged, checked=checked, words=words
    )


PAPERS: dict[str, Callable[..., Paper]] = {
    **{f"aggregate, {name}": partial(_aggregate, name) for name in RELEASES},
    **{f"histogram, {name}": partial(_histogram, name) for name in CASES},
    "histogram, processed": _processed,
    "statistic, random": partial(_statistic, statistics.RECORD),
    "statistic, several": partial(_statistic, PLAIN),
    "synthetic": _synthetic,
    "synthetic, several tables": lambda words=ARABIC: drawn_together.page(words=words),
}
"""The paper of each kind of answer, in Arabic or in the given words."""


@pytest.fixture(scope="session", params=PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    """The Arabic paper of each kind of answer, one after another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        return PAPERS[request.param]()


class Spoken(HTMLParser):
    """What a reader of a page hears, without code, quoted names and styles."""

    SILENT = ("style", "code", "pre", "template", "h1")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self._silent = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent += tag in self.SILENT
        self.said += [value for name, value in attrs if name == "aria-label" and value]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.said.append(data)


def english(text: str) -> list[str]:
    """Latin words outside of isolates, which hold formulas, code and the user's own words."""
    outside = re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", " ", text)
    return re.findall(r"[A-Za-z]{2,}", outside)
