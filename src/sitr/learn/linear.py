"""Linear models as scikit-learn has them, fitted under a promise, which has no default; every fit spends it anew.

The objective is (1/n)·Σ φ(x_i·w, t_i) + (Λ/2)‖w‖², with the intercept among the weights w. One row that is replaced
moves its minimum by at most

    ‖w − w'‖ ≤ ‖φ'(x·w, t)·x − φ'(x'·w, t')·x'‖/(nΛ) ≤ h/n,   h = (|φ'|‖x‖ + |φ'|‖x'‖)/Λ,

since ∇J' is that difference over n at the minimum of J, and J' is Λ-strongly convex.      [CMS11, Lemma 7 and Cor. 8]
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from sitr.errors import DescriptionError
from sitr.flavors.promise import Promise
from sitr.learn.estimator import Estimator
from sitr.learn.losses import ABOVE, Huber, Logistic, Numbers, RowLoss, Squared
from sitr.learn.minimiser import Objective
from sitr.learn.perturbation import Method, Movement, granules, objective_perturbed, output_perturbed
from sitr.learn.rows import Rows
from sitr.loss.bounds import Number

_USUAL = Fraction(2**8)
"""Rows are thought to be shorter than this where no norm is given, for a choice of granularity."""


class _Linear(Estimator):
    """What the three have in common: parameters, and the fit of an objective."""

    norm: Number | None
    regularization: Number
    fit_intercept: bool

    def _rows(self, features: Numbers) -> Rows:
        norm = None if self.norm is None else float(self._positive("norm"))
        return Rows.clipped(features, norm=norm, constant=bool(self.fit_intercept))

    def _weights(
        self, rows: Rows, targets: Numbers, loss: RowLoss, *, method: Method | None = None
    ) -> tuple[Numbers, float]:
        """The coefficients and the intercept."""
        promise, grain = self._promised(), self._grain()
        problem = Objective(rows, targets, loss, self._positive("regularization"))
        if method is Method.OBJECTIVE:
            released = objective_perturbed(problem, promise=promise, granularity=grain)
        else:
            movement = linear_movement(problem)
            moved = 2 * reach(loss, 1.5) / problem.curvature if movement.most is None else movement.most
            longest = _USUAL if rows.longest is None else Fraction(rows.longest)
            fine = problem.granularity(moved=moved / len(rows), parts=granules(promise), longest=longest)
            released = output_perturbed(
                lambda within: problem.minimum(within=within),
                size=rows.size,
                movement=movement,
                promise=promise,
                granularity=grain or fine,
            )
        weights = self._keep(released)
        return (weights[:-1], float(weights[-1])) if self.fit_intercept else (weights, 0.0)


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
    promise : what this fit may spend. PureDP: spherical noise; ZeroConcentratedDP or ApproximateDP: Gaussian noise;
        RandomDP(ApproximateDP(ε, η), γ): noise whose scale is learned from pairs of rows, for data in no order.
    norm : the largest Euclidean length of a row of X, public; longer rows are shortened. RandomDP needs none.
    regularization : Λ. In scikit-learn C = 1/(nΛ), and the intercept is not penalised.
    classes : the two labels, public. They are not taken from the data: a label that one person has would tell of them.
    method : Method.OUTPUT, which None means too, or Method.OBJECTIVE for noise in the objective (PureDP only).
    fit_intercept : adds a feature that is 1 in every row, and penalised.
    granularity : what the weights are multiples of, public; chosen from public numbers if None.
    """

    def __init__(
        self,
        promise: Promise | None = None,
        *,
        norm: Number | None = None,
        regularization: Number = 0.01,
        classes: tuple[Any, Any] | None = None,
        method: Method | None = None,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        self.promise = promise
        self.norm = norm
        self.regularization = regularization
        self.classes = classes
        self.method = method
        self.fit_intercept = fit_intercept
        self.granularity = granularity

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        self._known_method()
        features, labels = self._numbers(X, y)
        check_classification_targets(labels)
        if (kind := type_of_target(labels)) != "binary":
            raise DescriptionError(
                wanted="Only binary classification is supported.",
                given=f"The type of the target is {kind}.",
                do="Fit one model for each class against the others, and split the promise among them.",
            )
        classes = self._labels()
        second = labels == classes[1]
        if not np.all(second | (labels == classes[0])):
            raise DescriptionError(
                wanted="Labels that are among the two classes were wanted.",
                given="There are others.",
                do="Name the two labels with classes=…; leave out or relabel all other rows beforehand.",
            )
        targets = np.where(second, 1.0, -1.0)
        weights, constant = self._weights(self._rows(features), targets, Logistic(), method=self.method)
        self.classes_, self.coef_, self.intercept_ = classes, weights.reshape(1, -1), np.array([constant])
        return self

    def _known_method(self) -> None:
        if self.method is not None and not isinstance(self.method, Method):
            raise DescriptionError(
                wanted="A method was wanted: Method.OUTPUT or Method.OBJECTIVE.",
                given=f"method={self.method!r} was given.",
                do="Import Method from sitr.learn, or leave it out for noise on the weights.",
            )

    def _labels(self) -> NDArray[Any]:
        labels = np.unique(np.asarray(self.classes)) if self.classes is not None else np.empty(0)
        if len(labels) != 2:
            raise DescriptionError(
                wanted="The two labels were wanted as classes=…, for they must be public.",
                given="There are none." if self.classes is None else f"classes={self.classes!r} was given.",
                do="Name both labels; with more than two of them, fit one model for each, and split the promise.",
            )
        return labels

    def decision_function(self, X: Any) -> Numbers:
        check_is_fitted(self, "coef_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_[0] + self.intercept_[0])

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

    def _validated(self, X: Any, y: Any) -> tuple[Numbers, Numbers]:
        self._promised()
        features, targets = self._numbers(X, y, y_numeric=True)
        return features, targets

    def predict(self, X: Any) -> Numbers:
        check_is_fitted(self, "coef_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_ + self.intercept_)


class PrivateRidge(_LinearRegressor):
    """Least squares with an L2 penalty, for targets in [−bound, bound]; others are moved there.

    >>> from sitr import ZeroConcentratedDP
    >>> X = np.linspace(-1.0, 1.0, 10_001).reshape(-1, 1)
    >>> model = PrivateRidge(ZeroConcentratedDP(0.5), norm=1.0, bound=1.0, regularization=0.1, fit_intercept=False)
    >>> 0.7 < float(model.fit(X, X[:, 0]).coef_[0]) < 0.84
    True

    Parameters are those of `PrivateLogisticRegression`, and `bound`, which is public and always needed: weights are no
    longer than bound/(2√Λ), which is what keeps the slope of a square within bounds. In scikit-learn alpha = nΛ.
    """

    def __init__(
        self,
        promise: Promise | None = None,
        *,
        norm: Number | None = None,
        bound: Number | None = None,
        regularization: Number = 0.01,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        self.promise = promise
        self.norm = norm
        self.bound = bound
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.granularity = granularity

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        if self.bound is None:
            raise DescriptionError(
                wanted="A bound on the targets was wanted: bound=…, the largest size of y.",
                given="There is none.",
                do="Choose it without looking at the data: targets beyond it are moved to it.",
            )
        size = float(self._positive("bound"))
        features, targets = self._validated(X, y)
        rows = self._rows(features)
        loss = Squared.within(size, regularization=float(self._positive("regularization")), norm=rows.longest)
        self.coef_, self.intercept_ = self._weights(rows, np.clip(targets, -size, size), loss)
        return self


class PrivateHuberRegressor(_LinearRegressor):
    """Huber's regression: squares for residuals up to `cut`, absolute values beyond, so that targets need no bound.

    An M-estimator: one row's score is at most cut·‖x‖, so h = cut·(‖x‖ + ‖x'‖)/Λ.

    >>> from sitr import PureDP
    >>> X = np.linspace(-1.0, 1.0, 100_001).reshape(-1, 1)
    >>> y = np.where(np.arange(len(X)) % 20 == 0, 1e9, X[:, 0])  # one in twenty is nonsense
    >>> model = PrivateHuberRegressor(PureDP(1.0), norm=1.0, cut=0.5, regularization=0.05)
    >>> 0.6 < float(model.fit(X, y).coef_[0]) < 1.0
    True
    """

    def __init__(
        self,
        promise: Promise | None = None,
        *,
        norm: Number | None = None,
        cut: Number = 1.35,
        regularization: Number = 0.01,
        fit_intercept: bool = True,
        granularity: Number | None = None,
    ) -> None:
        self.promise = promise
        self.norm = norm
        self.cut = cut
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.granularity = granularity

    def fit(self, X: Any, y: Any) -> Self:
        self._promised()
        loss = Huber(float(self._positive("cut")))
        features, targets = self._validated(X, y)
        self.coef_, self.intercept_ = self._weights(self._rows(features), targets, loss)
        return self
