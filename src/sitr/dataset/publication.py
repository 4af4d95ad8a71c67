"""Who publishes the answers from a data set, and why: text for certificates, which changes no promise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypedDict

from sitr.dataclass import dataclass
from sitr.errors import DescriptionError, suggestion


class Published(TypedDict, total=False):
    """The fields of a publication as keyword arguments; each replaces what the description says."""

    title: str | None
    organisation: str | None
    contact: str | None
    purpose: str | None
    date: dt.date | None
    caveats: Sequence[str]
    region: str | None
    sector: str | None


@dataclass(frozen=True, slots=True)
class Publication:
    """What a certificate says about its publisher. Every field is optional, and none is part of the budget's terms.

    >>> Publication(title="Visits by ward").changed(organisation="City hospital").content()
    {'title': 'Visits by ward', 'organisation': 'City hospital'}
    """

    title: str = ""
    organisation: str = ""
    contact: str = ""
    purpose: str = ""
    """What the answers are meant for."""
    date: dt.date | None = None
    """When they were published; the time of the charge if it is not given."""
    caveats: tuple[str, ...] = ()
    """What readers should know before they use the numbers."""
    region: str = ""
    """The region that the data describe, for registries."""
    sector: str = ""
    """The sector that the data describe, for registries."""

    def __post_init__(self) -> None:
        caveats = self.caveats if isinstance(self.caveats, list | tuple) else None
        texts = [getattr(self, name) for name in NAMES if name not in ("date", "caveats")]
        day: Any = self.date
        dated = day is None or type(day) is dt.date
        if not dated or caveats is None or not all(isinstance(text, str) for text in (*texts, *caveats)):
            raise DescriptionError(
                wanted="the fields of a publication as text, with caveats as a list of texts and the date as a day",
                given=repr(self.content()),
                do='Write for example title: "Visits by ward" and caveats: ["Two wards reported late."].',
            )
        object.__setattr__(self, "caveats", tuple(caveats))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Publication:
        """The publication that a description holds; the names of its fields are already checked."""
        return cls().changed(**content)

    def changed(self, **given: Any) -> Publication:
        """The same with other values for the fields that are given; None and nothing leave a field as it is."""
        if unknown := [name for name in given if name not in NAMES]:
            raise DescriptionError(
                wanted=f"the fields of a publication ({', '.join(NAMES)})",
                given=repr(unknown[0]),
                do=suggestion(unknown[0], NAMES),
            )
        said = {name: value for name, value in given.items() if value}
        if isinstance(day := said.get("date"), str):
            said["date"] = _date(day)
        return replace(self, **said)

    def content(self) -> dict[str, Any]:
        """The fields that are set, as a description holds them."""
        values = {name: getattr(self, name) for name in NAMES}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}


NAMES = tuple(each.name for each in fields(Publication))
"""The fields of a publication."""


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise DescriptionError(
            wanted="the date of a publication in the form 2026-01-31",
            given=repr(text),
            do="Correct the date, or leave it out to use the time of the charge.",
        ) from None
