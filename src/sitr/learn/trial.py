"""Train on synthetic rows, test on real ones: how much accuracy a model loses."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import shuffle

from sitr.errors import QuestionError, suggestion
from sitr.questions.synthetic.axes import Codes

SEED = 0
"""The seed of the split and of the forests. The hold-out is public, so nothing here needs to be secret."""


def check_trial(names: list[str], holdout: Codes, *, target: str) -> None:
    """Refuse a target or a hold-out that allows no trial, before any synthetic rows are paid for."""
    if target not in names or len(names) < 2:
        raise QuestionError(
            wanted=f"a target among the imitated columns {', '.join(names)}, and at least one other column",
            given=repr(target),
            do=suggestion(target, names) if len(names) > 1 else "Imitate more columns.",
        )
    if len(holdout) < 2:
        raise QuestionError(
            wanted="a hold-out of at least two rows, half to train a model and half to test it",
            given="fewer rows",
            do="Use a larger public table, or leave the target out.",
        )


def scores(names: list[str], synthetic: Codes, holdout: Codes, *, target: str) -> tuple[float, float]:
    """The accuracy on a public hold-out after training on synthetic rows, and after training on real ones.

    Half of the hold-out tests; the other half trains the model to compare with. Rows are cell numbers, in columns of
    these names.
    """
    check_trial(names, holdout, target=target)
    place = names.index(target)
    trained, tested = halves(holdout, place)

    def score(rows: Codes) -> float:
        forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=SEED)
        forest.fit(np.delete(rows, place, axis=1), rows[:, place])
        return float(forest.score(np.delete(tested, place, axis=1), tested[:, place]))

    return score(synthetic), score(trained)


def propensity(synthetic: Codes, holdout: Codes) -> float:
    """How often a classifier tells synthetic rows from those of the hold-out: 0.5 if it can only guess.

    As many rows are taken of both. Half of them train the classifier and the other half tries it.
    """
    number = min(len(synthetic), len(holdout))
    ours, theirs = (shuffle(rows, random_state=SEED)[:number] for rows in (synthetic, holdout))
    both = np.column_stack([np.concatenate([ours, theirs]), np.repeat([0, 1], number)])
    trained, tested = halves(both, both.shape[1] - 1)
    if not len(tested):
        return 0.5
    forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=SEED)
    forest.fit(trained[:, :-1], trained[:, -1])
    return float(forest.score(tested[:, :-1], tested[:, -1]))


def halves(rows: Codes, place: int) -> tuple[Codes, Codes]:
    """Two halves, each with the same number of rows of every value of one column, up to one row.

    The rows are shuffled by a fixed seed, sorted by that column, and dealt out in turn. So the order of the file does
    not matter: a sorted or an alternating file gives the same kind of halves as a shuffled one.
    """
    mixed: Codes = rows[shuffle(np.arange(len(rows)), random_state=SEED)]
    dealt = mixed[np.argsort(mixed[:, place], kind="stable")]
    return dealt[::2], dealt[1::2]
