"""Derived columns, tried on made-up rows before anything is spent: a rule that does not fit its column is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa

from sitr.backends.derivation import with_derived
from sitr.dataset.cells import Drawable, size
from sitr.errors import DescriptionError, NotPrivate
from sitr.noise.coins import Coins, TestCoins
from sitr.questions.synthetic.arrange import drawn_columns
from sitr.questions.synthetic.structure import Derived, Structure

TRIED = 4096
"""The number of made-up rows. Each column has its first and last cells, NULL, and cells at random."""


CORRECT = "Correct the rule, or the description of the column; nothing was spent."


def check_derived(structure: Structure, axes: tuple[Drawable, ...], schema: pa.Schema) -> None:
    """Refuse a derived column whose values do not fit its type or its public bounds and keys, on rows of any cells.

    The rows are made from the public cells alone, so nothing is read and nothing depends on the data.
    """
    if not structure.derived:
        return
    coins = _fixed()
    codes = np.column_stack([_cells(axis, coins) for axis in axes])
    if (possible := structure.possible(axes)) is not None:
        codes = codes[possible.holds(codes)] if possible.holds(codes).any() else possible.example()
    fields = [schema.field(axis.column.name) for axis in axes]
    arrays = drawn_columns(axes, codes, [each.type for each in fields], possible, coins=coins)
    rows, done = pa.Table.from_arrays(arrays, schema=pa.schema(fields)), pa.schema(fields)
    for each in structure.derived:
        done = done.append(schema.field(each.column.name).with_nullable(True))
        try:
            rows = with_derived(rows, (each,), done)
        except (pa.ArrowException, ValueError, OverflowError):
            name, kind = each.column.name, done.field(each.column.name).type
            raise DescriptionError(
                given=f"The rule for the derived column {name!r} has values that do not fit its type, {kind}.",
                do=CORRECT,
            ) from None
        _check_values(each, set(rows[each.column.name].to_pylist()) - {None})


def _check_values(derived: Derived, values: set[Any]) -> None:
    column, name = derived.column, derived.column.name
    if column.keys is not None and (other := sorted(map(str, values - set(column.keys)))):
        raise DescriptionError(
            given=f"The rule for the derived column {name!r} can give {other[0]!r}, which is not one of its keys.",
            do=CORRECT,
        )
    if column.quantised is not None:
        low, high = column.quantised.ends
        if beyond := sorted(value for value in values if not low <= value <= high):
            raise DescriptionError(
                given=f"The rule for the derived column {name!r} can give {beyond[0]!r}, which is beyond its bounds.",
                do=CORRECT,
            )


def _cells(axis: Drawable, coins: Coins) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    count = size(axis)
    found = (coins.words(TRIED) % np.uint64(count)).astype(np.int64)
    found[: TRIED // 8] = np.arange(TRIED // 8) % 2 * (max(axis.ordinary, 1) - 1)
    return found[np.argsort(coins.words(TRIED))]


def _fixed() -> Coins:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        return TestCoins(1)
