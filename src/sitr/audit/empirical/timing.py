"""Does the time of an answer tell two inputs apart?

A promise is about answers, not about their time, so this is a finding of its own. Inputs are tried in an order that
coins decide: if the time does not depend on the input, every assignment of inputs to times was equally likely, however
the speed of the machine drifted. So Fisher's exact test is valid. It is a statistical test on one machine: other
programs and caches add noise, which hides small differences.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.boxes import Failed, Function, box_of
from sitr.errors import InvalidUse
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation
from sitr.numbers import inside, natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import stats
else:
    np, stats = Later("numpy"), Later("scipy.stats")

SHOWN = 100
"""Times between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How often an answer took longer than a limit, on each input, and the probability of that by chance."""

    seconds: float
    """The limit."""
    first: int
    second: int
    draws: int
    """Timed answers on each input, without those that chose the limit."""
    p_value: float

    def tells(self, *, confidence: float = 0.999) -> bool:
        """Whether the time depends on the input, with this confidence."""
        return self.p_value <= 1.0 - float(inside(confidence, of="an audit"))

    def to_dict(self) -> dict[str, float]:
        """The figures as plain values."""
        return {
            "seconds": self.seconds,
            "first": self.first,
            "second": self.second,
            "draws": self.draws,
            "p_value": self.p_value,
        }


def timing(
    subject: object,
    *,
    inputs: tuple[Any, Any],
    draws: int = 4_000,
    coins: Coins | None = None,
    clock: Callable[[], int] = time.perf_counter_ns,
    progress: Callable[[float], None] | None = None,
) -> Timing:
    """Time a mechanism on two inputs, in random order; one half of the times chooses a limit, the other tests it.

    `subject` is a function, a `Command` or an `Endpoint`; a function with a parameter `size` is asked for one answer
    at a time. An answer that is an error counts, unless there are no others.

    >>> timing(lambda rows: sum(range(rows)), inputs=(1, 20_000), draws=400).tells()
    True
    """
    each = natural(draws, name="draws", of="an audit", least=40) // 2
    answer = _answering(subject, inputs)
    order = permutation(size=2 * each, coins=coins) % 2
    spent = np.zeros(2 * each)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for place, which in enumerate(order.tolist()):
            start = clock()
            answer(inputs[which])
            spent[place] = (clock() - start) * 1e-9
            if progress is not None and place % SHOWN == 0:
                progress(place / (2 * each))
    finally:
        if collecting:
            gc.enable()
    parts = [spent[order == which][permutation(size=each, coins=coins)] for which in (0, 1)]
    limit = _limit(*(part[: each // 2] for part in parts))
    tested = [part[each // 2 :] for part in parts]
    slow = [int(np.sum(part > limit)) for part in tested]
    table = [[hits, len(part) - hits] for hits, part in zip(slow, tested, strict=True)]
    chance = float(stats.fisher_exact(table).pvalue) * (1 + 1e-9)  # rounded up: its error is far smaller
    return Timing(limit, slow[0], slow[1], len(tested[0]), min(1.0, max(chance, sys.float_info.min)))


def _answering(subject: object, inputs: tuple[Any, Any]) -> Callable[[Any], object]:
    """What makes one answer; it was called once on each input, so that nothing is loaded while it is timed."""
    box = box_of(subject)
    answer = box.answering() if isinstance(box, Function) else lambda data: box.draw(data, 1)
    first = [answer(data) for data in inputs]
    failed = [each for each in first if isinstance(each, Failed)]
    if len(failed) == len(first):
        kinds = sorted({each.kind for each in failed})
        raise InvalidUse(
            given=f"The mechanism failed on every draw: {', '.join(kinds)}.",
            do="Call it once with one of the inputs, its only argument, and see what it needs.",
        )
    return answer


def _limit(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The limit at which the shares of slow answers differ most."""
    limits = np.quantile(np.concatenate([first, second]), np.linspace(0.05, 0.95, 19))
    shares = [np.mean(part[:, None] > limits, axis=0) for part in (first, second)]
    return float(limits[np.argmax(np.abs(shares[0] - shares[1]))])
