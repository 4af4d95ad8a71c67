"""How far one unit moves counts in the metric of prefix noise.

Noise for prefix sums is σ·Lz, where L is lower triangular with the entries c_{t−i}, c_k = C(2k, k)/4^k: the square root
of the matrix of prefix sums, because Σ c_k x^k = (1 − x)^{−1/2}.      [FHU23; HUU23]

So Ax + σLz = L(Lx + σz) is post-processing of Lx + σz, and what counts is ‖Lv‖ for the vectors v that a unit adds to
the counts x. Of several columns, L is the Kronecker product of theirs; cells beside a line are a block of their own,
with c_0 = 1 on the diagonal. Let Γ = LᵀL. All entries are at least 0, since those of L are.

**One row** costs at most s, the length of the first column: s² = Π Σ_{k<n} c_k². **N rows** cost at most N·s, by the
triangle inequality; √N·s would be wrong, since columns are not orthogonal. **In one line**, Γ_ij = Σ_m c_m·c_{m+j−i}
over m ≤ n − j, for i ≤ j: it falls in j for the same j − i, and in j − i for the same j, because c falls. Cells
i_1 < … < i_k have i_b ≥ b and i_b − i_a ≥ b − a, so none of their entries exceeds that of the first k cells, and m rows
in each of k cells cost at most m·‖L·1_k‖. A cell beside the line has the entry 1, and 0 with all others, which is no
more than another cell of the line has. **Replacing** one unit by another moves by a − b with a, b ≥ 0, and
‖L(a − b)‖² = ‖La‖² + ‖Lb‖² − 2aᵀΓb ≤ ‖La‖² + ‖Lb‖². Two rows in one line are farthest apart if the first is in the
first cell: shifting both to the right only cuts their columns. N pairs cost at most N times that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly

from sitr.errors import InvalidParameter
from sitr.neighbors.relation import Relation
from sitr.numbers import square_root_upward
from sitr.precision import undisturbed

Line = tuple[int, int]
"""Of one column: the number of cells in a line, of which prefix sums are measured, and of cells beside it."""

_BITS = 192
"""The precision of sums of products of c_k."""

_MANTISSA = 96
"""The bits of a bound on such a sum."""


def reach(axes: Sequence[Line], *, each: int, total: int, groups: int, relation: Relation) -> Fraction:
    """At most this is ‖Lv‖ for the vectors v by which one unit moves the counts, or replaces those of another.

    It has at most `each` rows in each of at most `groups` cells, and at most `total` rows in all.

    >>> alone = reach([(4, 0)], each=1, total=1, groups=1, relation=Relation.ADD_REMOVE)
    >>> float(alone) ** 2, 1 + 0.5**2 + 0.375**2 + 0.3125**2
    (1.488281..., 1.48828125)
    >>> float(reach([(4, 0)], each=1, total=2, groups=2, relation=Relation.ADD_REMOVE) / alone)
    1.73...
    """
    cells = math.prod(map(sum, axes))
    if min(each, total, groups) < 1 or not axes or any(min(axis) < 0 or sum(axis) < 1 for axis in axes):
        raise InvalidParameter(
            wanted="at least one row in each group and in total, and at least one group, and one cell of each column",
            given=f"each={each}, total={total}, groups={groups}, axes={tuple(axes)}",
            do="Correct these numbers.",
        )
    each, reached = min(each, total), min(groups, cells)
    rows = min(total, each * reached)
    one = math.prod((_first(line) for line, _ in axes), start=Fraction(1))
    squared = rows**2 * one
    if len(axes) == 1:
        squared = min(squared, each**2 * _block(axes[0], min(reached, -(-rows // each))))
    if relation is not Relation.ADD_REMOVE:
        squared = min(2 * squared, rows**2 * (_pair(axes[0]) if len(axes) == 1 else 2 * one))
    return square_root_upward(squared)


@lru_cache(64)
def _coefficients(cells: int) -> tuple[arb, ...]:
    """c_0, …, c_{n−1}, by c_k = c_{k−1}·(2k − 1)/2k."""
    found = [arb(1)]
    for k in range(1, cells):
        found.append(found[-1] * (2 * k - 1) / (2 * k))
    return tuple(found)


@lru_cache(64)
def _first(line: int) -> Fraction:
    """Σ_{k<n} c_k², at most: the squared length of the first column; 1 without a line."""
    return undisturbed(_BITS, lambda: _above(sum((c * c for c in _coefficients(max(1, line))), arb(0))))


@lru_cache(256)
def _block(axis: Line, cells: int) -> Fraction:
    """‖L·1_k‖² for the first k cells of a line, and the cells beside it where the line is shorter than k."""
    line, beside = axis
    first = min(cells, line)

    def squared() -> Fraction:
        total, sums = arb(0), [arb(0)]
        for c in _coefficients(max(1, line))[:line]:
            sums.append(sums[-1] + c)
            total += (sums[-1] - sums[max(0, len(sums) - 1 - first)]) ** 2
        return _above(total + min(cells - first, beside))

    return undisturbed(_BITS, squared)


@lru_cache(64)
def _pair(axis: Line) -> Fraction:
    """max ‖L(e_i − e_j)‖² and max ‖Le_i‖², whichever is larger."""
    line, beside = axis

    def squared() -> Fraction:
        c = list(_coefficients(max(1, line))[:line])
        lengths = [arb(0)]
        for each in c:
            lengths.append(lengths[-1] + each * each)
        shared = arb_poly(c) * arb_poly(c[::-1]) if c else arb_poly([])  # at n − 1 + d: Σ_m c_m·c_{m+d}
        found = [lengths[line] + lengths[line - d] - 2 * shared[line - 1 + d] for d in range(1, line)]
        found += [lengths[line] + min(beside, 1)] if line else [arb(min(beside, 2))]
        return max(map(_above, [*found, arb(min(beside, 2))]))

    return undisturbed(_BITS, squared)


def _above(number: arb) -> Fraction:
    """A fraction of few bits that is at least this, and hardly more."""
    mantissa, exponent = (int(part) for part in number.upper().man_exp())
    shift = max(0, mantissa.bit_length() - _MANTISSA)
    return Fraction(-(-mantissa >> shift)) * Fraction(2) ** (exponent + shift)
