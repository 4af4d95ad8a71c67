"""Every error of Sitr comes back from a server as it was."""

from __future__ import annotations

from typing import Any

import pytest

from sitr import errors
from sitr.client.problems import error_of
from sitr.errors import BackendFailure, Excerpt, LedgerBusy, LedgerError, NotAllowed, SitrError
from sitr.server.problems import problem, status_of

KINDS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, SitrError) and each.__module__ == "sitr.errors"
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_comes_back(kind: type[SitrError]) -> None:
    made = kind(wanted="this", given="that", do="Do it.", excerpt=Excerpt("SELECT x", 1, 8, 1))
    made = made.among([kind(given="Another.", do="Do that.")], instead="SELECT y")
    back = error_of(status_of(made), problem(made))
    assert type(back) is kind
    assert str(back) == str(made)
    assert back.excerpt == made.excerpt


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, NotAllowed), (404, LedgerError), (429, LedgerBusy), (500, BackendFailure), (599, LedgerError)],
)
@pytest.mark.parametrize(
    "content",
    [
        *(None, [], "x", {}, {"title": "Exception"}, {"title": "SitrError.__init__"}, {"title": "Iterable"}),
        *({"title": 3}, {"given": 3, "others": 3, "excerpt": {"x": 1}}),
    ],
    ids=str,
)
def test_whatever_a_server_sends_is_an_error_of_sitr(status: int, kind: type[SitrError], content: Any) -> None:
    found = error_of(status, content)
    assert type(found) is kind
    assert found.do


@pytest.mark.parametrize(
    "excerpt",
    [
        {"text": 5, "line": "a", "column": None, "length": []},
        {"text": "x", "line": 1, "column": 10**12, "length": 10**12},
    ],
    ids=str,
)
def test_a_strange_excerpt_can_be_shown(excerpt: dict[str, Any]) -> None:
    assert len(str(error_of(422, {"title": "QuestionError", "given": "x", "do": "y", "excerpt": excerpt}))) < 100


def test_texts_of_a_server_do_not_act_on_a_terminal() -> None:
    evil = "\x1b]0;title\x07"
    other = {"title": "QuestionError", "given": evil, "do": evil}
    found = str(error_of(422, {**other, "wanted": evil, "others": [other], "instead": f"SELECT\n{evil}"}))
    assert "\x1b" not in found
    assert "\x07" not in found
    assert "SELECT\n" in found
    assert "\x1b" not in str(error_of(418, {"given": evil}))


def test_errors_within_errors_are_left_out() -> None:
    found: dict[str, Any] = {"title": "QuestionError", "given": "x", "do": "y"}
    for _ in range(400):
        found = {**found, "others": [found]}
    assert str(error_of(422, found)) == "x y\nx y"
