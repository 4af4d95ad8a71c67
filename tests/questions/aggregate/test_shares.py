"""Shares add up to the whole price, and unequal ones make errors smaller."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import exact
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.shares import COVARIANCE, MEAN, TURNED, VARIANCE, main_terms, shares, typical
from sitr.questions.aggregate.split import Weights

KNOWN = {"keys": {"ward": ["A", "B", "C", "D", "E", "F"]}}
PRICES = [PureDP(1.0), ZeroConcentratedDP(0.1)]
COLUMNS = {
    "n": "COUNT(*)",
    "total": "SUM(cost)",
    "people": "COUNT(DISTINCT id)",
    "mean": "AVG(cost)",
    "spread": "STDDEV_SAMP(cost)",
    "r": "CORR(cost, days)",
    "middle": "MEDIAN(days)",
    "h": "HISTOGRAM(days, 0, 2, 4, 8)",
    "ratio": "SUM(cost) / SUM(days)",
}


def sql(*names: str, more: str = "") -> str:
    return f"SELECT ward, {', '.join(f'{COLUMNS[name]} AS {name}' for name in names)} FROM visits GROUP BY ward{more}"


QUESTIONS = [
    sql("n"),
    sql("n", "total"),
    sql("mean"),
    sql("spread"),
    sql("r"),
    sql("n", "mean", "spread", "r"),
    sql("middle", "mean"),
    sql("h", "n"),
    sql("ratio", "people"),
    sql("mean", more=" HAVING COUNT(*) > 3"),
]


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("bias", [None, Fraction(1, 20)])
def test_shares_add_up_to_the_whole(ask, price, question: str, bias) -> None:
    query = ask(question, **KNOWN).watching(bias)
    for split in (None, Weights((("mean", Fraction(7, 3)), ("n", Fraction(1, 10)), ("total", Fraction(5))))):
        found = shares(replace(query, split=split), price)
        assert sum(found.values()) == 1
        assert min(found.values()) > 0
        assert set(query.measured) <= found.keys()


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_plan_with_any_shares_keeps_its_price(ask, price, question: str) -> None:
    query = ask(question, **KNOWN)
    for split in (None, Weights((("n", Fraction(1, 100)), ("mean", Fraction(100))))):
        fit(replace(query, split=split), price).check()


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_columns_that_show_one_measurement_each_get_equal_shares(ask, price) -> None:
    query = ask(sql("n", "total", "people", "middle"), **KNOWN)
    assert set(shares(query, price).values()) == {Fraction(1, len(query.measured))}


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_a_column_by_another_name_changes_nothing(ask, price) -> None:
    twice = "SELECT ward, COUNT(*) AS n, COUNT(*) AS m, AVG(cost) AS mean FROM visits GROUP BY ward"
    assert list(shares(ask(twice, **KNOWN), price).values()) == list(
        shares(ask(sql("n", "mean"), **KNOWN), price).values()
    )


def test_weights_are_shares_of_the_price(ask) -> None:
    """A column with a weight of 4 beside one of 1 has four fifths: its noise costs that, computed from the noise."""
    query = replace(ask(sql("n", "total"), **KNOWN), split=Weights((("n", Fraction(1)), ("total", Fraction(4)))))
    n, total = (each.noise for each in fit(query, ZeroConcentratedDP(0.1)).noisy)
    assert float(n.cost()) == pytest.approx(0.02, rel=1e-9)
    assert float(total.cost()) == pytest.approx(0.08, rel=1e-9)
    n, total = (each.noise for each in fit(query, PureDP(1.0)).noisy)
    assert float(n.cost()) == pytest.approx(0.2, rel=1e-9)
    assert float(total.cost()) == pytest.approx(0.8, rel=1e-9)


def test_a_measurement_of_two_columns_has_the_sum_of_their_parts(ask) -> None:
    """AVG(days) needs the same count as COUNT(*) where days cannot be NULL."""
    query = ask("SELECT ward, COUNT(cost) AS n, AVG(cost) AS mean FROM visits GROUP BY ward", **KNOWN)
    assert len(main_terms(query)) == 2
    alone = shares(replace(ask(sql("mean"), **KNOWN), split=Weights(())), ZeroConcentratedDP(0.1))
    both = shares(replace(query, split=Weights((("n", Fraction(3)), ("mean", Fraction(1))))), ZeroConcentratedDP(0.1))
    total, count = (query.columns[1].terms[place] for place in (0, 1))
    assert both[(total,)] == alone[(total,)] / 4
    assert both[(count,)] == Fraction(3, 4) + alone[(count,)] / 4


# The default


def test_the_shares_of_a_mean_are_its_usual_weights(ask) -> None:
    """1 and 1/√3 for Gaussian noise, and their powers 2/3 for Laplace noise."""
    query = ask(sql("mean"), **KNOWN)
    total, count = query.columns[0].terms
    for price, power in ((ZeroConcentratedDP(0.1), 1.0), (PureDP(1.0), 2 / 3)):
        found = shares(query, price)
        assert float(found[(count,)] / found[(total,)]) == pytest.approx(
            3 ** -(0.5**1) if power == 1 else 3 ** (-power / 2), rel=5e-3
        )


def test_constants_are_the_root_mean_squares_that_they_claim() -> None:
    rng = np.random.default_rng(1)
    m, other, part = rng.uniform(-1, 1, 10**6), rng.uniform(-1, 1, 10**6), rng.uniform(0, 1, 10**6)
    assert float(MEAN) == pytest.approx(math.sqrt(np.mean(m**2)), rel=3e-3)
    assert float(VARIANCE) == pytest.approx(math.sqrt(np.mean((m**2 - part * (1 - m**2)) ** 2)), rel=3e-3)
    assert float(COVARIANCE) == pytest.approx(math.sqrt(np.mean((m * other) ** 2) + 1 / 27), rel=3e-3)
    assert float(TURNED) == pytest.approx(math.sqrt(np.mean((m - other / 2) ** 2)), rel=3e-3)


def tables() -> dict[str, np.ndarray]:
    """Invented values between −1 and 1: other tables than those with which the defaults were compared at first."""
    rng = np.random.default_rng(11)
    raw = {
        "ages": (np.abs(rng.normal(0, 35, 20_000)), 110),
        "waiting times": (rng.exponential(3, 20_000), 20),
        "two kinds": (np.where(rng.random(20_000) < 0.4, rng.normal(20, 5, 20_000), rng.normal(80, 5, 20_000)), 100),
        "shares": (rng.beta(2, 5, 20_000), 1),
        "salaries": (rng.lognormal(10.5, 0.5, 20_000), 200_000),
        "rare events": ((rng.random(20_000) < 0.03) * 1.0, 1),
    }
    return {name: np.clip(values, 0, most) / most * 2 - 1 for name, (values, most) in raw.items()}


def weights(kind: str, x: np.ndarray) -> np.ndarray:
    """The weights of the noises at these values, see `sitr.questions.aggregate.functions.moments`."""
    mean, variance = x.mean(), x.var()
    return np.array([1, abs(mean)] if kind == "mean" else [1, 2 * abs(mean), abs(mean**2 - variance)])


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("kind", ["mean", "spread"])
def test_unequal_shares_make_errors_smaller_on_most_tables(ask, price, kind: str) -> None:
    """At most 5% larger where the values crowd at a bound, and smaller by at least 3% on average."""
    query = ask(sql(kind), **KNOWN)
    found = shares(query, price)
    parts = np.array([float(found[(term,)]) for term in query.columns[0].terms])
    power = 2 if isinstance(price, PureDP) else 1

    def error(each: np.ndarray, split: np.ndarray) -> float:
        return math.sqrt(float((each**2 / split**power).sum()))

    equal = np.full(len(parts), 1 / len(parts))
    ratios = [error(weights(kind, x), parts) / error(weights(kind, x), equal) for x in tables().values()]
    assert max(ratios) <= 1.05
    assert np.mean(ratios) <= 0.97


def test_noise_has_the_size_that_its_share_pays_for(ask) -> None:
    query = ask(sql("mean"), **KNOWN)
    found = shares(query, PureDP(1.0))
    for each in fit(query, PureDP(1.0)).noisy:
        assert isinstance(each.noise, Laplace)
        assert each.distance.l1 / exact(each.noise.scale) == pytest.approx(float(found[(each.term,)]), rel=1e-9)


def test_nothing_is_assumed_about_ratios_without_bounds(ask) -> None:
    query = ask(sql("ratio"), **KNOWN)
    assert typical(query.columns[0].formula) is None
    assert set(shares(query, PureDP(1.0)).values()) == {Fraction(1, 2)}
