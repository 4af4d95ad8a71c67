"""Other libraries' mechanisms as black boxes, one line each: `audit(adapters.opendp(measurement), inputs=(0, 1), …)`.

A library is needed only by the adapter that calls it; the mechanism is made with that library's own functions. Draws
are made one by one, unless the library releases vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.boxes import Function
from sitr.namespace import Later, needs

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


def opendp(measurement: Callable[[Any], Any]) -> Function:
    """A measurement of OpenDP, which is called with its input."""
    return Function(lambda data: measurement(data))  # its own signature is not looked at


def opendp_vector(measurement: Callable[[Any], Any]) -> Function:
    """A measurement of OpenDP on a vector, as many independent measurements of one number."""
    return Function(lambda data, size: np.asarray(measurement([data] * size)))


def diffprivlib(mechanism: Any) -> Function:
    """A mechanism of diffprivlib."""
    return Function(lambda data: mechanism.randomise(data))


def python_dp(mechanism: Any) -> Function:
    """A numerical mechanism of PyDP, the Python package of Google's library."""
    return Function(lambda data: mechanism.add_noise(data))


def smartnoise(mechanism: Any) -> Function:
    """A mechanism of SmartNoise SQL, which releases lists."""
    return Function(lambda data, size: np.asarray(mechanism.release([data] * size), dtype=np.float64))


def tumult(measurement: Callable[[Any], Any]) -> Function:
    """A noise mechanism of Tumult Core."""
    return Function(lambda data: float(measurement(data)))


def opacus(*, sigma: float) -> Function:
    """Opacus' noise with this standard deviation on one number, in the single precision in which models are trained.

    `DPOptimizer` adds it to the sum of the clipped gradients.
    """
    for library in ("opacus", "torch"):
        needs(library, extra="opacus")
    torch, optimizer = import_module("torch"), import_module("opacus.optimizers.optimizer")

    def noisy(data: float, size: int) -> Any:
        reference = torch.full((size,), float(data), dtype=torch.float32)
        return (reference + optimizer._generate_noise(std=sigma, reference=reference)).numpy()

    return Function(noisy)
