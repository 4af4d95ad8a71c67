"""What leaks: the privacy loss.

`gaussian` and `laplace` are the losses of real-valued noise, `sampled` is the loss of a release on a random sample of
people. Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sitr.errors import unknown_attribute

if TYPE_CHECKING:
    from sitr.loss.loss import Loss
    from sitr.loss.real import gaussian, laplace
    from sitr.loss.sampling import Sampling, sampled

_HOME = {
    "Loss": "loss",
    "Sampling": "sampling",
    "gaussian": "real",
    "laplace": "real",
    "sampled": "sampling",
}

__all__ = ["Loss", "Sampling", "gaussian", "laplace", "sampled"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise unknown_attribute(name, __all__, module=__name__)
    return getattr(import_module(f"sitr.loss.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
