"""What was asked: each kind of question turns a price into a plan, and exact integers into an answer.

The names here are the values that a question is written with. They are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.dataset.cells import Rule as Rule
    from sitr.dataset.cells import Scale as Scale
    from sitr.dataset.cells import Step as Step
    from sitr.questions.aggregate.frame import column as column
    from sitr.questions.aggregate.frame import when as when
    from sitr.questions.aggregate.functions.count import count as count
    from sitr.questions.aggregate.functions.count_if import count_if as count_if
    from sitr.questions.aggregate.functions.covariance import correlation as correlation
    from sitr.questions.aggregate.functions.covariance import covariance as covariance
    from sitr.questions.aggregate.functions.extremes import max as max
    from sitr.questions.aggregate.functions.extremes import min as min
    from sitr.questions.aggregate.functions.histogram import histogram as histogram
    from sitr.questions.aggregate.functions.mean import mean as mean
    from sitr.questions.aggregate.functions.quantile import median as median
    from sitr.questions.aggregate.functions.quantile import quantile as quantile
    from sitr.questions.aggregate.functions.quantile import quantiles as quantiles
    from sitr.questions.aggregate.functions.sum import sum as sum
    from sitr.questions.aggregate.functions.variance import standard_deviation as standard_deviation
    from sitr.questions.aggregate.functions.variance import variance as variance
    from sitr.questions.histogram.isotonic import Form as Form
    from sitr.questions.histogram.methods import Bins as Bins
    from sitr.questions.histogram.methods import Buckets as Buckets
    from sitr.questions.histogram.methods import Flat as Flat
    from sitr.questions.histogram.methods import Prefixes as Prefixes
    from sitr.questions.histogram.methods import Ranges as Ranges
    from sitr.questions.histogram.methods import Sparse as Sparse
    from sitr.questions.histogram.methods import Tree as Tree
    from sitr.questions.histogram.projection import Ties as Ties
    from sitr.questions.synthetic.plan import Method as Method
    from sitr.questions.tables.plan import TablesObjective as TablesObjective
    from sitr.questions.tables.quality import QualityRule as QualityRule

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Bins": "histogram.methods",
        "Buckets": "histogram.methods",
        "Flat": "histogram.methods",
        "Form": "histogram.isotonic",
        "Method": "synthetic.plan",
        "TablesObjective": "tables.plan",
        "Prefixes": "histogram.methods",
        "QualityRule": "tables.quality",
        "Ranges": "histogram.methods",
        "Rule": "sitr.dataset.cells",
        "Scale": "sitr.dataset.cells",
        "Sparse": "histogram.methods",
        "Step": "sitr.dataset.cells",
        "Ties": "histogram.projection",
        "Tree": "histogram.methods",
        "column": "aggregate.frame",
        "correlation": "aggregate.functions.covariance",
        "count": "aggregate.functions.count",
        "count_if": "aggregate.functions.count_if",
        "covariance": "aggregate.functions.covariance",
        "histogram": "aggregate.functions.histogram",
        "max": "aggregate.functions.extremes",
        "mean": "aggregate.functions.mean",
        "median": "aggregate.functions.quantile",
        "min": "aggregate.functions.extremes",
        "quantile": "aggregate.functions.quantile",
        "quantiles": "aggregate.functions.quantile",
        "standard_deviation": "aggregate.functions.variance",
        "sum": "aggregate.functions.sum",
        "variance": "aggregate.functions.variance",
        "when": "aggregate.frame",
    },
)
