"""The figures of a certificate for machines, and the program that derives them again."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import Any

from sitr.report.evidence.checksum import with_checksum

CARRIED = (
    "kind",
    "question",
    "price",
    "promise",
    "headline",
    "delta",
    "budget",
    "receipt",
    "plan",
    "caps",
    "join",
    "batch",
)
"""What a page carries of the JSON of an answer. The released numbers are in an element of their own, with a hash."""


def figures(content: dict[str, Any]) -> str:
    """The JSON of an answer without its released numbers and without paths of this machine.

    The page of an answer that is shown again is the same, so it does not say so.
    """
    receipt = {name: value for name, value in content["receipt"].items() if name not in {"kept", "again"}}
    carried = {name: content[name] for name in CARRIED if name in content} | {"receipt": receipt}
    return json.dumps(with_checksum(carried), sort_keys=True, separators=(",", ":"))


@cache
def checker() -> str:
    """`sitr_check.py`, compressed, as the address of a link: a page needs no other file.

    It is read as a file, because it is no part of what Sitr imports.
    """
    source = (files("sitr") / "audit" / "checker" / "sitr_check.py").read_bytes()
    return f"data:application/gzip;base64,{b64encode(gzip.compress(source, mtime=0)).decode()}"
