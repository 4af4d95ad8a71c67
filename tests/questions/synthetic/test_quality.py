"""What a report says of rows: right where nothing is noisy, and never more of one person than was paid for."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from sitr.dataset.schema import Column, Kind
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import exact
from sitr.questions.arrow import arrow_type
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.quality import (
    QualityQuestion,
    _private_subgroups,
    against,
    distances,
    privately,
    subgroup_distances,
    subgroups,
    triple_distances,
)
from sitr.questions.synthetic.quality_plan import Judged, QualityPlan, judged
from sitr.questions.synthetic.sheet import Sheet


def quality_plan(fitted: Portrait, price: Promise) -> QualityPlan:
    return QualityQuestion(fitted, np.empty((0, len(fitted.axes)), np.int64), "town").plan(price)


def made(sheet: Sheet, codes: Codes) -> Portrait:
    planned = plan(sheet, ZeroConcentratedDP(10.0), method=Method.JOINT)
    schema = pa.schema([(axis.column.name, arrow_type(axis.column.kind)) for axis in sheet.axes])
    measured = measure(planned, codes, coins=TestCoins(1))
    return portrait(measured, schema=schema, never=())


def drawn(town: Codes) -> Codes:
    """Other rows than the town's: its columns in orders of their own."""
    generator = np.random.default_rng(3)
    return np.column_stack([generator.permutation(column) for column in town.T])


def test_by_hand(sheet: Sheet, town: Codes) -> None:
    fitted, others = made(sheet, town), drawn(town)
    found = against(fitted, others, town, name="census")
    assert [figure.found for figure in found.single] == [0.0] * 4
    assert [figure.columns for figure in found.ranges] == [("age",), ("cost",)]
    assert [figure.columns for figure in found.correlations] == [("age", "cost")]
    known = town[:, 0] < 20
    true = np.corrcoef(town[known, 0], town[known, 2])[0, 1]
    assert found.correlations[0].found == pytest.approx(-true, abs=0.03)
    for figure, (i, j) in zip(found.pairs, combinations(range(4), 2), strict=True):
        shares = [
            np.histogram2d(rows[:, i], rows[:, j], bins=40, range=[[0, 40]] * 2)[0] / len(rows)
            for rows in (others, town)
        ]
        assert figure.found == pytest.approx(np.abs(shares[0] - shares[1]).sum())


def test_triples_by_hand(sheet: Sheet, town: Codes) -> None:
    """They tell rows apart that agree in all pairs: an exclusive or of two columns, and three independent ones."""
    fitted, others = made(sheet, town), drawn(town)
    found = against(fitted, others, town, name="census")
    for figure, columns in zip(found.triples, combinations(range(4), 3), strict=True):
        cells = [np.ravel_multi_index(tuple(rows[:, columns].T), (41, 41, 41)) for rows in (others, town)]
        ours, theirs = (np.bincount(each, minlength=41**3) / len(town) for each in cells)
        assert figure.found == pytest.approx(np.abs(ours - theirs).sum())
        assert figure.columns == tuple(sheet.names[place] for place in columns)
    a, b = np.repeat([0, 1], 400), np.tile([0, 1], 400)
    apart = [np.column_stack([a, b, third, 0 * a]) for third in (a ^ b, np.tile([0, 0, 1, 1], 200))]
    found = against(fitted, *apart, name="census")
    assert [figure.found for figure in found.pairs] == [0.0] * 6
    assert found.triples[0].found == pytest.approx(1.0)
    assert found.score == 1.0


def test_subgroups_by_hand(sheet: Sheet, town: Codes) -> None:
    """For each ward, the mean distance of the other three columns, among its rows alone: not that of all rows."""
    fitted, others = made(sheet, town), town[: len(town) // 3]
    found = subgroups(fitted, others, town, 1)
    assert [figure.columns for figure in found] == [(f"ward = {ward}",) for ward in "abcd"]
    for ward, figure in enumerate(found):
        ours, theirs = (rows[rows[:, 1] == ward] for rows in (others, town))
        gaps = [
            np.abs(
                np.bincount(ours[:, i], minlength=41) / len(ours)
                - np.bincount(theirs[:, i], minlength=41) / len(theirs)
            )
            for i in (0, 2, 3)
        ]
        assert figure.found == pytest.approx(float(np.sum(gaps)) / 3)
        assert figure.found > 1.2 * np.mean([each.found for each in against(fitted, others, town, name="x").single])
    (only,) = subgroups(fitted, others[others[:, 1] == 2], town, 1)
    assert only.columns == ("ward = c",)  # a ward that one of both tables lacks cannot be compared


def test_the_worst_range_is_the_worst(sheet: Sheet, town: Codes) -> None:
    found = against(made(sheet, town), town[:100], town, name="census")
    for figure, place in zip(found.ranges, (0, 2), strict=True):
        cells = 20 if place == 0 else 40
        ours, theirs = (np.bincount(rows[:, place], minlength=cells + 1) / len(rows) for rows in (town[:100], town))
        gaps = (ours - theirs)[:cells]
        ranges = [abs(gaps[low:high].sum()) for low in range(cells) for high in range(low, cells + 1)]
        assert figure.found == pytest.approx(max(ranges))


@pytest.mark.parametrize("relation", Relation)
def test_one_unit_moves_the_distances_by_no_more_than_was_said(sheet: Sheet, town: Codes, relation: Relation) -> None:
    wide = replace(sheet, relation=relation, most_rows=3)
    fitted = made(wide, town[:500])
    others = drawn(town)[:400]
    generator = np.random.default_rng(5)
    bound, worst = wide.distance().l1, 0
    for _ in range(40):
        one, other = (np.repeat(town[generator.integers(0, 20_000, 1)], 3, axis=0) for _ in "ab")
        base = town[:500]
        pair = (
            (base, np.vstack([base, one]))
            if relation is Relation.ADD_REMOVE
            else (np.vstack([base, one]), np.vstack([base, other]))
        )
        left, right = (np.array(distances(fitted, others, rows)) for rows in pair)
        worst = max(worst, int(np.abs(left - right).max()))
    assert worst == bound


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1)], ids=repr)
def test_the_price_is_what_the_noise_costs(sheet: Sheet, town: Codes, price: Promise) -> None:
    planned = quality_plan(made(sheet, town), price)
    numbers = 4 + 6 + 2
    length = exact(planned.distances.sensitivity)
    assert length == numbers if isinstance(planned.distances, Laplace) else length**2 >= numbers
    spent = Composed((planned.distances, *planned.pairs)).promise()
    assert spent.covers(price)
    parameter = "epsilon" if isinstance(price, PureDP) else "rho"
    assert getattr(spent, parameter) == pytest.approx(getattr(price, parameter), rel=1e-9)


def test_noisy_figures_are_near_the_exact_ones(sheet: Sheet, town: Codes) -> None:
    fitted, others = made(sheet, town), drawn(town)
    free = against(fitted, others, town, name="census")
    paid = privately(quality_plan(fitted, ZeroConcentratedDP(0.1)), fitted, others, town, coins=TestCoins(8))
    for kind in ("single", "pairs", "ranges", "correlations"):
        for noisy, truth in zip(getattr(paid, kind), getattr(free, kind), strict=True):
            assert noisy.columns == truth.columns
            assert noisy.error > 0
            assert noisy.found == pytest.approx(truth.found, abs=3 * noisy.error + 0.03)


def test_without_two_ordered_columns_nothing_is_kept_for_correlations(sheet: Sheet, town: Codes) -> None:
    few = replace(sheet, axes=sheet.axes[:2])
    planned = quality_plan(made(few, town[:, :2]), ZeroConcentratedDP(0.1))
    assert planned.pairs == []
    assert planned.distances.promise().rho == pytest.approx(0.1, rel=1e-9)  # type: ignore[union-attr]


def test_no_rows(sheet: Sheet, town: Codes) -> None:
    fitted = made(sheet, town)
    with pytest.raises(QuestionError, match="no row"):
        against(fitted, town[:0], town, name="census")
    empty = privately(quality_plan(fitted, ZeroConcentratedDP(0.1)), fitted, town[:0], town[:0], coins=TestCoins(8))
    assert all(np.isfinite(figure.found) for figure in (*empty.single, *empty.pairs, *empty.correlations))


def test_an_approximate_price_buys_the_noise_with_the_smaller_error(sheet: Sheet, town: Codes) -> None:
    """Few distances get Laplace noise, which costs no δ; many get Gaussian noise, which does."""
    price = ApproximateDP(1.0, 1e-9)
    few = quality_plan(made(replace(sheet, axes=sheet.axes[1:2]), town[:, 1:2]), price)
    assert isinstance(few.distances, Laplace)
    assert few.price == ApproximateDP(1.0, 0.0)
    copies = tuple(replace(sheet.axes[3], column=Column(f"ok{place}", Kind.BOOLEAN)) for place in range(12))
    many = quality_plan(made(replace(sheet, axes=copies), np.repeat(town[:, 3:], 12, axis=1)), price)
    assert isinstance(many.distances, RoundedGaussian)
    assert many.price == price
    for found in (few, many):
        spent = Composed((found.distances, *found.pairs)).promise()
        kept = spent if isinstance(spent, PureDP) else spent.to_approximate(delta=price.delta)  # type: ignore[union-attr]
        assert price.epsilon * (1 - 1e-6) < kept.epsilon <= price.epsilon


def test_no_noisy_number_of_rows_makes_distances_overflow(sheet: Sheet, town: Codes) -> None:
    """One row more moves each distance by one, even if noise says that there are 10²⁰ rows."""
    whole = made(sheet, town)
    huge = replace(whole, measured=replace(whole.measured, total=1e20))
    everywhere = np.repeat(town[:1], 5, axis=0)
    before, after = (np.array(distances(huge, everywhere, rows), dtype=object) for rows in (town[:0], town[:1]))
    assert max(abs(after - before)) == 1
    assert min(before) >= 0


def test_other_rows_or_another_model_are_another_plan(sheet: Sheet, town: Codes) -> None:
    fitted, others, price = made(sheet, town), drawn(town), PureDP(1)
    first = QualityQuestion(fitted, others, "town").plan(price)
    assert QualityQuestion(fitted, others[::-1], "town").plan(price) == first
    changed = others.copy()
    changed[0, 0] = (changed[0, 0] + 1) % 20
    model = replace(fitted, measured=replace(fitted.measured, total=fitted.measured.total + 1))
    for other in (QualityQuestion(fitted, changed, "town"), QualityQuestion(model, others, "town")):
        assert replace(other.plan(price), about=first.about) == first
        assert other.plan(price) != first


def looked(fitted: Portrait, rows: Codes, price: Promise, *, triples: bool = True) -> QualityPlan:
    return QualityQuestion(fitted, rows, "town", Judged(1, triples)).plan(price)


@pytest.mark.parametrize("relation", Relation)
def test_one_unit_moves_triples_and_subgroups_by_no_more_than_was_said(
    sheet: Sheet, town: Codes, relation: Relation
) -> None:
    """All rows of every pair of the first people are tried; the bound on the length of subgroups is reached."""
    wide = replace(sheet, relation=relation, most_rows=2)
    fitted, others, base = made(wide, town[:300]), drawn(town)[:200], town[:60]
    planned = looked(fitted, others, ZeroConcentratedDP(0.1))
    gaps: dict[str, list[np.ndarray]] = {"triples": [], "subgroups": []}
    for place in range(60):
        unit = np.repeat(town[place : place + 1], 2, axis=0)
        for other in (None, *range(60, 75)):
            new = unit[:0] if other is None else np.repeat(town[other : other + 1], 2, axis=0)
            if relation is Relation.ADD_REMOVE and other is not None:
                continue
            pair = np.vstack([base, unit]), np.vstack([base, new])
            triples = [np.array(triple_distances(fitted, others, rows)) for rows in pair]
            groups = [subgroup_distances(fitted, others, rows, 1) for rows in pair]
            gaps["triples"].append(triples[0] - triples[1])
            gaps["subgroups"].append(groups[0] - groups[1])
    for name, found in gaps.items():
        moved = planned[name].distance
        assert moved is not None
        worst = [max(int(np.abs(gap).sum()) for gap in found), max(int((gap**2).sum()) for gap in found)]
        assert worst[0] <= moved.l1
        assert worst[1] <= moved.l2_squared
        assert max(int(np.abs(gap).max()) for gap in found) <= moved.largest
        assert worst[0] > 0.5 * moved.l1  # half of the distance would be too little
    tight = max(int((gap**2).sum()) for gap in gaps["subgroups"])
    if relation is Relation.ADD_REMOVE:
        assert tight == planned["subgroups"].distance.l2_squared  # type: ignore[union-attr]


def test_triples_and_subgroups_that_were_paid_for(sheet: Sheet, town: Codes) -> None:
    """With little noise they are those of a comparison with the same rows for free; with none asked for, none come."""
    fitted, others = made(sheet, town), drawn(town)
    planned = looked(fitted, others, ZeroConcentratedDP(100.0))
    found = privately(planned, fitted, others, town, coins=TestCoins(2))
    free = against(fitted, others, town, name="census")
    for paid, exactly in zip(found.triples, free.triples, strict=True):
        assert paid.columns == exactly.columns
        assert paid.found == pytest.approx(exactly.found, abs=0.02)
    for paid, exactly in zip(found.subgroups, subgroups(fitted, others, town, 1), strict=True):
        assert paid.columns == exactly.columns
        assert paid.found == pytest.approx(exactly.found, abs=0.02)
    assert found.told_apart is not None
    worst = max((*found.pairs, *found.triples), key=lambda figure: figure.found)
    assert found.told_apart.found == pytest.approx(0.5 + worst.found / 4)
    assert len(found.regression) > 2
    assert found.possible()
    broken = replace(found, regression=(replace(found.regression[0], real=float("nan")),))
    assert not broken.possible()
    plain = privately(quality_plan(fitted, ZeroConcentratedDP(1.0)), fitted, others, town, coins=TestCoins(2))
    assert (plain.triples, plain.subgroups, plain.regression) == ((), (), ())
    assert free.told_apart is None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.02), PureDP(0.5)], ids=repr)
def test_the_error_of_a_subgroup_is_that_of_its_mean(sheet: Sheet, town: Codes, price: Promise) -> None:
    """600 times: 95% of the means are within it, and fewer are within two thirds of it."""
    fitted, others = made(sheet, town), drawn(town)
    planned = looked(fitted, others, price, triples=False)
    truth = subgroup_distances(fitted, others, town, 1).reshape(4, -1).mean(axis=1)
    sizes = fitted.marginal(1) * fitted.size
    coins, inside, near = TestCoins(1), 0, 0
    for _ in range(150):
        for figure, true, size in zip(
            privately(planned, fitted, others, town, coins=coins).subgroups, truth, sizes, strict=True
        ):
            inside += abs(figure.found - true / size) <= figure.error
            near += abs(figure.found - true / size) <= figure.error / 1.5
    assert inside >= 553
    assert near < 530


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)], ids=repr)
def test_everything_that_is_compared_costs_the_price(sheet: Sheet, town: Codes, price: Promise) -> None:
    planned = looked(made(sheet, town), drawn(town), price)
    assert [each.name for each in planned.measurements] == [
        "distances",
        "correlations",
        "triples",
        "subgroups",
        "regression",
    ]
    planned.check()
    whole = planned.promise()
    assert whole is not None
    fewer = replace(planned, measurements=planned.measurements[:-1])
    assert fewer.promise() != whole


def test_what_cannot_be_compared_is_refused() -> None:
    names = ("age", "ward", "cost")
    assert judged(names, "ward", triples=True) == Judged(1, triples=True)
    with pytest.raises(QuestionError, match="a target among the imitated columns age, ward, cost"):
        judged(names, "wards", triples=False)
    with pytest.raises(QuestionError, match="and at least one other column"):
        judged(("age",), "age", triples=False)
    with pytest.raises(QuestionError, match="1 to 500 triples"):
        judged(names[:2], None, triples=True)
    with pytest.raises(QuestionError, match="imitate fewer columns"):
        judged(tuple(f"c{place}" for place in range(16)), None, triples=True)


def test_the_error_of_a_subgroup_holds_where_noise_is_a_few_whole_numbers(sheet: Sheet, town: Codes) -> None:
    """By the exact law of the mean of three columns: the error of one number, divided by √3, would hold for 76%."""
    fitted, noise, law = made(sheet, town), Gaussian(sigma=0.75), np.exp(-(np.arange(-30, 31) ** 2) / (2 * 0.75**2))
    law /= law.sum()
    means = np.convolve(np.convolve(law, law), law)
    sizes = np.abs(np.arange(len(means)) - len(means) // 2) / 3
    figures = _private_subgroups(noise, fitted, drawn(town), town, 1, TestCoins(1))
    rows = fitted.marginal(1) * fitted.size
    assert len(figures) == len(rows)
    for figure, size in zip(figures, rows, strict=True):
        assert means[sizes <= figure.error * size + 1e-9].sum() >= 0.95
    assert means[sizes <= float(noise.error()) / math.sqrt(3) + 1e-9].sum() < 0.8


def test_the_error_of_the_best_classifier_holds_although_noise_chose_its_columns(sheet: Sheet, town: Codes) -> None:
    """2,000 times: no table differs, so each distance is noise. The error of one number holds for fewer than 90%."""
    fitted = made(sheet, town)
    planned = looked(fitted, drawn(town), ZeroConcentratedDP(1.0))
    found = privately(planned, fitted, drawn(town), town, coins=TestCoins(1))
    generator, held, alone = np.random.default_rng(1), 0, 0
    for _ in range(2000):
        pairs, triples = (
            tuple(replace(each, found=1 + generator.normal() * each.error / 1.96) for each in figures)
            for figures in (found.pairs, found.triples)
        )
        worst = replace(found, pairs=pairs, triples=triples).told_apart
        assert worst is not None
        held += abs(worst.found - 0.75) <= worst.error
        own = next(each for each in (*pairs, *triples) if each.columns == worst.columns)
        alone += abs(own.found - 1) <= own.error
    assert held >= 1880
    assert alone < 1800


def test_the_best_classifier_of_one_pair_has_the_error_of_its_distance(sheet: Sheet, town: Codes) -> None:
    fitted = made(sheet, town)
    found = privately(quality_plan(fitted, ZeroConcentratedDP(1.0)), fitted, drawn(town), town, coins=TestCoins(1))
    only = replace(found, pairs=found.pairs[:1])
    assert only.told_apart is not None
    assert only.told_apart.error == pytest.approx(found.pairs[0].error / 4)


def test_the_error_of_the_worst_figure_holds_although_noise_chose_it(sheet: Sheet, town: Codes) -> None:
    """2,000 times: no column differs, so each distance is noise. The error of one number holds for fewer than 93%."""
    fitted = made(sheet, town)
    found = privately(
        looked(fitted, drawn(town), ZeroConcentratedDP(1.0)), fitted, drawn(town), town, coins=TestCoins(1)
    )
    generator = np.random.default_rng(2)
    for kind in ("single", "pairs"):
        figures, held, alone = getattr(found, kind), 0, 0
        assert len(figures) > 1
        for _ in range(2000):
            noisy = tuple(replace(each, found=1 + generator.normal() * each.error / 1.96) for each in figures)
            worst = (replace(found, single=noisy) if kind == "single" else replace(found, pairs=noisy)).worst(noisy)
            held += abs(worst.found - 1) <= worst.error
            alone += abs(worst.found - 1) <= next(each.error for each in figures if each.columns == worst.columns)
        assert held >= 1880
        assert alone < 1860, kind
