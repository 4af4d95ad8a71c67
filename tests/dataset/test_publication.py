"""Who publishes: text that certificates show, and that no budget depends on."""

from __future__ import annotations

from datetime import date

import pytest

from sitr.dataset.publication import NAMES, Publication, Published
from sitr.errors import DescriptionError

WHOLE = Publication(
    title="Visits by ward",
    organisation="City hospital",
    contact="data@hospital.example",
    purpose="Planning beds",
    date=date(2026, 1, 31),
    caveats=("Two wards reported late.",),
    region="Amman",
    sector="Healthcare",
)


def test_keyword_arguments_name_every_field() -> None:
    assert tuple(Published.__annotations__) == NAMES


def test_what_is_written_is_read_again() -> None:
    assert Publication.read(WHOLE.content()) == WHOLE
    assert Publication.read({"title": None, "date": "2026-01-31"}) == Publication(date=date(2026, 1, 31))
    assert Publication().content() == {}


def test_a_given_field_replaces_the_old_one_and_nothing_replaces_none() -> None:
    assert WHOLE.changed(title="Beds", caveats=[], contact=None, region="") == Publication.read(
        WHOLE.content() | {"title": "Beds"}
    )
    assert WHOLE.changed(caveats=["New."]).caveats == ("New.",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": 7},
        {"caveats": "one text"},
        {"caveats": [1]},
        {"date": "January"},
        {"date": 2026},
        {"organisation": ["a"]},
    ],
)
def test_a_field_of_another_type_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(DescriptionError, match="publication"):
        Publication.read(wrong)


def test_a_misspelled_field_is_refused_with_a_suggestion() -> None:
    with pytest.raises(DescriptionError, match="organisation"):
        Publication().changed(organization="City hospital")
