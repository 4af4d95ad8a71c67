"""A linear regression on synthetic rows beside the same one on the rows of a public table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable, Granular
from sitr.namespace import Later
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.figures import Coefficient

linalg = Later("scipy.linalg")

Reals = NDArray[np.float64]

FEWEST = 30
"""A value has a term if both tables have at least this many rows with it; all other values are the reference."""

SURE = 1.959964
"""95% of a normal distribution lie within this many standard deviations."""

DEPENDENT = 1e-8
"""A term that adds less than this part to the others is left out."""


def regression(axes: Sequence[Drawable], synthetic: Codes, holdout: Codes, target: int) -> tuple[Coefficient, ...]:
    """The coefficients of least squares for the target, given all other columns, by both tables.

    An ordered column is one term, its cell in standard deviations of the hold-out, with 0 for NULL; a column of keys
    has a term for each frequent value but the most frequent one. A target of keys is 1 for its most frequent value and
    0 otherwise. The error is the 95% half-width of the difference of both coefficients, if both tables were
    independent samples of one population: √(s² + t²) with standard errors that allow unequal variances [Whi80].
    """
    names, ours, theirs = [], [], []
    for place, axis in enumerate(axes):
        if place != target:
            for name, one, other in _terms(axis, synthetic[:, place], holdout[:, place]):
                names.append(name)
                ours.append(one)
                theirs.append(other)
    if not names:
        return ()
    wanted = _target(axes[target], synthetic[:, target], holdout[:, target])
    kept = _independent(np.column_stack(theirs))
    found, real = (
        _least_squares(np.column_stack([each[term] for term in kept]), y)
        for each, y in zip((ours, theirs), wanted, strict=True)
    )
    return tuple(
        Coefficient(names[term], float(one), float(other), SURE * float(np.hypot(s, t)))
        for term, one, other, s, t in zip(kept, found[0], real[0], found[1], real[1], strict=True)
    )


def _terms(axis: Drawable, ours: Codes, theirs: Codes) -> list[tuple[str, Reals, Reals]]:
    name = axis.column.name
    if isinstance(axis, Granular):
        return [(name, *_standard(axis, ours, theirs))]
    labels = [cell.label for cell in axis.cells()]
    both = np.minimum(*(np.bincount(codes, minlength=len(labels)) for codes in (ours, theirs)))
    values = np.flatnonzero(both >= FEWEST)
    most = int(np.argmax(np.bincount(theirs, minlength=len(labels))))
    return [
        (f"{name} = {labels[value]}", (ours == value).astype(np.float64), (theirs == value).astype(np.float64))
        for value in values
        if value != most
    ]


def _target(axis: Drawable, ours: Codes, theirs: Codes) -> tuple[Reals, Reals]:
    if isinstance(axis, Granular):
        return _standard(axis, ours, theirs)
    most = int(np.argmax(np.bincount(theirs)))
    return (ours == most).astype(np.float64), (theirs == most).astype(np.float64)


def _standard(axis: Drawable, ours: Codes, theirs: Codes) -> tuple[Reals, Reals]:
    """Cell numbers less the mean of the hold-out, in its standard deviations."""
    known = theirs[theirs < axis.ordinary]
    middle, spread = (float(known.mean()), float(known.std())) if len(known) else (0.0, 0.0)
    one, other = (np.where(codes < axis.ordinary, codes - middle, 0.0) / (spread or 1.0) for codes in (ours, theirs))
    return one, other


def _independent(terms: Reals) -> list[int]:
    """The places of terms that neither a constant nor the other terms explain."""
    centred = terms - terms.mean(axis=0)
    _, triangle, order = linalg.qr(centred, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return sorted(order[: len(sizes)][sizes > DEPENDENT * max(float(sizes[0]), 1e-300)].tolist())


def _least_squares(terms: Reals, target: Reals) -> tuple[Reals, Reals]:
    """The coefficients without the constant, and their standard errors."""
    x = np.column_stack([np.ones(len(terms)), terms])
    inverse = np.linalg.pinv(x.T @ x)
    found = inverse @ (x.T @ target)
    rest = x * (target - x @ found)[:, None]
    variance = np.diag(inverse @ (rest.T @ rest) @ inverse)
    return found[1:], np.sqrt(np.maximum(variance, 0.0))[1:]
