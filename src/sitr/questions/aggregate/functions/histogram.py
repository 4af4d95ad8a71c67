"""HISTOGRAM: the numbers of rows by public cells, beside other aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.dataset.schema import NUMERIC
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Expression, Literal, Name, spelled
from sitr.questions.aggregate.expressions.literals import fitting
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, literal_typed
from sitr.questions.aggregate.frame import Operand, operand
from sitr.questions.aggregate.frame_parts import value_or_expression
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.quantity import Bar
from sitr.questions.aggregate.view import View

MOST_CELLS = 200
"""The most cells of a histogram beside other aggregates; `Budget.histogram` has millions."""


@dataclass(frozen=True, slots=True)
class Histogram(Operators):
    """The number of rows in each cell between public edges: a column for each cell.

    A cell has its lower edge, and the last one has its upper edge too. Values beyond the edges and NULL are in no cell.

    >>> Histogram(Name("age"), (Literal(0), Literal(18), Literal(65))).sql()
    'HISTOGRAM(age, [0, 18, 65])'
    """

    of: Expression
    edges: tuple[Literal, ...]

    function: ClassVar[str] = "HISTOGRAM"
    forms: ClassVar[tuple[str, ...]] = ("HISTOGRAM(column, [edges])",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Histogram | None:
        match arguments:
            case Arguments((of, *edges), star=False, distinct=False) if len(edges) > 1:
                found = tuple(edge for edge in edges if isinstance(edge, Literal))
                return cls(of, found) if len(found) == len(edges) else None
        return None

    def sql(self) -> str:
        return f"HISTOGRAM({spelled(self.of)}, [{', '.join(map(spelled, self.edges))}])"

    def name(self) -> str:
        return f"histogram_{self.of.name}" if isinstance(self.of, Name) else "histogram"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        if of.kind not in (*NUMERIC, *TEMPORAL):
            raise QuestionError(
                given=f"HISTOGRAM needs numbers or dates, but {of.text} has type {of.kind.value}.",
                do="Group by it instead.",
            )
        edges = [fitting(literal_typed(edge.value), of) for edge in self.edges]
        places = [_place(edge) for edge in edges]
        if not 2 <= len(edges) <= MOST_CELLS + 1 or any(one >= other for one, other in pairwise(places)):
            raise QuestionError(
                wanted=f"from 2 to {MOST_CELLS + 1} edges in growing order in HISTOGRAM",
                given=shown([edge.value for edge in edges]),
                do="Write for example HISTOGRAM(age, [0, 18, 65, 120]).",
            )
        found = Histogram(of.expression, tuple(Literal(edge.value) for edge in edges))
        bars = tuple(Bar(of, cell, found.sql()) for cell in _cells(of, edges, view))
        names = [f"_{low.value}_{high.value}" for low, high in pairwise(edges)]
        shown_as = (
            BoundAggregate(HistogramCell(bar.cell.expression), (bar,), whole=True, step=Fraction(1)) for bar in bars
        )
        parts = tuple(zip(names, shown_as, strict=True))
        return BoundAggregate(found, bars, parts=parts)


@dataclass(frozen=True, slots=True)
class HistogramCell:
    """One column of a histogram; it is never written in a question."""

    condition: Expression

    function: ClassVar[str] = "HISTOGRAM"
    forms: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, _: Arguments, /) -> HistogramCell | None:
        return None

    def sql(self) -> str:
        return f"COUNT(*) FILTER (WHERE {spelled(self.condition)})"

    def name(self) -> str:
        return "cell"

    def bound(self, _: View, /) -> BoundAggregate:
        raise QuestionError(given="A cell is no question by itself.", do="Ask for the whole HISTOGRAM.")


def _place(edge: Typed) -> Fraction:
    assert edge.low is not None
    return edge.low


def _cells(of: Typed, edges: Sequence[Typed], view: View) -> list[Typed]:
    """The conditions of the cells: no row satisfies two of them."""
    last = len(edges) - 2
    return [
        view.called(
            "AND",
            view.called(">=", of, edges[place]),
            view.called("<" if place < last else "<=", of, edges[place + 1]),
        )
        for place in range(last + 1)
    ]


def histogram(column: Operand, edges: Sequence[object]) -> Histogram:
    """The number of rows in each cell between these public edges, in a column each, beside other aggregates.

    >>> histogram("age", [0, 18, 65]).sql()
    'HISTOGRAM(age, [0, 18, 65])'
    """
    if isinstance(edges, str) or not isinstance(edges, Sequence):
        raise QuestionError(
            wanted="a list of edges for histogram()", given=shown(edges), do="Write histogram(…, [0, 10])."
        )
    found = tuple(map(value_or_expression, edges))
    literals = tuple(edge for edge in found if isinstance(edge, Literal))
    if len(literals) < len(found):
        raise QuestionError(
            wanted="numbers or dates as edges of histogram()",
            given="an expression",
            do="Edges are public: write them as values.",
        )
    return Histogram(operand(column), literals)
