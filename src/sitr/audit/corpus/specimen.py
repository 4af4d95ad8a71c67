"""A mechanism with its claim, two neighbouring inputs, and what is wrong with it, if anything is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.sample import Sample
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins, system_coins

if TYPE_CHECKING:
    pass

Answers = "NDArray[Any]"
Draw = Callable[[Any, int, Coins], Any]
"""Many answers to one input, from coins: an array with one row for each."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """A mechanism of the corpus; it is also a black box."""

    name: str
    claim: Promise
    why: str
    """What it does, and why its claim is wrong or right."""
    source: str
    """Where the flaw or the mechanism is described, such as "[LSL17, Fig. 1]"."""
    inputs: tuple[Any, Any]
    """Two neighbouring inputs that tell."""
    answers: Draw
    broken: bool = True
    draws: int = 400_000
    """Draws on both inputs together with which the flaw is found, at 99.9% confidence."""
    coins: Coins | None = None
    """The private coins of the thread, unless a test gives its own."""

    def draw(self, data: Any, size: int, /) -> Sample:
        """This many answers."""
        return Sample.of(self.answers(data, size, system_coins() if self.coins is None else self.coins))
