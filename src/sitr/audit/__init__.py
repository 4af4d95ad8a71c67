"""Distrust, built in: what a mechanism given as a table of probabilities promises. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.audit.exact.all_but import all_but as all_but
    from sitr.audit.exact.coupled import coupled_worlds as coupled_worlds
    from sitr.audit.exact.divergent import maximally_divergent as maximally_divergent
    from sitr.audit.exact.mechanism import FiniteMechanism as FiniteMechanism
    from sitr.audit.exact.mechanism import finite as finite
    from sitr.audit.exact.population import population as population
    from sitr.audit.exact.pufferfish import pufferfish as pufferfish
    from sitr.audit.exact.report import verification as verification

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "FiniteMechanism": "exact.mechanism",
        "all_but": "exact.all_but",
        "coupled_worlds": "exact.coupled",
        "finite": "exact.mechanism",
        "maximally_divergent": "exact.divergent",
        "population": "exact.population",
        "pufferfish": "exact.pufferfish",
        "verification": "exact.report",
    },
)
