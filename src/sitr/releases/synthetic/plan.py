"""What synthetic rows cost and how the price is divided, before any data are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.query.cost import LEAST
from sitr.releases.synthetic.axes import MOST_CELLS, joint_cells
from sitr.releases.synthetic.sheet import Sheet

FEW_CELLS = 4096
"""Up to so many cells all columns are tabulated together, unless another way is asked for."""

ALONE = Fraction(3, 10)
"""The part of the price for the tables of single columns; the rest is for the pairs."""

CHOICE = Fraction(1, 5)
"""Of that rest, the part for the choice of pairs, where there are too many to measure all of them well."""

MOST_PAIRS = 300
"""So many pairs are fitted; of more the strongest are chosen privately."""

Noise = Laplace | Gaussian


class Method(Enum):
    """How a data set is tabulated: all columns together, or each alone and in pairs."""

    JOINT = "joint"
    MARGINALS = "marginals"


@dataclass(frozen=True, slots=True)
class Budgeted:
    """A sum to spend on tables of counts, in the flavor of the noise that it buys."""

    price: PureDP | ZeroConcentratedDP
    sheet: Sheet

    def noises(self, cells: Sequence[int]) -> list[Noise]:
        """Noise for tables of so many cells, all measured once, with the least sum of sizes over all cells.

        A table of c cells with standard deviation s adds c·s. For Gaussian noise s ∝ 1/√ρ, and Σ c/√ρ is least for
        ρ ∝ c^⅔; for Laplace noise s ∝ 1/ε, and Σ c/ε is least for ε ∝ √c.
        """
        power = 0.5 if isinstance(self.price, PureDP) else 2 / 3
        weights = [math.ceil(1000 * count**power) for count in cells]
        total = sum(weights)
        return [self._noise(Fraction(weight, total)) for weight in weights]

    def part(self, fraction: Fraction) -> Budgeted:
        """Some of it."""
        return Budgeted(self.price.share(fraction), self.sheet)

    def _noise(self, share: Fraction) -> Noise:
        moved = self.sheet.distance()
        if isinstance(self.price, PureDP):
            return Laplace.fitting(self.price.share(share), sensitivity=moved.l1)
        return Gaussian.fitting(self.price.share(share), sensitivity=moved.l2)


@dataclass(frozen=True, slots=True)
class SynthesisPlan:
    """Which tables will be measured and with how much of the price; `price` is what will be charged.

    Everything but the groups of values and the chosen pairs is fixed here. Those are made from noisy tables, which were
    paid for: they cost nothing, and the parts of the price do not depend on them.
    """

    sheet: Sheet
    price: Additive
    method: Method

    @property
    def whole(self) -> Budgeted:
        """What the price buys."""
        match self.price:
            case PureDP():
                return Budgeted(self.price, self.sheet)
            case ApproximateDP(epsilon, 0.0):
                return Budgeted(PureDP(epsilon), self.sheet)
            case ApproximateDP():
                return Budgeted(ZeroConcentratedDP.fitting(self.price), self.sheet)
            case ZeroConcentratedDP():
                return Budgeted(self.price, self.sheet)

    @property
    def pairs(self) -> int:
        """Of columns."""
        return math.comb(len(self.sheet.axes), 2)

    def alone(self) -> list[Noise]:
        """For the tables of single columns, or for the one table of all."""
        if self.method is Method.JOINT:
            return self.whole.noises([joint_cells(self.sheet.axes)])
        return self.whole.part(ALONE).noises([axis.cells for axis in self.sheet.axes])

    def choosing(self) -> Budgeted | None:
        """For the choice of pairs; None where all are measured."""
        return self.whole.part((1 - ALONE) * CHOICE) if self.pairs > MOST_PAIRS else None

    def paired(self) -> Budgeted:
        """For the tables of pairs."""
        return self.whole.part((1 - ALONE) * (1 if self.pairs <= MOST_PAIRS else 1 - CHOICE))

    def errors(self) -> list[tuple[str, int, float]]:
        """Each table that is fixed in advance: its name, its cells, and the 95% error of each of its counts."""
        if self.method is Method.JOINT:
            names = [" × ".join(axis.name for axis in self.sheet.axes)]
            cells = [joint_cells(self.sheet.axes)]
        else:
            names, cells = [axis.name for axis in self.sheet.axes], [axis.cells for axis in self.sheet.axes]
        return [
            (name, count, float(noise.error())) for name, count, noise in zip(names, cells, self.alone(), strict=True)
        ]

    def pair_error(self) -> float | None:
        """The 95% error of a count of two groups of values, if all pairs had tables of equal size; None if there are
        no pairs."""
        if self.method is Method.JOINT:
            return None
        return float(self.paired().noises([1] * min(self.pairs, MOST_PAIRS))[0].error())


def plan(sheet: Sheet, price: Promise, *, method: Method | None = None) -> SynthesisPlan:
    """The plan for a price; without a `method` it is chosen by the number of cells, which is public."""
    paid = affordable(price)
    cells = joint_cells(sheet.axes)
    few = cells <= FEW_CELLS or len(sheet.axes) == 1
    chosen = method if method is not None else Method.JOINT if few else Method.MARGINALS
    if chosen is Method.JOINT and cells > MOST_CELLS:
        raise QuestionError(
            wanted=f"A table of all columns together has at most {MOST_CELLS:,} cells: each gets noise, full or empty.",
            given=f"{' × '.join(axis.name for axis in sheet.axes)} would have {cells:,}.",
            do="Choose fewer columns or wider cells, or the method of marginals.",
        )
    if chosen is Method.MARGINALS and len(sheet.axes) == 1:
        raise QuestionError(
            wanted="The method of marginals fits pairs of columns.",
            given="There is one column only.",
            do="Leave the method out: one column is one table.",
        )
    if too_long := [axis.name for axis in sheet.axes if axis.cells > MOST_CELLS]:
        raise QuestionError(
            wanted=f"A column has at most {MOST_CELLS:,} cells: each gets noise, full or empty.",
            given=f"{too_long[0]} has more.",
            do="Choose wider cells, or leave the column out.",
        )
    return SynthesisPlan(sheet, paid, chosen)


def affordable(price: Promise) -> Additive:
    """The price, if it buys synthetic rows.

    A random one does not: its γ would be paid for noise that protects everybody.
    """
    match price:
        case PureDP() if price.epsilon >= LEAST:
            return price
        case ApproximateDP() if price.epsilon >= LEAST and (price.delta == 0 or LEAST <= price.delta < 1):
            return price
        case ZeroConcentratedDP() if price.rho >= LEAST and price.xi == 0:
            return price
    raise QuestionError(
        wanted="A price that buys synthetic rows was wanted: pure(ε), zcdp(ρ) or approximate(ε, δ), δ < 1; "
        f"ε, ρ and a δ above 0 are at least {LEAST}, and there is no ξ.",
        given=f"{price!r} was given.",
        do="Pay with the promise inside it: a γ buys nothing here, for the noise protects everybody."
        if isinstance(price, RandomDP)
        else "Pay a little more: with no privacy loss there is nothing to imitate.",
    )
