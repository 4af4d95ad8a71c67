"""How the privacy loss is bounded: one file per promise. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.flavors.approximate import ApproximateDP as ApproximateDP
    from sitr.flavors.approximate_zero_concentrated import (
        ApproximateZeroConcentratedDP as ApproximateZeroConcentratedDP,
    )
    from sitr.flavors.computational import ComputationalDP as ComputationalDP
    from sitr.flavors.concentrated import ConcentratedDP as ConcentratedDP
    from sitr.flavors.gaussian import GaussianDP as GaussianDP
    from sitr.flavors.notation import parse as parse
    from sitr.flavors.notation import register as register
    from sitr.flavors.notation import write as write
    from sitr.flavors.price import Price as Price
    from sitr.flavors.profile import PrivacyProfile as PrivacyProfile
    from sitr.flavors.promise import Promise as Promise
    from sitr.flavors.pufferfish import Framework as Framework
    from sitr.flavors.pufferfish import Pufferfish as Pufferfish
    from sitr.flavors.pure import PureDP as PureDP
    from sitr.flavors.random import Basis as Basis
    from sitr.flavors.random import RandomDP as RandomDP
    from sitr.flavors.renyi import RenyiDP as RenyiDP
    from sitr.flavors.uncapped import odometer as odometer
    from sitr.flavors.zero_concentrated import ZeroConcentratedDP as ZeroConcentratedDP

FLAVORS = {
    "PureDP": "pure",
    "ApproximateDP": "approximate",
    "PrivacyProfile": "profile",
    "GaussianDP": "gaussian",
    "ZeroConcentratedDP": "zero_concentrated",
    "ApproximateZeroConcentratedDP": "approximate_zero_concentrated",
    "ConcentratedDP": "concentrated",
    "RenyiDP": "renyi",
    "RandomDP": "random",
    "Pufferfish": "pufferfish",
    "ComputationalDP": "computational",
}
"""Every flavor and the file that defines it: the one list of flavors."""

__getattr__, __dir__, __all__ = lazily(
    __name__,
    FLAVORS
    | {
        "Basis": "random",
        "Framework": "pufferfish",
        "Price": "price",
        "Promise": "promise",
        "odometer": "uncapped",
        "parse": "notation",
        "register": "notation",
        "write": "notation",
    },
)
