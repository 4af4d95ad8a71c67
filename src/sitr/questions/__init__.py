"""What was asked: each kind of question turns a price into a plan, and exact integers into an answer.

The names here are the values that a question is written with. They are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.dataset.cells import Rule as Rule
    from sitr.dataset.cells import Step as Step
    from sitr.questions.aggregate.frame import column as column
    from sitr.questions.aggregate.frame import when as when
    from sitr.questions.aggregate.functions.count import count as count
    from sitr.questions.aggregate.functions.extremes import max as max
    from sitr.questions.aggregate.functions.extremes import min as min
    from sitr.questions.aggregate.functions.histogram import histogram as histogram
    from sitr.questions.aggregate.functions.quantile import median as median
    from sitr.questions.aggregate.functions.quantile import quantile as quantile
    from sitr.questions.aggregate.functions.quantile import quantiles as quantiles
    from sitr.questions.aggregate.functions.sum import sum as sum
    from sitr.questions.histogram.isotonic import Form as Form
    from sitr.questions.histogram.methods import Bins as Bins
    from sitr.questions.histogram.methods import Buckets as Buckets
    from sitr.questions.histogram.methods import Flat as Flat
    from sitr.questions.histogram.methods import Sparse as Sparse
    from sitr.questions.histogram.methods import Tree as Tree
    from sitr.questions.histogram.projection import Ties as Ties
    from sitr.questions.synthetic.plan import Method as Method

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Bins": "histogram.methods",
        "Buckets": "histogram.methods",
        "Flat": "histogram.methods",
        "Form": "histogram.isotonic",
        "Method": "synthetic.plan",
        "Rule": "sitr.dataset.cells",
        "Sparse": "histogram.methods",
        "Step": "sitr.dataset.cells",
        "Ties": "histogram.projection",
        "Tree": "histogram.methods",
        "column": "aggregate.frame",
        "count": "aggregate.functions.count",
        "histogram": "aggregate.functions.histogram",
        "max": "aggregate.functions.extremes",
        "median": "aggregate.functions.quantile",
        "min": "aggregate.functions.extremes",
        "quantile": "aggregate.functions.quantile",
        "quantiles": "aggregate.functions.quantile",
        "sum": "aggregate.functions.sum",
        "when": "aggregate.frame",
    },
)
