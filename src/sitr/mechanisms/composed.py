"""Several mechanisms as one: the only place where losses are added or multiplied."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, express
from sitr.flavors.promise import count
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Composed:
    """All parts on the same data, each with its own noise.

    >>> from sitr import Laplace
    >>> Composed((Laplace(scale=10), Laplace(scale=5))).promise()
    PureDP(epsilon=0.3)
    """

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("Composed wants at least one mechanism. None was given. Put the parts into a tuple.")

    def promise(self) -> Additive:
        """The sum in the strongest flavor that all parts imply."""
        promises = [part.promise() for part in self.parts]
        for flavor in (PureDP, ZeroConcentratedDP, ApproximateDP):
            try:
                expressed = [express(promise, flavor) for promise in promises]
            except IncompatiblePromises as error:
                reason = error
            else:
                return flavor.compose(expressed)  # type: ignore[arg-type]
        raise reason


@dataclass(frozen=True, slots=True)
class Repeated:
    """One mechanism, a number of times on the same data, each with fresh noise.

    >>> from sitr import Laplace
    >>> Repeated(Laplace(scale=10), 10).promise()
    PureDP(epsilon=1.0)
    """

    mechanism: Mechanism
    times: int

    def __post_init__(self) -> None:
        count(self.times, what="The number of releases")

    def promise(self) -> Additive:
        """`times` times the promise of one."""
        return Composed((self.mechanism,)).promise() * self.times
