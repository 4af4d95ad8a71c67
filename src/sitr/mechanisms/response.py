"""Randomized response: all people randomize their own answers, and trust nobody with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sitr.errors import InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.loss.forms.finite import FiniteLaw, response
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import whole
from sitr.noise.bernoulli import trials
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws
from sitr.noise.uniform import uniform
from sitr.numbers import Number, ball, exact, flag, inside, natural, positive, upper, upward
from sitr.precision import nearest, precision, undisturbed

Answers = Sequence[int] | NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Response:
    """Say the truth with probability p = e^ε/(e^ε + k − 1), each of the other k − 1 answers with q = 1/(e^ε + k − 1).

    Answers are 0, 1, …, k − 1; with two of them this is the classical question with a coin.  [War65; KOV16]

    >>> Response(epsilon=1).promise()
    PureDP(epsilon=1.0)
    >>> Response(epsilon=1000, answers=5).release([0, 4, 2])
    [0, 4, 2]
    """

    epsilon: Number
    answers: int = 2

    def __post_init__(self) -> None:
        _check(self, "Response")

    def promise(self) -> PureDP:
        """ε, to everybody who answers once."""
        return PureDP(upward(exact(self.epsilon)))

    def loss(self) -> Loss:
        """ε, 0 or −ε for one answer, exactly.

        >>> Response(epsilon=1, answers=3).loss().delta(epsilon=0.5)
        Interval(lower=0.22..., upper=0.22...)
        """
        return Loss.of(response(self.epsilon, answers=self.answers))

    @overload
    def release(self, value: int, *, coins: Coins | None = None) -> int: ...
    @overload
    def release(self, value: Answers, *, coins: Coins | None = None) -> list[int]: ...
    def release(self, value: int | Answers, *, coins: Coins | None = None) -> int | list[int]:
        """The randomized answer of one person, or of each of many."""
        if isinstance(value, Sequence | np.ndarray):
            truth, size = _answers(value, self.answers, mechanism="Response"), len(value)
        else:
            truth, size = _answers([value], self.answers, mechanism="Response"), None  # one draw needs no tables
        honest = trials(lambda: self._chances()[0], size=size, coins=coins)
        # One of the other answers: those from the truth on move up by one. It is drawn even where it is not needed.
        other = np.asarray(uniform(bound=self.answers - 1, size=size, coins=coins))
        said: list[int] = np.where(honest, truth, other + (other >= truth)).tolist()
        return said[0] if size is None else said

    def estimate(self, said: Answers) -> list[float]:
        """How many people would truly give each answer, unbiased: (c_j − nq)/(p − q) if c_j of n said j.

        >>> Response(epsilon=1).estimate([0, 1, 1, 1])
        [-0.163..., 4.163...]
        """
        counts = np.bincount(_answers(said, self.answers, mechanism="Response"), minlength=self.answers)
        return undisturbed(128, _unbiased, self, counts, people=len(said))

    @precision()
    def error(self, *, people: int, confidence: Number = 0.95) -> float:
        """With this confidence an estimate, each by itself, is this close to the truth: √(n·ln(2/(1 − c))/2)/(p − q).

        It is a sum of n independent parts, each within an interval of length 1/(p − q).      [Hoe63, Thm 2]

        >>> Response(epsilon=1).error(people=1000)
        92.9...
        """
        return _error(people, confidence, self._contrast(), mechanism="Response")

    def _chances(self) -> tuple[arb, arb]:
        """p and q, at the working precision."""
        least = (-ball(self.epsilon)).exp()
        whole = 1 + (self.answers - 1) * least
        return 1 / whole, least / whole

    def _contrast(self) -> arb:
        """p − q, without cancellation."""
        return -(-ball(self.epsilon)).expm1() * self._chances()[0]


@dataclass(frozen=True, slots=True)
class UnaryResponse:
    """Answer a question for each of k answers, whether it is the true one: yes for the true one with probability p, for
    the others with q, and ε = ln p(1 − q)/((1 − p)q).

    Optimised, p = 1/2 and q = 1/(e^ε + 1): estimates of rare answers vary least. Symmetric, p = 1 − q = e^{ε/2}/(1 +
    e^{ε/2}). From 3e^ε + 2 answers on, the optimised one varies less than `Response`.      [WBLJ17, Sec. 4]

    >>> UnaryResponse(epsilon=1, answers=100).promise()
    PureDP(epsilon=1.0)
    >>> UnaryResponse(epsilon=2000, answers=4, symmetric=True).release(2)
    [0, 0, 1, 0]
    """

    epsilon: Number
    answers: int
    symmetric: bool = False

    def __post_init__(self) -> None:
        _check(self, "UnaryResponse")
        flag(self.symmetric, name="symmetric", of="UnaryResponse")

    def promise(self) -> PureDP:
        """ε, to everybody who answers once."""
        return PureDP(upward(exact(self.epsilon)))

    @precision(128)
    def loss(self) -> Loss:
        """Between two answers only their own two questions differ: ε with p(1 − q), −ε with (1 − p)q, and otherwise 0.

        >>> UnaryResponse(epsilon=1, answers=100).loss().delta(epsilon=0.5)
        Interval(lower=0.143..., upper=0.143...)
        """
        (p, q), (not_p, not_q) = self._chances(), self._refusals()
        masses = (not_p * q, p * q + not_p * not_q, p * not_q)
        size = float(exact(self.epsilon))
        return Loss.of(FiniteLaw((-size, 0.0, size), tuple(nearest(mass.log(), zero=100) for mass in masses)))

    @overload
    def release(self, value: int, *, coins: Coins | None = None) -> list[int]: ...
    @overload
    def release(self, value: Answers, *, coins: Coins | None = None) -> list[list[int]]: ...
    def release(self, value: int | Answers, *, coins: Coins | None = None) -> list[int] | list[list[int]]:
        """The randomized answers of one person, 1 for yes, or of each of many."""
        if not isinstance(value, Sequence | np.ndarray):
            return self.release([value], coins=coins)[0]
        truth = _answers(value, self.answers, mechanism="UnaryResponse")
        said = np.asarray(trials(lambda: self._chances()[1], size=(len(truth), self.answers), coins=coins))
        said[np.arange(len(truth)), truth] = trials(lambda: self._chances()[0], size=len(truth), coins=coins)
        rows: list[list[int]] = said.astype(np.int64).tolist()
        return rows

    def estimate(self, said: Sequence[Sequence[int]]) -> list[float]:
        """How many people truly have each answer, unbiased: (c_j − nq)/(p − q) if c_j of n said yes to j.

        >>> UnaryResponse(epsilon=2, answers=3).estimate([[1, 0, 0], [1, 0, 1]])
        [4.62..., -0.62..., 2.0]
        """
        if not all(len(row) == self.answers and all(bit in (0, 1) for bit in row) for row in said):
            raise InvalidParameter(
                wanted=f"rows of {self.answers} numbers 0 or 1 for UnaryResponse",
                given="something else",
                do="Pass the answers of release(), one row for each person.",
            )
        counts = np.array(said, dtype=np.int64).reshape(len(said), self.answers).sum(axis=0)
        return undisturbed(128, _unbiased, self, counts, people=len(said))

    @precision()
    def error(self, *, people: int, confidence: Number = 0.95) -> float:
        """With this confidence an estimate, each by itself, is this close to the truth.      [Hoe63, Thm 2]"""
        return _error(people, confidence, self._contrast(), mechanism="UnaryResponse")

    def _chances(self) -> tuple[arb, arb]:
        """p and q."""
        likely, unlikely = self._coin()
        return (likely if self.symmetric else arb(1) / 2), unlikely

    def _refusals(self) -> tuple[arb, arb]:
        """1 − p and 1 − q, computed without cancellation, because they may be very small."""
        likely, unlikely = self._coin()
        return (unlikely if self.symmetric else arb(1) / 2), likely

    def _contrast(self) -> arb:
        """p − q, without cancellation: tanh(ε/4), or tanh(ε/2)/2."""
        return (self._rate / 2).tanh() if self.symmetric else (self._rate / 2).tanh() / 2

    def _coin(self) -> tuple[arb, arb]:
        """1/(1 + e^{−rate}) and 1/(1 + e^{rate}), never through a number that is too large."""
        small = (-self._rate).exp()
        return 1 / (1 + small), small / (1 + small)

    @property
    def _rate(self) -> arb:
        return ball(exact(self.epsilon) / (2 if self.symmetric else 1))


def _check(mechanism: Response | UnaryResponse, name: str) -> None:
    object.__setattr__(mechanism, "epsilon", positive(mechanism.epsilon, name="epsilon", of=name))
    object.__setattr__(mechanism, "answers", natural(mechanism.answers, name="answers", of=name, least=2))


def _answers(values: Answers, answers: int, *, mechanism: str) -> Draws:
    """The answers as an array. The message repeats none of them."""
    if not all(whole(value) and 0 <= value < answers for value in values):
        raise InvalidParameter(
            wanted=f"answers from 0 to {answers - 1} for {mechanism}",
            given="something else",
            do="Number all answers that exist.",
        )
    integers = [int(value) for value in values]
    return np.array(integers, dtype=np.int64) if answers <= 2**63 else np.array(integers, dtype=np.object_)


def _unbiased(mechanism: Response | UnaryResponse, counts: NDArray[np.int64], *, people: int) -> list[float]:
    q, contrast = mechanism._chances()[1], mechanism._contrast()
    return [float(((int(count) - people * q) / contrast).mid()) for count in counts]


def _error(people: int, confidence: Number, contrast: arb, *, mechanism: str) -> float:
    n, rest = natural(people, name="people", of=mechanism), 1 - inside(confidence)
    return upper((n * (2 / ball(rest)).log() / 2).sqrt() / contrast)
