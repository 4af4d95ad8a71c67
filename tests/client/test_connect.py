"""`sitr.connect`: which data set, which version, which token."""

from __future__ import annotations

from typing import Any

import pytest

import sitr
from sitr.client.connection import ServerConnection
from sitr.errors import InvalidUse, LedgerError, SitrError
from sitr.ledger.sql import sitr_version
from sitr.server.role import Scope
from tests.client.conftest import Served
from tests.server.conftest import SQL


def test_the_token_may_be_in_the_environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SITR_TOKEN", raising=False)
    with pytest.raises(InvalidUse, match="token"):
        sitr.connect(served.address)
    monkeypatch.setenv("SITR_TOKEN", served.token("ana"))
    assert sitr.connect(served.address).table.name == "visits"
    assert sitr.connect(served.address, dataset="Visits").table.name == "visits"


def test_a_data_set_that_one_does_not_see_is_not_there(served: Served) -> None:
    with pytest.raises(LedgerError):
        sitr.connect(served.address, token=served.token("ana"), dataset="other")
    with pytest.raises(LedgerError):
        sitr.connect(served.address, token=served.token("ana"), dataset="../users")


def test_several_data_sets_need_a_name(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for names, words in ((["a", "b"], "a, b"), ([], "no role")):
        with monkeypatch.context() as patched:
            listed = [{"name": name} for name in names]
            patched.setattr(ServerConnection, "get", lambda _self, _path, listed=listed: listed)
            with pytest.raises(SitrError, match=words):
                sitr.connect(served.address, token="t")


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ([], "version None"),
        ({"version": "9.9"}, "version 9.9"),
        ({"version": sitr_version()}, "not a server"),
        ({"version": sitr_version(), "table": {"os.system": {"command": "x"}}}, "not a server"),
        ({"version": sitr_version(), "table": {"dataset.schema.Table": {}}}, "not a server"),
        ({"version": sitr_version(), "table": [[[]]]}, "not a server"),
        ({"version": "\x1b[2J"}, "version �"),
        ({"version": sitr_version(), "table": {"Fraction": "1e100000000"}}, "not a server"),
        ({"version": sitr_version(), "table": {"array": ["S900000000", [9], ["a"] * 9]}}, "not a server"),
    ],
)
def test_what_is_no_server_of_this_version_is_refused(
    terms: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerConnection, "get", lambda _self, _path: terms)
    with pytest.raises(LedgerError, match=words):
        sitr.connect("https://a.example", token="t", dataset="visits")


@pytest.mark.parametrize("listed", [3, None, {"a": 1}, [1], [{}]], ids=str)
def test_a_strange_list_of_data_sets_is_refused(listed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServerConnection, "get", lambda _self, _path: listed)
    with pytest.raises(LedgerError, match="not a server"):
        sitr.connect("https://a.example", token="t")


def test_a_server_that_sends_nonsense_later_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    far = sitr.connect(served.address, token=served.token("ana", Scope.READ))
    nonsense: list[Any] = [
        [],
        {},
        {"standing": {}},
        {"standing": {"promise": "zcdp(1)", "charges": 1, "paid": ["1e9"]}},
        [1],
    ]
    for found in nonsense:
        monkeypatch.setattr(ServerConnection, "get", lambda _self, _path, found=found: found)
        with pytest.raises(LedgerError, match="not a server"):
            far.standing()
        if found:
            with pytest.raises(LedgerError, match="not a server"):
                far.entries()


def test_a_token_for_reading_previews_and_does_not_ask(served: Served) -> None:
    far = sitr.connect(served.address, token=served.token("ana", Scope.READ))
    assert far.sql(SQL).preview(rho=0.01).errors()["n"] > 0
    with pytest.raises(sitr.SitrError):
        far.ask(SQL, "zcdp(0.01)")
    assert far.entries() == []


def test_rows_never_leave_the_server(served: Served) -> None:
    far = served.budget("ana")
    with pytest.raises(LedgerError, match="stay there"):
        _ = far._at.backend
