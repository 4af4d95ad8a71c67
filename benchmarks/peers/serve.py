"""Answer many questions with one library: read a request from standard input, write a line of JSON for each question.

A library's module gives `prepare(path, data, case)`, which returns a function that releases the answer once: a number
for each group or cell, NaN for a group that is not shown. It raises `CannotAsk` with the reason if the library has no
such question, or none with the same guarantee.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.query_cases import TABLES, UNSEEN, Case, Data, distances, right

Release = Callable[[], Sequence[float]]
Prepare = Callable[[Path, Data, Case], Release]


ENOUGH = 100
"""Answers are looked at in hundreds."""


class CannotAsk(Exception):
    """The library has no such question, or none with the same guarantee; the text says why."""


def released(
    prepare: Prepare, path: Path, data: Data, case: Case, *, repeat: int, seconds: float, precise: float = 0.0
) -> dict[str, object]:
    """Up to so many answers in about so many CPU seconds, and at least two; or what went wrong.

    It ends earlier if the standard error of the mean error is at most this part of it (`precise`).
    """
    try:
        release, exact = prepare(path, data, case), right(data, case)
        start, answers = time.process_time(), list[list[float | None]]()
        while len(answers) < repeat and (len(answers) < 2 or time.process_time() - start < seconds):
            answers.append([None if math.isnan(number) else number for number in map(float, release())])
            if len(answers) % ENOUGH == 0:
                found = distances(answers, exact)
                least = 0.0 if case.level is None else UNSEEN
                sure = found.std(ddof=1) / math.sqrt(len(found)) if found.any() or not least else 1 / len(found)
                if sure <= precise * max(found.mean(), least):
                    break
    except CannotAsk as reason:
        return {"trouble": str(reason)}
    except Exception as error:  # noqa: BLE001 - any exception of another library is its answer
        return {"trouble": " ".join(f"{type(error).__name__}: {error}".split())[:200]}
    return {"answers": answers}


def serve(prepare: Prepare) -> None:
    warnings.simplefilter("ignore")
    request = json.loads(sys.stdin.read())
    tables = {name: TABLES[name]() for name in request["tables"]}
    out, sys.stdout = sys.stdout, sys.stderr  # some libraries print
    for asked, seconds in zip(request["cases"], request["seconds"], strict=True):
        case = Case(**asked)
        path = Path(request["tables"][case.table])
        how = {name: request[name] for name in ("repeat", "precise")}
        found = released(prepare, path, tables[case.table], case, seconds=seconds, **how)
        out.write(json.dumps({"case": asked, **found}) + "\n")
        out.flush()
