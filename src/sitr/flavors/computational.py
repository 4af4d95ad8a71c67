"""Computational differential privacy: another promise, against attackers with limited computing power."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, cast

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.meaning import RELATIVE
from sitr.flavors.promise import Obstacle, Promise, incompatible
from sitr.numbers import Interval

if TYPE_CHECKING:
    from sitr.loss.loss import Loss


@dataclass(frozen=True, slots=True)
class ComputationalDP(Promise):
    """No efficient attacker can tell the answers from those of a mechanism that keeps `inner`.

    That is SIM-CDP [MPRV09], and for a pure `inner` it implies ε-IND-CDP: for every efficient test A,

        P[A(answer to D) = 1] ≤ e^ε·P[A(answer to D′) = 1] + negl(κ),      [MPRV09]

    where negl falls faster than every inverse polynomial in the length κ of the keys. It is what noise from a keyed
    generator promises, if the same mechanism with truly random coins keeps `inner`: whoever could tell the answers
    apart could break the generator. Against unlimited computing power it promises nothing.

    Every promise implies its computational form, and nothing leads back. Releases with independent keys compose like
    `inner`; their negligible terms add up, and stay negligible for polynomially many releases. These terms have no
    numbers, so that no ε or δ here includes them.

    >>> from sitr.flavors.pure import PureDP
    >>> ComputationalDP(PureDP(0.5)) + ComputationalDP(PureDP(0.25))
    ComputationalDP(inner=PureDP(epsilon=0.75))
    >>> PureDP(0.5).covers(ComputationalDP(PureDP(0.5))), ComputationalDP(PureDP(0.5)).covers(PureDP(0.5))
    (True, False)
    """

    notation = "computational(promise)"
    exposes = True
    obstacle = Obstacle("It is another promise about limited attackers", "write ComputationalDP around this promise")
    closed = Obstacle(
        "It holds only against attackers with limited computing power", "report it as it is, or draw truly random noise"
    )

    inner: Promise

    def __post_init__(self) -> None:
        # A class, such as PureDP itself, has all members of a promise, but says nothing.
        if isinstance(self.inner, type | ComputationalDP) or not isinstance(self.inner, Promise):
            raise InvalidPromise(
                wanted="a promise of another flavor inside ComputationalDP",
                given=repr(self.inner),
                do="Write for example ComputationalDP(PureDP(0.5)).",
            )

    @classmethod
    def of(cls, loss: Loss, /, *, flavor: Any, **options: Any) -> ComputationalDP:
        """The tightest promise of another flavor, for limited attackers.

        >>> from sitr.flavors.pure import PureDP
        >>> from sitr.loss import laplace
        >>> ComputationalDP.of(laplace(scale=2), flavor=PureDP)
        ComputationalDP(inner=PureDP(epsilon=0.5000000...))
        """
        return cls(flavor.of(loss, **options))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The inner promise against the loss with truly random coins."""
        return self.inner.excess(loss, relative=relative)

    def kept_by(self, loss: Loss, /) -> bool:
        """Whether the loss with truly random coins keeps the inner promise, and so this one.

        A loss is about all attackers, so a "no" is about the inner promise.
        """
        return self.inner.kept_by(loss)

    def infinite_mass(self) -> float:
        """The bound of the inner promise, apart from a negligible term."""
        return self.inner.infinite_mass()

    @classmethod
    def compose(cls, parts: Iterable[ComputationalDP], /) -> ComputationalDP:
        """The inner promises compose: one generator after the other is replaced by true coins.      [MPRV09]"""
        parts = tuple(parts)
        if not parts:
            raise InvalidPromise(
                wanted="at least one computational promise, because a sum of none has no inner flavor",
                given="none",
                do="Compose nothing in a flavor of your choice, and write ComputationalDP around it.",
            )
        for part in parts:
            if type(part.inner) is not type(parts[0].inner):
                raise incompatible(parts[0].inner, part.inner)
        return cls(cast("Any", type(parts[0].inner)).compose([part.inner for part in parts]))

    def __mul__(self, times: int, /) -> ComputationalDP:
        return ComputationalDP(self.inner * times)

    def for_group(self, size: int, /) -> ComputationalDP:
        """The inner promise for the group: the mechanism that the answers resemble keeps it."""
        return ComputationalDP(self.inner.for_group(size))

    def covers(self, other: Promise, /) -> bool:
        """Nothing but another computational promise follows from this one."""
        return isinstance(other, ComputationalDP) and self.inner.covers(other.inner)

    def follows_from(self, promise: Promise, /) -> bool:
        """A promise against all attackers implies the same against some."""
        return promise.covers(self.inner)

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> ComputationalDP | None:  # noqa: ARG003
        return promise if isinstance(promise, ComputationalDP) else cls(promise)

    def coordinates(self) -> tuple[Fraction, ...]:
        """Those of the inner promise."""
        return self.inner.coordinates()

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> ComputationalDP:
        return ComputationalDP(self.inner.with_coordinates(values, up=up))

    def adds_to(self, like: Promise, /) -> bool:
        return isinstance(like, ComputationalDP) and self.inner.adds_to(like.inner)

    def written(self) -> str:
        name, _, _ = type(self.inner).notation.partition("(")
        return f"{name}({self.inner.written()})"

    def to_approximate(self, *, delta: float) -> NoReturn:
        """There is no such conversion: an unlimited attacker may break the generator."""
        raise IncompatiblePromises(
            given=f"{self!r} promises nothing against unlimited computing power, so it has no ε at δ = {delta}.",
            do="Report it as it is, or convert the inner promise and write ComputationalDP around it.",
        )
