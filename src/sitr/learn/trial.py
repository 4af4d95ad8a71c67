"""Train on synthetic rows, try on real ones: how good an imitation is for whoever learns from it."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from sitr.errors import QuestionError
from sitr.releases.synthetic.axes import Codes


def scores(names: list[str], synthetic: Codes, holdout: Codes, *, target: str) -> tuple[float, float]:
    """The accuracy on a public hold-out after training on synthetic rows, and after training on real ones.

    Half of the hold-out is for trying, the other half for training the model that ours is held against. Rows are
    numbers of cells, in columns of these names.
    """
    if target not in names or len(names) < 2:
        raise QuestionError(
            wanted=f"The target is one of the imitated columns {', '.join(names)}, beside at least one other.",
            given=f"{target!r} was given.",
            do="Choose one of them.",
        )
    place = names.index(target)
    trained, tried = holdout[::2], holdout[1::2]

    def score(rows: Codes) -> float:
        forest = RandomForestClassifier(n_estimators=50, min_samples_leaf=5, random_state=0)
        forest.fit(np.delete(rows, place, axis=1), rows[:, place])
        return float(forest.score(np.delete(tried, place, axis=1), tried[:, place]))

    return score(synthetic), score(trained)
