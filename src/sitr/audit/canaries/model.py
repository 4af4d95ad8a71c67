"""Canaries for models with scikit-learn's methods: make them, put some into the training data, score them.

For a model in PyTorch or any other library, put `rows` and `targets` of the included canaries into the training data
and give the scores to `one_run` yourself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sitr.audit.canaries.one_run import OneRun, one_run
from sitr.errors import InvalidUse
from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.uniform import uniform
from sitr.numbers import natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

STEPS = 2**30


class Predictor(Protocol):
    """A trained model; a classifier also has `predict_proba` and `classes_`."""

    def predict(self, rows: Any, /) -> Any:
        """The predicted targets."""


@dataclass(frozen=True, slots=True, eq=False)
class Canaries:
    """Records that nobody else has, and which of them are in the training data."""

    rows: NDArray[np.float64]
    targets: NDArray[Any]
    included: NDArray[np.bool_]

    @classmethod
    def random(
        cls,
        count: int,
        *,
        bounds: tuple[Any, Any],
        classes: Any = None,
        targets: tuple[float, float] = (0.0, 1.0),
        coins: Coins | None = None,
    ) -> Canaries:
        """Records with every number at one of its `bounds`, and a random class, or a target at one of two ends.

        `bounds` are the public bounds of the columns: two lists of one number for each column. Extreme records with
        random targets can be predicted only by a model that has seen them.

        >>> from sitr.noise import TestCoins
        >>> made = Canaries.random(6, bounds=([0, 0], [1, 5]), classes=["a", "b"], coins=TestCoins(1))
        >>> made.rows.shape, sorted(set(made.targets.tolist()))
        ((6, 2), ['a', 'b'])
        """
        m = natural(count, name="count", of="canaries", least=2)
        tossed = system_coins() if coins is None else coins
        low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
        corners = uniform(bound=2, size=(m, len(low)), coins=tossed)
        ends = np.asarray(targets if classes is None else classes)
        chosen = ends[uniform(bound=len(ends), size=m, coins=tossed).astype(np.int64)]
        included = uniform(bound=2, size=m, coins=tossed).astype(bool)
        return cls(np.where(corners == 1, high, low), chosen, included)

    def training(self, rows: Any, targets: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The training data with the included canaries."""
        return (
            np.concatenate([np.asarray(rows), self.rows[self.included]]),
            np.concatenate([np.asarray(targets), self.targets[self.included]]),
        )

    def scores(self, model: Predictor) -> NDArray[np.float64]:
        """How well the model predicts each canary: the log-probability of its class, or minus its squared error."""
        proba = getattr(model, "predict_proba", None)
        if proba is None:
            errors = np.asarray(model.predict(self.rows), dtype=np.float64) - self.targets.astype(np.float64)
            return -(errors**2)
        classes = list(getattr(model, "classes_", ()))
        missing = set(self.targets.tolist()) - set(classes)
        if missing:
            raise InvalidUse(
                given=f"The model does not know the class {min(map(str, missing))} of a canary.",
                do="Choose the canaries' classes among those of the training data.",
            )
        places = np.array([classes.index(target) for target in self.targets.tolist()])
        shares = np.asarray(proba(self.rows))[np.arange(len(places)), places]
        found: NDArray[np.float64] = np.log(np.maximum(shares, 1e-300))
        return found

    def audit(
        self, model: Predictor, *, delta: float = 0.0, confidence: float = 0.95, coins: Coins | None = None
    ) -> OneRun:
        """Lower bounds on what the training leaked about the canaries."""
        return one_run(self.scores(model), self.included, delta=delta, confidence=confidence, coins=coins)
