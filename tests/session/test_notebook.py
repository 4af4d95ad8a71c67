"""In a notebook every preview and every answer appears once, and nothing is displayed as a side effect."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path

import nbclient
import nbformat
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from IPython import display
from playwright.sync_api import Page

import sitr
from sitr.session.dataset import Dataset
from tests.report.page.test_page import opened, overflow, violations
from tests.session.conftest import KINDS, SQL, WARDS

__all__ = ["opened"]


class ZMQInteractiveShell:
    """rich recognises the shell of a notebook by this name."""


def test_the_text_is_returned_and_not_displayed(
    everything: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = {name: (repr(one), str(one)) for name, one in everything.items()}
    displayed: list[object] = []
    monkeypatch.setattr(display, "display", lambda *shown, **_: displayed.extend(shown))
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    assert {name: (repr(one), str(one)) for name, one in everything.items()} == outside
    assert all(short and whole for short, whole in outside.values())
    assert displayed == []
    assert capsys.readouterr() == ("", "")


def test_everything_says_in_a_few_lines_what_it_is(everything: dict[str, object]) -> None:
    for name, one in everything.items():
        lines = repr(one).splitlines()
        assert len(lines) <= 14, name
        assert len(repr(one)) <= 1_000, name
        assert name in KINDS or len(lines) == 1, name
        assert "Fraction(" not in repr(one), name
        assert "<" not in repr(one), name


def test_what_it_says(everything: dict[str, object]) -> None:
    said = {name: repr(one) for name, one in everything.items()}
    assert said["data set"] == (
        "Data set visits: protects each person (patient_id), add-remove, at most 2 rows in each of 3 groups; 3 columns"
    )
    assert said["budget"] == "Budget of visits: ρ = 0.6 spent on 6 answers, ρ = 4.4 left of ρ = 5"
    assert said["question"] == f"Question: {SQL}"
    assert said["selection"].endswith(": SELECT ward FROM visits WHERE cost > 3 GROUP BY ward")
    assert said["preview"] == f"Preview for ρ = 0.1: {SQL}; 95% errors: n ± 16; ρ = 4.8 would be left"
    assert said["answer"].endswith("3 rows for ρ = 0.1; ρ = 4.8 left of ρ = 5. print(…) shows what is promised.")
    assert said["statistic"].endswith("\nCharged ε = 0.5; ε = 4.5 left of ε = 5. print(…) shows what is promised.")
    assert said["synthetic"].startswith("Synthetic rows of ward\n50 rows for ρ = 0.1;")
    assert "95% errors" not in said["statistic preview"]  # they depend on the data


def test_a_budget_without_its_ledger_says_so(visits: Dataset, tmp_path: Path) -> None:
    place = tmp_path / "gone.db"
    budget = visits.budget(sitr.PureDP(1.0), ledger=place)
    for file in tmp_path.glob("gone.db*"):
        file.unlink()
    place.mkdir()
    assert repr(budget).startswith("Budget of visits: ")


CELLS = {
    "import": "import sitr",
    "setup": """visits = sitr.protect("visits.parquet", unit="patient_id", max_groups=3, max_rows_per_group=2,
                      bounds={"cost": (0, 5_000)}, keys={"ward": ["Cardiology", "Surgery", "Maternity"]})
budget = visits.budget(sitr.ZeroConcentratedDP(5.0), ledger="notebook.db")
price = sitr.ZeroConcentratedDP(0.1)
question = budget.sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward")""",
    "data set": "visits",
    "question": "question",
    "preview": "question.preview(price)",
    "answer": "answer = question.release(price)\nanswer",
    "plot": "answer.plot()",
    "histogram preview": 'budget.histogram("cost", bins=5).preview(price)',
    "histogram": 'histogram = budget.histogram("cost", bins=5).release(price)\nhistogram',
    "histogram plot": "histogram.plot()",
    "budget": "budget",
}
"""The cells of a notebook; all but the first two show something."""

WORDS = {
    "data set": "Data set visits",
    "question": "Question: SELECT",
    "preview": "would be left",
    "answer": "3 rows for ρ = 0.1",
    "plot": "Chart: n, total",
    "histogram preview": "would be left",
    "histogram": "6 rows for ρ = 0.1",
    "histogram plot": "Chart: Histogram of cost",
    "budget": "ρ = 0.2 spent on 2 answers",
}
"""What the short text of each cell says."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[nbformat.NotebookNode]]:
    """What each cell of a real notebook shows."""
    folder = tmp_path_factory.mktemp("notebook")
    rows = range(900)
    table = pa.table(
        {
            "patient_id": [row % 300 for row in rows],
            "ward": [WARDS[row % 3] for row in rows],
            "cost": [float(row * 7 % 6000) for row in rows],
        }
    )
    pq.write_table(table, folder / "visits.parquet")
    with pytest.MonkeyPatch.context() as patch:
        for place in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(place, str(folder / place))  # nobody's settings, and no traces of it
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.values()])
        nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, book.cells, strict=True)}


def test_a_real_notebook_shows_each_thing_once_as_short_text_and_as_html(
    outputs: dict[str, list[nbformat.NotebookNode]],
) -> None:
    assert outputs["import"] == outputs["setup"] == []
    for name, words in WORDS.items():
        (shown,) = outputs[name]
        assert shown.output_type == "execute_result"
        pictures = {"image/svg+xml"} if "plot" in name else set()
        assert set(shown.data) == {"text/plain", "text/html"} | pictures
        assert words in shown.data["text/plain"], name
        assert len(shown.data["text/plain"].splitlines()) <= 12, name
        assert '<div class="sitr" lang="en" dir="ltr">' in shown.data["text/html"]
    assert "<svg" in outputs["budget"][0].data["text/html"]


THEMES = {"light": "background:#fff;color:#111", "dark": "background:#111;color:#eee"}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_a_real_notebook_fits_the_screen_and_can_be_read_by_all(
    outputs: dict[str, list[nbformat.NotebookNode]], opened: Callable[[str, int], Page], width: int, theme: str
) -> None:
    shown = "".join(f"<section aria-label='{name}'>{outputs[name][0].data['text/html']}</section>" for name in WORDS)
    head = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>A notebook</title>"
    tab = opened(f"{head}<body style='{THEMES[theme]}'><main><h1>A notebook</h1>{shown}</main>", width)
    assert overflow(tab) <= 0
    assert tab.locator("figure svg").count() == 7  # a budget, two previews, two answers and two charts
    assert violations(tab) == []
