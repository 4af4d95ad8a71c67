"""The published argument that a quantile of differences hardly changes when one person is replaced, as a number.

By the representation of Bahadur and Kiefer a sample quantile follows the empirical distribution, divided by the density
there. So the quantiles of two neighbouring samples differ by a factor of about 1 + 2t/(h·H′(h)), if both empirical
distributions are within t of the true one: t = √(ln(4/γ)/2m) for m pairs, by the inequality of Dvoretzky, Kiefer and
Wolfowitz.      [HRW11, Sec. 6; Kie67]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sitr.errors import DescriptionError
from sitr.flavors.random import Basis
from sitr.numbers import Number
from sitr.sensitivity.pairs import share_of


@dataclass(frozen=True, slots=True)
class EstimatedDilation:
    """The β of the published argument, estimated from the data themselves. **Nothing certifies it.**

    The density H′ is estimated, may not exist, and may be 0 between two clusters of differences, where one person moves
    the quantile from one to the other. It is as secret as the data. No promise of Sitr uses it.
    """

    dilation: float
    """β: quantiles of neighbouring samples differ by a factor of at most e^β, in the limit, apart from γ."""
    quantile: float
    density: float
    basis: Basis = Basis.ASYMPTOTIC


def estimated_dilation(differences: Any, *, share: Number, gamma: Number) -> EstimatedDilation:
    """The β at the (1 − share)-quantile of these differences of disjoint pairs.

    The density is (2k/m) divided by the distance of the order statistics k places below and above, k = ⌈m^(4/5)/4⌉.

    >>> import numpy as np
    >>> found = estimated_dilation(np.arange(1, 10_001) / 10_000, share=0.1, gamma=0.05)
    >>> round(found.quantile, 2), round(found.density, 2), round(found.dilation, 3), found.basis.value
    (0.9, 1.0, 0.032, 'asymptotic')
    """
    h = np.sort(np.asarray(differences, np.float64))
    m, beyond, missed = len(h), float(share_of(share)), float(share_of(gamma))
    rank = math.ceil((1 - beyond) * m)
    near = min(math.ceil(m**0.8 / 4), m - rank, rank - 1)
    if near < 1 or not np.isfinite(h).all() or h[0] < 0:
        raise DescriptionError(
            wanted=f"enough differences of at least 0 for their {1 - beyond:g}-quantile",
            given=f"{m} differences",
            do="Use more pairs, or a quantile farther from the ends.",
        )
    width, quantile = float(h[rank - 1 + near] - h[rank - 1 - near]), float(h[rank - 1])
    density = 2 * near / m / width if width > 0 else math.inf
    far = 2 * math.sqrt(math.log(4 / missed) / (2 * m))
    dilation = math.log1p(far / (quantile * density)) if quantile > 0 else math.inf
    return EstimatedDilation(dilation, quantile, density)
