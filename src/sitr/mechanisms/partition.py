"""Keys that are not public, shown with the largest probability that a promise allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from numbers import Integral

from flint import arb

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.approximate import LARGEST_LOSS, ApproximateDP
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import bounding
from sitr.noise.coins import Coins, system_coins
from sitr.noise.geometric import TABLES
from sitr.noise.inversion import Inversion, settle
from sitr.numbers import Number, ball, exact, float_above, inside, least_whole, natural, positive, upper, upward
from sitr.precision import precision

_TABULATED = 4096
"""The chances for up to this many people are put into a table."""


@dataclass(frozen=True, slots=True)
class PartitionSelection:
    """Show a key that n units have with the largest probability π_n that (ε, δ) permits, and not how many they are.

    π_0 = 0, and going from n − 1 to n units changes neither outcome by more than is allowed:

        π_n = min(e^ε·π_{n−1} + δ,  1 − e^{−ε}(1 − π_{n−1} − δ),  1),

        π_n = δ·(e^{nε} − 1)/(e^ε − 1)                                              for n ≤ n₁,
        1 − π_n = e^{−(n−n₁)ε}(1 − π_{n₁}) − (1 − e^{−(n−n₁)ε})·δ/(e^ε − 1), or 0   for n > n₁,

    with n₁ = 1 + ⌊ln((e^ε + 2δ − 1)/((e^ε + 1)δ))/ε⌋.      [DVG22, Sec. 2]

    Here ε and δ are for one key. Two neighbours differ in at most k = `keys` of them: as many as one unit may have, or
    twice that where a unit is replaced. All keys together promise (kε, 1 − (1 − δ)^k) [KOV15, Thm 3.3]: these are the
    fields `epsilon` and `delta`.

    >>> PartitionSelection(epsilon=1, delta=1e-6, keys=2).promise()
    ApproximateDP(epsilon=1.0, delta=1e-06)
    >>> PartitionSelection(epsilon=1, delta=1e-6).release([0, 1000, 0])
    [False, True, False]
    """

    epsilon: Number
    delta: Number
    keys: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of="PartitionSelection"))
        delta = inside(self.delta, name="delta", of="PartitionSelection", example=1e-6)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "keys", natural(self.keys, name="keys", of="PartitionSelection"))

    def promise(self) -> ApproximateDP:
        """(ε, δ), whoever shares which keys.

        What δ is for depends on the data. The loss is infinite where a key that only one unit has is shown, and where a
        key is missing that would be certain with one unit more, π_n = 1. In between it is finite and may be above ε:
        ln(π₂/π₁) = ln(e^ε + 1).
        """
        return ApproximateDP(upward(exact(self.epsilon)), upward(exact(self.delta)))

    @precision()
    def loss(self) -> Loss:
        """A bound: for each key the worst loss that its (ε, δ) allows.      [KOV15, Thm 3.3]

        The true loss depends on how many units share each key.

        >>> PartitionSelection(epsilon=1, delta=1e-6).loss().infinite_mass()
        1.00000...e-06
        """
        if exact(self.epsilon) > self.keys * exact(LARGEST_LOSS):
            return bounding(self.promise())
        _, delta = _each(exact(self.epsilon), exact(self.delta), self.keys)
        law = response(float_above(exact(self.epsilon) / self.keys), infinite=float_above(upper(delta)))
        return Loss.of(law, self.keys, bound=True)

    @precision()
    def chance(self, people: int) -> arb:
        """π_n for n people, enclosed at the working precision.

        >>> float(PartitionSelection(epsilon=1, delta=1e-6).chance(10))
        0.0128...
        """
        return _chances(self, _natural(people))[0]

    def error(self, *, confidence: Number = 0.95) -> int:
        """The least number of people with which a key is shown with at least this confidence.

        >>> PartitionSelection(epsilon=1, delta=1e-6).error()
        16
        """
        rest = 1 - inside(confidence)
        with precision(256):
            return least_whole(lambda people: bool(_chances(self, people)[1] <= ball(rest)), least=1)

    def release(self, people: Sequence[int], *, coins: Coins | None = None) -> list[bool]:
        """Whether each key is shown, given the number of people who have it.

        Publish only the keys that are shown: the length of the list is the secret number of keys.

        As π_n grows with n, there is a random number N with P(N ≤ n) = π_n. One is drawn for each key, in the same way
        whatever n is, and the key is shown if N ≤ n.
        """
        counts = [_natural(count) for count in people]
        tossed = system_coins() if coins is None else coins
        return [n >= least for n, least in zip(counts, _least(self)(len(counts), tossed), strict=True)]


def _natural(people: object) -> int:
    if isinstance(people, bool) or not isinstance(people, Integral) or people < 0:
        raise InvalidParameter(
            wanted="the number of people of each key, an integer of at least 0",
            given="something else",
            do="Count the people who have the key.",
        )
    return int(people)


def _chances(selection: PartitionSelection, people: int) -> tuple[arb, arb]:
    """π_n and 1 − π_n, at the working precision; exactly 1 and 0 beyond the last n for which a key may be hidden."""
    turn, last = _borders(exact(selection.epsilon), exact(selection.delta), selection.keys)
    if people > last:
        return arb(1), arb(0)
    step, delta = _each(exact(selection.epsilon), exact(selection.delta), selection.keys)
    growth = step.expm1()
    shown = delta * (min(people, turn) * step).expm1() / growth
    if people <= turn:
        return shown, 1 - shown
    further = (turn - people) * step
    hidden = further.exp() * (1 - shown) + further.expm1() * delta / growth
    return 1 - hidden, hidden


def _each(epsilon: Fraction, delta: Fraction, keys: int) -> tuple[arb, arb]:
    """ε/k and 1 − (1 − δ)^{1/k}: what one key may cost."""
    return ball(epsilon / keys), -((-ball(delta)).log1p() / keys).expm1()


@lru_cache(TABLES)
def _borders(epsilon: Fraction, delta: Fraction, keys: int) -> tuple[int, int]:
    """n₁, and the last n with π_n < 1: n₁ + ⌊ln(1 + (1 − π_{n₁})(e^ε − 1)/δ)/ε⌋.

    No logarithm is a whole multiple of ε, which would make e^ε, transcendental (Lindemann), a root of a polynomial with
    algebraic coefficients: so there is always a precision that decides. Only if each key has δ = ½ do all coefficients
    vanish: one person is then shown with probability ½, and two for certain.
    """
    if delta == 1 - Fraction(1, 2**keys):
        return 1, 1
    bits = 128
    while True:
        with precision(bits):
            step, each = _each(epsilon, delta, keys)
            growth = step.expm1()
            turn = ((growth + 2 * each) / ((growth + 2) * each)).log() / step
            first = turn.floor().unique_fmpz()
            if first is not None:
                n = 1 + int(first)
                shown = each * (n * step).expm1() / growth
                rest = (((1 - shown) * growth / each).log1p() / step).floor().unique_fmpz()
                if rest is not None:
                    return n, n + int(rest)
        bits *= 2


@lru_cache(TABLES)
def _least(selection: PartitionSelection) -> Callable[[int, Coins], list[int]]:
    """Draws of N: P(N ≥ i) = 1 − π_{i−1}. With too many outcomes for a table, each draw is searched with Arb."""

    def survival(i: int) -> arb:
        return _chances(selection, i - 1)[1]

    if survival(_TABULATED) == 0:
        law = Inversion(survival)
        return lambda size, coins: law.many(size, coins).tolist()

    def search(size: int, coins: Coins) -> list[int]:
        return [settle(survival, int(word), 64, coins=coins, more=64) for word in coins.words(size)]

    return search
