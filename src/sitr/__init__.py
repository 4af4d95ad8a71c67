"""Sitr (ستر, "veil"): statistics from sensitive data, with a proof of what each release cost.

Names are loaded when first used, so that `import sitr` and the command line start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitr import loss, noise
    from sitr.accounting.calibrate import calibrate
    from sitr.accounting.compare import compare
    from sitr.accounting.schedule_file import read_schedule
    from sitr.accounting.training import Training
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
    from sitr.questions.aggregate.frame import column, count
    from sitr.questions.aggregate.frame import sum as sum
    from sitr.session.dataset import open as open
    from sitr.session.dataset import protect

_HOME = {
    "calibrate": "sitr.accounting.calibrate",
    "compare": "sitr.accounting.compare",
    "read_schedule": "sitr.accounting.schedule_file",
    "Training": "sitr.accounting.training",
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
    "column": "sitr.questions.aggregate.frame",
    "count": "sitr.questions.aggregate.frame",
    "sum": "sitr.questions.aggregate.frame",
    "open": "sitr.session.dataset",
    "protect": "sitr.session.dataset",
}

_PARTS = ("flavors", "loss", "mechanisms", "noise")
"""Parts of the package that are there as soon as it is imported."""

# For `from sitr import *`. Not in it are `open` and `sum`, which would hide Python's own: write sitr.open, sitr.sum.
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
    "Training",
    "ZeroConcentratedDP",
    "calibrate",
    "column",
    "compare",
    "count",
    "loss",
    "noise",
    "protect",
    "read_schedule",
]


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"sitr.{name}")
    if name not in _HOME:
        raise import_module("sitr.errors").unknown_attribute(name, __dir__(), module=__name__)
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted((*_HOME, *_PARTS))
