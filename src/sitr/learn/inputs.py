"""Inputs as floats. Whether this fails or warns never depends on the content of a row.

Shapes and types of whole arrays are public and may be refused. Values are secret: a missing value, text among numbers,
an integer too large for a float, or an unknown label counts as a declared value instead, and keeps every bound on what
one row does. Each value is converted on its own, so that an odd row cannot change how others are read.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from sitr.errors import DescriptionError, InvalidParameter
from sitr.learn.losses import Numbers

FARTHEST = 1e100
"""Targets without a bound are moved to this distance, so that every difference of two of them is a float."""


def features(given: Any) -> Numbers:
    """Rows of floats; whatever is not a finite number counts as 0.

    >>> features([[1, "two"], [None, 4.5], [float("inf"), 10**400]]).tolist()
    [[1.0, 0.0], [0.0, 4.5], [0.0, 0.0]]
    """
    array = _array(given)
    if array.ndim == 0:
        raise InvalidParameter(
            wanted="a 2D array of rows and columns",
            given=f"one object of type {type(given).__name__}",
            do="Give the rows as a NumPy array, a list of rows or a DataFrame.",
        )
    if array.ndim != 2:
        raise InvalidParameter(
            wanted="a 2D array of rows and columns",
            given=f"a {array.ndim}D array",
            do="Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row.",
        )
    found = _floats(array)
    wrong = ~np.isfinite(found)
    return np.where(wrong, 0.0, found) if wrong.any() else found


def targets(given: Any, *, low: float, high: float, missing: float) -> Numbers:
    """Targets clamped to two bounds; anything that is not a number counts as `missing`.

    >>> targets([0.25, -7, "?", float("inf")], low=-1.0, high=1.0, missing=0.0).tolist()
    [0.25, -1.0, 0.0, 1.0]
    """
    found = _floats(_one_column(_array(given)))
    return np.clip(np.where(np.isnan(found), missing, found), low, high)


def signs(given: Any, classes: NDArray[Any]) -> Numbers:
    """−1 for the first class and 1 for the second; 0 for every other label, whose row then counts for nothing.

    >>> signs(["no", "yes", None, 3], np.array(["no", "yes"])).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    array = _one_column(_array(given))
    if array.dtype.kind == "O":
        first, second = (np.array([_same(value, label) for value in array], dtype=bool) for label in classes.tolist())
    elif (array.dtype.kind in "US") == (classes.dtype.kind in "US") and array.dtype.kind in "biufUS":
        first, second = array == classes[0], array == classes[1]
    else:
        raise DescriptionError(
            wanted=f"labels of the type of the declared classes, {classes.dtype}",
            given=f"labels of the type {array.dtype}",
            do="Convert the labels, or declare classes of their type.",
        )
    return np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)


def _array(given: Any) -> NDArray[Any]:
    """One array. Lists become objects: numpy would otherwise choose one type for all values, from all values."""
    if isinstance(given, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(given)
        hole: Any = np.nan if given.dtype.kind in "biuf" else None
        return np.where(hidden, hole, np.asarray(given.data))
    if isinstance(given, list | tuple):
        return np.array(given, dtype=object)
    return np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)


def _floats(array: NDArray[Any]) -> Numbers:
    kind = array.dtype.kind
    if kind in "biuf":
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(array, dtype=np.float64)
    if kind not in "OUS":
        raise DescriptionError(
            given=f"Complex data not supported: the array has the type {array.dtype}."
            if kind == "c"
            else f"Expected numbers, got an array of the type {array.dtype}.",
            do="Convert the whole array to floats.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.fromiter((_number(value) for value in array.flat), dtype=np.float64, count=array.size)
    return found.reshape(array.shape)


def _number(value: object) -> float:
    """NaN for whatever is not a real number that fits into a float."""
    if isinstance(value, complex | np.complexfloating):
        return np.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - whatever a value does, the fit goes on
        return np.nan


def _same(value: object, label: object) -> bool:
    try:
        return bool(value == label)
    except Exception:  # noqa: BLE001 - whatever a value does, the fit goes on
        return False


def _one_column(array: NDArray[Any]) -> NDArray[Any]:
    """scikit-learn's own check of the shape, without the values."""
    column_or_1d(np.zeros(array.shape, dtype=bool), warn=True)
    return array.reshape(-1)
