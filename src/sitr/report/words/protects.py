"""Whom a promise protects."""

from __future__ import annotations

from typing import Protocol

from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Unit


class Protects(Protocol):
    """Says who is protected, and how two neighbouring tables differ."""

    @property
    def unit(self) -> Unit: ...

    @property
    def relation(self) -> Relation: ...
