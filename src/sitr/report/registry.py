"""A record of a budget for the OpenDP deployments registry.

The fields, their enumerations and the form of `url_slug` are those of the registry's schema in July 2026
(github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml and scripts/update_slug.py at 3e9c812).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sitr.accounting.filter import Filter
from sitr.dataset.publication import Publication
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Account, Entry
from sitr.report.words.english.registry import RegistryWords

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the registry knows."""

NEEDED = ("organisation", "purpose", "region")
"""What the registry requires and no ledger knows."""

SAY = RegistryWords()


@dataclass(frozen=True, slots=True)
class Deployment:
    """A budget with its charges, and who publishes the answers."""

    account: Account
    standing: Filter
    entries: Sequence[Entry]
    publication: Publication
    table: Table | None = None
    """What is public about the data set, where a description says it."""

    def record(self) -> dict[str, Any]:
        """The record, a draft to complete and submit; `DescriptionError` if a required field is missing."""
        _check(self.publication)
        basic, (variant, parameters) = self._basic(), _variant(self.account.promise)
        return {
            "url_slug": slug(basic["name"], basic["data_curators"], basic["publication_date"]),
            "status": "Draft",
            "tier": 2,
            "deployment": {
                "basic": basic,
                "dp_variant": {
                    "variant_name": variant,
                    "unprotected_quantities": SAY.unprotected(self.account, self.table),
                },
                "privacy_loss": {
                    "privacy_unit": SAY.unit(self.account.neighbors.startswith("person")),
                    "privacy_unit_details": SAY.adjacent(self.account, self.table),
                    **({"privacy_parameters": parameters} if parameters else {}),
                    "privacy_parameters_details": SAY.parameters(self.standing, bool(parameters)),
                },
                "deployment_model": self._model(),
                "accounting": {
                    "post_processing": SAY.post_processing(),
                    "composition": SAY.composition(self.account),
                },
                "implementation": {
                    "preprocessing_and_hyperparameter_tuning": SAY.preprocessing(self.table),
                    "mechanisms": SAY.mechanisms(sorted({entry.version for entry in self.entries})),
                },
                "administrative": {
                    "notes": " ".join((SAY.notes(self.account, self.standing), *self.publication.caveats)),
                    "registry_authors": [self.publication.contact or self.publication.organisation],
                },
            },
        }

    def _basic(self) -> dict[str, Any]:
        said, synthetic = self.publication, self._synthetic
        first = self.entries[0].at if self.entries else self.account.opened
        return {
            "name": said.title or self.account.dataset,
            "data_curators": [said.organisation],
            "description": SAY.description(self.entries, synthetic),
            "intended_use": said.purpose,
            "data_product_type": "Synthetic data" if synthetic else "Summary statistics",
            "data_product_region": said.region,
            "publication_date": (said.date or first.date()).isoformat(),
            **({"data_product_sector": said.sector} if said.sector else {}),
        }

    def _model(self) -> dict[str, Any]:
        many = len(self.entries) > 1
        return {
            "model_name": "Central",
            "model_name_details": SAY.model(),
            "release_type": "Many releases" if many else "One release",
            "release_type_details": SAY.many(capped=not self.account.promise.uncapped),
            "data_source_type": "Static",
            "data_source_type_details": SAY.static(),
            "access_type": "Interactive" if many else "Non-interactive",
            "access_type_details": SAY.access(),
        }

    @property
    def _synthetic(self) -> bool:
        return bool(self.entries) and all(entry.question.startswith("SYNTHESIZE ") for entry in self.entries)


def slug(name: str, curators: Sequence[str], date: str) -> str:
    """The stable address of a record, as the registry makes it.

    >>> slug("Visits by ward", ["City Hospital"], "2026-03-01")
    'visits-by-ward-city-hospital-2026'
    """
    parts = (name, "-".join(curators), date.partition("-")[0])
    return "-".join(re.sub(r"[\W_]+", "-", part.lower()) for part in parts)


def _check(said: Publication) -> None:
    if missing := [name for name in NEEDED if not getattr(said, name)]:
        raise DescriptionError(
            wanted=f"{', '.join(NEEDED)}, which the registry requires",
            given=f"nothing for {', '.join(missing)}",
            do=f"Write {', '.join(f'--{name}' for name in missing)}, or put them under publication in the description.",
        )
    if said.sector and said.sector not in SECTORS:
        raise DescriptionError(
            wanted=f"one of the sectors that the registry knows ({', '.join(SECTORS)})",
            given=repr(said.sector),
            do="Choose one of those, or leave it out.",
        )


def _variant(promise: Kept) -> tuple[str, dict[str, float]]:
    """The variant and its parameters; none for a promise with a γ or ξ, which the registry has no fields for.

    A budget without a cap has no parameters either: what it promises grows with every release.
    """
    if promise.uncapped:
        return "Custom", {}
    match promise:
        case PureDP(epsilon):
            return "Pure DP", {"epsilon": epsilon}
        case ApproximateDP(epsilon, delta):
            return "Approximate DP", {"epsilon": epsilon, "delta": delta}
        case ZeroConcentratedDP(rho, xi=0.0):
            return "Zero-concentrated DP", {"rho": rho}
    return "Custom", {}
