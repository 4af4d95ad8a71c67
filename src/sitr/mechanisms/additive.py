"""Noise that is added to every number of a vector by itself, on a public grid."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms.granularity import Exact, add_noise, checked_fields
from sitr.mechanisms.transform import Transform
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.draws import Draws, Size
from sitr.numbers import Number, exact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
else:
    np = Later("numpy")
    Reals = object

special = Later("scipy.special")


NoisePrice = PureDP | ZeroConcentratedDP | GaussianDP
"""The promises that additive noise keeps: shares of them add up to the whole."""


class Noise(ABC):
    """Everything that plans, intervals and reports need from additive noise, so that no other file names its law.

    A law is a frozen dataclass with the fields `parameter`, `sensitivity` = 1 and `granularity` = 1, the constants
    below, and the abstract methods. To make plans use it, list it in `sitr.mechanisms.candidates`.
    """

    __slots__ = ()

    law: ClassVar[str]
    """Its name in reports."""
    parameter: ClassVar[str]
    """The field that says how large the noise is, and its name in certificates."""
    symbol: ClassVar[str]
    """The symbol of the parameter in formulas."""
    euclidean: ClassVar[bool]
    """Whether the sensitivity is a Euclidean length (ℓ2); otherwise it is a sum of sizes (ℓ1)."""
    flavor: ClassVar[type[NoisePrice]]
    """The flavor of its promise, and of the prices to which it is fitted."""
    arithmetic: ClassVar[tuple[str, str]]
    """How `cost` follows from the sensitivity, with {moved} and {size} for numbers, and the symbol of the cost. Where
    the sensitivity is Euclidean, {moved} is its square."""
    kurtosis: ClassVar[float] = 3.0
    """E[Y⁴]/E[Y²]², approximately: 3 for Gaussian noise."""

    @property
    @abstractmethod
    def sensitivity(self) -> Number:
        """How far one unit moves the vector."""

    @property
    @abstractmethod
    def granularity(self) -> Number:
        """The distance of neighbouring numbers on the grid."""

    @classmethod
    @abstractmethod
    def fitting(cls, price: Any, *, sensitivity: Number, granularity: Number = 1) -> Self:
        """The least noise that keeps this promise."""

    @abstractmethod
    def cost(self) -> Fraction:
        """ε, ρ or μ, exactly."""

    @abstractmethod
    def promise(self) -> NoisePrice:
        """The cost, rounded up to a float."""

    @abstractmethod
    def loss(self) -> Loss:
        """The privacy loss, or a bound on it."""

    @abstractmethod
    def width(self, *, confidence: Number) -> int:
        """The least number w of granules with P(|Y| ≤ w) ≥ confidence."""

    @abstractmethod
    def draw(self, size: Size | None, *, coins: Coins | None) -> int | Draws:
        """Fresh noise in granules: one number if the size is None."""

    def __post_init__(self) -> None:
        checked_fields(self, self.parameter, euclidean=self.euclidean)

    @property
    def size(self) -> Fraction:
        """The value of the parameter."""
        return exact(getattr(self, self.parameter))

    @property
    def granules(self) -> Fraction:
        """The value of the parameter in granules."""
        return self.size / exact(self.granularity)

    @property
    def deviation(self) -> float:
        """The standard deviation, approximately."""
        return float(self.size)

    @property
    def mean_size(self) -> float:
        """E|Y|: √(2/π) deviations for Gaussian noise, to within a few percent if a deviation is at least a granule.

        >>> from sitr import Gaussian
        >>> round(Gaussian(sigma=10).mean_size, 3)
        7.979
        """
        return self.deviation * math.sqrt(2 / math.pi)

    def log_density(self, away: Reals) -> Reals:
        """ln P(Y = y), approximately and up to a constant. It is only used to process noisy numbers."""
        return -((away / self.deviation) ** 2) / 2

    def mean_distance(self, moved: Reals) -> Reals:
        """E|d + Y|, as if the noise were continuous."""
        away = moved / self.deviation
        bell = np.exp(-away * away / 2) / math.sqrt(2 * math.pi)
        return np.asarray(self.deviation * (2 * bell + away * (2 * special.ndtr(away) - 1)))

    def transform(self) -> Transform | None:
        """E[e^{zY}] in granules, which gives tight intervals for sums; None if it is not known."""
        return None

    def alone(self) -> Self:
        """The same noise, for one number only."""
        return self

    def in_granules(self) -> Self:
        """The same noise on numbers of granules: for large arrays, which hold integers.

        >>> from sitr import Laplace
        >>> Laplace(scale=3, granularity=Fraction(1, 4)).in_granules()
        Laplace(scale=Fraction(12, 1), sensitivity=Fraction(4, 1), granularity=Fraction(1, 1))
        """
        moved = exact(self.sensitivity) / exact(self.granularity)
        counted = {self.parameter: self.granules, "sensitivity": moved, "granularity": 1}
        return replace(self, **counted)  # type: ignore[type-var]

    def error(self, *, confidence: Number = 0.95) -> int | Fraction:
        """The least multiple w of the granularity with P(|y| ≤ w) ≥ confidence, for each number by itself.

        >>> from sitr import Gaussian, Laplace
        >>> Laplace(scale=10).error(), Gaussian(sigma=10, granularity=0.5).error()
        (30, Fraction(39, 2))
        """
        wide = self.width(confidence=confidence) * exact(self.granularity)
        return wide.numerator if exact(self.granularity).denominator == 1 else wide

    @overload
    def release(self, values: Exact, *, coins: Coins | None = None) -> Exact: ...
    @overload
    def release(self, values: Sequence[Exact], *, coins: Coins | None = None) -> list[Exact]: ...
    @overload
    def release(self, values: NDArray[np.integer[Any]], *, coins: Coins | None = None) -> Draws: ...
    def release(self, values: Any, *, coins: Coins | None = None) -> Any:
        """The value, or all of them, with fresh noise.

        Integers, of any size, where the granularity is whole, otherwise fractions. The answer to an array of integers
        is an array: of 64-bit integers if these can hold all answers, otherwise of Python integers. Floats are refused,
        and so are numbers between two multiples: see `sitr.mechanisms.granularity` for a way to round.

        >>> from sitr import Laplace
        >>> Laplace(scale=0.001).release([5, -7, 10**30]), Laplace(scale=0.001).release(5)
        ([5, -7, 1000000000000000000000000000000], 5)
        >>> Laplace(scale=0.001).release(0.1 + 0.2)
        Traceback (most recent call last):
        sitr.errors.InvalidParameter: Expected integers for Laplace, got something else. Round what each unit adds...
        """
        return add_noise(
            values,
            lambda size: self.draw(size, coins=coins),
            granularity=exact(self.granularity),
            mechanism=type(self).__name__,
            single=getattr(self, "single", False),
        )
