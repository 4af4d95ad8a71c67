"""How good synthetic rows are, as an answer: with its figures, what it cost, and where it stands in the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.flavors.promise import Promise
from sitr.questions.synthetic.quality import Figure, Quality
from sitr.report import synthetic as report
from sitr.report import text as terminal


@dataclass(frozen=True, slots=True, repr=False)
class QualityAnswer:
    """Figures about synthetic rows, beside a public table for free or beside the data for a price.

    `receipt` is None where nothing was charged.
    """

    quality: Quality
    receipt: report.Receipt | None = None

    @property
    def single(self) -> tuple[Figure, ...]:
        """Σ |p − q| of every column."""
        return self.quality.single

    @property
    def pairs(self) -> tuple[Figure, ...]:
        """Σ |p − q| of every pair of columns."""
        return self.quality.pairs

    @property
    def ranges(self) -> tuple[Figure, ...]:
        """The worst error of any range, of every ordered column."""
        return self.quality.ranges

    @property
    def correlations(self) -> tuple[Figure, ...]:
        """The error of every correlation, synthetic less true."""
        return self.quality.correlations

    @property
    def scores(self) -> tuple[float, float] | None:
        """The accuracy of a model trained on synthetic rows, and of one trained on real ones, if a target was given."""
        return self.quality.scores

    @property
    def mean_single(self) -> float:
        """Over all columns."""
        return self.quality.mean_single

    @property
    def mean_pairs(self) -> float:
        """Over all pairs."""
        return self.quality.mean_pairs

    @property
    def promise(self) -> Promise | None:
        """What was spent; None for a comparison with a public table."""
        return self.quality.paid

    @property
    def private(self) -> bool:
        """False only if test coins made the noise of the figures or of the rows."""
        return self.quality.private

    def to_dict(self) -> dict[str, object]:
        """Everything, for machines."""
        return report.quality_dict(self.quality, self.receipt)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.quality(self.quality, self.receipt))
