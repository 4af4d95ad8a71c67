"""How far one unit can move an answer, from bounds alone or learned from the data. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.sensitivity.bahadur import estimated_dilation as estimated_dilation
    from sitr.sensitivity.chain import Chain as Chain
    from sitr.sensitivity.newcomer import random as random
    from sitr.sensitivity.pairs import Pairs as Pairs
    from sitr.sensitivity.proposed import propose_test_release as propose_test_release
    from sitr.sensitivity.ranks import mean as mean
    from sitr.sensitivity.ranks import median as median
    from sitr.sensitivity.ranks import quantile as quantile
    from sitr.sensitivity.ranks import trimmed_mean as trimmed_mean
    from sitr.sensitivity.sampler import published as published
    from sitr.sensitivity.sampler import sampled as sampled
    from sitr.sensitivity.secrets import SecretLaws as SecretLaws
    from sitr.sensitivity.secrets import wasserstein as wasserstein
    from sitr.sensitivity.series import Changes as Changes
    from sitr.sensitivity.series import OwnQuery as OwnQuery
    from sitr.sensitivity.series import StateCounts as StateCounts
    from sitr.sensitivity.series import StateShares as StateShares
    from sitr.sensitivity.series import Visits as Visits
    from sitr.sensitivity.smoothed import smooth as smooth
    from sitr.sensitivity.spread import interquartile_range as interquartile_range
    from sitr.sensitivity.spread import variance as variance

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Chain": "chain",
        "Changes": "series",
        "OwnQuery": "series",
        "Pairs": "pairs",
        "SecretLaws": "secrets",
        "StateCounts": "series",
        "StateShares": "series",
        "Visits": "series",
        "estimated_dilation": "bahadur",
        "interquartile_range": "spread",
        "mean": "ranks",
        "median": "ranks",
        "propose_test_release": "proposed",
        "published": "sampler",
        "quantile": "ranks",
        "random": "newcomer",
        "sampled": "sampler",
        "smooth": "smoothed",
        "trimmed_mean": "ranks",
        "variance": "spread",
        "wasserstein": "secrets",
    },
)
