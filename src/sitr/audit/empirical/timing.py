"""Does the time of an answer tell two inputs apart?

A promise is about answers, not about their time, so this is a finding of its own. Inputs are tried in an order that
coins decide: if the time does not depend on the input, every assignment of inputs to times was equally likely, however
the speed of the machine drifted. So Fisher's exact test is valid.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation
from sitr.numbers import natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import stats
else:
    np, stats = Later("numpy"), Later("scipy.stats")


@dataclass(frozen=True, slots=True)
class Timing:
    """How often an answer took longer than a limit, on each input, and the probability of that by chance."""

    seconds: float
    """The limit."""
    first: int
    second: int
    draws: int
    """Timed answers on each input."""
    p_value: float

    def tells(self, *, confidence: float = 0.999) -> bool:
        """Whether the time depends on the input, with this confidence."""
        return self.p_value <= 1.0 - confidence


def timing(
    function: Callable[[Any], object],
    *,
    inputs: tuple[Any, Any],
    draws: int = 4_000,
    coins: Coins | None = None,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Timing:
    """Time a function on two inputs, in random order; one half of the times chooses a limit, the other tests it.

    >>> timing(lambda rows: sum(range(rows)), inputs=(1, 20_000), draws=400).tells()
    True
    """
    each = natural(draws, name="draws", of="an audit", least=40) // 2
    order = permutation(size=2 * each, coins=coins) % 2
    spent = np.zeros(2 * each)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for place, which in enumerate(order.tolist()):
            start = clock()
            function(inputs[which])
            spent[place] = (clock() - start) * 1e-9
    finally:
        if collecting:
            gc.enable()
    half = permutation(size=2 * each, coins=coins) < each  # which times are for learning
    limit = _limit(spent[half & (order == 0)], spent[half & (order == 1)])
    tested = [spent[~half & (order == which)] for which in (0, 1)]
    slow = [int(np.sum(part > limit)) for part in tested]
    table = [[hits, len(part) - hits] for hits, part in zip(slow, tested, strict=True)]
    return Timing(limit, slow[0], slow[1], min(map(len, tested)), float(stats.fisher_exact(table).pvalue))


def _limit(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The limit at which the shares of slow answers differ most."""
    limits = np.quantile(np.concatenate([first, second]), np.linspace(0.05, 0.95, 19))
    shares = [np.mean(part[:, None] > limits, axis=0) for part in (first, second)]
    return float(limits[np.argmax(np.abs(shares[0] - shares[1]))])
