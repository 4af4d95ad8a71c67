"""How the privacy loss is bounded: one file per promise. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sitr.errors import unknown_attribute

if TYPE_CHECKING:
    from sitr.flavors.approximate import ApproximateDP
    from sitr.flavors.concentrated import ConcentratedDP
    from sitr.flavors.gaussian import GaussianDP
    from sitr.flavors.notation import parse, write
    from sitr.flavors.profile import PrivacyProfile
    from sitr.flavors.promise import Promise
    from sitr.flavors.pure import PureDP
    from sitr.flavors.random import Basis, RandomDP
    from sitr.flavors.renyi import RenyiDP
    from sitr.flavors.zero_concentrated import ZeroConcentratedDP

_HOME = {
    "ApproximateDP": "approximate",
    "Basis": "random",
    "ConcentratedDP": "concentrated",
    "GaussianDP": "gaussian",
    "PrivacyProfile": "profile",
    "Promise": "promise",
    "PureDP": "pure",
    "RandomDP": "random",
    "RenyiDP": "renyi",
    "ZeroConcentratedDP": "zero_concentrated",
    "parse": "notation",
    "write": "notation",
}

__all__ = [
    "ApproximateDP",
    "Basis",
    "ConcentratedDP",
    "GaussianDP",
    "PrivacyProfile",
    "Promise",
    "PureDP",
    "RandomDP",
    "RenyiDP",
    "ZeroConcentratedDP",
    "parse",
    "write",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise unknown_attribute(name, __all__, module=__name__)
    return getattr(import_module(f"sitr.flavors.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
