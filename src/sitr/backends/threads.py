"""How many threads DuckDB may use for one question."""

from __future__ import annotations

import os
import re

from sitr.errors import SourceError

VARIABLE = "SITR_THREADS"


def threads() -> int | None:
    """The number in the environment variable; None for one thread on each core, which is DuckDB's default.

    The number decides how long an answer takes, and nothing else: neither rows nor groups are chosen by threads.
    """
    given = os.environ.get(VARIABLE)
    if given is None:
        return None
    if not re.fullmatch(r"\s*[1-9][0-9]{0,3}\s*", given, re.ASCII):
        raise SourceError(
            wanted=f"a number of threads from 1 to 9999 in {VARIABLE}",
            given=repr(given),
            do="Correct the variable or unset it; the default is one thread on each core.",
        )
    return int(given)
