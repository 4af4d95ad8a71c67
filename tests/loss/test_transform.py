"""Which frequencies may be left out, against all of them."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
from flint import arb

from sitr.loss import transform
from sitr.loss.mesh import Nodes
from sitr.loss.total import SumOfLaws
from sitr.loss.transform import SINGLE, _powers, _product

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
    total = SumOfLaws([(Nodes(losses, np.full(500, -math.log(500.0)), 0.0, 0.0), 100)], 1e-5)
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


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 700, 5), (40, 2000, 40), (300, 90, 300)])
def test_a_product_in_parts_is_the_product(shape):
    rows, terms, columns = shape
    generator = np.random.default_rng(5)
    left = generator.normal(size=(rows, terms)) + 1j * generator.normal(size=(rows, terms))
    right = generator.normal(size=(terms, columns)) + 1j * generator.normal(size=(terms, columns))
    assert np.allclose(_product(left, right), left @ right, rtol=0.0, atol=1e-13 * terms)


def test_parts_of_a_product_are_too_small_for_threads():
    class Counted(np.ndarray):
        sizes: ClassVar[list[int]] = []

        def __matmul__(self, other):
            self.sizes.append(self.shape[0] * self.shape[1] * other.shape[1])
            return np.asarray(self) @ np.asarray(other)

    for rows, terms in ((2, 10**5), (20, 3000), (100, 3000), (512, 600)):
        left = np.ones((rows, terms), dtype=np.complex128).view(Counted)
        _product(left, np.ones((terms, rows), dtype=np.complex128))
    assert max(Counted.sizes) <= 2 * SINGLE


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 500])
def test_powers_are_as_close_as_they_are_said_to_be(count):
    angles = np.linspace(-3.0, 3.0, 41)
    found = _powers(np.exp(1j * angles), count)
    for place, angle in enumerate(angles.tolist()):
        for power in (0, count // 2, count - 1):
            one = found[power, place]
            off = abs(arb(one.real) - (arb(angle) * power).cos()) + abs(arb(one.imag) - (arb(angle) * power).sin())
            assert off <= 11 * power * 2.0**-53
