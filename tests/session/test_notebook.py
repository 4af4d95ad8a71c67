"""In a notebook every preview and every answer appears once, and nothing is displayed as a side effect."""

from __future__ import annotations

import builtins
from pathlib import Path

import nbclient
import nbformat
import pyarrow as pa
import pytest
from IPython import display

import sitr
from sitr.mechanisms.smooth import SmoothNoise
from sitr.questions.synthetic.plan import Method
from sitr.sensitivity import median, smooth
from sitr.session.dataset import Dataset

PRICE = sitr.ZeroConcentratedDP(0.1)
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


class ZMQInteractiveShell:
    """rich recognises the shell of a notebook by this name."""


@pytest.fixture
def everything(visits: Dataset, tmp_path: Path) -> dict[str, object]:
    """One of each kind that draws itself."""
    budget = visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "visits.db")
    ages = pa.table({"age": [float(row) for row in range(40)]})
    people = sitr.protect(ages, unit=sitr.Row(), relation=sitr.Relation.REPLACE_ONE, name="people")
    rule = smooth(median, bounds=(0, 100))
    wards = budget.synthesize(columns=["ward"], method=Method.JOINT)
    return {
        "preview": budget.sql(SQL).preview(PRICE),
        "answer": budget.sql(SQL).release(PRICE),
        "histogram preview": budget.histogram("cost", bins=5).preview(PRICE),
        "histogram": budget.histogram("cost", bins=5).release(PRICE),
        "synthetic preview": wards.preview(PRICE),
        "synthetic": wards.release(PRICE),
        "released": people.budget(sitr.PureDP(5.0), ledger=tmp_path / "people.db").release(
            SmoothNoise.fitting(sitr.PureDP(0.5), sensitivity=rule), column="age", missing=50
        ),
    }


def test_the_text_is_returned_and_not_displayed(
    everything: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = {name: repr(one) for name, one in everything.items()}
    displayed: list[object] = []
    monkeypatch.setattr(display, "display", lambda *shown, **_: displayed.extend(shown))
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    assert {name: repr(one) for name, one in everything.items()} == outside
    assert all(outside.values())
    assert displayed == []
    assert capsys.readouterr() == ("", "")


CELLS = (
    "import sitr",
    """visits = sitr.protect("visits.parquet", unit="patient_id", max_groups=3, max_rows_per_group=2,
                      bounds={"cost": (0, 5_000)}, keys={"ward": ["Cardiology", "Surgery", "Maternity"]})
budget = visits.budget(sitr.ZeroConcentratedDP(5.0), ledger="notebook.db")
price = sitr.ZeroConcentratedDP(0.1)""",
    f'budget.sql("{SQL}").preview(price)',
    f'budget.sql("{SQL}").release(price)',
    'budget.histogram("cost", bins=5).preview(price)',
    'budget.histogram("cost", bins=5).release(price)',
)
"""A notebook, and in its last four cells what it shows."""


def test_a_real_notebook_shows_each_answer_once(visits_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(place, str(visits_path.parent / place))  # nobody's settings, and no traces of it
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(visits_path.parent)}}).execute()
    outputs = [cell.outputs for cell in book.cells]
    assert outputs[:2] == [[], []]
    for cell, words in zip(outputs[2:], ("left then", "entry", "left then", "entry"), strict=True):
        (shown,) = cell
        assert shown.output_type == "execute_result"
        assert set(shown.data) == {"text/plain", "text/html"}
        assert words in shown.data["text/plain"]
