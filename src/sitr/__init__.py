"""Sitr (ستر, "veil"): statistics from sensitive data, with a proof of what each release cost.

The everyday names are here; all others are in the parts, such as `sitr.flavors`, `sitr.mechanisms` and `sitr.noise`.
Names are loaded when first used, so that `import sitr` and the command line start at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr import accounting as accounting
    from sitr import audit as audit
    from sitr import errors as errors
    from sitr import flavors as flavors
    from sitr import interop as interop
    from sitr import learn as learn
    from sitr import ledger as ledger
    from sitr import loss as loss
    from sitr import mechanisms as mechanisms
    from sitr import noise as noise
    from sitr import questions as questions
    from sitr import sensitivity as sensitivity
    from sitr.accounting.calibrate import calibrate as calibrate
    from sitr.accounting.compare import compare as compare
    from sitr.accounting.schedule_file import read_schedule as read_schedule
    from sitr.accounting.training import Training as Training
    from sitr.client.connect import connect as connect
    from sitr.errors import SitrError as SitrError
    from sitr.flavors.approximate import ApproximateDP as ApproximateDP
    from sitr.flavors.approximate_zero_concentrated import (
        ApproximateZeroConcentratedDP as ApproximateZeroConcentratedDP,
    )
    from sitr.flavors.concentrated import ConcentratedDP as ConcentratedDP
    from sitr.flavors.gaussian import GaussianDP as GaussianDP
    from sitr.flavors.profile import PrivacyProfile as PrivacyProfile
    from sitr.flavors.pure import PureDP as PureDP
    from sitr.flavors.random import RandomDP as RandomDP
    from sitr.flavors.renyi import RenyiDP as RenyiDP
    from sitr.flavors.zero_concentrated import ZeroConcentratedDP as ZeroConcentratedDP
    from sitr.mechanisms.composed import Composed as Composed
    from sitr.mechanisms.composed import Repeated as Repeated
    from sitr.mechanisms.gaussian import Gaussian as Gaussian
    from sitr.mechanisms.laplace import Laplace as Laplace
    from sitr.mechanisms.subsampled import Subsampled as Subsampled
    from sitr.neighbors.relation import Relation as Relation
    from sitr.neighbors.unit import Row as Row
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
    from sitr.session.dataset import open as open
    from sitr.session.dataset import protect as protect
    from sitr.session.several import load_together as load_together
    from sitr.session.several import synthesize_together as synthesize_together
    from sitr.session.synthetic import load as load

_HOMES = {
    "ApproximateDP": "flavors.approximate",
    "ApproximateZeroConcentratedDP": "flavors.approximate_zero_concentrated",
    "Composed": "mechanisms.composed",
    "ConcentratedDP": "flavors.concentrated",
    "Gaussian": "mechanisms.gaussian",
    "GaussianDP": "flavors.gaussian",
    "Laplace": "mechanisms.laplace",
    "PrivacyProfile": "flavors.profile",
    "PureDP": "flavors.pure",
    "RandomDP": "flavors.random",
    "Relation": "neighbors.relation",
    "RenyiDP": "flavors.renyi",
    "Repeated": "mechanisms.composed",
    "Row": "neighbors.unit",
    "SitrError": "errors",
    "Subsampled": "mechanisms.subsampled",
    "Training": "accounting.training",
    "ZeroConcentratedDP": "flavors.zero_concentrated",
    "accounting": "",
    "audit": "",
    "calibrate": "accounting.calibrate",
    "column": "questions.aggregate.frame",
    "compare": "accounting.compare",
    "connect": "client.connect",
    "correlation": "questions.aggregate.functions.covariance",
    "count": "questions.aggregate.functions.count",
    "count_if": "questions.aggregate.functions.count_if",
    "covariance": "questions.aggregate.functions.covariance",
    "errors": "",
    "flavors": "",
    "histogram": "questions.aggregate.functions.histogram",
    "interop": "",
    "learn": "",
    "ledger": "",
    "load": "session.synthetic",
    "load_together": "session.several",
    "loss": "",
    "max": "questions.aggregate.functions.extremes",
    "mean": "questions.aggregate.functions.mean",
    "mechanisms": "",
    "median": "questions.aggregate.functions.quantile",
    "min": "questions.aggregate.functions.extremes",
    "noise": "",
    "open": "session.dataset",
    "protect": "session.dataset",
    "quantile": "questions.aggregate.functions.quantile",
    "quantiles": "questions.aggregate.functions.quantile",
    "questions": "",
    "read_schedule": "accounting.schedule_file",
    "sensitivity": "",
    "standard_deviation": "questions.aggregate.functions.variance",
    "sum": "questions.aggregate.functions.sum",
    "synthesize_together": "session.several",
    "variance": "questions.aggregate.functions.variance",
    "when": "questions.aggregate.frame",
}
_PROTECT = 'sitr.protect("visits.parquet", unit="patient_id", max_groups=2, max_rows_per_group=3)'
_HABITS = {
    **dict.fromkeys(("col", "Column", "field"), 'sitr.column("cost")'),
    **dict.fromkeys(("avg", "average"), 'sitr.mean("cost")'),
    **dict.fromkeys(("std", "stddev"), 'sitr.standard_deviation("cost")'),
    **dict.fromkeys(("n_unique", "nunique", "count_distinct"), 'sitr.count(distinct="patient_id")'),
    **dict.fromkeys(("len", "size"), "sitr.count()"),
    **dict.fromkeys(("read_csv", "scan_csv", "read_parquet", "scan_parquet", "from_pandas", "from_arrow"), _PROTECT),
    **dict.fromkeys(("DataFrame", "LazyFrame", "from_polars", "from_native", "Dataset"), _PROTECT),
    "corr": 'sitr.correlation("days", "cost")',
    "cov": 'sitr.covariance("days", "cost")',
    "lit": 'sitr.column("cost") / 100',
    "var": 'sitr.variance("cost")',
}
"""What to write instead of names of other libraries."""
__getattr__, __dir__, _ = lazily(__name__, _HOMES, habits=_HABITS)

# For `from sitr import *`: without the parts, names that would hide those of Python or of databases, and rarer ones.
_APART = ("connect", "load_together", "max", "min", "open", "sum", "synthesize_together")
__all__ = [name for name, home in _HOMES.items() if home and name not in _APART]
