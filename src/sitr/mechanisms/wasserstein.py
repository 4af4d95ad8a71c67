"""The Wasserstein mechanism: noise for how far apart the laws of an answer are, given one secret or another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from sitr.errors import InvalidParameter
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import Coins
from sitr.numbers import Number, granule, positive, upward
from sitr.sensitivity.secrets import SecretLaws


@dataclass(frozen=True, slots=True)
class Wasserstein:
    """F + noise of scale W/ε, where W is the largest W_∞ between the laws of F given two secrets.      [SWC17, Alg. 1]

    Proof on a grid: all of the law given s can be moved by at most W to make the law given s′ (`wasserstein`). Discrete
    Laplace noise makes each answer at most e^{ε·w/W} times as likely if the value moves by w ≤ W; so does the mixture.
    Values are multiples of the granularity, so nothing is rounded. W is at least one granule: there is always noise.

    The promise is Pufferfish: it protects the secrets that are named, against observers who believe one of the priors.

    >>> cases = {"none": {0: 0.2, 1: 0.225, 2: 0.5, 3: 0.075}, "one": {1: 0.075, 2: 0.5, 3: 0.225, 4: 0.2}}
    >>> mechanism = Wasserstein(SecretLaws({"contagion": cases}), epsilon=1)
    >>> mechanism.distance, mechanism.error()
    (Fraction(2, 1), 6)
    """

    secrets: SecretLaws
    epsilon: Number
    granularity: Number = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of="Wasserstein"))
        grain = granule(self.granularity, of="Wasserstein")
        object.__setattr__(self, "granularity", grain)
        if any((value / grain).denominator != 1 for value in self.secrets.values):
            raise InvalidParameter(
                wanted="values of the query that are multiples of the granularity of Wasserstein",
                given="a value between two multiples",
                do="Round the query, see sitr.mechanisms.rounded, and state the laws of the rounded values.",
            )

    @property
    def distance(self) -> Fraction:
        """W, or one granule if that is more."""
        return max(self.secrets.distance, Fraction(self.granularity))

    @property
    def noise(self) -> Laplace:
        """The noise, of scale W/ε."""
        far = self.distance
        return Laplace(far / Fraction(self.epsilon), far, self.granularity)

    def promise(self) -> Pufferfish:
        """ε for these secrets and priors. Two such promises do not add up."""
        compared = self.secrets.compared
        pairs = [*dict.fromkeys(pair for _, pair, _, _ in compared)]
        priors = [*dict.fromkeys(prior for prior, _, _, _ in compared)]
        return Pufferfish(
            upward(self.epsilon),
            Framework(_some(f"{one} or {other}" for one, other in pairs), _beliefs(priors, compared)),
        )

    def loss(self) -> None:
        """None: losses of Pufferfish promises do not add up, so no loss may stand for them."""

    def error(self, *, confidence: Number = 0.95) -> int | Fraction:
        """The noise is at most this, with at least this confidence. It is public."""
        return self.noise.error(confidence=confidence)

    def release(self, value: Any, *, coins: Coins | None = None) -> Any:
        """The value of the query with noise: an integer, or a fraction that is a multiple of the granularity."""
        return self.noise.release(value, coins=coins)


def _some(texts: Any) -> str:
    """A few texts, and how many more."""
    found = [str(text)[:60] for text in texts]
    more = f", and {len(found) - 3} more" if len(found) > 3 else ""
    return "".join(letter if letter.isprintable() else " " for letter in ", ".join(found[:3]) + more)


def _beliefs(priors: list[str], compared: object) -> str:
    return f"{_some(priors)} [{sha256(repr(compared).encode()).hexdigest()[:16]}]"
