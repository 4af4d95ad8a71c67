"""Distrust: checks of claims, whoever makes them. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.audit import adapters as adapters
    from sitr.audit.canaries.model import Canaries as Canaries
    from sitr.audit.canaries.one_run import OneRun as OneRun
    from sitr.audit.canaries.one_run import one_run as one_run
    from sitr.audit.corpus.corpus import examine as examine
    from sitr.audit.corpus.corpus import specimens as specimens
    from sitr.audit.corpus.specimen import Specimen as Specimen
    from sitr.audit.empirical.audit import audit as audit
    from sitr.audit.empirical.boxes import Command as Command
    from sitr.audit.empirical.boxes import Endpoint as Endpoint
    from sitr.audit.empirical.boxes import Function as Function
    from sitr.audit.empirical.finding import Finding as Finding
    from sitr.audit.empirical.finding import Witness as Witness
    from sitr.audit.empirical.neighbours import neighbouring as neighbouring
    from sitr.audit.empirical.replay import Replayed as Replayed
    from sitr.audit.empirical.replay import replay as replay
    from sitr.audit.empirical.replay import replay_requests as replay_requests
    from sitr.audit.empirical.timing import Timing as Timing
    from sitr.audit.empirical.timing import timing as timing
    from sitr.audit.exact.all_but import all_but as all_but
    from sitr.audit.exact.coupled import coupled_worlds as coupled_worlds
    from sitr.audit.exact.divergent import maximally_divergent as maximally_divergent
    from sitr.audit.exact.mechanism import FiniteMechanism as FiniteMechanism
    from sitr.audit.exact.mechanism import finite as finite
    from sitr.audit.exact.population import population as population
    from sitr.audit.exact.pufferfish import pufferfish as pufferfish
    from sitr.audit.exact.report import verification as verification
    from sitr.neighbors.distance import Distance as Distance

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
        "Canaries": "canaries.model",
        "Command": "empirical.boxes",
        "Distance": "sitr.neighbors.distance",
        "Endpoint": "empirical.boxes",
        "Finding": "empirical.finding",
        "Function": "empirical.boxes",
        "OneRun": "canaries.one_run",
        "Replayed": "empirical.replay",
        "Specimen": "corpus.specimen",
        "Timing": "empirical.timing",
        "Witness": "empirical.finding",
        "adapters": "",
        "audit": "empirical.audit",
        "examine": "corpus.corpus",
        "neighbouring": "empirical.neighbours",
        "one_run": "canaries.one_run",
        "replay": "empirical.replay",
        "replay_requests": "empirical.replay",
        "specimens": "corpus.corpus",
        "timing": "empirical.timing",
        "verification": "exact.report",
    },
)
