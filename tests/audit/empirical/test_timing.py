"""The time of an answer tells two inputs apart, or it does not; a drifting clock is no evidence."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sitr.audit.empirical.boxes import Command, Endpoint
from sitr.audit.empirical.timing import timing
from sitr.errors import InvalidParameter, InvalidUse
from sitr.noise import TestCoins


class Machine:
    """A clock that drifts, and a mechanism that takes its time."""

    def __init__(self, seed: int, *, extra: float) -> None:
        self.generator, self.now, self.extra, self.calls = np.random.default_rng(seed), 0, extra, 0

    def clock(self) -> int:
        return self.now

    def answer(self, data: int) -> None:
        self.calls += 1
        drift = 1_000 + self.calls  # every call is slower than the one before
        self.now += int(drift + self.generator.exponential(300) + self.extra * data)


def p_value(seed: int, extra: float) -> Any:
    machine = Machine(seed, extra=extra)
    return timing(machine.answer, inputs=(0, 1), draws=400, coins=TestCoins(seed), clock=machine.clock)


def test_a_drifting_clock_alone_raises_no_more_alarms_than_allowed() -> None:
    assert sum(p_value(seed, 0.0).tells(confidence=0.9) for seed in range(400)) <= 40


def test_an_input_that_takes_longer_is_found() -> None:
    found = p_value(1, 2_000.0)
    assert found.tells()
    assert found.second > found.first


def test_both_inputs_are_tested_equally_often_and_chance_is_never_zero() -> None:
    found = p_value(1, 20_000.0)
    assert (found.first, found.second, found.draws) == (0, 100, 100)
    assert 0.0 < found.p_value < 1e-50
    assert found.to_dict() == {
        "seconds": found.seconds,
        "first": 0,
        "second": 100,
        "draws": 100,
        "p_value": found.p_value,
    }


def test_progress_is_reported() -> None:
    machine, told = Machine(1, extra=0.0), list[float]()
    timing(machine.answer, inputs=(0, 1), draws=400, coins=TestCoins(1), clock=machine.clock, progress=told.append)
    assert told == [0.0, 0.25, 0.5, 0.75]


def test_a_mechanism_that_only_fails_is_refused_before_it_is_timed() -> None:
    calls = []

    def failing(data: int) -> None:
        calls.append(data)
        raise TypeError

    with pytest.raises(InvalidUse, match=r"failed on every draw: TypeError\."):
        timing(failing, inputs=(0, 1))
    assert calls == [0, 1]


def test_failing_on_one_input_only_is_an_answer_with_a_time() -> None:
    machine = Machine(1, extra=5_000.0)

    def sometimes(data: int) -> None:
        machine.answer(data)
        if data:
            raise ValueError

    found = timing(sometimes, inputs=(0, 1), draws=400, coins=TestCoins(1), clock=machine.clock)
    assert found.tells()


@pytest.mark.parametrize("input_that_tells", [1, 2])
def test_a_command_is_timed_as_it_is(input_that_tells: int, tmp_path: Path) -> None:
    """Its clock is a file: the command writes to it, and so takes longer, on one input."""
    (tape := tmp_path / "tape").write_text("")
    slow = Command(["sh", "-c", f"test {{input}} != {input_that_tells} || echo x >> {tape}; echo 7"])
    told = timing(slow, inputs=(0, 1), draws=40, coins=TestCoins(1), clock=lambda: tape.stat().st_size * 10**6)
    assert told.draws == 10
    assert told.tells() is (input_that_tells == 1)


@pytest.mark.parametrize("input_that_tells", [1, 2])
def test_an_endpoint_is_timed_as_it_is(input_that_tells: int) -> None:
    taken = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            taken.extend([sent] * (sent == input_that_tells))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"7")

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        (thread := threading.Thread(target=server.serve_forever)).start()
        box = Endpoint(f"http://127.0.0.1:{server.server_port}/count")
        told = timing(box, inputs=(0, 1), draws=40, coins=TestCoins(1), clock=lambda: len(taken) * 10**6)
        server.shutdown()
        thread.join()
    assert told.tells() is (input_that_tells == 1)


def test_a_confidence_is_a_probability() -> None:
    with pytest.raises(InvalidParameter):
        p_value(1, 0.0).tells(confidence=1.5)


def test_inputs_in_a_fixed_order_would_be_told_apart_by_the_drift() -> None:
    """The broken twin: first all of one, then all of the other."""
    machine, spent = Machine(1, extra=0.0), []
    for _ in range(400):
        start = machine.now
        machine.answer(0)
        spent.append(machine.now - start)
    assert np.median(spent[200:]) > np.quantile(spent[:200], 0.6)
