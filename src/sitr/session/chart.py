"""A chart in a notebook, or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.errors import FileError
from sitr.namespace import Later
from sitr.report.paper import Paper
from sitr.report.words.words import in_words
from sitr.session.shown import written

if TYPE_CHECKING:
    from sitr.report.chart import svg as drawing
    from sitr.report.page import html
else:  # a preview draws nothing
    drawing, html = Later("sitr.report.chart.svg"), Later("sitr.report.page.html")


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A chart that a notebook draws in the colours of its page."""

    svg: str

    def __repr__(self) -> str:
        return f'Chart: {drawing.titled(self.svg)} (a notebook draws it; plot("chart.svg") writes it)'

    def _repr_svg_(self) -> str:
        return drawing.standalone(self.svg)

    def _repr_html_(self) -> str:
        return html.fragment(Paper(in_words(), "", (), dict, picture=lambda: self.svg))


def drawn(svg: str, path: str | Path | None) -> Chart | Path:
    """The chart, or the file that it was written to."""
    if path is None:
        return Chart(svg)
    check_ending(arguments.path(path, of="chart.svg"))
    return written(path, drawing.standalone(svg))


def check_ending(path: str | Path) -> None:
    """Refuse a file whose name says that it is not SVG."""
    if Path(path).suffix.lower() != ".svg":
        raise FileError(
            given=f"A chart is an SVG file, and the name {Path(path).name} does not end in .svg.",
            do='Write for example plot("chart.svg"); a browser or an image program converts it to other formats.',
        )
