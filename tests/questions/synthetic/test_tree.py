"""A tree has the strongest pairs, and its rows follow them."""

from __future__ import annotations

import numpy as np

from sitr.questions.synthetic.field import Dice
from sitr.questions.synthetic.tree import Edge, planted

SHARE = np.array([0.2, 0.3, 0.5])
SAME = np.diag(1 / SHARE)
WEAK = 0.1 * SAME + 0.9


def test_rows_follow_the_strongest_pairs() -> None:
    edges = [Edge((0, 1), WEAK), Edge((0, 2), SAME), Edge((1, 2), 0.5 * SAME + 0.5)]
    rows, kept = planted(edges, [SHARE] * 4, size=10_000, dice=Dice().uniform)
    assert set(kept) == {(0, 2), (1, 2)}
    assert (rows[0] == rows[2]).mean() > 0.98
    expected = 0.5 + 0.5 * (SHARE**2).sum()
    assert abs((rows[1] == rows[2]).mean() - expected) < 0.02
    for column in rows:  # the last has no pair and is drawn by itself
        assert np.abs(np.bincount(column, minlength=3) / 10_000 - SHARE).max() < 0.01
    assert abs((rows[3] == rows[2]).mean() - (SHARE**2).sum()) < 0.02


def test_a_value_without_a_share_is_never_drawn() -> None:
    share = np.array([0.0, 0.4, 0.6])
    rows, _ = planted([Edge((0, 1), np.ones((3, 3)))], [share, share], size=1_000, dice=Dice().uniform)
    assert rows.min() == 1
