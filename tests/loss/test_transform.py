"""Which frequencies may be left out, against all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.loss import transform
from sitr.loss.mesh import Nodes
from sitr.loss.total import Sum

UNEVEN = {-0.7: 0.3, 0.11: 0.35, 0.95: 0.35}
"""No two of these losses have a common measure."""


def nodes(masses: dict[float, float], *, off: float = 0.0) -> Nodes:
    return Nodes(np.array(list(masses)), np.log(np.array(list(masses.values()))), 0.0, off)


@pytest.mark.parametrize("masses", [{-1.0: 0.5, 1.0: 0.5}, UNEVEN], ids=str)
@pytest.mark.parametrize("times", [10, 10**4, 10**6])
def test_what_is_culled_adds_up_to_no_more(times, masses):
    """A cosine to the power of 10⁴ comes back in peaks that are narrower than the looks are far apart."""
    law, spacing, variance, most = transform._tilted((nodes(masses), times), 0.01), 1e-3, 1e-2, 60_000
    beyond, dropped = transform._culled([law], variance, spacing, most)
    frequencies = np.arange(beyond, most) * spacing
    values = np.abs(np.exp(1j * np.outer(frequencies, law.distances)) @ law.weights)
    true = 2 * float(np.exp(times * np.log(values) - variance / 2 * frequencies**2).sum())
    assert true <= dropped < 1e-10 or beyond == most
    assert beyond < most or times == 10


def test_culling_spares_work(monkeypatch):
    draw = np.random.default_rng(1)
    losses = np.sort(draw.uniform(-1.0, 1.0, 500))
    total = Sum([(Nodes(losses, np.full(500, -math.log(500.0)), 0.0, 0.0), 100)], 1e-5)
    asked = []
    honest = transform._characteristic

    def counting(law, spacing, count):
        asked.append(count)
        return honest(law, spacing, count)

    monkeypatch.setattr(transform, "_characteristic", counting)
    found = transform.transformed(total, 0.1, 2 * math.pi / 100.0)
    assert found is not None
    assert len(found.frequencies) < 100
    assert sum(asked) < 20_000 < 40_000 < math.sqrt(96 / 1e-5) / (2 * math.pi / 100.0)
    assert found.dropped < 1e-12


def test_blind_looks_are_found_out(monkeypatch):
    law = transform._tilted((nodes({-1.0: 0.5, 1.0: 0.5}), 200), 0.01)
    beyond, _ = transform._culled([law], 1e-6, 0.01, 3500)
    assert beyond * 0.01 > 11 * math.pi  # the cosine comes back
    monkeypatch.setattr(transform._Tilted, "slope", property(lambda _: 0.01))
    blind, _ = transform._culled([law], 1e-6, 0.01, 3500)
    assert blind * 0.01 < 11 * math.pi
