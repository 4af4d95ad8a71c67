"""Something moves while a command works: on terminals only, on standard error, and never beside JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sitr = Callable[..., Any]

TERMINAL = {"FORCE_COLOR": "1", "TERM": "xterm"}
PROTECT = ("protect", "visits.parquet", "--unit-row", "-o", "rows.yaml", "--force")
ASK = ("ask", "visits.sitr.yaml", "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.1)")


@pytest.mark.usefixtures("description")
@pytest.mark.parametrize(("words", "what"), [(ASK, "Reading and adding noise"), (PROTECT, "Reading visits.parquet")])
def test_it_is_for_people_before_a_terminal(sitr: Sitr, words: tuple[str, ...], what: str) -> None:
    seen = sitr(*words, environment=TERMINAL)
    assert seen.code == 0
    assert what in seen.err
    assert what not in seen.out
    piped, machine = sitr(*words), sitr(*words, "--json", environment=TERMINAL)
    assert (piped.code, piped.err, machine.code, machine.err) == (0, "", 0, "")


@pytest.mark.usefixtures("description")
def test_it_goes_away_before_an_error_is_told(sitr: Sitr) -> None:
    refused = sitr(*ASK[:-1], "zcdp(9)", environment=TERMINAL)
    assert refused.code == 1
    assert refused.err.rindex("Reading and adding noise") < refused.err.index("error:")
    assert refused.err.rindex("\x1b[?25h") < refused.err.index("error:")  # the cursor is back
