"""Arguments of the wrong kind, refused in words: what Python would say about them later names none of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from sitr.errors import InvalidUse, quoted


def mapping(given: object, *, name: str, example: str) -> None:
    """Refuse an argument that is not a dictionary.

    >>> mapping(5, name="bounds", example='{"cost": (0, 5000)}')
    Traceback (most recent call last):
    sitr.errors.InvalidUse: Expected a dictionary as bounds, got 5. Write for example bounds={"cost": (0, 5000)}.
    """
    if not isinstance(given, Mapping):
        raise InvalidUse(
            wanted=f"a dictionary as {name}", given=quoted(given), do=f"Write for example {name}={example}."
        )


def several(given: object, *, name: str, example: str) -> None:
    """Refuse an argument that is not a list or another collection; a text is one value, not a list of letters.

    >>> several("cost", name="columns", example='["cost"]')
    Traceback (most recent call last):
    sitr.errors.InvalidUse: Expected a list as columns, got 'cost'. Write for example columns=["cost"].
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidUse(wanted=f"a list as {name}", given=quoted(given), do=f"Write for example {name}={example}.")


def path(given: object, *, of: str) -> Path:
    """A path, if it is one.

    >>> path(5, of="visits.html")
    Traceback (most recent call last):
    sitr.errors.InvalidUse: Expected the path of a file, got 5. Write it as text, such as "visits.html".
    """
    if not isinstance(given, str | PathLike) or isinstance(given, bytes) or not str(given):
        raise InvalidUse(wanted="the path of a file", given=quoted(given), do=f'Write it as text, such as "{of}".')
    return Path(given)
