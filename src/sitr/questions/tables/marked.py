"""The numbers of a table with intervals and quality marks, as files and pages show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import WITHHELD, QualityRule, small, variation
from sitr.questions.tables.workload import Node


def marked(publication: PublishedTables, node: Node, *, rule: QualityRule, withhold: bool) -> dict[str, list[Any]]:
    """For each measure of a table: numbers, ends of 95% intervals, coefficients of variation, marks and notes."""
    found: dict[str, list[Any]] = {}
    for measure in publication.plan.measures:
        cells = publication.cells(measure, node).ravel()
        low, high = (part.ravel() for part in publication.ends(measure, node, confidence=0.95))
        share = np.broadcast_to(variation(publication, measure, node), publication.plan.workload.shape(node)).ravel()
        marks = rule.mark(share)
        hidden = (marks == WITHHELD) & withhold
        columns = {"": cells, "_low": low, "_high": high, "_cv": np.where(np.isinf(share), np.nan, share)}
        for ending, numbers in columns.items():
            dropped = np.isnan(numbers) | hidden
            found[measure.name + ending] = [
                None if drop else value for drop, value in zip(dropped.tolist(), numbers.tolist(), strict=True)
            ]
        found[f"{measure.name}_mark"] = marks.tolist()
        if measure.adds_up:
            few = small(publication, measure, node, rule).ravel().tolist()
            found[f"{measure.name}_small"] = few
    return found
