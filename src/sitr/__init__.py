"""Sitr (ستر, "veil"): statistics from sensitive data, with a proof of what each release cost.

Names are loaded when first used, so that `import sitr` and the command line start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitr import noise
    from sitr.accounting.calibrate import calibrate
    from sitr.accounting.compare import compare
    from sitr.accounting.plan_file import read_plan
    from sitr.errors import SitrError
    from sitr.flavors.approximate import ApproximateDP
    from sitr.flavors.concentrated import ConcentratedDP
    from sitr.flavors.gaussian import GaussianDP
    from sitr.flavors.profile import PrivacyProfile
    from sitr.flavors.pure import PureDP
    from sitr.flavors.random import RandomDP
    from sitr.flavors.renyi import RenyiDP
    from sitr.flavors.zero_concentrated import ZeroConcentratedDP
    from sitr.mechanisms.composed import Composed, Repeated
    from sitr.mechanisms.gaussian import Gaussian
    from sitr.mechanisms.laplace import Laplace
    from sitr.mechanisms.subsampled import Subsampled
    from sitr.neighbors.relation import Relation
    from sitr.neighbors.unit import Row
    from sitr.query.frame import column, count, sum
    from sitr.session.dataset import open, protect

_HOME = {
    "calibrate": "sitr.accounting.calibrate",
    "compare": "sitr.accounting.compare",
    "read_plan": "sitr.accounting.plan_file",
    "SitrError": "sitr.errors",
    "ApproximateDP": "sitr.flavors.approximate",
    "ConcentratedDP": "sitr.flavors.concentrated",
    "GaussianDP": "sitr.flavors.gaussian",
    "PrivacyProfile": "sitr.flavors.profile",
    "PureDP": "sitr.flavors.pure",
    "RandomDP": "sitr.flavors.random",
    "RenyiDP": "sitr.flavors.renyi",
    "ZeroConcentratedDP": "sitr.flavors.zero_concentrated",
    "Composed": "sitr.mechanisms.composed",
    "Repeated": "sitr.mechanisms.composed",
    "Gaussian": "sitr.mechanisms.gaussian",
    "Laplace": "sitr.mechanisms.laplace",
    "Subsampled": "sitr.mechanisms.subsampled",
    "Relation": "sitr.neighbors.relation",
    "Row": "sitr.neighbors.unit",
    "column": "sitr.query.frame",
    "count": "sitr.query.frame",
    "sum": "sitr.query.frame",
    "open": "sitr.session.dataset",
    "protect": "sitr.session.dataset",
}

__all__ = [
    "ApproximateDP",
    "Composed",
    "ConcentratedDP",
    "Gaussian",
    "GaussianDP",
    "Laplace",
    "PrivacyProfile",
    "PureDP",
    "RandomDP",
    "Relation",
    "RenyiDP",
    "Repeated",
    "Row",
    "SitrError",
    "Subsampled",
    "ZeroConcentratedDP",
    "calibrate",
    "column",
    "compare",
    "count",
    "noise",
    "open",
    "protect",
    "read_plan",
    "sum",
]


def __getattr__(name: str) -> object:
    if name == "noise":
        return import_module("sitr.noise")
    if name not in _HOME:
        raise AttributeError(f"module 'sitr' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
