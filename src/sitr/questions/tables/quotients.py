"""Intervals of quotients of two noisy numbers."""

from __future__ import annotations

import numpy as np

from sitr.questions.tables.workload import Reals

Ends = tuple[Reals, Reals]
"""The lower and the upper ends of intervals."""


def fieller(sums: Reals, values: Reals, a: Reals, b: Reals, z: float, low: float, high: float) -> Ends:
    """{t : (C − tN)² ≤ z²(a + t²b)}, cut to [low, high]; all of that where N is not clearly positive."""
    square = values**2 - z * z * b
    sure = (values > 0) & (square > 0)
    divisor = np.where(sure, square, 1.0)
    root = np.sqrt(np.maximum(0.0, z * z * (sums**2 * b + a * square)))
    ends = (sums * values - root) / divisor, (sums * values + root) / divisor
    return np.where(sure, np.clip(ends[0], low, high), low), np.where(sure, np.clip(ends[1], low, high), high)


def quotient(sums: Reals, values: Reals, far: float, wide: float, low: float, high: float) -> Ends:
    """C/N for every C and N within their errors, cut to [low, high]; all of that where N may be 0."""
    least, most = values - wide, values + wide
    sure = least > 0
    divisor = np.where(sure, least, 1.0), np.where(sure, most, 1.0)
    down, up = sums - far, sums + far
    first = np.where(down > 0, down / divisor[1], down / divisor[0])
    last = np.where(up > 0, up / divisor[0], up / divisor[1])
    return np.where(sure, np.clip(first, low, high), low), np.where(sure, np.clip(last, low, high), high)
