"""The benchmark of audits: its targets can fail, and a library that is missing is named."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from benchmarks import audit as benchmark
from benchmarks.audit import PEERS, Row, audits_table, laplace, peers, peers_table, report, response, targets, timed
from sitr.flavors.pure import PureDP

GOOD = Row("Laplace noise", "pure(epsilon=1.0)", False, 0.97, 0.98, 1_000_000, 1.0, "value")
CAUGHT = replace(GOOD, name="short", broken=True, epsilon=math.inf)


def verdicts(power: list[Row], caught: list[Row], alarms: tuple[int, int, float]) -> list[str]:
    return [each.verdict for each in targets(power, caught, alarms)]


def test_every_target_can_fail() -> None:
    assert set(verdicts([GOOD] * 4, [CAUGHT], (0, 10, 1.0))) == {"pass"}
    slow, weak, above = (replace(GOOD, **change) for change in ({"seconds": 31.0}, {"epsilon": 0.8}, {"epsilon": 1.1}))  # type: ignore[arg-type]
    assert verdicts([slow, GOOD, GOOD, GOOD], [CAUGHT], (0, 10, 1.0))[0] == "FAIL"
    assert verdicts([GOOD, weak, weak, GOOD], [CAUGHT], (0, 10, 1.0))[1:3] == ["FAIL", "FAIL"]
    assert verdicts([GOOD, above, GOOD, GOOD], [CAUGHT], (0, 10, 1.0))[4] == "FAIL"
    assert verdicts([GOOD] * 4, [GOOD], (1, 10, 1.0))[5:] == ["FAIL", "FAIL"]
    assert verdicts([GOOD] * 4, [], (0, 0, 0.0))[5:] == ["not measured", "not measured"]


@pytest.mark.parametrize(("mechanism", "inputs"), [(laplace, (0, 1_000)), (response, (0, 1))])
def test_an_audit_is_timed(mechanism: object, inputs: tuple[int, int]) -> None:
    row = timed("noise", mechanism, inputs, PureDP(1.0), 40_000)
    assert not row.broken
    assert 0.7 < row.epsilon <= 1.0
    assert row.seconds > 0


def test_a_library_that_is_missing_or_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise ModuleNotFoundError("No module named 'nothing'")

    def failing() -> object:
        raise ZeroDivisionError("inside")

    made = [replace(PEERS[0], make=each) for each in (missing, failing)]  # type: ignore[arg-type]
    monkeypatch.setattr(benchmark, "PEERS", tuple(made))
    found = list(peers(Console(quiet=True)))
    assert [row for _, row in found] == ["cannot be imported: No module named 'nothing'", "ZeroDivisionError: inside"]
    text = Console(width=200, record=True, quiet=True)
    text.print(peers_table(found))
    text.print(audits_table("Broken", [CAUGHT]))
    figures = report([GOOD] * 4, [CAUGHT], (0, 1, 1.0), found, list(targets([GOOD] * 4, [CAUGHT], (0, 1, 1.0))))
    assert json.loads(json.dumps(figures, allow_nan=False))["broken"][0]["epsilon"] == "inf"
