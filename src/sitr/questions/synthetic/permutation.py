"""Random orders of rows."""

from __future__ import annotations

import numpy as np

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes


def permuted(size: int, coins: Coins, *, within: Codes | None = None) -> Codes:
    """A random permutation of everything, or within consecutive blocks."""
    keys = coins.words(size)
    if within is not None:
        bits = int(within[-1]).bit_length() if size else 0
        keys = (keys >> np.uint64(bits)) | (within.astype(np.uint64) << np.uint64(64 - bits)) if bits else keys
    return np.argsort(keys, kind="stable")
