"""The webhook tells an address on loopback about requests and decisions: numbers, never questions."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Empty, Queue

import pytest

from tests.server.conftest import PRICE, SQL, team_in

REQUESTS = "/api/v1/datasets/visits/requests"


def test_requests_and_decisions_are_told(tmp_path: Path) -> None:
    told: Queue[tuple[str, bytes]] = Queue()

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.put((self.headers["content-type"], self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        team = team_in(tmp_path, webhook=f"http://127.0.0.1:{server.server_port}/hook")
        body = {"sql": SQL, "price": PRICE, "reason": "a secret reason"}
        made = team.program("ana").post(REQUESTS, json=body)
        assert made.status_code == 201
        number = made.json()["number"]
        kind, content = told.get(timeout=30)
        assert kind == "application/json"
        assert json.loads(content) == {"event": "requested", "dataset": "visits", "number": number}
        assert team.program("noor").post(f"{REQUESTS}/{number}/approve", json={}).status_code == 200
        assert json.loads(told.get(timeout=30)[1]) == {"event": "decided", "dataset": "visits", "number": number}
        with pytest.raises(Empty):
            told.get(timeout=0.2)
    finally:
        server.shutdown()
        server.server_close()


def test_nobody_waits_for_an_address_that_does_not_answer(tmp_path: Path) -> None:
    team = team_in(tmp_path, webhook="http://127.0.0.1:9/hook")
    made = team.program("ana").post(REQUESTS, json={"sql": SQL, "price": PRICE, "reason": "work"})
    assert made.status_code == 201
