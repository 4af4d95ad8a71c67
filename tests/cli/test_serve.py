"""`sitr serve` says where it is and how to log in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Sitr

pytest.importorskip("fastapi")


@pytest.mark.parametrize(
    ("passwords", "shown", "hidden"),
    [
        ({"noor": "ab12"}, "  noor  ab12", "shown first"),
        ({}, "The accounts have the passwords that were shown first. To begin anew, remove the folder place.", "noor"),
    ],
)
def test_a_demonstration_says_how_to_log_in(
    sitr: Sitr, monkeypatch: pytest.MonkeyPatch, passwords: dict[str, str], shown: str, hidden: str
) -> None:
    """Passwords are shown once, when the accounts are made."""
    from sitr.server import demonstration, run
    from sitr.server.settings import Settings

    settings = Settings(state=Path("place"), secret="0123456789abcdef" * 4, datasets={})
    monkeypatch.setattr(demonstration, "demonstration", lambda _: settings)
    monkeypatch.setattr(demonstration, "accounts", lambda *_: passwords)
    monkeypatch.setattr(run, "people_of", lambda _: None)
    monkeypatch.setattr(run, "serve", lambda _: None)
    said = sitr("serve", "--demo", "--directory", "place")
    assert said.code == 0, said.err
    assert "The server is at http://127.0.0.1:8300/." in said.out
    assert shown in said.out
    assert hidden not in said.out
