"""What leaks: the privacy loss.

`gaussian` and `laplace` are the losses of real-valued noise, `sampled` is the loss of a release on a random sample of
people. Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.loss.loss import Loss as Loss
    from sitr.loss.real import gaussian as gaussian
    from sitr.loss.real import laplace as laplace
    from sitr.loss.sampling import Sampling as Sampling
    from sitr.loss.sampling import sampled as sampled

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Loss": "loss",
        "Sampling": "sampling",
        "gaussian": "real",
        "laplace": "real",
        "sampled": "sampling",
    },
)
