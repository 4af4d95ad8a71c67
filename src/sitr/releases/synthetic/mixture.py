"""A mixture of products fitted to noisy tables, by `mbi`: within a component the columns are independent.

Such a model is a graphical one with a single hidden column. It can follow every pair of columns at once, where a model
with a junction tree must leave most pairs out; and rows are drawn from it without any inference.

[ABKKMRS21, Alg. 1; LVW21]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from sitr.errors import QuestionError
from sitr.releases.synthetic.tables import Measured, Weights, group_sums

COMPONENTS = 200
STEPS = 600
RATE = 0.05
SPREAD = 0.5
"""The standard deviation of the logarithms at the start: equal components would stay equal for ever."""

SMALLEST = 1e-5
"""At the start no value is rarer in a component: from 0 there is no way up."""

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """P(x) = 1/K·Σ_k Π_i p_i(x_i | k): for each column a matrix of K rows of probabilities, over its cells."""

    products: tuple[Weights, ...]

    @property
    def components(self) -> int:
        return len(self.products[0])

    def marginal(self, *columns: int) -> Weights:
        """The table of probabilities of one column or of two."""
        if len(columns) == 1:
            return np.asarray(self.products[columns[0]].mean(axis=0))
        first, second = (self.products[column] for column in columns)
        return np.asarray(first.T @ second / self.components)


def require_mbi() -> None:
    """Refuse, before anything is spent, what cannot be fitted here."""
    try:
        _estimators()
    except ImportError:
        raise QuestionError(
            wanted="Many columns are fitted with the package mbi.",
            given="It is not installed, or not whole.",
            do="Install sitr[synth], or choose so few columns and cells that one table holds them all.",
        ) from None


def fit(
    measured: Measured,
    *,
    components: int = COMPONENTS,
    steps: int = STEPS,
    progress: Progress | None = None,
) -> Mixture:
    """The mixture with the least sum of squares Σ (fitted − noisy)²/s² over all tables, as far as descent finds it.

    Tables of single columns count by their groups, whose shares were already made consistent with the total. The start
    is the same for the same tables: nothing is drawn here.
    """
    coarse = [group_sums(share, groups) for groups, share in zip(measured.groups, measured.shares, strict=True)]
    products = _fitted(measured, coarse, components, steps, progress)
    return Mixture(
        tuple(
            _spread(product, groups, share)
            for product, groups, share in zip(products, measured.groups, measured.shares, strict=True)
        )
    )


def _estimators() -> tuple[Any, Any, Any, Any]:
    """jax, optax, mbi and its mixtures: an extra, and slow to start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mbi's advice about float32 and caches: neither concerns us
        import jax  # noqa: PLC0415
        import mbi  # noqa: PLC0415
        import optax  # noqa: PLC0415
        from mbi.extensions import mixture_of_products  # noqa: PLC0415

    return jax, optax, mbi, mixture_of_products


def _fitted(
    measured: Measured, coarse: list[Weights], components: int, steps: int, progress: Progress | None
) -> list[Weights]:
    jax, optax, mbi, mixtures = _estimators()
    total = max(measured.total, 1.0)
    names = [str(place) for place in range(len(coarse))]
    with jax.enable_x64(True):
        domain = mbi.Domain(names, [len(share) for share in coarse])
        tables = [
            mbi.LinearMeasurement(table.counts.ravel(), tuple(map(str, table.columns)), table.deviation)
            for table in measured.pairs
        ]
        for name, share, table, groups in zip(names, coarse, measured.alone, measured.groups, strict=True):
            together = float(np.bincount(groups).mean())
            tables.append(mbi.LinearMeasurement(share * total, (name,), table.deviation * together**0.5))
        start = mixtures.MixtureOfProducts.random(domain, total, components, scale=SPREAD)
        logits = {
            name: jax.numpy.log(start.products[name]) + np.log(np.maximum(share, SMALLEST))
            for name, share in zip(names, coarse, strict=True)
        }
        estimator = mixtures.MixtureOfProductsEstimator(
            optimizer=optax.adam(optax.cosine_decay_schedule(RATE, steps)), num_components=components
        )
        found = estimator.estimate(
            domain,
            tables,
            known_total=total,
            iters=steps,
            warm_start=mixtures.MixtureOfProducts(logits, domain, total),
            callback_fn=_counting(progress, -(-steps // mbi.estimation.CALLBACK_EVERY)),
        )
        return [np.asarray(found.products[name], dtype=np.float64) for name in names]


def _counting(progress: Progress | None, calls: int) -> Callable[[Any], None] | None:
    """Tells how far the descent is, each of the times that mbi calls."""
    if progress is None:
        return None
    done = count(1)
    return lambda _: progress(next(done) / calls)


def _spread(product: Weights, groups: np.ndarray[Any, np.dtype[np.int64]], share: Weights) -> Weights:
    """From groups to cells: within a group each cell as often as the noisy table of its column says."""
    together = group_sums(share, groups)[groups]
    even = 1 / np.bincount(groups)[groups]
    within = np.where(together > 0, share / np.where(together > 0, together, 1.0), even)
    spread: Weights = product[:, groups] * within
    spread /= spread.sum(axis=1, keepdims=True)
    return spread
