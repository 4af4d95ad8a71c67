"""One row's content never decides whether a fit fails or warns, and it stays inside the bounds."""

from __future__ import annotations

import warnings
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sitr.errors import DescriptionError
from sitr.flavors.pure import PureDP
from sitr.learn import PrivateHuberMean, PrivateHuberRegressor, PrivateLogisticRegression, PrivateMean, PrivateRidge
from sitr.learn.inputs import features, signs, targets


class Rude:
    """Raises whatever is done with it."""

    def __repr__(self) -> str:
        return "Rude()"

    def __float__(self) -> float:
        raise RuntimeError("Ann is ill")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("Ann is ill")

    __hash__ = None  # type: ignore[assignment]


NOT_NUMBERS: list[Any] = [
    None, float("nan"), float("inf"), -float("inf"), "Ann is ill", "", "nan", b"x", pd.NA, pd.NaT, 10**400, -(10**400),
    1j, np.complex128(1j), {"a": 1}, [1.0], (), Decimal("sNaN"), date(2020, 1, 1), np.ma.masked, Rude(),
]  # fmt: skip
NUMBERS: list[Any] = [0.25, -0.0, 5e-324, 1e308, -1e308, True, np.float16(0.5), Decimal("0.5"), "0.5", 2**200]

QUIET: dict[str, Any] = {"promise": PureDP(1e15), "granularity": 2.0**-16}
"""This noise is rounded to nothing: what comes out is the minimum."""

MODELS = [
    PrivateLogisticRegression(norm=1.0, classes=(0, 1), regularization=0.1, **QUIET),
    PrivateLogisticRegression(norm=1.0, classes=(0, 1), **QUIET),
    PrivateRidge(norm=1.0, bound=1.0, regularization=0.1, **QUIET),
    PrivateHuberRegressor(norm=1.0, regularization=0.1, **QUIET),
    PrivateMean(norm=1.0, **QUIET),
    PrivateHuberMean(regularization=0.1, **QUIET),
]


def rows() -> tuple[list[list[Any]], list[Any]]:
    generator = np.random.default_rng(0)
    x = generator.uniform(-0.5, 0.5, size=(12, 2))
    return [list(row) for row in x.tolist()], [int(label) for label in x[:, 0] > 0]


def released(model: Any, x: Any, y: Any) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return [float(number) for number in model.fit(x, y).released_]


def arrays(x: list[list[Any]]) -> list[Any]:
    """The same rows in the containers that people use."""
    array = np.empty((len(x), 2), dtype=object)
    for place, row in enumerate(x):
        array[place, 0], array[place, 1] = row
    return [x, array, pd.DataFrame({"a": array[:, 0], "b": array[:, 1]})]


@pytest.mark.sampled(42)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_what_is_not_a_number_counts_as_the_declared_value(model: Any, value: Any) -> None:
    x, y = rows()
    x[3][1] = 0.0
    expected = released(model, x, y)
    x[3][1] = value
    for given in arrays(x):
        assert released(model, given, y) == expected


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers_of_all_kinds_are_read(model: Any, value: Any) -> None:
    x, y = rows()
    x[3][1] = float(value)
    expected = released(model, np.array(x, dtype=np.float64), y)
    x[3][1] = value
    for given in arrays(x):
        assert released(model, given, y) == expected


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 2, -1, 0.5, "1"], ids=repr)
def test_a_row_with_a_foreign_label_counts_for_nothing(value: Any) -> None:
    """The gradient of the others alone, over n: the same as a row of zeros without an intercept."""
    model = PrivateLogisticRegression(norm=1.0, classes=(0, 1), regularization=0.1, fit_intercept=False, **QUIET)
    x, y = rows()
    expected = released(model, [*x[:3], [0.0, 0.0], *x[4:]], y)
    labels = np.empty(12, dtype=object)
    labels[:] = y
    labels[3] = value
    assert released(model, x, labels) == expected
    y[3] = value
    assert released(model, x, y) == expected


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_targets_that_are_not_numbers_are_the_middle_and_infinite_ones_the_bounds(value: Any) -> None:
    infinite = {float("inf"): 3.0, -float("inf"): 1.0}
    meant = infinite.get(value, 2.0) if isinstance(value, float) else 2.0
    assert targets([1.5, value], low=1.0, high=3.0, missing=2.0).tolist() == [1.5, meant]
    x, y = rows()
    for model in (MODELS[2], MODELS[3]):
        assert len(released(model, x, [*y[:-1], value])) == 3


@pytest.mark.parametrize("model", MODELS)
def test_no_hostile_row_moves_the_minimum_beyond_its_bound(model: Any) -> None:
    """Noise is fitted to this movement: 2·max|φ'|·R/(nΛ), and for the means 2·norm/n and 2·cut·√d/(nΛ)."""
    x, y = rows()
    first = np.array(released(model, x, y))
    strength = getattr(model, "regularization_", None) or getattr(model, "regularization", None) or 1.0
    sizes: dict[Any, float] = {PrivateRidge: 4.0, PrivateHuberRegressor: 1.35 * 1.2, PrivateHuberMean: 1.35 * 1.5}
    most = sizes.get(type(model), 1.2)
    for bad in (float("nan"), 1e308, -float("inf"), "x", 10**400):
        for label in (bad, 1 - y[5]):
            hostile = np.array(released(model, [*x[:5], [bad, bad], *x[6:]], [*y[:5], label, *y[6:]]))
            assert np.linalg.norm(hostile - first) <= 2 * most / (12 * strength)


def test_an_odd_row_does_not_change_how_others_are_read() -> None:
    """numpy would make words of all labels, and none of them would be among the classes."""
    assert signs([0, 1, "x"], np.array([0, 1])).tolist() == [-1.0, 1.0, 0.0]
    assert features([[0.1, 2**53 + 1], [1j, "x"]]).tolist() == [[0.1, 2.0**53], [0.0, 0.0]]


def test_holes_in_masked_arrays_and_frames() -> None:
    holes = np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert features(holes).tolist() == [[1.0, 0.0], [3.0, 4.0]]
    assert signs(np.ma.MaskedArray([0, 1], mask=[False, True]), np.array([0, 1])).tolist() == [-1.0, 0.0]
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": ["x", "2"]})
    assert features(frame).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert features(pl.DataFrame({"a": [1, None], "b": [0.5, 2.0]})).tolist() == [[1.0, 0.5], [0.0, 2.0]]
    wide = np.array([[1.0, 2.0]], dtype=np.longdouble) * np.longdouble(10) ** 400
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert features(wide).tolist() == [[0.0, 0.0]]


def test_types_of_whole_arrays_are_refused() -> None:
    with pytest.raises(DescriptionError, match="Complex data not supported"):
        features(np.ones((2, 2), dtype=complex))
    with pytest.raises(DescriptionError, match="datetime64"):
        features(np.zeros((2, 2), dtype="datetime64[s]"))
    with pytest.raises(DescriptionError, match="declared classes"):
        signs(np.array([0.0, 1.0]), np.array(["no", "yes"]))


def test_predictions_read_rows_as_fits_do() -> None:
    x, y = rows()
    model = MODELS[0].fit(x, y)
    assert model.decision_function([[np.nan, 0.5]]) == model.decision_function([[0.0, 0.5]])
