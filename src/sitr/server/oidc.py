"""The login at an identity provider of the organization (OpenID Connect): the code flow with PKCE, state and nonce.

The provider says who somebody is. What they may do is written here and in the ledgers, whatever the token claims.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from requests import RequestException

from sitr.server.attempts import Attempt, NotIdentified
from sitr.server.settings import Settings, trusted
from sitr.server.tokens import same

CALLBACK = "/login/oidc/callback"
"""Where the provider sends browsers back to."""

ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Signatures with a public key. A token without a signature, or with a shared key, is refused."""

KEPT = 3600
"""How many seconds the description and the keys of the provider are kept."""

LEEWAY = 60
"""How many seconds the clocks may differ."""

PATIENCE = 10
"""How many seconds the provider has for each response."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of the person, as the provider states it."""

    issuer: str
    subject: str


@dataclass(slots=True)
class Provider:
    """The identity provider of the settings. It is asked when somebody logs in, and not when the server starts."""

    settings: Settings
    _known: tuple[float, Mapping[str, Any]] | None = field(default=None, repr=False)
    _keys: tuple[float, KeySet] | None = field(default=None, repr=False)

    @property
    def redirect(self) -> str:
        """The address to which browsers come back: from the settings, never from what a browser sends."""
        return self.settings.oidc_address.rstrip("/") + CALLBACK

    def _session(self) -> OAuth2Session:
        made = OAuth2Session(
            self.settings.oidc_client,
            self.settings.oidc_secret or None,
            scope="openid",
            redirect_uri=self.redirect,
            code_challenge_method="S256",
            default_timeout=PATIENCE,
        )
        made.trust_env = False  # a file of passwords for other hosts must not be used
        return made

    def _fetched(self, address: str) -> Any:
        if not trusted(address):
            raise NotIdentified("an address without https")
        with self._session() as session:
            response = session.get(address, withhold_token=True, allow_redirects=False)
            response.raise_for_status()
            if response.is_redirect:
                raise NotIdentified("a redirect")
            return response.json()

    def description(self) -> Mapping[str, Any]:
        """What the provider says about itself; its issuer must be the one in the settings."""
        if self._known is None or time.monotonic() - self._known[0] > KEPT:
            found = self._fetched(self.settings.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration")
            if not isinstance(found, dict) or found.get("issuer") != self.settings.oidc_issuer:
                raise NotIdentified("another issuer")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not trusted(found.get(name)):
                    raise NotIdentified(f"no {name} with https")
            self._known = time.monotonic(), found
        return self._known[1]

    def keys(self, *, again: bool = False) -> KeySet:
        """The public keys of the provider."""
        if again or self._keys is None or time.monotonic() - self._keys[0] > KEPT:
            self._keys = time.monotonic(), KeySet.import_key_set(self._fetched(self.description()["jwks_uri"]))
        return self._keys[1]

    def address(self, attempt: Attempt) -> str:
        """Where to send a browser that logs in."""
        with _identifying(), self._session() as session:
            found, _ = session.create_authorization_url(
                self.description()["authorization_endpoint"],
                state=attempt.state,
                code_verifier=attempt.verifier,
                nonce=attempt.nonce,
            )
        return cast("str", found)

    def identify(self, attempt: Attempt, returned: Mapping[str, str]) -> Identity:
        """Who came back from the provider with these parameters."""
        with _identifying():
            if not same(returned.get("state", ""), attempt.state):
                raise NotIdentified("another state")
            if returned.get("iss", self.settings.oidc_issuer) != self.settings.oidc_issuer:
                raise NotIdentified("another issuer")
            if "error" in returned or not returned.get("code"):
                raise NotIdentified("no code")
            with self._session() as session:
                token = session.fetch_token(
                    self.description()["token_endpoint"],
                    grant_type="authorization_code",
                    code=returned["code"],
                    code_verifier=attempt.verifier,
                    allow_redirects=False,
                )
            subject = self._subject(str(token["id_token"]), str(token.get("access_token", "")), attempt.nonce)
            return Identity(self.settings.oidc_issuer, subject)

    def _subject(self, token: str, access: str, nonce: str) -> str:
        try:
            found = jwt.decode(token, self.keys(), algorithms=ALGORITHMS)
        except InvalidKeyIdError:  # the provider has changed its keys
            found = jwt.decode(token, self.keys(again=True), algorithms=ALGORITHMS)
        client = self.settings.oidc_client
        claims = CodeIDToken(
            found.claims,
            found.header,
            {
                "iss": {"essential": True, "value": self.settings.oidc_issuer},
                "aud": {"essential": True, "value": client},
                "exp": {"essential": True},
            },
            {"nonce": nonce, "client_id": client, "access_token": access},
        )
        claims.validate(leeway=LEEWAY)
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise NotIdentified("no subject")
        return subject


class _identifying:  # noqa: N801 - used like a function
    """Whatever goes wrong with a provider is one error, whose text is not shown."""

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, AuthlibBaseError | JoseError | RequestException | ValueError | KeyError | TypeError):
            raise NotIdentified(type(error).__name__) from None
