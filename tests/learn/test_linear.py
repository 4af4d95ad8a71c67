"""The estimators as scikit-learn knows them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import HuberRegressor, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

from sitr.errors import DescriptionError, IncompatiblePromises, InvalidParameter, InvalidPromise, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.learn import (
    Method,
    PrivateHuberMean,
    PrivateHuberRegressor,
    PrivateLogisticRegression,
    PrivateMean,
    PrivateRidge,
)

LOUD = PureDP(1e15)
"""With a coarse grid this noise is rounded to nothing: the checks compare fits of the same data with each other."""

QUIET: dict[str, Any] = {"promise": LOUD, "granularity": 2.0**-16}
CHECKED = [
    PrivateLogisticRegression(norm=10.0, classes=(0, 1), regularization=1e-3, **QUIET),
    PrivateRidge(norm=10.0, bound=10.0, regularization=1e-3, **QUIET),
    PrivateHuberRegressor(norm=10.0, regularization=1e-3, **QUIET),
    PrivateMean(norm=10.0, **QUIET),
    PrivateHuberMean(**QUIET),
]

LABELS = "labels are public: rows with a label that is not among `classes` count for nothing"
VALUES = "one value must not decide whether a fit fails: what is not a number counts as a declared value"
EVERYWHERE = {"check_dtype_object": VALUES}
SUPERVISED = EVERYWHERE | {"check_supervised_y_no_nan": VALUES}
EXCEPTIONS = {
    PrivateLogisticRegression: SUPERVISED
    | {
        "check_classifier_not_supporting_multiclass": LABELS,
        "check_classifiers_classes": LABELS,
        "check_classifiers_regression_target": LABELS,
    },
    PrivateRidge: SUPERVISED,
    PrivateHuberRegressor: SUPERVISED,
    PrivateMean: EVERYWHERE,
    PrivateHuberMean: EVERYWHERE,
}
"""The same list is in docs/how-to/learn.md."""


def checks() -> list[Any]:
    found: list[Any] = []
    for estimator in CHECKED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for copy, check in estimator_checks_generator(estimator, mark=None):
                name = check.func.__name__
                reason = EXCEPTIONS[type(estimator)].get(name, "")
                marks = [pytest.mark.xfail(reason=reason, strict=True, raises=(DescriptionError, AssertionError))]
                place = f"{type(estimator).__name__}-{len(found)}-{name}"
                found.append(pytest.param(copy, check, id=place, marks=marks if reason else []))
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), checks())
def test_scikit_learn_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# The same as scikit-learn's own, but for the noise and the penalty of the intercept


def data(n: int = 2000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    x = generator.uniform(-0.5, 0.5, size=(n, 3))
    y = 2.0 * x[:, 0] - x[:, 1] + 0.3 * generator.normal(size=n)
    return x, y, np.where(y > 0, "yes", "no")


def test_logistic_regression_is_scikit_learns() -> None:
    x, _, labels = data()
    common: dict[str, Any] = {"norm": 1.0, "classes": ("no", "yes"), "regularization": 0.01, "fit_intercept": False}
    other = LogisticRegression(C=1 / (len(x) * 0.01), fit_intercept=False, tol=1e-10).fit(x, labels)
    for method in (None, Method.OUTPUT, Method.OBJECTIVE):
        model = PrivateLogisticRegression(PureDP(1e7), method=method, **common).fit(x, labels)
        assert model.coef_ == pytest.approx(other.coef_, abs=1e-4)
        assert model.predict_proba(x) == pytest.approx(other.predict_proba(x), abs=1e-4)
        assert np.mean(model.predict(x) == other.predict(x)) > 0.999


def test_ridge_and_huber_are_scikit_learns() -> None:
    x, y, _ = data()
    ridge = PrivateRidge(PureDP(1e8), norm=1.0, bound=4.0, regularization=0.01, fit_intercept=False).fit(x, y)
    assert ridge.coef_ == pytest.approx(Ridge(alpha=len(x) * 0.01, fit_intercept=False).fit(x, y).coef_, abs=1e-4)
    # Theirs divides by a scale that it learns: 1 here, if all residuals are to be squares.
    huber = PrivateHuberRegressor(PureDP(1e8), norm=1.0, cut=100.0, regularization=0.01, fit_intercept=False).fit(x, y)
    assert huber.coef_ == pytest.approx(ridge.coef_, abs=1e-3)
    robust = PrivateHuberRegressor(PureDP(1e8), norm=1.0, cut=0.4, regularization=1e-4).fit(x, y)
    assert robust.coef_ == pytest.approx(HuberRegressor(epsilon=1.35).fit(x, y).coef_, abs=0.03)


@pytest.mark.parametrize(
    "promise",
    [PureDP(1.0), ZeroConcentratedDP(0.5), ApproximateDP(1.0, 1e-6), RandomDP(ApproximateDP(1.0, 1e-6), 0.05)],
)
def test_every_promise_leaves_something_to_learn(promise: Promise) -> None:
    x, y, labels = data(60_000)  # so many that noise fails this test less than once in a million times
    norm = None if isinstance(promise, RandomDP) else 1.0
    model = PrivateLogisticRegression(promise, norm=norm, classes=("no", "yes"), regularization=0.05).fit(x, labels)
    ridge = PrivateRidge(promise, norm=norm, bound=3.0, regularization=0.1).fit(x, y)
    assert model.promise_.covers(promise)
    assert model.score(x, labels) > 0.85
    assert ridge.score(x, y) > 0.2
    assert all((number / model.granularity_).denominator == 1 for number in model.released_)
    undone = 0.5 + model.regularization_ / (0.25 * 0.5)  # the column is half of the norm, and φ'' at most ¼
    assert model.intercept_[0] == pytest.approx(float(model.released_[-1]) * undone)


def test_rows_of_any_length_are_fitted_without_a_norm() -> None:
    """The scale of the noise is then of any size too, and no error tells of it."""
    x = np.random.default_rng(0).normal(size=(40, 2)) * 10.0 ** np.linspace(-300, 300, 40)[:, None]
    promise = RandomDP(ApproximateDP(1.0, 1e-6), 0.5)
    model = PrivateLogisticRegression(promise, classes=(0, 1), granularity=1.0).fit(x, np.arange(40) % 2)
    ridge = PrivateRidge(promise, bound=1e6, granularity=1.0).fit(x, x[:, 0])
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.isfinite(ridge.coef_))


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1e9])
def test_noise_in_the_objective_fits_any_promise(epsilon: float) -> None:
    x, _, labels = data(100)
    model = PrivateLogisticRegression(PureDP(epsilon), norm=1.0, classes=("no", "yes"), method=Method.OBJECTIVE)
    assert np.all(np.isfinite(model.fit(x, labels).coef_))
    assert model.promise_ == PureDP(epsilon)


# What is missing, and what is refused


def test_there_is_no_default_promise() -> None:
    x, y, labels = data(50)
    for model, target in (
        (PrivateLogisticRegression(norm=1.0, classes=("no", "yes")), labels),
        (PrivateRidge(norm=1.0, bound=1.0), y),
        (PrivateHuberRegressor(norm=1.0), y),
    ):
        with pytest.raises(InvalidPromise, match="Expected a promise"):
            model.fit(x, target)
        assert not hasattr(model, "coef_")


def test_public_things_must_be_given() -> None:
    x, y, labels = data(50)
    with pytest.raises(DescriptionError, match="norm="):
        PrivateLogisticRegression(PureDP(1.0), classes=("no", "yes")).fit(x, labels)
    with pytest.raises(DescriptionError, match="a bound on the targets"):
        PrivateRidge(PureDP(1.0), norm=1.0).fit(x, y)
    with pytest.raises(DescriptionError, match="classes="):
        PrivateLogisticRegression(PureDP(1.0), norm=1.0).fit(x, labels)
    with pytest.raises(DescriptionError, match="classes="):
        PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=("no", "no")).fit(x, labels)
    with pytest.raises(DescriptionError, match="type of the declared classes"):
        PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=(0, 1)).fit(x, labels)
    with pytest.raises(DescriptionError, match="low below high"):
        PrivateRidge(PureDP(1.0), norm=1.0, bound=(2.0, 1.0)).fit(x, y)
    named: Any = "objective"
    with pytest.raises(DescriptionError, match=r"Method\.OBJECTIVE"):
        PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=("no", "yes"), method=named).fit(x, labels)
    with pytest.raises(ValueError, match=r"from 1e-30 to 1e\+30"):
        PrivateRidge(PureDP(1.0), norm=1e31, bound=1.0).fit(x, y)
    with pytest.raises(ValueError, match="regularization"):
        PrivateRidge(PureDP(1.0), norm=1.0, bound=1.0, regularization=0.0).fit(x, y)


def test_classes_do_not_depend_on_the_labels_that_occur() -> None:
    x, _, _ = data(50)
    model = PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=("yes", "no")).fit(x, ["no"] * 50)
    assert model.classes_.tolist() == ["no", "yes"]


def test_a_fit_that_fails_leaves_nothing_behind() -> None:
    x, _, labels = data(50)
    model = PrivateLogisticRegression(PureDP(1.0), classes=("no", "yes"))
    with pytest.raises(DescriptionError, match="norm="):
        model.fit(x, labels)
    with pytest.raises(NotFittedError):
        model.predict(x)


@pytest.mark.parametrize("shape", [(4,), (2, 2, 1)])
def test_errors_about_shapes_do_not_repeat_values(shape: tuple[int, ...]) -> None:
    for model in (PrivateMean(PureDP(1.0), norm=1.0), PrivateRidge(PureDP(1.0), norm=1.0, bound=1.0)):
        with pytest.raises(ValueError, match="Reshape your data") as raised:
            model.fit(np.full(shape, 12345.0), np.zeros(shape[0]))
        assert "12345" not in str(raised.value)


def test_predictions_stay_between_the_bounds_and_targets_are_centred() -> None:
    x, y, _ = data(2000)
    quiet = PrivateRidge(PureDP(1e8), norm=1.0, bound=(97.0, 103.0), regularization=0.01).fit(x, y + 100.0)
    # With the shrinkage of the intercept undone, residuals have the mean 0, however strong the penalty is.
    assert np.mean(quiet.predict(x)) == pytest.approx(100.0 + np.mean(y), abs=1e-3)
    strong = quiet.set_params(regularization=100.0).fit(x, y + 100.0)
    assert np.mean(strong.predict(x)) == pytest.approx(100.0 + np.mean(y), abs=1e-3)
    noisy = PrivateRidge(PureDP(1e-3), norm=1.0, bound=(97.0, 103.0), regularization=1e-3).fit(x, y + 100.0)
    assert np.all((noisy.predict(x) >= 97.0) & (noisy.predict(x) <= 103.0))
    assert np.any(np.abs(x @ noisy.coef_ + noisy.intercept_ - 100.0) > 3.0)


def test_parameters_copies_and_pickles() -> None:
    x, y, _ = data(500)
    model = PrivateRidge(PureDP(1.0), norm=1.0, bound=3.0)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(regularization=0.5).regularization == 0.5
    fitted = pickle.loads(pickle.dumps(model.fit(x, y)))
    assert np.array_equal(fitted.predict(x), model.predict(x))
    # Every fit draws noise anew, and spends anew.
    first = model.coef_
    assert not np.array_equal(model.fit(x, y).coef_, first)


def test_a_search_over_parameters_works() -> None:
    x, y, _ = data(500)
    search = GridSearchCV(PrivateRidge(LOUD, norm=1.0, bound=3.0), {"regularization": [0.01, 100.0]}, cv=2)
    assert search.fit(x, y).best_params_ == {"regularization": 0.01}


def test_importing_the_package_does_not_load_scikit_learn() -> None:
    code = "import sys, sitr; sitr.PureDP; raise SystemExit('sklearn' in sys.modules or 'sitr.learn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bounds_of_ridge_may_be_any_pair_and_other_things_are_explained() -> None:
    x, y, _ = data(50)
    pairs: list[Any] = [(-1.0, 1.0), [-1.0, 1.0], np.array([-1.0, 1.0])]
    others: list[Any] = [(0.0, 1.0, 2.0), "400", ("a", 2.0), (float("nan"), 2.0), [1.0], {}, True]
    for pair in pairs:
        assert PrivateRidge(LOUD, norm=1.0, bound=pair).fit(x, y).bounds_ == (-1.0, 1.0)
    for wrong in others:
        with pytest.raises(SitrError, match="bound"):
            PrivateRidge(LOUD, norm=1.0, bound=wrong).fit(x, y)


def test_a_promise_may_be_given_by_its_numbers() -> None:
    x, y, _ = data(50)
    made = PrivateRidge(epsilon=2.0, norm=1.0, bound=1.0)
    assert clone(made).fit(x, y).promise_ == PureDP(2.0)
    assert PrivateMean(rho=0.5, norm=1.0).fit(x).promise_ == ZeroConcentratedDP(0.5)
    with pytest.raises(InvalidPromise, match=r"got 1\.0\. Write epsilon=1\.0 or 'pure\(1\.0\)'"):
        PrivateRidge(1.0, norm=1.0, bound=1.0).fit(x, y)  # type: ignore[arg-type]
    with pytest.raises(IncompatiblePromises, match="Expected one price"):
        PrivateRidge(LOUD, rho=1.0, norm=1.0, bound=1.0).fit(x, y)


def test_an_approximate_promise_without_delta_is_pure() -> None:
    x, y, _ = data(50)
    assert PrivateRidge(ApproximateDP(1.0, 0.0), norm=1.0, bound=1.0).fit(x, y).promise_ == PureDP(1.0)


def test_what_is_no_array_is_named() -> None:
    with pytest.raises(InvalidParameter, match="one object of type str"):
        PrivateMean(LOUD, norm=1.0).fit("rows.csv")
    with pytest.raises(InvalidParameter, match="a 1D array"):
        PrivateMean(LOUD, norm=1.0).fit([1.0, 2.0])
