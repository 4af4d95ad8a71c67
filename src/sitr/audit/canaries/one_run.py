"""Audits in one training run: canaries are put into the data by fair coins, and guessed from their scores.

Each of m canaries is in the training data with probability 1/2, independently. Whoever sees the trained model guesses
for some of them whether they were in: those with the highest scores were, those with the lowest were not. If the
training keeps a promise, too many correct guesses are improbable. Here the number of guesses is fixed in advance, and
guesses depend on nothing but the scores and independent coins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.errors import InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.uniform import permutation
from sitr.numbers import inside, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import special, stats
else:
    np, special, stats = Later("numpy"), Later("scipy.special"), Later("scipy.stats")

SHARES = (1.0, 0.5, 0.25, 0.1, 0.04)
"""Shares of the canaries for which guesses are made; the confidence is split among them."""

LARGEST = 40.0
"""No bound above this is looked for."""

_SURELY = 1.0 + 1e-9
"""Probabilities are raised by more than their rounding errors."""


@dataclass(frozen=True, slots=True)
class Guesses:
    """How many of the guesses were correct."""

    canaries: int
    made: int
    correct: int


@dataclass(frozen=True, slots=True)
class OneRun:
    """Lower bounds from one training run; together they hold with the stated confidence."""

    guesses: tuple[Guesses, ...]
    confidence: float
    delta: float
    epsilon: float
    """ε at this δ is at least this."""
    mu: float
    """μ of Gaussian privacy is at least this."""

    def refutes(self, claim: Promise) -> bool:
        """Whether the claim is broken: with its own δ where it states one, else at the δ of the audit."""
        match claim:
            case PureDP():
                return self.epsilon > claim.epsilon
            case ApproximateDP() if claim.delta <= self.delta:
                return self.epsilon > claim.epsilon
            case GaussianDP():
                return self.mu > claim.mu
        implied = None if self.delta == 0.0 else ApproximateDP.implied_by(claim, delta=self.delta)
        return implied is not None and self.epsilon > implied.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        rows = [{"canaries": g.canaries, "guesses": g.made, "correct": g.correct} for g in self.guesses]
        return {
            "confidence": self.confidence,
            "epsilon": {"delta": self.delta, "at_least": self.epsilon},
            "mu": {"at_least": self.mu},
            "guesses": rows,
        }

    def verdict(self, claim: Promise) -> dict[str, Any]:
        """The same with a claim."""
        return {"verdict": "broken" if self.refutes(claim) else "consistent", "claim": write(claim), **self.to_dict()}


def one_run(
    scores: Sequence[float] | NDArray[np.float64],
    included: Sequence[bool] | NDArray[np.bool_],
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    shares: Sequence[float] = SHARES,
    coins: Coins | None = None,
) -> OneRun:
    """Lower bounds on ε at δ and on μ, from the scores of canaries and whether each was included.

    A high score means that the model seems to know the canary. Ties are broken by `coins`: the order of the canaries
    may tell which of them were included, so it must not decide. Half of the failure probability is for ε, half for μ,
    and each half is split among the `shares`.

    >>> found = one_run([0.9] * 500 + [0.1] * 500, [True] * 500 + [False] * 500)
    >>> 4 < found.epsilon < 7, found.refutes(PureDP(3.0))
    (True, True)
    """
    points, truth = np.asarray(scores, dtype=np.float64), np.asarray(included).astype(bool)
    if points.ndim != 1 or points.shape != truth.shape or not len(points) or np.isnan(points).any():
        raise InvalidParameter(
            wanted="one score, which is a number, and one yes or no for each canary",
            given=f"{points.size} scores and {truth.size} inclusions",
            do="Give two columns of the same length without missing values.",
        )
    delta = float(within(delta, name="delta", of="an audit", most=Fraction(1)))
    failure = 1.0 - float(inside(confidence, of="an audit"))
    guesses = tuple(dict.fromkeys(_guesses(points, truth, shares, coins)))
    each = failure / (2 * len(guesses))
    epsilon = max(_epsilon(one, delta, each) for one in guesses)
    mu = max(_mu(one, each) for one in guesses)
    return OneRun(guesses, float(confidence), delta, epsilon, mu)


def _epsilon(guesses: Guesses, delta: float, failure: float) -> float:
    return _largest(lambda epsilon: p_value(guesses, epsilon=epsilon, delta=delta) <= failure)


def _mu(guesses: Guesses, failure: float) -> float:
    return _largest(lambda mu: exceeds(guesses, gaussian_inverse(mu), failure=failure))


def _guesses(
    scores: NDArray[np.float64], truth: NDArray[np.bool_], shares: Sequence[float], coins: Coins | None
) -> list[Guesses]:
    """Half of the guesses are "in", for the highest scores, and half are "out", for the lowest."""
    count = len(scores)
    shuffled = permutation(size=count, coins=coins)
    ranked = truth[shuffled][np.argsort(scores[shuffled], kind="stable")]
    found = []
    for share in shares:
        half = max(1, int(share * count) // 2)
        top = min(half, count - half) if count > 1 else 1
        low = min(half, count - top)
        correct = int(ranked[count - top :].sum() + (~ranked[:low]).sum())
        found.append(Guesses(count, top + low, correct))
    return found


def p_value(guesses: Guesses, *, epsilon: float, delta: float = 0.0) -> float:
    """The probability of as many correct guesses, at most, if the training is (ε, δ)-private.

    [SNJ23, Cor. 5.4, App. D]  With W ~ Bin(r, e^ε/(1 + e^ε)), the probability of v correct guesses or more is at most

        P(W ≥ v) + 2mδ·max_i P(v − i ≤ W < v)/i.

    For δ = 0: given the model and the bits of other canaries, each guess is correct with probability at most
    e^ε/(1 + e^ε), so their number is stochastically at most W.

    >>> round(p_value(Guesses(10, 10, 10), epsilon=0.0), 6)
    0.000977
    """
    m, r, v = guesses.canaries, guesses.made, guesses.correct
    right = 1.0 / (1.0 + math.exp(-epsilon))
    tail = float(stats.binom.sf(v - 1, r, right))
    if delta == 0.0 or v == 0:
        return min(1.0, tail * _SURELY)
    below = np.cumsum(stats.binom.pmf(np.arange(v - 1, -1, -1), r, right))
    steepest = float(np.max(below / np.arange(1, v + 1)))
    return min(1.0, (tail + 2.0 * m * delta * steepest) * _SURELY)


Inverse = Callable[[float], float]


def gaussian_inverse(mu: float) -> Inverse:
    """The least probability on one input of an event with this probability on the other: Φ(Φ⁻¹(p) − μ)."""
    return lambda p: float(special.ndtr(special.ndtri(min(p, 1.0)) - mu))


def approximate_inverse(epsilon: float, delta: float) -> Inverse:
    """The same under (ε, δ): p ≤ e^ε·q + δ and 1 − q ≤ e^ε·(1 − p) + δ."""
    odds = math.exp(epsilon)
    return lambda p: max(0.0, (p - delta) / odds, 1.0 - delta - odds * (1.0 - min(p, 1.0)))


def exceeds(guesses: Guesses, inverse: Inverse, *, failure: float) -> bool:
    """Whether as many correct guesses have a probability of at most `failure` under a trade-off.      [MMC24]

    The inequality and the recursion are proved here.

    Let C be the number of correct guesses among r, p_k = P(C = k), and G the largest probability that the trade-off
    allows on one input for an event of a given probability on the other; `inverse` is its inverse. For canary i, fix
    the bits of the others. Whether i is guessed correctly while j or more others are is one event if i is in, and
    another if it is out, and each becomes "guessed wrongly" if the bit of i is turned. G is concave, so

        Σ_{k>j} k·p_k/m ≤ G(Σ_{k≥j} (r − k)·p_k/m)   for all j,

    averaged over the bits and the canaries (Jensen). Write R_{j+1} ≤ G(H_j). With T_j = P(C ≥ j),

        m·R_j = j·T_j + Σ_{l>j} T_l   and   m·H_j = (r − j)·T_j − Σ_{l>j} T_l.

    Start from T_c = failure and nothing above c, and let every T_j below be as small as the inequality allows. By
    induction downwards, no law with P(C ≥ c) ≥ failure has smaller T_l: if its T_l are at least as large for l > j,
    so is R_{j+1}, hence H_j, hence T_j. If the smallest T_0 exceeds 1, no law has P(C ≥ c) ≥ failure.

    >>> all_right = Guesses(1_000, 1_000, 1_000)
    >>> exceeds(all_right, gaussian_inverse(1.0), failure=0.05), exceeds(all_right, gaussian_inverse(8.0), failure=0.05)
    (True, False)
    """
    m, r, c = guesses.canaries, guesses.made, guesses.correct
    tail, beyond = failure, 0.0  # T_j, and the sum of T_l for l > j
    for j in range(c - 1, -1, -1):
        upper = ((j + 1) * tail + beyond) / m  # R_{j+1}
        beyond += tail
        if r > j:
            tail = max(tail, (m * inverse(upper) + beyond) / (r - j))
        if tail > _SURELY:
            return True
    return False


def _largest(broken: Callable[[float], bool]) -> float:
    """The largest parameter that is refuted, rounded down; 0 if none is. What is refuted is refuted for less, too."""
    if not broken(0.0):
        return 0.0
    low, high = 0.0, LARGEST
    while high - low > 1e-4 * max(low, 0.01):
        middle = (low + high) / 2
        low, high = (middle, high) if broken(middle) else (low, middle)
    return low
