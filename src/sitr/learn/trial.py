"""Train on synthetic rows, test on real ones: how much accuracy a model loses."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import shuffle

from sitr.errors import QuestionError, suggestion
from sitr.questions.synthetic.axes import Codes

SEED = 0
"""The seed of the split and of the forests. The hold-out is public, so nothing here needs to be secret."""


def check_trial(names: list[str], holdout: Codes, *, target: str, whose: Codes | None = None) -> None:
    """Refuse a target or a hold-out that allows no trial, before any synthetic rows are paid for.

    `whose` is the person of each row, if rows of a person belong together.
    """
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
    if whose is not None and len(np.unique(whose)) < 2:
        raise QuestionError(
            wanted="a hold-out of at least two people, half to train a model and half to test it",
            given="one person",
            do="Use a larger public table, or leave the target out.",
        )


def scores(
    names: list[str], synthetic: Codes, holdout: Codes, *, target: str, whose: Codes | None = None
) -> tuple[float, float]:
    """The accuracy on a public hold-out after training on synthetic rows, and after training on real ones.

    Half of the hold-out tests; the other half trains the model to compare with. Rows are cell numbers, in columns of
    these names. `whose` is the person of each row of the hold-out, if rows of a person belong together: see `halves`.
    """
    check_trial(names, holdout, target=target, whose=whose)
    place = names.index(target)
    trained, tested = halves(holdout, place, whose=whose)

    def score(rows: Codes) -> float:
        forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=SEED)
        forest.fit(np.delete(rows, place, axis=1), rows[:, place])
        return float(forest.score(np.delete(tested, place, axis=1), tested[:, place]))

    return score(synthetic), score(trained)


def propensity(synthetic: Codes, holdout: Codes, *, whose: tuple[Codes, Codes] | None = None) -> float:
    """How often a classifier tells synthetic rows from those of the hold-out: 0.5 if it can only guess.

    As many rows are taken of both. Half of them train the classifier and the other half tries it. Rows of both kinds
    count equally, also where one half has more of them. `whose` are the people of both, if rows belong together.
    """
    number = min(len(synthetic), len(holdout))
    owners = whose or (np.arange(len(synthetic)), np.arange(len(holdout)))
    taken = [_mixed(own)[:number] for own in owners]
    rows = np.concatenate([each[place] for each, place in zip((synthetic, holdout), taken, strict=True)])
    owner = np.concatenate([2 * own[place] + kind for kind, (own, place) in enumerate(zip(owners, taken, strict=True))])
    both = np.column_stack([rows, np.repeat([0, 1], number)])
    trained, tested = halves(both, both.shape[1] - 1, whose=owner)
    if len(np.unique(tested[:, -1])) < 2:
        return 0.5
    forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=SEED)
    forest.fit(trained[:, :-1], trained[:, -1])
    told = forest.predict(tested[:, :-1]) == tested[:, -1]
    return float(np.mean([told[tested[:, -1] == kind].mean() for kind in (0, 1)]))


def halves(rows: Codes, place: int, *, whose: Codes | None = None) -> tuple[Codes, Codes]:
    """Two halves, each with the same number of rows of every value of one column, up to one row.

    The rows are shuffled by a fixed seed, sorted by that column, and dealt out in turn. So the order of the file does
    not matter: a sorted or an alternating file gives the same kind of halves as a shuffled one.

    With the person of each row, people are dealt out, by the value of their first row, and nobody is in both halves: a
    model that recognised people would otherwise be tried on those that it knows.
    """
    owner = np.arange(len(rows)) if whose is None else whose
    _, firsts, person = np.unique(owner, return_index=True, return_inverse=True)
    mixed = shuffle(np.arange(len(firsts)), random_state=SEED)
    dealt = mixed[np.argsort(rows[firsts[mixed], place], kind="stable")]
    turn = np.empty(len(firsts), dtype=np.int64)
    turn[dealt] = np.arange(len(firsts))
    order = np.argsort(turn[person], kind="stable")
    first = turn[person][order] % 2 == 0
    return rows[order][first], rows[order][~first]


def _mixed(owner: Codes) -> Codes:
    """The places of all rows: people in a random order, and the rows of each together."""
    if not len(owner):
        return owner
    people, person = np.unique(owner, return_inverse=True)
    turn = shuffle(np.arange(len(people)), random_state=SEED)
    return np.argsort(turn[person], kind="stable")
