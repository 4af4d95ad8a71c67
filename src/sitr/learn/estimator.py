"""The common part of all estimators: a required promise, and a record of the release."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import parse
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.learn.inputs import features
from sitr.learn.losses import Numbers
from sitr.learn.perturbation import Released, refused
from sitr.numbers import Number, granule, within

LARGEST = Fraction(10**30)


class Estimator(BaseEstimator):  # type: ignore[misc]
    """`fit` checks the parameters, never the constructor, as scikit-learn requires."""

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        granularity: Number | None = None,
    ) -> None:
        self.promise = promise
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.granularity = granularity

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # the noise is new with every fit
        tags.input_tags.allow_nan = True  # it counts as 0: an error would reveal that someone has it
        return tags

    def _promised(self) -> Promise:
        """There is no default. Without a promise no data are read."""
        named = {name: getattr(self, name) for name in Amounts.__annotations__ if getattr(self, name) is not None}
        if named:
            promise: object = price_of(self.promise, **cast("Amounts", named))
        else:
            promise = parse(self.promise) if isinstance(self.promise, str) else self.promise
        if isinstance(promise, int | float) and not isinstance(promise, bool):
            raise InvalidPromise(
                wanted="a promise with its flavor",
                given=f"{promise!r}",
                do=f"Write epsilon={promise!r} or 'pure({promise!r})' for ε, or rho={promise!r} or 'zcdp({promise!r})' "
                "for ρ.",
            )
        if not isinstance(promise, Promise):
            raise refused(promise)
        if type(promise) is ApproximateDP and promise.delta == 0.0:
            return PureDP(promise.epsilon)  # the same promise, by definition; Gaussian noise cannot keep it
        return promise

    def _features(self, X: Any, y: Any = None, *, reset: bool = True) -> Numbers:
        """Rows as floats. Only shapes, types and names of columns can be refused, and no message repeats a value."""
        if hasattr(X, "toarray"):
            check_array(X, estimator=self)  # its error says that sparse matrices are not supported
        found = features(X)
        if y is not None:
            check_consistent_length(found, y)
        named = X if hasattr(X, "columns") else found
        validate_data(self, named, y=y if reset else "no_validation", reset=reset, skip_check_array=True)
        return np.asarray(check_array(found, dtype=np.float64, order="C", ensure_all_finite=False, estimator=self))

    def _grain(self) -> Fraction | None:
        if self.granularity is None:
            return None
        self._positive("granularity")
        return granule(self.granularity, of=type(self).__name__)

    def _positive(self, name: str) -> Fraction:
        """A parameter small and large enough that floats do not overflow, whatever the data are."""
        return within(getattr(self, name), name=name, of=type(self).__name__, least=1e-30, most=1e30)

    def _keep(self, released: Released) -> Numbers:
        """Keep only what was released, exactly and as floats."""
        self.promise_, self.error_ = released.promise, released.error
        self.granularity_, self.released_ = released.granularity, released.vector
        return np.array([float(number) for number in released.vector])
