"""A site that keeps witnesses, on this machine and in memory, with the faults that a test asks for."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread


class WitnessSite(ThreadingHTTPServer):
    """What `sitr.ledger.site` says that a site must do, and ways to fail."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.texts: dict[str, bytes] = {}
        self.token = ""
        self.asked: list[str] = []
        self.fault: dict[str, list[str]] = {"GET": [], "PUT": []}
        """The faults of the next answers to a method; after the last one there are none."""
        self.stale: bytes | None = None
        self.lock, self.stopped = Lock(), Event()
        self.scheme = "http"

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}/hospital"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up on purpose here."""


def tag(text: bytes) -> str:
    return f'"{sha256(text).hexdigest()[:16]}"'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WitnessSite

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self._failed("GET"):
            return
        text = self.server.texts.get(self.path) if self.server.stale is None else self.server.stale
        self._answer(404 if text is None else 200, text or b"", {} if text is None else {"ETag": tag(text)})

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self._failed("PUT", body):
            return
        self._answer(204 if self._store(body) else 412, b"", {})

    def _store(self, body: bytes) -> bool:
        with self.server.lock:
            there = self.server.texts.get(self.path)
            wanted, none = self.headers["If-Match"], self.headers["If-None-Match"]
            assert (wanted is None) != (none is None), "every PUT has one condition"
            if there is None if wanted is not None else there is not None:
                return False
            if there is not None and wanted != tag(there):
                return False
            self.server.texts[self.path] = body
            return True

    def _failed(self, method: str, body: bytes = b"") -> bool:
        """Answer wrongly, if that is the next fault; `lost` stores the text and says nothing."""
        self.server.asked.append(method)
        if self.server.token and self.headers["Authorization"] != f"Bearer {self.server.token}":
            self._answer(401, b"", {})
            return True
        fault = self.server.fault[method].pop(0) if self.server.fault[method] else ""
        text = self.server.texts.get(self.path, b"")
        if fault.isdigit():
            self._answer(int(fault), b"", {"Location": f"{self.server.address}/elsewhere"})
        elif fault in ("lost", "unstored"):
            if fault == "lost":
                self._store(body)
            self.close_connection = True
        elif fault == "other":  # somebody else is faster
            self.server.texts[self.path] = b"something else"
            self._answer(412, b"", {})
        elif fault == "slow":
            self.server.stopped.wait(5)
        elif fault == "trickle":
            while not self.server.stopped.is_set():
                self.wfile.write(b"H")
                self.wfile.flush()
                time.sleep(0.05)
        else:
            return self._odd(fault, text)
        return True

    def _odd(self, fault: str, text: bytes) -> bool:
        """Answer with the text, but not as it should be; False if that is not the fault."""
        if fault == "cut":
            self._answer(200, text[:20], {"ETag": tag(text)}, length=len(text))
            self.close_connection = True
        elif fault == "weak":
            self._answer(200, text, {"ETag": f"W/{tag(text)}"})
        elif fault == "long":
            self._answer(200, b" " * 5000, {"ETag": tag(text)})
        else:
            return False
        return True

    def _answer(self, status: int, body: bytes, headers: dict[str, str], *, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running(certificate: tuple[Path, Path] | None = None) -> Iterator[WitnessSite]:
    """A site that answers; with a certificate and its key, over TLS."""
    site = WitnessSite()
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        site.socket = context.wrap_socket(site.socket, server_side=True)
        site.scheme = "https"
    thread = Thread(target=site.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.stopped.set()
        site.shutdown()
        site.server_close()
        thread.join()
