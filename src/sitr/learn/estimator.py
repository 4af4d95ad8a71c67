"""What all estimators have in common: a promise that must be given, and a record of what was released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from sitr.flavors.promise import Promise
from sitr.learn.losses import Numbers
from sitr.learn.perturbation import Released, refused
from sitr.loss.bounds import Number
from sitr.mechanisms.granularity import granule
from sitr.mechanisms.mechanism import positive

_LARGEST = Fraction(10**30)


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Parameters are looked at by `fit`, never earlier, as scikit-learn wants it."""

    promise: Promise | None
    granularity: Number | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # the noise is new with every fit
        return tags

    def _promised(self) -> Promise:
        """There is no default. Without a promise nothing is looked at."""
        if not isinstance(self.promise, Promise):
            raise refused(self.promise)
        return self.promise

    def _numbers(self, *data: Any, **options: Any) -> Any:
        """Rows, and targets if there are any, as scikit-learn checks them. No message repeats a value."""
        try:
            found = validate_data(self, *data, dtype=np.float64, order="C", **options)
            return (found[0], np.asarray(found[1], dtype=np.float64)) if options.get("y_numeric") else found
        except ValueError as wrong:
            if "could not convert" not in str(wrong):
                raise
        raise ValueError(
            f"{type(self).__name__} wants numbers. Something else was given. Leave it out, or make numbers of it."
        )

    def _grain(self) -> Fraction | None:
        if self.granularity is None:
            return None
        self._positive("granularity")
        return granule(self.granularity, mechanism=type(self).__name__)

    def _positive(self, name: str) -> Fraction:
        """A parameter, of a size with which floats can compute: whatever the data are, there is no overflow then."""
        number = positive(getattr(self, name), name=name, mechanism=type(self).__name__)
        if not 1 / _LARGEST <= number <= _LARGEST:
            raise ValueError(
                f"{type(self).__name__} wants {name} to be between 1e-30 and 1e30. {getattr(self, name)!r} was given. "
                "Scale the data."
            )
        return number

    def _keep(self, released: Released) -> Numbers:
        """Only what was released is kept: exactly, and as floats."""
        self.promise_, self.error_ = released.promise, released.error
        self.granularity_, self.released_ = released.granularity, released.vector
        return np.array([float(number) for number in released.vector])
