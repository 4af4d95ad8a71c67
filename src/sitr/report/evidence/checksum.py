"""A checksum of the figures of an answer, so that a program finds a changed one that it cannot derive.

`sitr_check.py` derives most figures from others. It cannot derive released numbers, nor the errors of columns that
follow from several noises, such as those of averages. `receipt.figures_sha256` is about all of them: it is the SHA-256
of the JSON with sorted names and without `kept` and `again`, which say where an answer lies and not what it is.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

NAME = "figures_sha256"
APART = ("kept", "again", NAME)
"""What the checksum leaves out of the receipt."""


def with_checksum(content: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an answer with the checksum of its figures in its receipt; a preview, which has none, as it is.

    >>> with_checksum({"rows": [1.0], "receipt": {"entry": 1}})["receipt"][NAME][:8]
    '1c2e5c14'
    """
    if content.get("receipt") is None:
        return content
    receipt = {name: value for name, value in content["receipt"].items() if name != NAME}
    return content | {"receipt": receipt | {NAME: _checksum(content)}}


def _checksum(content: dict[str, Any]) -> str:
    receipt = {name: value for name, value in content["receipt"].items() if name not in APART}
    plain = json.loads(json.dumps(content | {"receipt": receipt}, default=str), parse_float=_plain)
    return sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _plain(text: str) -> float | int:
    """A number however it is written: other programs write 8.0 as 8."""
    return int(number) if (number := float(text)).is_integer() else number
