"""From exact cells to a release: fill the known keys, or show those that pass the threshold; add the noise."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from sitr.dataset.schema import Key
from sitr.noise.coins import Coins, Keystream
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.fit import Plan
from sitr.questions.aggregate.release import Release


def release(plan: Plan, cells: Cells, *, coins: Coins) -> Release:
    """The only place where exact integers meet noise."""
    keys = _shown(plan, cells, coins)
    absent = (0,) * len(plan.columns)
    columns = [
        column.noise.release([cells.get(key, absent)[place] for key in keys], coins=coins)
        for place, column in enumerate(plan.columns)
    ]
    # Only the keystream itself counts as private: other coins may claim what they like.
    return Release(plan, keys, tuple(zip(*columns, strict=True)), type(coins) is Keystream)


def _shown(plan: Plan, cells: Cells, coins: Coins) -> tuple[tuple[Key, ...], ...]:
    """All known keys, present or not, as they were described; of unknown ones those above the threshold, sorted."""
    if plan.threshold is None:
        return tuple(product(*(key.keys for key in plan.query.keys if key.keys is not None)))
    candidates = in_order(cells)
    noisy = plan.threshold.release([cells[key][-1] for key in candidates], coins=coins)
    return tuple(key for key, people in zip(candidates, noisy, strict=True) if people is not None)


def in_order(keys: Iterable[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """Sorted by value."""
    return sorted(keys, key=_order)


def _order(key: tuple[Key, ...]) -> tuple[tuple[bool, str | int], ...]:
    """By value, NULL last: an order that says nothing about where the rows stood. Dates sort by their ordinal."""
    parts = []
    for part in key:
        value = part if isinstance(part, str | int) else 0 if part is None else part.toordinal()
        parts.append((part is None, "" if part is None else value))
    return tuple(parts)
