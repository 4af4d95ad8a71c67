"""The login at an identity provider: a real one on this machine, and the lies that are not believed."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from sitr.errors import DescriptionError, MissingExtra
from sitr.server.app import create
from sitr.server.attempts import LONGEST, Attempts
from sitr.server.federated import account_of
from sitr.server.oidc import CALLBACK, Identity
from sitr.server.role import UserRole
from sitr.server.run import _read, _written
from sitr.server.settings import read_settings
from sitr.server.tokens import hashed
from tests.server.conftest import Team, password, team_in
from tests.server.provider import CLIENT, SECRET, Identities, providing

HERE = "https://testserver"


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, Identities]]:
    with providing(HERE + CALLBACK) as provider:
        settings = {"oidc_issuer": provider.address, "oidc_client": CLIENT, "oidc_secret": SECRET, "oidc_address": HERE}
        yield team_in(tmp_path_factory.mktemp("oidc"), **settings), provider


@pytest.fixture
def both(everything: tuple[Team, Identities]) -> tuple[Team, Identities]:
    """The server, which has forgotten what the provider said before, and an honest provider."""
    team, provider = everything
    provider.name, provider.subject, provider.claims, provider.described = "ana", "subject of ana", {}, {}
    provider.signed = None
    create_again(team)
    attempts = Attempts(team.people.path)
    for name in attempts.bound(provider.address):
        attempts.unbind(provider.address, name)
    assert attempts.bind(provider.address, provider.subject, "ana")
    return team, provider


def create_again(team: Team) -> None:
    state = team.app.app.state  # type: ignore[attr-defined]
    state.provider = create(team.settings, team.people).app.state.provider  # type: ignore[attr-defined]


def sent(client: httpx.Client, then: str = "/queue") -> str:
    """The address of the provider to which a browser is sent."""
    found = client.get("/login/oidc", params={"then": then})
    assert found.status_code == 303
    return found.headers["location"]


def returned(address: str) -> str:
    """The address to which the provider sends the browser back, without the host."""
    found = httpx.get(address, follow_redirects=False).headers["location"]
    assert found.startswith(HERE + CALLBACK)
    return found.removeprefix(HERE)


def finished(client: httpx.Client) -> httpx.Response:
    return client.get(returned(sent(client)))


def refused(client: httpx.Client, response: httpx.Response) -> None:
    assert response.status_code == 403
    assert "was not accepted" in response.text
    assert "__Host-sitr" not in set(client.cookies)
    assert client.get("/queue").status_code == 303


def test_somebody_with_an_account_logs_in(both: tuple[Team, Identities]) -> None:
    team, _ = both
    client = team.visitor()
    assert "/login/oidc" in client.get("/login").text
    found = finished(client)
    assert found.status_code == 200
    assert 'content="0; url=/queue"' in found.text
    assert client.get("/queue").status_code == 200
    assert client.get("/people").status_code == 403  # the role is that of the account
    [session] = [each for each in found.headers.get_list("set-cookie") if each.startswith("__Host-sitr=")]
    assert all(word in session.lower() for word in ("httponly", "secure", "samesite=strict", "path=/"))


def test_what_the_token_says_about_roles_counts_nothing(both: tuple[Team, Identities]) -> None:
    team, provider = both
    provider.claims = {"role": "administrator", "groups": ["steward"], "roles": ["administrator"]}
    client = team.visitor()
    assert finished(client).status_code == 200
    assert client.get("/people").status_code == 403


def test_the_name_that_the_provider_gives_brings_no_account(both: tuple[Team, Identities]) -> None:
    """Whoever can choose a name there would choose that of somebody here."""
    team, provider = both
    provider.subject = "somebody else"
    for name in ("noor", "ana", "omar"):
        provider.name = name
        refused(client := team.visitor(), finished(client))
    team.people.invite("zaid", UserRole.STEWARD, by="admin")
    provider.name = "zaid"
    refused(client := team.visitor(), finished(client))
    assert team.people.user("zaid") is None
    provider.subject, provider.name = "subject of ana", "renamed@hospital.example"
    assert finished(team.visitor()).status_code == 200  # still Ana, whatever she is called there


def accepted(client: httpx.Client, link: str) -> httpx.Response:
    """Accept an invitation at the provider, by the link on its page."""
    shown = client.get(f"/invitation/{link}")
    [address] = re.findall(r'href="(/login/oidc\?invitation=[^"]+)"', shown.text)
    found = client.get(html.unescape(address))
    return found if found.status_code != 303 else client.get(returned(found.headers["location"]))


def test_an_invitation_is_accepted_at_the_provider(both: tuple[Team, Identities]) -> None:
    team, provider = both
    name = "lina@hospital.example"
    provider.name, provider.subject = "lina", "subject of lina"
    refused(client := team.visitor(), finished(client))
    link = team.people.invite(name, UserRole.AUDITOR, by="admin")
    client = team.visitor()
    assert accepted(client, link).status_code == 200
    assert team.user(name).role is UserRole.AUDITOR
    assert name in client.get("/account").text
    assert team.people.invited(link) is None
    assert finished(team.visitor()).status_code == 200  # also the second time
    assert team.visitor().get("/login/oidc", params={"invitation": link}).status_code == 403
    assert team.people.check(name, "") is None


def test_a_link_of_somebody_else_binds_nobody(both: tuple[Team, Identities]) -> None:
    """An attacker's invitation, or their wish to connect, needs a mark that only this server gives to this browser."""
    team, provider = both
    provider.subject = "subject of the victim"
    link = team.people.invite("mallory", UserRole.ANALYST, by="admin")
    for mark in ("", "0" * 64):
        assert team.visitor().get("/login/oidc", params={"invitation": link, "mark": mark}).status_code == 403
        assert team.browser("noor").get("/account/identity", params={"mark": mark}).status_code == 403
    assert team.visitor().get("/account/identity").status_code == 303  # to the login


def test_an_identity_with_an_account_accepts_no_second_one(both: tuple[Team, Identities]) -> None:
    team, _ = both
    link = team.people.invite("second", UserRole.STEWARD, by="admin")
    accepted(team.visitor(), link)
    assert team.people.user("second") is None
    assert team.people.invited(link) is not None


def test_who_is_logged_in_connects_the_account(both: tuple[Team, Identities]) -> None:
    team, provider = both
    provider.subject = "subject of noor"
    noor = team.browser("noor")
    [address] = re.findall(r'href="(/account/identity[^"]+)"', noor.get("/account").text)
    assert noor.get(returned(noor.get(address).headers["location"])).status_code == 200
    assert "/account/identity" not in noor.get("/account").text
    assert finished(client := team.visitor()).status_code == 200
    assert "noor" in client.get("/account").text
    omar = team.browser("omar")  # the identity of somebody else
    [address] = re.findall(r'href="(/account/identity[^"]+)"', omar.get("/account").text)
    assert omar.get(returned(omar.get(address).headers["location"])).status_code == 403


def test_an_administrator_connects_and_disconnects(both: tuple[Team, Identities]) -> None:
    team, provider = both
    admin, place = team.program("admin"), "/api/v1/users/omar/identity"
    provider.subject = "subject of omar"
    assert admin.put(place, json={"subject": "subject of ana"}).status_code == 403  # she has it
    assert admin.put(place, json={"subject": provider.subject}).status_code == 204
    assert admin.put(place, json={"subject": "another"}).status_code == 403
    assert finished(team.visitor()).status_code == 200
    assert admin.delete(place).status_code == 204
    refused(client := team.visitor(), finished(client))
    assert admin.put("/api/v1/users/nobody/identity", json={"subject": "x"}).status_code == 404


def test_an_account_that_is_forbidden_stays_forbidden(both: tuple[Team, Identities]) -> None:
    team, _ = both
    team.people.enable("ana", enabled=False)
    refused(client := team.visitor(), finished(client))
    team.people.enable("ana", enabled=True)
    assert finished(team.visitor()).status_code == 200


def connecting(client: httpx.Client) -> str:
    """The address to which somebody who is logged in comes back, to connect their account."""
    [address] = re.findall(r'href="(/account/identity[^"]+)"', client.get("/account").text)
    return returned(client.get(address).headers["location"])


def test_a_new_password_also_ends_what_somebody_with_a_session_connected(both: tuple[Team, Identities]) -> None:
    """Whoever had the browser of Noor for a minute would otherwise stay in, whatever she does."""
    team, provider = both
    old, new = password("noor"), "another long phrase"
    provider.subject = "subject of the thief"
    begun = connecting(thief := team.browser("noor"))
    team.people.change_password("noor", old, new)
    assert thief.get(begun).status_code == 403  # begun before, ended after
    assert thief.get("/queue").status_code == 303
    team.people.change_password("noor", new, old)
    thief = team.browser("noor")
    assert thief.get(connecting(thief)).status_code == 200
    assert finished(team.visitor()).status_code == 200
    team.people.change_password("noor", old, new)
    refused(client := team.visitor(), finished(client))
    team.people.change_password("noor", new, old)
    noor = team.browser("noor")
    provider.subject = "subject of noor"
    assert noor.get(connecting(noor)).status_code == 200  # she connects it again


def test_nothing_is_connected_to_an_account_that_is_forbidden_or_disconnected(both: tuple[Team, Identities]) -> None:
    team, provider = both
    provider.subject = "subject of omar"
    attempts = Attempts(team.people.path)
    for forbid in (True, False):
        begun = connecting(omar := team.browser("omar"))
        if forbid:
            team.people.enable("omar", enabled=False)
        else:
            attempts.unbind(provider.address, "omar")
        assert omar.get(begun).status_code == 403
        team.people.enable("omar", enabled=True)
        assert "omar" not in attempts.bound(provider.address)


def test_an_identity_that_got_an_account_meanwhile_gets_no_second_one(both: tuple[Team, Identities]) -> None:
    """Two invitations are accepted in the same moment, by two workers: one of them fails."""
    team, provider = both
    issuer, attempts = provider.address, Attempts(team.people.path)
    identity = Identity(issuer, "subject of two")
    link = team.people.invite("one", UserRole.ANALYST, by="admin")
    _, attempt = attempts.begin("/", invitation=hashed(link))
    bind = Attempts.bind

    def late(self: Attempts, issuer: str, subject: str, name: str) -> bool:
        bind(self, issuer, subject, "noor")  # the other worker was first
        return bind(self, issuer, subject, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Attempts, "bind", late)
        assert account_of(team.people, identity, attempt) is None
    assert attempts.owner(issuer, "subject of two") == "noor"


def unsigned(claims: dict[str, Any]) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=").decode() for each in parts) + "."


def by_another_key(claims: dict[str, Any]) -> str:
    return jwt.encode({"alg": "RS256", "kid": "one"}, claims, RSAKey.generate_key(2048, {"kid": "one"}))


def by_the_secret(claims: dict[str, Any]) -> str:
    key = OctKey.import_key(SECRET.encode() * 2)
    return jwt.encode({"alg": "HS256", "kid": "one"}, claims, key, algorithms=["HS256"])


@pytest.mark.parametrize("signed", [unsigned, by_another_key, by_the_secret, lambda _: "x.y.z", lambda _: ""])
def test_a_token_without_the_signature_of_the_provider_is_refused(both: tuple[Team, Identities], signed: Any) -> None:
    team, provider = both
    provider.signed = signed
    refused(client := team.visitor(), finished(client))


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another client"},
        {"aud": ["another client"]},
        {"aud": [CLIENT, "another client"], "azp": "another client"},
        {"aud": "another client", "azp": CLIENT},
        {"aud": None},
        {"exp": int(time.time()) - 3600},
        {"exp": None},
        {"nbf": int(time.time()) + 3600},
        {"sub": None},
        {"sub": ""},
        {"sub": ["subject of ana"]},
        {"sub": "Subject of Ana"},
        {"sub": "' OR 1=1 --"},
    ],
    ids=" and ".join,  # the same in every process: some values are times
)
def test_a_token_for_somebody_else_is_refused(both: tuple[Team, Identities], claims: dict[str, Any]) -> None:
    team, provider = both
    provider.claims = claims
    refused(client := team.visitor(), finished(client))


def test_a_login_ends_in_the_browser_that_began_it_and_once(both: tuple[Team, Identities]) -> None:
    team, provider = both
    client, other = team.visitor(), team.visitor()
    back = returned(sent(client))
    refused(other, other.get(back))  # a link with a code of the attacker, in the browser of the victim
    sent(other)
    refused(other, other.get(back))  # also while the victim logs in
    cookies = dict(client.cookies)
    assert client.get(back).status_code == 200
    thief = team.visitor()
    thief.cookies.update(cookies)
    asked = len(provider.asked)
    refused(thief, thief.get(back))
    assert len(provider.asked) == asked  # the code was not even sent a second time


def test_a_code_is_taken_once_also_by_the_provider(both: tuple[Team, Identities]) -> None:
    team, _ = both
    first, second = team.visitor(), team.visitor()
    back = returned(sent(first))
    assert first.get(back).status_code == 200
    [state] = parse_qs(urlsplit(sent(second)).query)["state"]
    code = parse_qs(urlsplit(back).query)["code"][0]
    refused(second, second.get(CALLBACK, params={"code": code, "state": state}))


def test_a_code_of_another_login_fails_by_its_verifier(both: tuple[Team, Identities]) -> None:
    """Its state is right, as if it had been read from the address of the victim."""
    team, _ = both
    victim, attacker = team.visitor(), team.visitor()
    code = parse_qs(urlsplit(returned(sent(attacker))).query)["code"][0]
    [state] = parse_qs(urlsplit(sent(victim)).query)["state"]
    refused(victim, victim.get(CALLBACK, params={"code": code, "state": state}))


@pytest.mark.parametrize(
    "changed",
    [{"state": "x"}, {"state": ""}, {"code": ""}, {"iss": "https://evil.example"}, {"error": "access_denied"}],
)
def test_changed_parameters_are_refused(both: tuple[Team, Identities], changed: dict[str, str]) -> None:
    team, _ = both
    client = team.visitor()
    back = {name: values[0] for name, values in parse_qs(urlsplit(returned(sent(client))).query).items()}
    refused(client, client.get(CALLBACK, params=back | changed))


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
def test_a_provider_that_describes_another_one_is_not_used(
    both: tuple[Team, Identities], described: dict[str, Any]
) -> None:
    team, provider = both
    provider.described = described
    client = team.visitor()
    found = client.get("/login/oidc")
    assert found.status_code == 403
    assert "was not accepted" in found.text


def test_the_way_back_is_that_of_the_settings_whatever_the_browser_sends(both: tuple[Team, Identities]) -> None:
    team, _ = both
    client = team.visitor()
    found = client.get("/login/oidc", params={"then": "//evil.example"}, headers={"host": "127.0.0.1"})
    query = parse_qs(urlsplit(found.headers["location"]).query)
    assert query["redirect_uri"] == [HERE + CALLBACK]
    client = team.visitor()
    assert 'content="0; url=/"' in client.get(returned(sent(client, "//evil.example"))).text


def test_new_keys_are_fetched_when_the_old_ones_do_not_fit(both: tuple[Team, Identities]) -> None:
    team, provider = both
    assert finished(team.visitor()).status_code == 200
    old, new = provider.key, RSAKey.generate_key(2048, {"kid": "two"})
    provider.key, provider.signed = new, lambda said: jwt.encode({"alg": "RS256", "kid": "two"}, said, new)
    assert finished(team.visitor()).status_code == 200
    provider.key = old


def test_without_a_provider_there_are_no_such_pages(shared: Team) -> None:
    client = shared.visitor()
    assert "/login/oidc" not in client.get("/login").text
    assert client.get("/login/oidc").status_code == client.get(CALLBACK).status_code == 404


def test_a_login_that_takes_too_long_is_forgotten(shared: Team) -> None:
    attempts = Attempts(shared.people.path)
    browser, _ = attempts.begin("/")
    late = replace(attempts, clock=lambda: attempts.clock() + LONGEST + timedelta(seconds=1))
    assert late.end(browser) is None
    assert attempts.end("") is None


def test_secrets_of_the_provider_are_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    (tmp_path / "shared").write_text(SECRET + "\n")
    text = 'secret_file = "secret"\noidc_issuer = "https://id.example"\noidc_client = "sitr"\n'
    path = tmp_path / "sitr.toml"
    path.write_text(text + 'oidc_address = "https://sitr.example"\noidc_secret_file = "shared"\n')
    found = read_settings(path, {})
    assert found.oidc_secret == SECRET
    assert SECRET not in repr(found)
    assert _read(_written(found)) == found
    for wrong in (
        text,
        text + 'oidc_address = "http://sitr.example"\n',
        text + 'oidc_address = "https://sitr.example"\noidc_secret = "x"\n',
    ):
        path.write_text(wrong)
        with pytest.raises(DescriptionError):
            read_settings(path, {})


def test_a_missing_extra_is_named(both: tuple[Team, Identities], monkeypatch: pytest.MonkeyPatch) -> None:
    team, _ = both
    monkeypatch.setitem(sys.modules, "authlib", None)
    monkeypatch.setattr("sitr.namespace.find_spec", lambda name: None if name == "authlib" else object())
    with pytest.raises(MissingExtra, match=r"sitr\[oidc\]"):
        create(team.settings, team.people)
