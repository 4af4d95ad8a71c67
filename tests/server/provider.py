"""A small identity provider on this machine, which can also lie."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "sitr", "shared with the provider"


@dataclass
class Identities:
    """Whom the provider logs in, what it says about them, and how it lies."""

    redirect: str
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    address: str = ""
    name: str = "ana"
    subject: str = "subject of ana"
    claims: dict[str, Any] = field(default_factory=dict)
    described: dict[str, Any] = field(default_factory=dict)
    signed: Callable[[dict[str, Any]], str] | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def description(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return (
            {"issuer": self.address} | {name: f"{self.address}/{path}" for name, path in paths.items()} | self.described
        )

    def authorize(self, query: dict[str, str]) -> str:
        """Log somebody in, and send them back with a code."""
        assert query["redirect_uri"] == self.redirect, "a foreign address"
        assert (query["response_type"], query["client_id"]) == ("code", CLIENT)
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return f"{self.redirect}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Exchange a code once, for whoever knows the verifier and the secret."""
        self.asked.append(form)
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        begun = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if begun is None or authorization != f"Basic {known}" or begun["code_challenge"] != challenge:
            return None
        now = int(time.time())
        usual = {"iss": self.address, "aud": CLIENT, "sub": self.subject, "iat": now, "exp": now + 300}
        claims = usual | {"nonce": begun["nonce"], "preferred_username": self.name} | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        sign = self.signed or (lambda said: jwt.encode({"alg": "RS256", "kid": "one"}, said, self.key))
        return {"access_token": "x", "token_type": "Bearer", "id_token": sign(claims)}

    def keys(self) -> Any:
        return KeySet([self.key]).as_dict(private=False)


@contextmanager
def providing(redirect: str) -> Iterator[Identities]:
    """A provider that listens on this machine."""
    made = Identities(redirect)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("location", made.authorize(query))
                self.end_headers()
                return
            found = {"/.well-known/openid-configuration": made.description, "/keys": made.keys}[parts.path]
            self._say(200, found())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            found = made.token(form, self.headers.get("authorization", ""))
            self._say(200 if found else 400, found or {"error": "invalid_grant"})

        def _say(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
