"""Terminal text: numbers aligned, names as they are, no colours or escapes in plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from sitr.accounting.filter import Filter
from sitr.flavors.pure import PureDP
from sitr.ledger.receipt import Receipt
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.release import Release
from sitr.report import aggregate
from sitr.report.aggregate_rows import written
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.text.terminal import MOST_ROWS, as_text, grid, render, show
from tests.report.conftest import Certified


def answer_text(release: Release, receipt: Receipt, *, most: int | None = MOST_ROWS) -> RenderableType:
    return render(aggregate.answer(release, receipt), most=most)


def preview(plan: AggregatePlan, standing: Filter) -> RenderableType:
    return render(aggregate.preview(plan, standing))


Make = Callable[[str], Release]
Certify = Callable[..., Certified]


def acts(text: str) -> bool:
    return any(unicodedata.category(character) == "Cc" for character in text.replace("\n", ""))


def test_everything_is_plain_text(certificate: Certified) -> None:
    for renderable in (answer_text(*certificate), preview(certificate.release.plan, certificate.receipt.standing)):
        text = as_text(renderable)
        assert text
        assert not acts(text)


def test_every_number_is_shown_with_its_error(certificate: Certified) -> None:
    text = as_text(answer_text(*certificate, most=None), width=400)
    for row in written(certificate.release):
        assert [cell for cell in row if " ± " in cell and cell not in text] == []
    assert f"{certificate.receipt.entry.number}, " in text


def test_a_long_answer_is_cut_and_says_how_much_more_there_is(make: Make, certify: Certify) -> None:
    long = certify(make("many"))
    text = as_text(answer_text(*long))
    assert [f"ward {place:03} " in text for place in range(200)] == [True] * MOST_ROWS + [False] * (200 - MOST_ROWS)
    assert "The first 50 of 200 rows are shown here; the answer has 150 more." in text
    assert "are shown here" not in as_text(answer_text(*long, most=None))
    assert "are shown here" not in as_text(answer_text(*long, most=200))
    assert "are shown here" not in as_text(answer_text(*certify(make("empty"))))


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_are_filled_up_on_terminals_only(make: Make, certify: Certify, terminal: bool) -> None:
    file = StringIO()
    show(answer_text(*certify(make("known"))), out=Console(file=file, width=100, force_terminal=terminal))
    assert any(line.endswith(" ") for line in file.getvalue().splitlines()) is terminal
    assert file.getvalue().endswith("\n")
    assert ("\x1b" in file.getvalue()) is terminal


def test_numbers_are_right_aligned(make: Make, certify: Certify) -> None:
    lines = as_text(answer_text(*certify(make("known")))).splitlines()
    numbers = [line for line in lines if "±" in line and "error" not in line]
    assert len(numbers) == 6
    assert len({len(line) for line in numbers}) == 1


def test_names_are_not_markup(make: Make, certify: Certify) -> None:
    text = as_text(answer_text(*certify(make("hostile"), dataset="[bold]D[/bold]")), width=1000)
    assert "[red]markup[/red]" in text
    assert "[bold]D[/bold]" in text


@pytest.mark.parametrize("private", [True, False])
def test_the_warning_stands_there_if_and_only_if_it_must(make: Make, certify: Certify, private: bool) -> None:
    text = as_text(answer_text(*certify(make("known"), private=private)))
    assert ("NOT PRIVATE" in text) is not private


def test_a_preview_tells_price_error_threshold_and_budget(make: Make) -> None:
    text = as_text(preview(make("known").plan, Filter(PureDP(2.0))))
    for wanted in ("price      ε = 0.5", "± 72", "discrete Laplace, scale", "left now   ε = 2", "left then  ε = 1.5"):
        assert wanted in text
    assert re.search(r"scale +2 +± 72\n.* 24\n", text)  # the cell takes two lines
    assert "caps       Each person contributes at most 2 rows in each of at most 3 groups." in text
    assert "is at least 45" in as_text(preview(make("thresholded").plan, Filter(make("thresholded").plan.price)))


def test_a_preview_beyond_the_budget_says_so(make: Make) -> None:
    assert "the budget cannot pay this" in as_text(preview(make("known").plan, Filter(PureDP(0.1))))


def test_an_empty_answer_says_what_it_means(make: Make, certify: Certify) -> None:
    assert "No key reached the threshold of 45" in as_text(answer_text(*certify(make("empty"))))


def test_width_is_kept(make: Make, certify: Certify) -> None:
    for width in (60, 100):
        assert max(map(len, as_text(answer_text(*certify(make("known"))), width=width).splitlines())) <= width


def test_long_words_go_on_in_the_next_line() -> None:
    """Words that are cut cannot be copied."""
    name, other = "mean_cost_of_all_visits_in_the_ward", "Pneumonoultramicroscopicsilicovolcanoconiosis"
    columns = (PaperColumn(name, Role.KEY), PaperColumn("n", Role.NUMBER), PaperColumn("x" * 20, Role.TEXT))
    table = PaperTable(columns, lambda: iter([(other, "1", "y" * 20)]), 1)
    for width in (120, 60, 40):
        shown = as_text(grid(table), width=width)
        assert "…" not in shown
        letters = "".join(character for character in shown if character.isalpha() or character == "_")
        assert sorted(letters) == sorted(f"{name}n{'x' * 20}{other}{'y' * 20}")


@pytest.mark.parametrize(("width", "fits"), [(120, True), (48, False)])
def test_intervals_are_left_out_where_numbers_would_be_broken(width: int, fits: bool) -> None:
    columns = [PaperColumn("ward", Role.KEY)]
    for name in ("count", "sum", "mean"):
        columns += [PaperColumn(name, Role.NUMBER), PaperColumn("95% interval", Role.INTERVAL, of=name)]
    row = ("a", *("46,070.125 ± 29", "46,041.125 to 46,099.125") * 3)
    text = as_text(grid(PaperTable(tuple(columns), lambda: [row], 1)), width=width)
    assert text.count("46,070.125") == 3  # no number is broken
    assert ("46,041.125" in text) == fits
    assert ("Intervals are left out" in " ".join(text.split())) != fits
