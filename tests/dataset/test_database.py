"""An address shows no password, even where it was not written as it should be."""

from __future__ import annotations

import pytest

from sitr.dataset.database import address, split
from sitr.errors import SourceError


@pytest.mark.parametrize(
    "secret", ["se?cret", "123?cret", "12?a=b", "se/cret", "12/cret", "se#cret", "se[cret", "a?b?c"]
)
def test_a_password_that_is_not_escaped_is_not_taken_for_something_else(secret: str) -> None:
    """Of ann:123?cret@db, 123 would be a port, and the rest an option that errors and descriptions show."""
    with pytest.raises(SourceError, match="not shown because it may have a password") as refused:
        split(f"postgresql://ann:{secret}@db/hospital")
    assert "cret" not in str(refused.value)


def test_a_password_in_capital_letters_is_not_shown() -> None:
    assert "secret" not in str(address("postgresql://ann@db/hospital?Password=secret"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann@db:5432/hospital?sslmode=require",
        "postgresql://ann@one:5432,two:5433/hospital",
        "postgresql://ann@[::1]:5432/hospital",
        "postgresql://ann@/hospital?host=/run/postgresql",
        "postgresql:///hospital",
        "postgresql://one,two/hospital?user=ann%40clinic",
    ],
)
def test_addresses_as_libpq_knows_them_stay_as_they_are(url: str) -> None:
    assert split(url) == (url, None)
