"""A chart is drawn in a notebook, or written to a file that says what it is."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import sitr
from sitr.errors import FileError
from sitr.report.chart.svg import standalone
from sitr.session.chart import Chart
from sitr.session.dataset import Dataset
from tests.session.conftest import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_has_a_chart_for_a_notebook(kind: str, everything: dict[str, object]) -> None:
    answer = everything[kind]
    chart = answer.plot()  # type: ignore[attr-defined]
    assert isinstance(chart, Chart)
    assert ET.fromstring(chart._repr_svg_()).tag.endswith("svg")
    assert chart.svg in chart._repr_html_()
    assert repr(chart).startswith("Chart: ")
    assert len(repr(chart)) < 200


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_written_as_svg_and_as_nothing_else(
    kind: str, everything: dict[str, object], tmp_path: Path
) -> None:
    answer = everything[kind]
    written = answer.plot(tmp_path / "chart.svg")  # type: ignore[attr-defined]
    assert written.read_text() == standalone(answer.plot().svg)  # type: ignore[attr-defined]
    for name in ("chart.png", "chart", "chart.svg.png"):
        with pytest.raises(FileError, match=r"does not end in \.svg. Write for example"):
            answer.plot(tmp_path / name)  # type: ignore[attr-defined]
        assert not (tmp_path / name).exists()


def test_the_ending_may_be_in_capitals(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(sitr.PureDP(1.0), ledger=tmp_path / "visits.db")
    answer = budget.agg(n=sitr.count()).release(sitr.PureDP(0.5))
    assert answer.plot(str(tmp_path / "chart.SVG")).exists()
