"""The figures of a verified mechanism, in the order of a report."""

from __future__ import annotations

from enum import Enum


class Figured(Enum):
    """What a figure is: the tight parameter of one definition."""

    EPSILON = "epsilon"
    EPSILON_AT_DELTA = "epsilon at delta"
    DELTA_AT_EPSILON = "delta at epsilon"
    EXCEEDING = "exceeding"
    QUANTILE = "quantile"
    MEAN = "mean"
    SUBGAUSSIAN = "subgaussian"
    RHO = "rho"
    RHO_AT_XI = "rho at xi"
    BEST_RHO = "rho at the best xi"
    RENYI = "renyi"
    MU = "mu"
    INFINITE = "infinite"
    GAMMA = "gamma"
    GAMMA_AT_DELTA = "gamma at delta"
