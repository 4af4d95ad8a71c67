"""The terms of a triple are those of its table, whichever of its columns is drawn."""

from __future__ import annotations

import numpy as np

from sitr.questions.synthetic.beside import Beside


def test_terms_are_those_of_the_table() -> None:
    dice = np.random.default_rng(1)
    columns, atoms, shape = (0, 2, 3), (5, 4, 6), (3, 2, 4)
    maps = [np.resize(np.arange(groups), count) for groups, count in zip(shape, atoms, strict=True)]
    factors = dice.normal(size=shape)
    rows = np.vstack([dice.integers(0, count, 20) for count in (5, 3, 4, 6)])
    for axis, column in enumerate(columns):
        found = Beside.of(columns, maps, factors, axis).of_rows(rows)
        assert found.shape == (20, atoms[axis])
        for row in range(20):
            for atom in range(atoms[axis]):
                here = rows[:, row].copy()
                here[column] = atom
                place = tuple(each[here[at]] for at, each in zip(columns, maps, strict=True))
                assert found[row, atom] == np.float32(-factors[place])
