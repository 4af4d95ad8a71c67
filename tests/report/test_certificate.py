"""The dictionary of a certificate goes through JSON and holds the numbers of the release."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.notation import parse
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import exact
from sitr.report.certificate import preview_dict, to_dict
from tests.report.conftest import Certified


def test_it_goes_through_json(certificate: Certified) -> None:
    written = to_dict(*certificate)
    assert json.loads(json.dumps(written, allow_nan=False)) == written


def test_its_numbers_are_those_of_the_release(certificate: Certified) -> None:
    release, written = certificate.release, to_dict(*certificate)
    table = release.table().columns[len(release.plan.query.keys) :]
    for place, column in enumerate(release.plan.columns):
        assert [row["values"][place]["value"] for row in written["rows"]] == table[place].to_pylist()
        assert written["columns"][place]["error"] == column.error()
        for row, granules in zip(written["rows"], release.granules, strict=True):
            width = column.noise.error()
            assert row["values"][place]["low"] == float((granules[place] - width) * column.granularity)
            assert row["values"][place]["high"] == float((granules[place] + width) * column.granularity)
    assert len(written["rows"]) == len(release.keys)


def test_intervals_agree_with_the_arrow_table(make, certify) -> None:
    release = make("known")
    table, written = release.intervals(), to_dict(*certify(release))
    for end in ("low", "high"):
        assert [row["values"][1][end] for row in written["rows"]] == table.column(f"cost_{end}").to_pylist()


def test_its_noise_is_exact(certificate: Certified) -> None:
    written = to_dict(*certificate)
    for column, shown in zip(certificate.release.plan.columns, written["columns"], strict=True):
        size = column.noise.size
        assert Fraction(shown["noise"]["exact"]) == size
        assert shown["noise"]["parameter"] == ("scale" if isinstance(column.noise, Laplace) else "sigma")
        assert shown["sensitivity"]["l1"] == column.distance.l1
        assert shown["sensitivity"]["l2_squared"] == column.distance.l2_squared
        assert shown["sensitivity"]["largest"] == column.distance.largest
        assert Fraction(shown["granularity"]["exact"]) == column.granularity
        assert (shown["clamp"] is None) == (column.term.quantised is None)


def test_its_promises_can_be_read_back(certificate: Certified) -> None:
    plan, written = certificate.release.plan, to_dict(*certificate)
    assert parse(written["price"]["notation"]) == plan.price
    assert parse(written["promise"]["notation"]) == plan.promise()
    assert parse(written["budget"]["promise"]["notation"]) == certificate.receipt.standing.promise
    assert parse(written["budget"]["after"]["remaining"]["notation"]) == certificate.receipt.standing.remaining()
    assert parse(written["budget"]["after"]["spent"]["notation"]) == certificate.receipt.standing.spent()


def test_the_two_parts_of_delta_are_apart(make, certify) -> None:
    both = to_dict(*certify(make("gaussian_with_threshold")))
    assert both["delta"]["infinite_mass"] > 0
    assert both["delta"]["finite_tail"] > 0
    assert exact(both["delta"]["infinite_mass"]) + exact(both["delta"]["finite_tail"]) <= exact(both["price"]["delta"])
    assert to_dict(*certify(make("known")))["delta"] == {"infinite_mass": 0.0, "finite_tail": 0.0}
    assert to_dict(*certify(make("ungrouped")))["delta"] == {"infinite_mass": 0.0, "finite_tail": None}


def test_clamp_and_threshold_are_written(make, certify) -> None:
    assert to_dict(*certify(make("known")))["columns"][1]["clamp"] == {"low": 0, "high": 5_000}
    thresholded = make("thresholded")
    keys = to_dict(*certify(thresholded))["keys"]
    assert keys["known"] is False
    assert keys["threshold"]["least"] == thresholded.plan.threshold.least


def test_the_budget_before_is_the_budget_without_the_charge(make, certify) -> None:
    certificate = certify(make("known"))  # two charges of 0.5 on 2
    assert certificate.receipt.entry.price == PureDP(0.5)
    before = certificate.receipt.before()
    assert (before.spent(), before.remaining()) == (PureDP(0.5), PureDP(1.5))
    assert certificate.receipt.standing.remaining() == PureDP(1.0)


@pytest.mark.parametrize(("promise", "after"), [(PureDP(2.0), PureDP(1.5)), (PureDP(0.4), None)])
def test_a_preview_says_what_would_be_left(make, promise: PureDP, after: PureDP | None) -> None:
    written = preview_dict(make("known").plan, Filter(promise))
    assert written["kind"] == "preview of answer"
    assert "rows" not in written
    assert parse(written["budget"]["before"]["remaining"]["notation"]) == promise
    left = written["budget"]["after"]
    assert (left and parse(left["remaining"]["notation"])) == after
    json.dumps(written, allow_nan=False)
