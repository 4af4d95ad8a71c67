"""Quality marks, as statistical offices use them: from noisy numbers and public noise, so they cost nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.questions.tables.measures import Measure, MeasureKind
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.workload import Node, Reals

WITHHELD = "X"
"""The mark of a number that is too uncertain to publish."""


@dataclass(frozen=True, slots=True)
class QualityRule:
    """A public rule: the mark of a number follows from its coefficient of variation, the deviation of its noise
    divided by the number itself. It is A up to `good`, B up to `fair`, C up to `poor`, and X beyond, which means too
    uncertain to publish.

    A number of rows or people whose 95% interval lies below `small` is noted as small.
    """

    good: float = 0.05
    fair: float = 0.15
    poor: float = 0.35
    small: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.good <= self.fair <= self.poor or self.small < 0:
            raise InvalidParameter(
                wanted="0 < good ≤ fair ≤ poor and small ≥ 0",
                given=repr(self),
                do="Write for example QualityRule(good=0.05, fair=0.15, poor=0.35, small=10).",
            )

    def mark(self, variation: Reals) -> NDArray[np.str_]:
        """The letters of these coefficients of variation.

        >>> QualityRule().mark(np.array([0.01, 0.1, 0.3, 0.4, np.inf])).tolist()
        ['A', 'B', 'C', 'X', 'X']
        """
        limits = [variation <= self.good, variation <= self.fair, variation <= self.poor]
        return np.select(limits, ["A", "B", "C"], default=WITHHELD)


def variation(publication: PublishedTables, measure: Measure, node: Node) -> Reals:
    """The coefficient of variation of every cell; infinite where the noisy number is 0, or a count is negative.

    Of a mean, whose noise depends on its size, the half-width of the 95% interval stands for 1.96 deviations.
    """
    cells = publication.cells(measure, node)
    if measure.adds_up:
        spread = publication.deviations(measure, node)
    else:
        low, high = publication.ends(measure, node, confidence=0.95)
        spread = (high - low) / (2 * 1.96)
    counts = measure.kind in (MeasureKind.COUNT, MeasureKind.PEOPLE)
    size = np.where(np.isnan(cells) | (counts & (cells < 0)), 0.0, np.abs(cells))
    with np.errstate(divide="ignore"):
        return np.where(size > 0, spread / np.where(size > 0, size, 1.0), np.inf)


def small(publication: PublishedTables, measure: Measure, node: Node, rule: QualityRule) -> NDArray[np.bool_]:
    """Which numbers of rows or people are small, by the upper ends of their 95% intervals."""
    if measure.kind not in (MeasureKind.COUNT, MeasureKind.PEOPLE):
        return np.zeros(publication.plan.workload.shape(node), np.bool_)
    return np.asarray(publication.ends(measure, node, confidence=0.95)[1] < rule.small)
