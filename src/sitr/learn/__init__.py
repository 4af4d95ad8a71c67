"""Estimators with scikit-learn's interface, fitted under a promise (extra `learn`; `import sitr` does not load it)."""

from sitr.learn.linear import PrivateHuberRegressor, PrivateLogisticRegression, PrivateRidge
from sitr.learn.location import PrivateHuberMean, PrivateMean
from sitr.learn.perturbation import Method

__all__ = [
    "Method",
    "PrivateHuberMean",
    "PrivateHuberRegressor",
    "PrivateLogisticRegression",
    "PrivateMean",
    "PrivateRidge",
]
