"""The dictionary of a certificate goes through JSON and holds the numbers of the release."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import parse
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import exact
from sitr.questions.aggregate.release import Release
from sitr.report import aggregate
from sitr.report.aggregate import preview
from sitr.report.aggregate_rows import written
from sitr.report.figures import CONFIDENCE, AllDigits, Figures, all_digits
from sitr.report.page.html import fragment, page
from sitr.report.text.terminal import as_text, render
from tests.report.conftest import Certified, planned


def test_it_goes_through_json(certificate: Certified) -> None:
    written = aggregate.answer(*certificate).to_dict()
    assert json.loads(json.dumps(written, allow_nan=False)) == written


def test_its_numbers_are_those_of_the_release(certificate: Certified) -> None:
    release, written = certificate.release, aggregate.answer(*certificate).to_dict()
    table = release.table().columns[len(release.plan.query.keys) :]
    for place, column in enumerate(release.plan.columns):
        assert [row["values"][place]["value"] for row in written["rows"]] == table[place].to_pylist()
        assert written["columns"][place]["error"] == column.error()
        (term,) = column.measured
        measured = release.plan.noisy.index(term)
        for row, granules in zip(written["rows"], release.measured, strict=True):
            width, number = term.noise.error(), granules[measured]
            low, high = (number - width, number + width) if term.passed is None else term.passed.ends(number)
            assert row["values"][place]["low"] == float(low * term.granularity)
            assert row["values"][place]["high"] == float(high * term.granularity)
    assert len(written["rows"]) == len(release.keys)


def test_intervals_agree_with_the_arrow_table(make, certify) -> None:
    release = make("known")
    table, written = release.intervals(), aggregate.answer(*certify(release)).to_dict()
    for end in ("low", "high"):
        assert [row["values"][1][end] for row in written["rows"]] == table.column(f"cost_{end}").to_pylist()


def test_its_noise_is_exact(certificate: Certified) -> None:
    written = aggregate.answer(*certificate).to_dict()
    measured = [term for column in certificate.release.plan.columns for term in column.measured]
    for column, shown in zip(measured, [m for c in written["columns"] for m in c["measured"]], strict=True):
        assert shown["name"] == column.term.name
        size = column.noise.size
        assert Fraction(shown["noise"]["exact"]) == size
        assert shown["noise"]["parameter"] == ("scale" if isinstance(column.noise, Laplace) else "sigma")
        assert shown["sensitivity"]["l1"] == column.distance.l1
        assert shown["sensitivity"]["l2_squared"] == column.distance.l2_squared
        assert shown["sensitivity"]["largest"] == column.distance.largest
        assert Fraction(shown["granularity"]["exact"]) == column.granularity
        assert (shown["clamp"] is None) == (column.term.quantised is None)


def test_its_promises_can_be_read_back(certificate: Certified) -> None:
    plan, written = certificate.release.plan, aggregate.answer(*certificate).to_dict()
    assert parse(written["price"]["notation"]) == plan.price
    assert parse(written["promise"]["notation"]) == plan.promise()
    assert parse(written["budget"]["promise"]["notation"]) == certificate.receipt.standing.promise
    assert parse(written["budget"]["after"]["remaining"]["notation"]) == certificate.receipt.standing.remaining()
    assert parse(written["budget"]["after"]["spent"]["notation"]) == certificate.receipt.standing.spent()


def test_the_two_parts_of_delta_are_apart(make, certify) -> None:
    both = aggregate.answer(*certify(make("gaussian_with_threshold"))).to_dict()
    assert both["delta"]["infinite_mass"] > 0
    assert both["delta"]["finite_tail"] > 0
    assert exact(both["delta"]["infinite_mass"]) + exact(both["delta"]["finite_tail"]) <= exact(both["price"]["delta"])
    assert aggregate.answer(*certify(make("known"))).to_dict()["delta"] == {"infinite_mass": 0.0, "finite_tail": 0.0}
    assert aggregate.answer(*certify(make("ungrouped"))).to_dict()["delta"] == {
        "infinite_mass": 0.0,
        "finite_tail": None,
    }


def test_clamp_and_threshold_are_written(make, certify) -> None:
    assert aggregate.answer(*certify(make("known"))).to_dict()["columns"][1]["measured"][0]["clamp"] == {
        "low": 0,
        "high": 5_000,
    }
    thresholded = make("thresholded")
    keys = aggregate.answer(*certify(thresholded)).to_dict()["keys"]
    assert keys["known"] is False
    assert keys["threshold"]["people"] == thresholded.plan.threshold.error()


def test_the_budget_before_is_the_budget_without_the_charge(make, certify) -> None:
    certificate = certify(make("known"))  # two charges of 0.5 on 2
    assert certificate.receipt.entry.price == PureDP(0.5)
    before = certificate.receipt.before()
    assert (before.spent(), before.remaining()) == (PureDP(0.5), PureDP(1.5))
    assert certificate.receipt.standing.remaining() == PureDP(1.0)


@pytest.mark.parametrize(("promise", "after"), [(PureDP(2.0), PureDP(1.5)), (PureDP(0.4), None)])
def test_a_preview_says_what_would_be_left(make, promise: PureDP, after: PureDP | None) -> None:
    written = preview(make("known").plan, Filter(promise)).to_dict()
    assert written["kind"] == "preview of answer"
    assert "rows" not in written
    assert parse(written["budget"]["before"]["remaining"]["notation"]) == promise
    left = written["budget"]["after"]
    assert (left and parse(left["remaining"]["notation"])) == after
    json.dumps(written, allow_nan=False)


def test_every_row_is_written_in_the_order_of_the_release(answer: Release) -> None:
    rows, width = list(written(answer)), len(answer.plan.query.keys)
    assert len(rows) == len(answer.keys)
    for place, column in enumerate(answer.plan.columns):
        estimates = answer.estimates(column)
        for row, one in zip(rows, estimates, strict=True):
            assert isinstance(one.error, Fraction)
            form = Figures.fitting(one.error, step=column.aggregate.step)
            cells = row[width + 2 * place : width + 2 * place + 2]
            for shown, (text, ends) in ((form, cells), (AllDigits(), map(all_digits, cells))):
                assert text == f"{shown.value(one)} ± {shown.error(one.error)}"
                assert ends == f"{shown.low(one)} to {shown.high(one)}"


COUNT_SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def counting(count: int, price: Additive, **changes: object) -> Release:
    """An answer with this count; if there is a threshold, many people reach it."""
    plan = planned(COUNT_SQL, price, **changes)
    return Release(plan, (("cardiology",),), ((count, *(500 for _ in plan.query.terms[1:])),))


@pytest.mark.parametrize(
    ("price", "changes", "words"),
    [
        (PureDP(0.5), {"keys": {"ward": ["cardiology"]}}, "the noise was larger than the count itself"),
        (ApproximateDP(1.0, 1e-6), {}, "its number of people, which has other noise, reached the threshold"),
    ],
)
def test_a_negative_count_is_explained_and_no_other(
    certify, price: Additive, changes: dict[str, object], words: str
) -> None:
    for count, said in ((-3, True), (3, False)):
        paper = aggregate.answer(*certify(counting(count, price, **changes)))
        texts = (as_text(render(paper)), fragment(paper), page(paper))
        assert [words in " ".join(text.split()) for text in texts] == [said] * 3


def test_a_negative_sum_needs_no_explanation(make, certify) -> None:
    paper = aggregate.answer(*certify(make("ungrouped")))  # its sum is below 0
    assert "−" in as_text(render(paper))
    assert paper.table is not None
    assert paper.table.notes() == ()


def test_rounding_is_said_where_it_happens(make, certify) -> None:
    said = {
        name: "rounded to the first two digits" in as_text(render(aggregate.answer(*certify(make(name)))))
        for name in ("known", "one_row", "empty")
    }
    assert said == {"known": True, "one_row": False, "empty": False}


def test_all_digits_are_shown_on_demand(certify) -> None:
    plan = planned("SELECT SUM(change) AS change FROM visits", PureDP(0.01))
    paper = aggregate.answer(*certify(Release(plan, ((),), ((437_621,),))))
    (column,) = plan.columns
    far = int(column.width(CONFIDENCE))
    assert 50_000 < far < 437_621
    assert f"437,621 ± {far:,}" in as_text(render(paper, exact=True))
    assert f"437,621 ± {far:,}" not in as_text(render(paper))
    for source in (fragment(paper), page(paper)):
        assert f'title="437,621 ± {far:,}"' in source
        assert f'title="{437_621 - far:,} to {437_621 + far:,}"' in source
