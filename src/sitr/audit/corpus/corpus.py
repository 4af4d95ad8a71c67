"""The whole corpus, and the audit of one of its mechanisms."""

from __future__ import annotations

from dataclasses import replace

from sitr.audit.corpus.broken_choices import CHOICES
from sitr.audit.corpus.broken_data import DATA
from sitr.audit.corpus.broken_noise import NOISE
from sitr.audit.corpus.correct import CORRECT
from sitr.audit.corpus.specimen import Specimen
from sitr.audit.empirical.audit import audit
from sitr.audit.empirical.finding import Finding
from sitr.noise.coins import Coins

BROKEN: tuple[Specimen, ...] = (*NOISE, *CHOICES, *DATA)
"""Mechanisms that do not keep their claims."""

CORPUS: tuple[Specimen, ...] = (*BROKEN, *CORRECT)
"""All mechanisms, the broken ones first."""


def specimens(*, broken: bool | None = None) -> tuple[Specimen, ...]:
    """The mechanisms of the corpus: all of them, or only the `broken` or the correct ones.

    >>> len(specimens(broken=True)) >= 24
    True
    """
    return tuple(each for each in CORPUS if broken is None or each.broken is broken)


def examine(
    specimen: Specimen, *, confidence: float = 0.999, draws: int | None = None, coins: Coins | None = None
) -> Finding:
    """The audit of a mechanism of the corpus, on its own inputs."""
    subject = replace(specimen, coins=coins)
    return audit(
        subject, inputs=specimen.inputs, claim=specimen.claim, draws=draws or specimen.draws, confidence=confidence
    )
