"""What was spent, as a picture."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.ledger.entry import Account, Entry
from sitr.report.chart.spending import chart, spending

OPENED = datetime(2026, 1, 1, tzinfo=UTC)


def entry(number: int, price: Kept, hours: int, dataset: str = "visits") -> Entry:
    return Entry(number, dataset, price, "COUNT(*)", OPENED + timedelta(hours=hours), "noor", "0.1.0")


def test_the_scarcest_parameter_counts_and_gamma_does_not() -> None:
    account = Account("visits", ApproximateDP(1.0, 1e-6), "row", OPENED)
    (found,) = spending([account], [entry(1, ApproximateDP(0.1, 5e-7), 1), entry(2, ApproximateDP(0.8, 1e-7), 2)])
    assert [share for _, share in found.steps] == [Fraction(1, 2), Fraction(9, 10)]
    random = Account("visits", RandomDP(PureDP(1.0), 0.05), "row", OPENED)
    (found,) = spending([random], [entry(1, RandomDP(PureDP(0.25), 0.05), 1), entry(2, PureDP(0.25), 2)])
    assert [share for _, share in found.steps] == [Fraction(1, 4), Fraction(1, 2)]


def test_a_clock_that_goes_back_draws_no_line_backwards() -> None:
    account = Account("visits", PureDP(1.0), "row", OPENED)
    (found,) = spending([account], [entry(1, PureDP(0.1), 5), entry(2, PureDP(0.1), -9), entry(3, PureDP(0.1), 6)])
    times = [at for at, _ in found.steps]
    assert times == sorted(times)
    assert found.share == Fraction(3, 10)


def test_those_that_spent_most_come_first_and_are_named() -> None:
    accounts = [Account(name, PureDP(1.0), "row", OPENED) for name in ("few", "none", "most")]
    entries = [entry(1, PureDP(0.1), 1, "few"), entry(2, PureDP(0.55), 2, "most")]
    assert [each.dataset for each in spending(accounts, entries)] == ["most", "few", "none"]
    assert "<desc>most: 55%; few: 10%; none: 0%</desc>" in chart(accounts, entries)
