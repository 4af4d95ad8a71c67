"""How far one unit can move an answer: from bounds alone, or learned from the data."""

from sitr.sensitivity.newcomer import random
from sitr.sensitivity.pairs import Pairs
from sitr.sensitivity.proposed import propose_test_release
from sitr.sensitivity.ranks import mean, median, quantile, trimmed_mean
from sitr.sensitivity.sampler import published, sampled
from sitr.sensitivity.smooth import smooth
from sitr.sensitivity.spread import interquartile_range, variance

__all__ = [
    "Pairs",
    "interquartile_range",
    "mean",
    "median",
    "propose_test_release",
    "published",
    "quantile",
    "random",
    "sampled",
    "smooth",
    "trimmed_mean",
    "variance",
]
