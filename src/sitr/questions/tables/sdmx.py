"""Released tables in SDMX-CSV 2.0, the exchange format of statistical offices.

All tables are one dataflow. Each column is a dimension whose codes are the cells of all its levels and `_T`, for all
values; the last dimension is the measure. Identifiers are made from names, and names follow them ("labels=both" in the
standard), so that nothing is lost. Errors and quality are attributes; OBS_STATUS has the usual codes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from sitr.questions.tables.ladder import ColumnLevels
from sitr.questions.tables.marked import marked
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.quality import WITHHELD, QualityRule

FIRST = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
ATTRIBUTES = ("LOWER_95", "UPPER_95", "CV", "QUALITY", "OBS_STATUS")
TOTAL = "_T"
_STATUS = {WITHHELD: "Q: Missing value; suppressed", "C": "U: Low reliability"}
_NORMAL = "A: Normal value"
_INFORMATION = "I"


def written(publication: PublishedTables, *, rule: QualityRule, withhold: bool) -> str:
    """The file as text: a header, and one row for each number of each cell."""
    out = io.StringIO()
    writer = csv.writer(out)  # as RFC 4180 wants it: commas, CRLF, quotes where they are needed
    workload = publication.plan.workload
    names = [ladder.axis.column.name for ladder in workload.ladders]
    dimensions = identifiers([*names, "measure"], taken={*FIRST, *ATTRIBUTES, "OBS_VALUE"})
    heads = [_both(code, name) for code, name in zip(dimensions, [*names, "measure"], strict=True)]
    writer.writerow([*FIRST, *heads, "OBS_VALUE", *ATTRIBUTES])
    writer.writerows(_rows(publication, rule=rule, withhold=withhold))
    return out.getvalue()


def _rows(publication: PublishedTables, *, rule: QualityRule, withhold: bool) -> Iterator[list[str]]:
    plan, workload = publication.plan, publication.plan.workload
    codes = [_codes(ladder) for ladder in workload.ladders]
    measures = identifiers([measure.name for measure in plan.measures])
    table = plan.records.query.view.name
    (flow,) = identifiers([table])
    first = ["dataflow", _both(f"SITR:{flow}(1.0.0)", table), _INFORMATION]
    for node in workload.tables:
        found, at = marked(publication, node, rule=rule, withhold=withhold), dict(node)
        labels = [part.to_pylist() for part in publication.labels(node).values()]
        cells = list(zip(*labels, strict=True)) if labels else [()]
        for code, measure in zip(measures, plan.measures, strict=True):
            ends = ("", "_low", "_high", "_cv", "_mark")
            numbers = zip(*(found[measure.name + end] for end in ends), strict=True)
            for cell, (value, low, high, share, mark) in zip(cells, numbers, strict=True):
                named = iter(cell)
                keys = [
                    codes[place][at[place], next(named)] if place in at else _both(TOTAL, "Total")
                    for place in range(len(codes))
                ]
                status = _NORMAL if mark == WITHHELD and not withhold else _STATUS.get(mark, _NORMAL)
                written = [_number(each) for each in (value, low, high, share)]
                yield [*first, *keys, _both(code, measure.name), *written, mark, status]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _both(code: str, name: str) -> str:
    """An identifier and a name."""
    return f"{code}: {name}"


def _codes(ladder: ColumnLevels) -> dict[tuple[int, str], str]:
    """The code and the name of each cell, by the number of its level and its label; no code occurs twice."""
    cells = [(number, label) for number, level in enumerate(ladder.levels, start=1) for label in level.labels]
    made = identifiers([label for _, label in cells], taken={TOTAL})
    return {cell: _both(code, cell[1]) for cell, code in zip(cells, made, strict=True)}


def identifiers(names: Sequence[str], *, taken: Iterable[str] = ()) -> list[str]:
    """An identifier of letters, digits and _ for each name, all different.

    >>> identifiers(["ward", "age band", "Ward", "س", "[0, 10)"])
    ['WARD', 'AGE_BAND', 'WARD_2', 'X', 'X_0_10']
    """
    found: list[str] = []
    used = set(taken)
    for name in names:
        plain = re.sub(r"[^A-Z0-9]+", "_", name.upper() if name.isascii() else "").strip("_")
        base = plain if plain[:1].isalpha() else f"X_{plain}".rstrip("_")
        code, number = base, 1
        while code in used:
            number += 1
            code = f"{base}_{number}"
        used.add(code)
        found.append(code)
    return found
