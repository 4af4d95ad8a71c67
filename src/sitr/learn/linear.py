"""Linear models with scikit-learn's interface, fitted under a promise, which has no default; every fit spends it again.

The objective is (1/n)·Σ φ(x_i·w, t_i) + (Λ/2)‖w‖², with the intercept among the weights w. One row that is replaced
moves its minimum by at most

    ‖w − w'‖ ≤ ‖φ'(x·w, t)·x − φ'(x'·w, t')·x'‖/(nΛ) ≤ h/n,   h = (|φ'|‖x‖ + |φ'|‖x'‖)/Λ,

since ∇J' is that difference over n at the minimum of J, and J' is Λ-strongly convex.      [CMS11, Lemma 7 and Cor. 8]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sitr.errors import DescriptionError
from sitr.flavors.price import Price
from sitr.flavors.promise import Promise
from sitr.learn.estimator import LARGEST, Estimator
from sitr.learn.inputs import FARTHEST, signs, targets
from sitr.learn.losses import ABOVE, Huber, Logistic, Numbers, RowLoss, Squared
from sitr.learn.minimiser import Objective
from sitr.learn.perturbation import Method, Movement, Released, granules, objective_perturbed, output_perturbed
from sitr.learn.rows import TrainingRows
from sitr.learn.strength import LossOf, chosen, unshrunk
from sitr.numbers import Number, exact

_USUAL = Fraction(2**8)
"""The expected length of rows without a norm, used to choose a granularity."""


class _Linear(Estimator):
    """The common part of the three models: parameters, and the fit of an objective."""

    norm: Number | None
    regularization: Number | None
    fit_intercept: bool

    def _weights(
        self, features: Numbers, targets: Numbers, loss_of: LossOf, *, method: Method | None = None
    ) -> tuple[Numbers, float]:
        """The coefficients and the intercept."""
        promise, grain = self._promised(), self._grain()
        norm = None if self.norm is None else float(self._positive("norm"))
        given = None if self.regularization is None else float(self._positive("regularization"))
        count, columns = features.shape
        strength = chosen(
            promise,
            count=count,
            columns=columns,
            norm=norm,
            loss=loss_of,
            intercept=bool(self.fit_intercept),
            regularization=given,
            method=method,
        )
        rows = TrainingRows.clipped(features, norm=norm, constant=strength.constant)
        loss = loss_of(strength.regularization, rows.longest)
        problem = Objective(rows, targets, loss, Fraction(strength.regularization))
        if strength.method is Method.OBJECTIVE:
            released = objective_perturbed(problem, promise=promise, granularity=grain)
        else:
            released = self._on_weights(problem, promise, grain)
        self.regularization_, self.method_ = strength.regularization, strength.method
        weights = self._keep(released)
        if not self.fit_intercept:
            return weights, 0.0
        return weights[:-1], float(weights[-1]) * unshrunk(loss, strength)

    def _on_weights(self, problem: Objective, promise: Promise, grain: Fraction | None) -> Released:
        rows, movement = problem.rows, linear_movement(problem)
        moved = 2 * reach(problem.loss, 1.5) / problem.curvature if movement.most is None else movement.most
        longest = _USUAL if rows.longest is None else Fraction(rows.longest)
        fine = problem.granularity(moved=moved / len(rows), parts=granules(promise), longest=longest)
        return output_perturbed(
            lambda within: problem.minimum(within=within),
            size=rows.size,
            movement=movement,
            promise=promise,
            granularity=grain or fine,
        )


def reach(loss: RowLoss, length: float) -> Fraction:
    """At least |φ'|‖x‖ for a row of this length."""
    return Fraction(length) * Fraction(float(loss.steepest(np.array([length]))[0]))


def linear_movement(problem: Objective) -> Movement:
    """h = (|φ'|‖x‖ + |φ'|‖x'‖)/Λ, and the same for the longest rows there can be."""
    rows, loss = problem.rows, problem.loss
    half = len(rows) // 2

    def pairs() -> Numbers:
        reaches = rows.lengths * loss.steepest(rows.lengths) * (ABOVE / float(problem.curvature))
        return np.asarray(reaches[:half] + reaches[half : 2 * half])

    most = None if rows.longest is None else 2 * reach(loss, rows.longest) / problem.curvature
    return Movement(len(rows), most, pairs)


class PrivateLogisticRegression(ClassifierMixin, _Linear):  # type: ignore[misc]
    """L2-regularised logistic regression of two classes.

    >>> from sitr import PureDP
    >>> X = np.repeat([[-1.0], [1.0]], 5000, axis=0)
    >>> model = PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=(0, 1), regularization=0.1)
    >>> model.fit(X, (X[:, 0] > 0).astype(int)).predict([[-0.5], [0.5]])
    array([0, 1])
    >>> model.promise_
    PureDP(epsilon=1.0)

    Parameters
    ----------
    promise
        What this fit may spend. PureDP: spherical noise; ZeroConcentratedDP or ApproximateDP: Gaussian noise;
        RandomDP(ApproximateDP(ε, η), γ): noise whose scale is learned from pairs of rows, for data in no order.
    epsilon, delta, rho
        The numbers of a promise by name, in place of `promise`: epsilon=0.5, epsilon=1 with delta=1e-6, or rho=0.05.
    norm
        The largest Euclidean length of a row of X, public; longer rows are shortened. RandomDP needs none.
    regularization
        Λ. In scikit-learn C = 1/(nΛ). None: chosen from public numbers (`sitr.learn.strength`).
    classes
        The two labels, public. They are not taken from the data: a rare label would expose its owner.
        A row with another label counts for nothing.
    method
        Method.OUTPUT for noise on the weights, Method.OBJECTIVE for noise in the objective (PureDP only), None for
        the one with the smaller bound on its error.
    fit_intercept
        Adds a constant feature. It is penalised, and the shrinkage is undone after the release.
    granularity
        What the weights are multiples of, public; chosen from public numbers if None.

    Notes
    -----
    A feature that is not a finite number counts as 0, in `fit` and in `predict`. The choices that were made are in
    `regularization_` and `method_`.
    """

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        norm: Number | None = None,
        regularization: Number | None = None,
        classes: tuple[Any, Any] | None = None,
        method: Method | None = None,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        super().__init__(promise, epsilon=epsilon, delta=delta, rho=rho, granularity=granularity)
        self.norm = norm
        self.regularization = regularization
        self.classes = classes
        self.method = method
        self.fit_intercept = fit_intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        self._known_method()
        classes = self._labels()
        features = self._features(X, y)
        weights, constant = self._weights(features, signs(y, classes), lambda *_: Logistic(), method=self.method)
        self.classes_, self.coef_, self.intercept_ = classes, weights.reshape(1, -1), np.array([constant])
        return self

    def _known_method(self) -> None:
        if self.method is not None and not isinstance(self.method, Method):
            raise DescriptionError(
                wanted="Method.OUTPUT or Method.OBJECTIVE",
                given=f"method={self.method!r}",
                do="Import Method from sitr.learn, or leave the method out.",
            )

    def _labels(self) -> NDArray[Any]:
        labels = np.unique(np.asarray(self.classes)) if self.classes is not None else np.empty(0)
        if len(labels) != 2:
            raise DescriptionError(
                wanted="the two public labels as classes=…",
                given=f"classes={self.classes!r}",
                do="Name both labels; for more than two, fit one model for each and split the promise.",
            )
        return labels

    def decision_function(self, X: Any) -> Numbers:
        check_is_fitted(self, "coef_")
        return np.asarray(self._features(X, reset=False) @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])

    def predict_proba(self, X: Any) -> Numbers:
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Numbers:
        margins = self.decision_function(X)
        return -np.logaddexp(0.0, np.column_stack([margins, -margins]))


class _LinearRegressor(RegressorMixin, _Linear):  # type: ignore[misc]
    """Predictions of a number."""

    def predict(self, X: Any) -> Numbers:
        check_is_fitted(self, "coef_")
        return np.asarray(self._features(X, reset=False) @ self.coef_ + self.intercept_)


class PrivateRidge(_LinearRegressor):
    """Least squares with an L2 penalty, for targets in [−bound, bound]; others are clipped.

    >>> from sitr import ZeroConcentratedDP
    >>> X = np.linspace(-1.0, 1.0, 10_001).reshape(-1, 1)
    >>> model = PrivateRidge(ZeroConcentratedDP(0.5), norm=1.0, bound=1.0, regularization=0.1, fit_intercept=False)
    >>> 0.7 < float(model.fit(X, X[:, 0]).coef_[0]) < 0.84
    True

    The parameters are as for `PrivateLogisticRegression`, and `bound`, which is public and always needed: a number B
    for targets in [−B, B], or a pair (low, high). Weights are fitted to the distance from the middle; they are no
    longer than B/(2√Λ), which bounds the slope of a square. Predictions are clipped to the bounds too. A target that is
    not a number counts as the middle. In scikit-learn alpha = nΛ.
    """

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        norm: Number | None = None,
        bound: Number | Sequence[Number] | None = None,
        regularization: Number | None = None,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        super().__init__(promise, epsilon=epsilon, delta=delta, rho=rho, granularity=granularity)
        self.norm = norm
        self.bound = bound
        self.regularization = regularization
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        low, high = self._bounds()
        features = self._features(X, y)
        middle, size = (low + high) / 2.0, (high - low) / 2.0
        given = targets(y, low=low, high=high, missing=middle)
        weights, constant = self._weights(
            features,
            np.clip(given - middle, -size, size),
            lambda penalty, longest: Squared.within(size, regularization=penalty, norm=longest),
        )
        self.coef_, self.intercept_, self.bounds_ = weights, middle + constant, (low, high)
        return self

    def predict(self, X: Any) -> Numbers:
        return np.clip(super().predict(X), *self.bounds_)

    def _bounds(self) -> tuple[float, float]:
        """Both bounds, public."""
        if self.bound is None:
            raise DescriptionError(
                wanted="a bound on the targets of PrivateRidge, bound=… for the largest |y| or bound=(low, high)",
                given="none",
                do="Choose it without looking at the data: targets beyond it are moved to it.",
            )
        if isinstance(self.bound, Real):
            size = float(self._positive("bound"))
            return -size, size
        ends = _pair(self.bound)
        if ends is None:
            raise DescriptionError(
                wanted="bound of PrivateRidge as one number for the largest |y|, or as two numbers (low, high)",
                given=f"bound={self.bound!r}",
                do="Write for example bound=100.0 or bound=(0.0, 100.0), without looking at the data.",
            )
        low, high = ends
        if not (float(1 / LARGEST) <= high - low and max(abs(low), abs(high)) <= float(LARGEST)):
            raise DescriptionError(
                wanted="bounds (low, high) of the targets between −1e30 and 1e30, low below high",
                given=f"bound={self.bound!r}",
                do="Choose both without looking at the data.",
            )
        return low, high


def _pair(bound: Any) -> tuple[float, float] | None:
    """Two finite numbers in a tuple, a list or an array; None for everything else."""
    try:
        low, high = (float(exact(number)) for number in bound)
    except (TypeError, ValueError, OverflowError):
        return None
    return low, high


class PrivateHuberRegressor(_LinearRegressor):
    """Huber's regression: squares for residuals up to `cut`, absolute values beyond, so that targets need no bound.

    An M-estimator: one row's score is at most cut·‖x‖, so h = cut·(‖x‖ + ‖x'‖)/Λ. A target that is not a number counts
    as 0. The penalty is chosen as if targets were of the size of `cut`: for larger or smaller ones, scale `cut` too.

    >>> from sitr import PureDP
    >>> X = np.linspace(-1.0, 1.0, 100_001).reshape(-1, 1)
    >>> y = np.where(np.arange(len(X)) % 20 == 0, 1e9, X[:, 0])  # one in twenty is nonsense
    >>> model = PrivateHuberRegressor(PureDP(1.0), norm=1.0, cut=0.5, regularization=0.05)
    >>> 0.6 < float(model.fit(X, y).coef_[0]) < 1.0
    True
    """

    def __init__(
        self,
        promise: Price | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        norm: Number | None = None,
        cut: Number = 1.35,
        regularization: Number | None = None,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        super().__init__(promise, epsilon=epsilon, delta=delta, rho=rho, granularity=granularity)
        self.norm = norm
        self.cut = cut
        self.regularization = regularization
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        loss = Huber(float(self._positive("cut")))
        features = self._features(X, y)
        given = targets(y, low=-FARTHEST, high=FARTHEST, missing=0.0)
        self.coef_, self.intercept_ = self._weights(features, given, lambda *_: loss)
        return self
