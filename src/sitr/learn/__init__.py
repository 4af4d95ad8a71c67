"""Models of scikit-learn's kind, fitted under a promise. Needs the extra `learn`; `import sitr` does not load it."""

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
