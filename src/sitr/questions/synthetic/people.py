"""People with all their rows, drawn one row after another: each given the person and the row before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sitr.noise.coins import Coins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.draw import cells_of, from_joint, from_sample, uniform
from sitr.questions.synthetic.level import levelled
from sitr.questions.synthetic.marginals import Weights
from sitr.questions.synthetic.weighted_rows import WeightedRows

BLOCK = 4096
"""How many rows are drawn at a time."""

FEW = 20_000
"""The most rows by which laws are levelled; those of others are levelled in the same way."""

Model = WeightedRows | Weights
Known = Mapping[int, Codes]
"""Cells that are drawn already, by the place of the column among the varying ones."""

NOTHING: Known = MappingProxyType({})

Next = Callable[[Codes, Codes | None, Known], Codes]
"""The cells of a row for each row of what is given; with the smallest cells of the ordered column, if there is one."""


def drawn_people(diary: Diary, people: Model, steps: Model, count: int, *, coins: Coins) -> tuple[Codes, Codes]:
    """The rows of this many people: the number of the person of each, and its cells in the declared columns.

    People come one after another, and the rows of each in their order.
    """
    who = drawn(people, diary.people_sheet().grid.shape, count, coins=coins)
    return rows_of(diary, steps, who, who[:, 0] + 1, who[:, 1:], coins=coins)


def rows_of(
    diary: Diary,
    steps: Model | None,
    who: Codes,
    numbers: Codes,
    fixed: Codes,
    *,
    coins: Coins,
    first: Mapping[int, Codes] = NOTHING,
) -> tuple[Codes, Codes]:
    """The rows of these people, each with a number of rows and with `fixed` cells in the constant columns.

    `who` has the cells of each person that the rows are drawn from. `first` are cells in the first row of each person,
    by the place of a varying column, if these are drawn already. Without varying columns no model is needed.
    """
    following = None if steps is None else next_rows(diary, steps, coins)
    before = np.repeat(diary.absent()[None, :], len(who), axis=0)
    whose, places, rows = [], [], []
    for place in range(int(numbers.max(initial=0))):
        here = np.flatnonzero(numbers > place)
        cells = np.empty((len(here), len(diary.axes)), dtype=np.int64)
        cells[:, list(diary.constant)] = fixed[here]
        if following is not None:
            given = np.column_stack([who[here], np.full(len(here), place), before[here]])
            floor = None if diary.ordered is None or place == 0 else before[here, diary.ordered]
            known = {column: codes[here] for column, codes in first.items()} if place == 0 else NOTHING
            before[here] = now = following(given, floor, known)
            cells[:, list(diary.varying)] = now
        whose.append(here)
        places.append(np.full(len(here), place))
        rows.append(cells)
    if not rows:
        return np.empty(0, dtype=np.int64), np.empty((0, len(diary.axes)), dtype=np.int64)
    person = np.concatenate(whose)
    order = np.lexsort((np.concatenate(places), person))
    return person[order], np.concatenate(rows)[order]


def drawn(model: Model, shape: tuple[int, ...], rows: int, *, coins: Coins) -> Codes:
    """Rows of cells from a model of columns with these numbers of cells."""
    if isinstance(model, WeightedRows):
        return from_sample(model, rows, coins=coins)
    return np.column_stack(np.unravel_index(from_joint(model, rows, coins=coins), shape))


def next_rows(diary: Diary, model: Model, coins: Coins) -> Next:
    """How the row after another one is drawn from a model of steps."""
    if isinstance(model, WeightedRows):
        return partial(_from_terms, diary, model, {each.columns: each.logs for each in model.potentials}, coins)
    return partial(_from_joint, diary, model, coins)


def _from_terms(
    diary: Diary,
    model: WeightedRows,
    terms: dict[tuple[int, ...], NDArray[np.float32]],
    coins: Coins,
    given: Codes,
    floor: Codes | None,
    known: Known,
) -> Codes:
    """One column after another, each given all before it: see `sitr.questions.synthetic.following`."""
    columns, at = len(model.atoms), diary.given - len(diary.varying) - 1  # the column with the place of the row
    rows = np.empty((columns, len(given)), dtype=np.int64)
    for place in range(diary.given):
        rows[place] = model.atoms[place][given[:, place]]
    alike = model.rows[:, at] == (rows[at, 0] if len(given) else -1)
    sample, weights = model.rows[alike], model.weights[alike]
    for column in range(diary.given, columns):
        if column - diary.given in known:
            rows[column] = model.atoms[column][known[column - diary.given]]
            continue
        ordered = floor is not None and column == diary.given + (diary.ordered or 0)
        lowest = model.atoms[column][floor] if ordered else None
        toss = uniform(len(given), coins)

        def logs_of(part: slice, column: int = column, lowest: Codes | None = lowest) -> NDArray[np.float32]:
            own = rows[:, part]
            logs = np.repeat(terms[(column,)][None, :], own.shape[1], axis=0)
            for place in range(column):
                logs += terms[place, column][own[place]]
            if lowest is not None:
                logs[np.arange(logs.shape[1]) < lowest[part, None]] = -np.inf
            return logs

        more = levelled(logs_of(slice(0, FEW)), sample[:, column], weights)
        for start in range(0, len(given), BLOCK):
            part = slice(start, start + BLOCK)
            logs = logs_of(part) + more
            sums = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
            below = (sums <= (toss[part] * sums[:, -1])[:, None]).sum(axis=1)
            rows[column, part] = np.minimum(below, logs.shape[1] - 1)
    cells = (
        known[column - diary.given] if column - diary.given in known else cells_of(model, column, rows[column], coins)
        for column in range(diary.given, columns)
    )
    return np.column_stack([*cells])


def _from_joint(diary: Diary, model: Weights, coins: Coins, given: Codes, floor: Codes | None, known: Known) -> Codes:
    """From the row of the table of all columns that belongs to what is given.

    Where it is empty, from the shares of all rows.
    """
    shape = diary.steps_sheet().grid.shape
    inner = shape[diary.given :]
    table = model.reshape(int(np.prod(shape[: diary.given])), -1)
    place = np.ravel_multi_index(tuple(given.T), shape[: diary.given])
    alike = np.ravel_multi_index((place, *known.values()), (len(table), *(inner[column] for column in known)))
    _, firsts, group = np.unique(alike, return_index=True, return_inverse=True)
    now = np.empty(len(given), dtype=np.int64)
    everyone, cells = table.sum(axis=0), np.unravel_index(np.arange(table.shape[1]), inner)
    for number, one in enumerate(firsts):
        here = np.flatnonzero(group == number)
        law, allowed = table[place[one]], np.ones(table.shape[1], dtype=np.bool_)
        if floor is not None and diary.ordered is not None:
            allowed &= cells[diary.ordered] >= floor[one]
        for column, codes in known.items():
            allowed &= cells[column] == codes[one]
        if not allowed.all():
            law = np.where(allowed, law, 0.0) if law[allowed].any() else np.where(allowed, everyone + 1e-300, 0.0)
        now[here] = from_joint(law if law.any() else everyone, len(here), coins=coins)
    return np.column_stack(np.unravel_index(now, inner))
