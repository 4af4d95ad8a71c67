"""How far one unit moves the sums of products from which a regression follows."""

from __future__ import annotations

from sitr.neighbors.distance import Distance

RESOLUTION = 16
"""R: the largest size of a number of a row."""


def products(columns: int, moved: int) -> Distance:
    """How far a unit moves the sums of products, if it moves counts by `moved` in sum.

    Let K be the number of columns. A row has Σ|w| ≤ (1 + K)·R, Σw² ≤ (1 + K)·R² and Σw⁴ ≤ (1 + K)·R⁴, because each
    column has at most one number that is not 0, of size at most R. So over all a ≤ b

        Σ |w_a·w_b| = ((Σ|w|)² + Σw²)/2 ≤ M·R²   and   Σ (w_a·w_b)² = ((Σw²)² + Σw⁴)/2 ≤ M·R⁴,

    with M = (1 + K)(2 + K)/2, and no product is larger than R². Each row that a unit adds or removes moves the sums by
    one such vector: m of them by at most m times its length.

    >>> products(2, 1)
    Distance(l1=1536, l2_squared=393216, largest=256)
    """
    numbers, largest = (1 + columns) * (2 + columns) // 2, moved * RESOLUTION**2
    return Distance(l1=numbers * largest, l2_squared=numbers * largest**2, largest=largest)
