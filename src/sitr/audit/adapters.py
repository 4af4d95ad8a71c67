"""Other libraries' mechanisms as black boxes, one line each: `audit(adapters.opendp(measurement), inputs=(0, 1), …)`.

A library is needed only by the adapter that calls it; the mechanism is made with that library's own functions. Draws
are made one by one, unless the library releases vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.boxes import Function
from sitr.errors import MissingExtra
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


def opendp(measurement: Callable[[Any], Any]) -> Function:
    """A measurement of OpenDP, which is called with its input."""
    return Function(measurement)  # its own signature is not looked at


def opendp_vector(measurement: Callable[[Any], Any]) -> Function:
    """A measurement of OpenDP on a vector, as many independent measurements of one number."""
    _needs("opendp", "opendp")
    return Function(lambda data, size: np.asarray(measurement([data] * size)))


def diffprivlib(mechanism: Any) -> Function:
    """A mechanism of diffprivlib."""
    return Function(mechanism.randomise)


def python_dp(mechanism: Any) -> Function:
    """A numerical mechanism of PyDP, the Python package of Google's library."""
    return Function(mechanism.add_noise)


def smartnoise(mechanism: Any) -> Function:
    """A mechanism of SmartNoise SQL, which releases lists."""
    _needs("snsql", "smartnoise-sql")
    return Function(lambda data, size: np.asarray(mechanism.release([data] * size), dtype=np.float64))


def tumult(measurement: Callable[[Any], Any]) -> Function:
    """A noise mechanism of Tumult Core."""
    _needs("tmlt", "tmlt.core")
    return Function(lambda data: float(measurement(data)))


def opacus(*, sigma: float) -> Function:
    """Opacus' noise with this standard deviation on one number, in the single precision in which models are trained.

    `DPOptimizer` adds it to the sum of the clipped gradients.
    """
    _needs("opacus", "opacus")
    _needs("torch", "torch")
    torch, optimizer = import_module("torch"), import_module("opacus.optimizers.optimizer")

    def noisy(data: float, size: int) -> Any:
        reference = torch.full((size,), float(data), dtype=torch.float32)
        return (reference + optimizer._generate_noise(std=sigma, reference=reference)).numpy()

    return Function(noisy)


def _needs(library: str, package: str) -> None:
    if find_spec(library) is None:
        raise MissingExtra(
            given=f"This adapter needs {library}, which is not installed.", do=f"Run pip install {package}."
        )
