"""Several mechanisms as one: the only place where losses are added or multiplied."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, express
from sitr.flavors.promise import count
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism, common_relation
from sitr.neighbors.relation import Relation


@dataclass(frozen=True, slots=True)
class Composed:
    """All parts on the same data, each with its own noise.

    >>> from sitr import Laplace
    >>> Composed((Laplace(scale=10), Laplace(scale=5))).promise()
    PureDP(epsilon=0.3)
    """

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))  # what can be walked through only once has no parts later
        if not self.parts:
            raise ValueError("Composed wants at least one mechanism. None was given. Put the parts into a tuple.")
        common_relation(*self.parts)

    @property
    def relation(self) -> Relation | None:
        """The neighbours that all parts protect; None if they do not say."""
        return common_relation(*self.parts)

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

    def loss(self) -> Loss:
        """The sum of independent losses.      [ZDW22, Thm 10]

        >>> from sitr import Laplace
        >>> Composed((Laplace(scale=10), Laplace(scale=5))).loss().epsilon(delta=1e-3)
        Bounds(lower=0.29..., upper=0.29...)
        """
        return Loss.compose(part.loss() for part in self.parts)


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

    @property
    def relation(self) -> Relation | None:
        """The neighbours that the mechanism protects; None if it does not say."""
        return common_relation(self.mechanism)

    def promise(self) -> Additive:
        """`times` times the promise of one."""
        return Composed((self.mechanism,)).promise() * self.times

    def loss(self) -> Loss:
        """The sum of `times` independent losses.

        >>> from sitr import Laplace
        >>> Repeated(Laplace(scale=10), 10).loss().epsilon(delta=1e-3)
        Bounds(lower=0.7..., upper=0.7...)
        """
        return self.mechanism.loss() * self.times
