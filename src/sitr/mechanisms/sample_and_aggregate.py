"""Any function of the data, made private: apply it to disjoint blocks, and release a private median of the results."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sitr.errors import InvalidPromise, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.smooth import SmoothNoise
from sitr.neighbors.relation import Relation
from sitr.noise.coins import Coins, system_coins
from sitr.noise.uniform import permutation
from sitr.numbers import Number, exact, natural
from sitr.sensitivity.ranks import median
from sitr.sensitivity.smoothed import Smooth, smooth

Function = Callable[[Any], Any]
"""A number for the values of a block of people."""


@dataclass(frozen=True, slots=True)
class SampleAndAggregate:
    """Shuffle the people into m blocks, apply a function to each block, and release a private median of the m results.

    Whoever is replaced is in one block, so that one of the m results changes, whatever the function is: the promise of
    the median to each of its m numbers is a promise to each person.      [NRS07, Sec. 4; Smi11]

    A result that is no finite number, and an error inside the function, count as `missing`, which must be within the
    bounds. The function must be a function: if it remembers one block while it sees another, or if it shows what it
    sees, nothing is promised. Nor does the promise cover how long it takes.

    >>> import statistics
    >>> spread = SampleAndAggregate.fitting(PureDP(1.0), function=statistics.pstdev, blocks=200, bounds=(0, 50))
    >>> spread.promise(), spread.name
    (PureDP(epsilon=1.0), 'pstdev ...')
    """

    function: Function = field(repr=False)
    blocks: int
    aggregate: SmoothNoise
    missing: Number
    name: str = ""
    """By default that of the function, with the beginning of a hash of its code: a changed one is another question."""

    relation: ClassVar[Relation] = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise QuestionError(
                wanted="a function of a block of values",
                given=repr(self.function),
                do="Write for example function=statistics.median.",
            )
        natural(self.blocks, name="blocks", of="SampleAndAggregate")
        grid = self.aggregate.sensitivity.grid
        if not grid.low <= round(exact(self.missing) / grid.granularity) <= grid.high:
            raise InvalidPromise(
                wanted="as missing, the result of a block without one, a number within the bounds",
                given=f"{self.missing!r}",
                do="Choose it without looking at the data, for example the middle of the bounds.",
            )
        object.__setattr__(self, "name", self.name or _named(self.function))

    @classmethod
    def fitting(
        cls,
        price: ApproximateDP | PureDP,
        *,
        function: Function,
        blocks: int,
        bounds: tuple[Number, Number],
        granularity: Number | None = None,
        missing: Number | None = None,
        name: str = "",
    ) -> SampleAndAggregate:
        """A private median of the results, with smooth sensitivity, that keeps this promise.

        Few people for each block make its result inaccurate; few blocks make the median noisy. Choose about as many
        blocks as ε needs: a few hundred divided by ε. The bounds are those of the results.
        """
        rule = smooth(median, bounds=bounds, granularity=granularity)
        middle = (exact(bounds[0]) + exact(bounds[1])) / 2 if missing is None else missing
        return cls(function, blocks, SmoothNoise.fitting(price, sensitivity=rule), middle, name)

    @property
    def sensitivity(self) -> Smooth:
        """How far one block moves the median."""
        return self.aggregate.sensitivity

    def promise(self) -> ApproximateDP | PureDP:
        """The promise of the median."""
        return self.aggregate.promise()

    def loss(self) -> Loss:
        """A bound: the pair of the promise."""
        return self.aggregate.loss()

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
        """The median of the results with fresh noise."""
        tossed = coins if coins is not None else system_coins()
        return self.aggregate.release(self.results(values, coins=tossed), coins=tossed)

    def error(self, values: Any, *, confidence: Number = 0.95) -> Fraction:
        """With this confidence the answer is at most this far from the median of the results, for one random division.

        **It is as secret as the data.** For a number to be shown, pass made-up data.
        """
        return self.aggregate.error(self.results(values, coins=system_coins()), confidence=confidence)

    def results(self, values: Any, *, coins: Coins) -> NDArray[np.float64]:
        """The result of each block, as secret as the data. Blocks differ in size by at most one person.

        People are shuffled, so that the promise holds in whatever order a table is read. A list becomes an array block
        by block: the type of an array follows from all of its values, and one text would make all numbers text.
        """
        everybody = np.asarray(values) if hasattr(values, "__array__") else list(values)
        self.check(len(everybody))
        order = permutation(size=len(everybody), coins=coins)
        return np.array([self._result(everybody, block) for block in np.array_split(order, self.blocks)])

    def check(self, people: int) -> None:
        """Refuse fewer people than blocks. Their number is public, because neighbours replace one person."""
        if people < self.blocks:
            raise QuestionError(
                wanted=f"at least one person for each of {self.blocks} blocks",
                given=f"{people} people",
                do="Choose fewer blocks.",
            )

    def _result(self, everybody: Any, block: NDArray[Any]) -> float:
        try:
            own = everybody[block] if isinstance(everybody, np.ndarray) else np.asarray([everybody[i] for i in block])
            found = float(self.function(own))
        except Exception:  # noqa: BLE001 - whatever the values do to the function, they move one result at most
            return float(self.missing)
        return found if math.isfinite(found) else float(self.missing)


def _named(function: Function) -> str:
    """A name that changes with the code of a function, as far as Python shows it."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(function, "__code__", None)
    return f"{name} {_digest(code)}" if isinstance(code, CodeType) else name


def _digest(code: CodeType) -> str:
    digest = hashlib.sha256(code.co_code)
    for constant in (*code.co_consts, *code.co_names):
        digest.update((_digest(constant) if isinstance(constant, CodeType) else repr(constant)).encode())
    return digest.hexdigest()[:12]
