"""Axes of synthetic rows, in fewer words."""

from __future__ import annotations

from fractions import Fraction

from sitr.dataset.cells import Categories, Granular, Rule
from sitr.dataset.schema import Column, Key, Kind


def granular(
    name: str, kind: Kind, lower: int, upper: int, granularity: Fraction, bins: int, *, nulls: bool = False
) -> Granular:
    """A column in bins of granules, with or without a cell for NULL."""
    return Granular(Column(name, kind), lower, upper, granularity, bins, Rule.CELL if nulls else Rule.DROP)


def keyed(name: str, kind: Kind, *, keys: tuple[Key, ...] = (), nulls: bool = False) -> Categories:
    """A column of public keys, with or without a cell for NULL and for other keys."""
    return Categories(Column(name, kind), keys, Rule.MISSING, Rule.CELL if nulls else Rule.DROP)
