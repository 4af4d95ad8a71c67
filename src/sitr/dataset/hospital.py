"""A fictional hospital: visits as a hospital might record them, drawn from a seed."""

from __future__ import annotations

import warnings
from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.errors import NotPrivate
from sitr.noise.coins import TestCoins

SEED = 20_240_229
FIRST_DAY, DAYS = date(2023, 1, 1), 731

WARDS = ("Emergency", "Surgery", "Cardiology", "Orthopaedics", "Oncology", "Neurology", "Paediatrics", "Maternity")
AGES = ("0-17", "18-39", "40-64", "65-79", "80+")
INSURANCES = ("public", "private", "self-paid")

_AGE_WEIGHTS = (0.17, 0.22, 0.28, 0.22, 0.11)
_WARD_WEIGHTS = (  # one row per age band, in the order of the wards
    (30, 8, 1, 9, 2, 4, 46, 0),
    (30, 15, 4, 12, 4, 6, 0, 29),
    (26, 20, 16, 14, 12, 10, 0, 2),
    (22, 18, 24, 12, 14, 10, 0, 0),
    (28, 12, 28, 14, 6, 12, 0, 0),
)
_STAY = (0.4, 3.5, 4.0, 4.5, 5.0, 5.0, 2.0, 2.5)
"""The mean length of a stay in each ward, in days."""
_COST = (220, 1_300, 900, 1_050, 1_200, 700, 380, 850)
"""The median cost of a visit to each ward, before the daily rate."""

Reals = NDArray[np.float64]
Codes = NDArray[np.int64]


class Chance:
    """Draws from a seed, many at a time."""

    def __init__(self, seed: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPrivate)  # invented patients need no privacy
            self._coins = TestCoins(seed)

    def uniform(self, count: int) -> Reals:
        """Uniform in the open interval (0, 1)."""
        return ((self._coins.words(count) >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52

    def normal(self, count: int) -> Reals:
        """Standard normal, by the Box–Muller method."""
        radius: Reals = np.sqrt(-2 * np.log(self.uniform(count)))
        return radius * np.cos(2 * np.pi * self.uniform(count))

    def choice(self, weights: Reals, count: int) -> Codes:
        """Positions, drawn in proportion to their weights."""
        edges: Reals = np.cumsum(weights)
        drawn: Codes = np.searchsorted(edges[:-1], self.uniform(count) * edges[-1], side="right")
        return drawn

    def holes(self, share: float, count: int) -> NDArray[np.bool_]:
        """Which values are missing."""
        return self.uniform(count) < share


def hospital(rows: int = 200_000, *, seed: int = SEED) -> pa.Table:
    """A table of visits, about five per patient. The same seed gives the same table.

    >>> hospital(1_000).schema.names
    ['visit_id', 'patient_id', 'ward', 'admitted', 'days', 'cost', 'age_band', 'insurance']
    """
    chance = Chance(seed)
    patients = max(1, rows // 5)
    age = chance.choice(np.array(_AGE_WEIGHTS), patients)
    insurance = chance.choice(np.array((0.71, 0.22, 0.07)), patients)
    home = _ward(chance, age)
    # Few patients come often: visits per patient are log-normal, up to about a hundred.
    patient = chance.choice(np.exp(0.7 * chance.normal(patients)), rows)
    ward = np.where(chance.uniform(rows) < 0.6, home[patient], _ward(chance, age[patient]))
    days = np.floor(-np.array(_STAY)[ward] * np.log(chance.uniform(rows))).astype(np.int64)
    cost = np.array(_COST)[ward] * np.exp(0.55 * chance.normal(rows)) + 160.0 * days
    return pa.table(
        {
            "visit_id": pa.array(np.arange(1, rows + 1)),
            "patient_id": pa.array(100_000 + patient, mask=chance.holes(0.001, rows)),
            "ward": _labels(WARDS, ward, mask=chance.holes(0.004, rows)),
            "admitted": pa.array(_admitted(chance, rows), type=pa.date32()),
            "days": pa.array(days, mask=chance.holes(0.01, rows)),
            "cost": pa.array(np.round(cost, 2), mask=chance.holes(0.015, rows)),
            "age_band": _labels(AGES, age[patient]),
            "insurance": _labels(INSURANCES, insurance[patient]),
        }
    )


def _ward(chance: Chance, age: Codes) -> Codes:
    """A ward for each age band in turn."""
    edges: Reals = np.cumsum(np.array(_WARD_WEIGHTS, dtype=np.float64), axis=1)
    drawn = chance.uniform(len(age)) * edges[age, -1]
    ward: Codes = (drawn[:, None] >= edges[age, :-1]).sum(axis=1)
    return ward


def _admitted(chance: Chance, rows: int) -> Codes:
    """Sorted days as Arrow counts them: more in winter, fewer at weekends."""
    first = (FIRST_DAY - date(1970, 1, 1)).days
    day = np.arange(DAYS)
    weekend = (first + day + 3) % 7 >= 5  # 1970-01-01 was a Thursday
    weights = (1 + 0.15 * np.cos(2 * np.pi * day / 365.25)) * np.where(weekend, 0.6, 1.0)
    return np.sort(chance.choice(weights, rows)).astype(np.int32) + np.int32(first)


def _labels(names: tuple[str, ...], codes: Codes, *, mask: NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.array(np.array(names, dtype=object)[codes], type=pa.string(), mask=mask)
