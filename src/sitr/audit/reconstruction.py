"""The fundamental law of information recovery, tried out: too many answers that are too accurate give everybody away.

Each person has one secret bit. An attacker sees noisy counts of the bits of random, public groups of people, and looks
for bits that explain them: a linear programme.      [DN03; DMT07]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from sitr.flavors.approximate import ApproximateDP
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import upward

Bits = NDArray[np.int64]

DELTA = 1e-6
"""The δ at which the price of all answers is stated."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One attack: how much noise each answer had, what all of them cost, and whose bit was found."""

    sigma: float
    """The standard deviation of the noise in each answer, before it is rounded; 0 for exact answers."""
    promise: ApproximateDP | None
    """What all answers together promise; None for exact answers, which promise nothing."""
    found: float
    """The share of the people whose bit the attacker guessed right."""
    most: float
    """The largest share that the promise allows, on average over the bits: no attack does better."""


def attacks(sigmas: Iterable[float], *, people: int, questions: int, coins: Coins | None = None) -> Iterator[Trial]:
    """Attack the same invented people once for each amount of noise.

    >>> from sitr.noise.coins import TestCoins
    >>> exact, hidden = attacks([0, 100], people=24, questions=96, coins=TestCoins(1))
    >>> exact.found, hidden.found < 0.8, 0.5 < hidden.most < 0.6
    (1.0, True, True)
    """
    tossed = coins if coins is not None else system_coins()
    secret = _bits(tossed, people)
    groups = _bits(tossed, questions * people).reshape(questions, people)
    for sigma in sigmas:
        exactly = groups @ secret
        if sigma == 0:
            yield Trial(0.0, None, _share(secret, reconstruct(groups, exactly)), 1.0)
            continue
        noise = Gaussian(sigma=sigma)
        answers = noise.release(exactly, coins=tossed)
        loss = Repeated(Gaussian(sigma=sigma, single=True), questions).loss()
        assert loss is not None
        yield Trial(
            sigma, ApproximateDP.of(loss, delta=DELTA), _share(secret, reconstruct(groups, answers)), most_found(loss)
        )


def reconstruct(groups: Bits, answers: NDArray[Any]) -> Bits:
    """The bits that explain these counts best: minimise Σ_j |a_j − Σ_i g_ji·x_i| over 0 ≤ x ≤ 1, and round.

    >>> groups = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> reconstruct(groups, groups @ np.array([1, 0, 1])).tolist()
    [1, 0, 1]
    """
    questions, people = groups.shape
    inside, apart = csr_array(groups.astype(np.float64)), eye_array(questions, format="csr")
    explained = linprog(
        np.concatenate([np.zeros(people), np.ones(2 * questions)]),
        A_eq=hstack([inside, apart, -apart], format="csr"),
        b_eq=np.asarray(answers, np.float64),
        bounds=[(0, 1)] * people + [(0, None)] * (2 * questions),
        method="highs",
    )
    found: Bits = (explained.x[:people] > 0.5).astype(np.int64)
    return found


def most_found(loss: Loss) -> float:
    """The largest share of uniform bits that anybody can guess right on average: (1 + δ(0))/2.

    δ(0) is the total variation distance of the answers with one bit and with the other, which the loss bounds.

    >>> most_found(Gaussian(sigma=1, single=True).loss())
    0.69...
    """
    return upward((1 + loss.advantage().upper) / 2)


def _bits(coins: Coins, count: int) -> Bits:
    return (coins.words(count) & np.uint64(1)).astype(np.int64)


def _share(secret: Bits, guessed: Bits) -> float:
    return float(np.mean(secret == guessed))
