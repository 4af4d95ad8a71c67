"""Arguments of the wrong kind are refused in words, wherever a user can give them."""

from __future__ import annotations

import pytest

from sitr.arguments import mapping, path, several
from sitr.errors import InvalidUse


@pytest.mark.parametrize("given", [5, "x", [1], None, object()])
def test_only_a_dictionary_is_a_mapping(given: object) -> None:
    mapping({}, name="bounds", example="{}")
    with pytest.raises(InvalidUse, match="a dictionary as bounds"):
        mapping(given, name="bounds", example="{}")


@pytest.mark.parametrize("given", [5, "x", b"x", None, object()])
def test_a_text_is_no_list(given: object) -> None:
    several(("a", "b"), name="columns", example="[]")
    with pytest.raises(InvalidUse, match="a list as columns"):
        several(given, name="columns", example="[]")


@pytest.mark.parametrize("given", [5, b"x", None, "", [], object()])
def test_a_path_is_a_text_or_a_path(given: object) -> None:
    assert path(path("a/b.html", of="x"), of="x") == path("a/b.html", of="x")
    with pytest.raises(InvalidUse, match="the path of a file"):
        path(given, of="x")
