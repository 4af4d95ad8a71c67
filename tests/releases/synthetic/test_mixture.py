"""A mixture follows all pairs at once: near the noisy tables, and nearer to the truth than single columns are."""

from __future__ import annotations

import builtins
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sitr.errors import QuestionError
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.releases.synthetic.axes import Codes
from sitr.releases.synthetic.mixture import Mixture, fit, require_mbi
from sitr.releases.synthetic.plan import Method, plan
from sitr.releases.synthetic.sheet import Sheet
from sitr.releases.synthetic.tables import Measured, measure

pytest.importorskip("mbi", reason="needs the extra synth")


@pytest.fixture
def measured(sheet: Sheet, town: Codes) -> Measured:
    return measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town, coins=TestCoins(3))


def test_pairs_are_followed(sheet: Sheet, town: Codes, measured: Measured) -> None:
    parts: list[float] = []
    model = fit(measured, components=40, steps=200, progress=parts.append)
    assert parts == [0.25, 0.5, 0.75, 1.0]
    fitted, independent = [], []
    for i, j in combinations(range(4), 2):
        shape = (sheet.axes[i].cells, sheet.axes[j].cells)
        true = np.bincount(np.ravel_multi_index((town[:, i], town[:, j]), shape), minlength=shape[0] * shape[1])
        share = true.reshape(shape) / len(town)
        fitted.append(np.abs(model.marginal(i, j) - share).sum())
        independent.append(np.abs(np.outer(measured.shares[i], measured.shares[j]) - share).sum())
    assert np.mean(fitted) < 0.2 < 0.5 < np.mean(independent)
    for product, share in zip(model.products, measured.shares, strict=True):
        assert product.min() >= 0
        np.testing.assert_allclose(product.sum(axis=1), 1.0, rtol=1e-9)
        assert not product[:, share == 0].any()  # what single columns do not have, no row has


def test_an_empty_table_can_be_fitted(sheet: Sheet, town: Codes) -> None:
    """And the same tables give the same model: nothing is drawn in a fit."""
    nothing = measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town[:0], coins=TestCoins(3))
    model, again = (fit(nothing, components=5, steps=50) for _ in "ab")
    assert all(np.isfinite(product).all() for product in model.products)
    np.testing.assert_array_equal(model.products[0], again.products[0])


def test_marginals() -> None:
    model = Mixture((np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])))
    assert model.marginal(0).tolist() == [0.5, 0.5]
    assert model.marginal(0, 1).tolist() == [[0.25, 0.25], [0.0, 0.5]]


def test_without_mbi_it_is_said_how(monkeypatch: pytest.MonkeyPatch) -> None:
    known = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith(("mbi", "jax")):
            raise ModuleNotFoundError(name)
        return known(name, *rest, **more)

    require_mbi()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(QuestionError, match=r"Install sitr\[synth\]"):
        require_mbi()
