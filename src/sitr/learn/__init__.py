"""Estimators with scikit-learn's interface, fitted under a promise (extra `learn`; `import sitr` does not load it)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily, needs

if TYPE_CHECKING:
    from sitr.learn.linear import PrivateHuberRegressor as PrivateHuberRegressor
    from sitr.learn.linear import PrivateLogisticRegression as PrivateLogisticRegression
    from sitr.learn.linear import PrivateRidge as PrivateRidge
    from sitr.learn.location import PrivateHuberMean as PrivateHuberMean
    from sitr.learn.location import PrivateMean as PrivateMean
    from sitr.learn.perturbation import Method as Method

needs("sklearn", extra="learn")
__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Method": "perturbation",
        "PrivateHuberMean": "location",
        "PrivateHuberRegressor": "linear",
        "PrivateLogisticRegression": "linear",
        "PrivateMean": "location",
        "PrivateRidge": "linear",
    },
)
