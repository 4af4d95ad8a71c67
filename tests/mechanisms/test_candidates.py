"""A noise that is defined here, and listed as a candidate, answers questions: no other file has to know it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms import candidates
from sitr.mechanisms.additive import Noise, NoisePrice
from sitr.mechanisms.candidates import NOISES, least_noise
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.summed import Summand, least_width, sum_error
from sitr.noise.coins import Coins, TestCoins, system_coins
from sitr.noise.draws import Draws, Size
from sitr.noise.laplace import discrete_laplace, discrete_laplace_width
from sitr.noise.uniform import uniform_block
from sitr.numbers import Number, exact, positive, upward
from sitr.questions.histogram.methods import Buckets, Flat, Method, Tree
from sitr.session.dataset import Dataset

PRICE = PureDP(0.5)


@dataclass(frozen=True, slots=True)
class Blurred(Noise):
    """Laplace noise plus −1, 0 or 1 granules, equally likely: as private as the Laplace noise, and a little larger."""

    scale: Number
    sensitivity: Number = 1
    granularity: Number = 1

    law: ClassVar = "blurred Laplace"
    parameter: ClassVar = "scale"
    symbol: ClassVar = "scale"
    euclidean: ClassVar = False
    flavor: ClassVar = PureDP
    arithmetic: ClassVar = ("Δ / scale = {moved} / {size}", "ε")

    @classmethod
    def fitting(cls, price: PureDP, *, sensitivity: Number, granularity: Number = 1) -> Self:
        one = cls(1, sensitivity, granularity)
        return replace(one, scale=exact(one.sensitivity) / positive(price.epsilon, name="epsilon", of="Blurred"))

    def cost(self) -> Fraction:
        return exact(self.sensitivity) / self.size

    def promise(self) -> PureDP:
        return PureDP(upward(self.cost()))

    def loss(self) -> Loss:
        return replace(Laplace(self.scale, self.sensitivity, self.granularity).loss(), bound=True)

    def width(self, *, confidence: Number) -> int:
        return 1 + discrete_laplace_width(scale=self.granules, confidence=confidence)

    def draw(self, size: Size | None, *, coins: Coins | None) -> int | Draws:
        tossed = system_coins() if coins is None else coins
        if size is None:
            return discrete_laplace(scale=self.granules, coins=tossed) + tossed.below(3) - 1
        drawn = discrete_laplace(scale=self.granules, size=size, coins=tossed)
        return drawn + uniform_block(3, drawn.size, tossed).reshape(drawn.shape) - 1

    @property
    def deviation(self) -> float:
        return math.sqrt(2 * float(self.size) ** 2 + 2 / 3)


@pytest.fixture
def only_blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "NOISES", (Blurred,))
    monkeypatch.setattr(candidates, "Blurred", Blurred, raising=False)  # only noise of Sitr itself can be kept
    monkeypatch.setattr(Blurred, "__module__", candidates.__name__)


@pytest.fixture
def visits(tmp_path: Path) -> Dataset:
    path = tmp_path / "visits.parquet"
    rows = {"patient": list(range(600)), "ward": ["A", "B"] * 300, "age": [row % 80 for row in range(600)]}
    pq.write_table(pa.table(rows), path)
    bounds = {"age": (0, 100)}
    return sitr.protect(
        path, unit="patient", max_groups=1, max_rows_per_group=1, bounds=bounds, keys={"ward": ["A", "B"]}
    )


@pytest.mark.usefixtures("only_blurred")
def test_it_answers_an_aggregate_question(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(PureDP(10.0), ledger=tmp_path / "sitr.db")
    question = budget.sql("SELECT ward, COUNT(*) AS n, SUM(age) AS total FROM visits GROUP BY ward")
    assert "blurred" in str(question.preview(PRICE))
    answer = question.release(PRICE)
    assert answer.promise == PRICE
    counts = dict(zip(answer.table["ward"].to_pylist(), answer.table["n"].to_pylist(), strict=True))
    assert set(counts) == {"A", "B"}
    far = Blurred.fitting(PRICE.share(Fraction(1, 2)), sensitivity=1).error(confidence=1 - 1e-12)
    assert all(abs(count - 300) <= far for count in counts.values())
    assert_shown(answer, tmp_path)


@pytest.mark.usefixtures("only_blurred")
@pytest.mark.parametrize("method", [Flat(), Tree(4), Buckets()], ids=repr)
def test_it_answers_a_histogram(visits: Dataset, tmp_path: Path, method: Method) -> None:
    budget = visits.budget(PureDP(10.0), ledger=tmp_path / "sitr.db")
    answer = budget.histogram("age", bins=8, method=method).release(PRICE)
    assert len(answer.intervals()) >= 8
    assert_shown(answer, tmp_path)


@pytest.mark.usefixtures("only_blurred")
def test_it_makes_synthetic_rows(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(PureDP(10.0), ledger=tmp_path / "sitr.db")
    answer = budget.synthesize(columns=["ward", "age"], bins={"age": 4}, rows_per_person=1).release(PRICE)
    assert {type(noise) for noise in answer.released.noises()} == {Blurred}


def assert_shown(answer: Any, folder: Path) -> None:
    assert "blurred Laplace" in json.dumps(answer.to_dict())
    assert "lurred Laplace" in answer.certificate(folder / "answer.html").read_text()  # maybe capitalised


def test_the_smallest_noise_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "NOISES", (Blurred, *NOISES))
    assert isinstance(least_noise(PRICE, l1=2, l2=2), Laplace)


@pytest.mark.parametrize(
    ("price", "kind", "moved"),
    [(PRICE, Laplace, 3), (ZeroConcentratedDP(0.1), Gaussian, 2), (GaussianDP(0.3), RoundedGaussian, 2)],
    ids=repr,
)
def test_every_price_has_a_noise_that_keeps_it_exactly(price: NoisePrice, kind: type, moved: int) -> None:
    """ℓ1 for pure prices, Euclidean length for the others; one percent less noise does not keep the price."""
    found = least_noise(price, l1=3, l2=2)
    assert type(found) is kind
    assert found.sensitivity == moved
    assert found.promise().covers(price)
    less = replace(found, **{found.parameter: found.size * Fraction(99, 100)})  # type: ignore[type-var]
    assert not less.promise().covers(price)


def test_sums_of_noise_without_a_transform_have_valid_intervals() -> None:
    """The union bound: wider than needed, but never too narrow; the interval of a single draw would be."""
    noise, count = Blurred(scale=10), 4
    assert noise.transform() is None
    width = least_width((Summand(noise, count),))
    drawn = np.asarray(noise.draw((20_000, count), coins=TestCoins(1))).sum(axis=1)
    assert np.mean(np.abs(drawn) <= width) >= 0.95
    assert np.mean(np.abs(drawn) <= float(noise.error())) < 0.9
    assert sum_error(noise, np.array([1.0, 1.0, 1.0, 1.0])) == width
    assert sum_error(noise, np.array([1.0, 0.5])) >= float(noise.error())
