"""Pictures, documents and files to download."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from fastapi.responses import Response

from sitr.session.answer import Answer

PICTURE = "default-src 'none'; style-src 'unsafe-inline'"
"""The policy of pictures, which have styles of their own and can do nothing."""

DOCUMENT = f"{PICTURE}; frame-ancestors 'none'; sandbox allow-downloads"
"""The policy of certificates, which are documents of their own."""


def picture(svg: str) -> Response:
    """A picture."""
    return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": PICTURE})


def document(html: str) -> Response:
    """A document of its own, such as a certificate."""
    return Response(html, media_type="text/html; charset=utf-8", headers={"content-security-policy": DOCUMENT})


def download(text: str | bytes, media: str, name: str) -> Response:
    """A file under this name, as far as it is harmless."""
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-._") else "_" for sign in name)
    return Response(text, media_type=media, headers={"content-disposition": f'attachment; filename="{safe}"'})


def written_json(content: Mapping[str, object], name: str) -> Response:
    """A JSON file, as the command line writes it."""
    return download(json.dumps(content, sort_keys=True, indent=1) + "\n", "application/json", name)


def written(answer: Answer) -> str:
    """An answer with its intervals as CSV."""
    table = answer.intervals()
    return spreadsheet(table.column_names, table.to_pylist())


def spreadsheet(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV. An apostrophe stands before what a spreadsheet would take for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(name) for name in names])
    for row in rows:
        writer.writerow([_harmless(value) for value in row.values()])
    return text.getvalue()


def _harmless(value: object) -> object:
    """A cell that no spreadsheet runs.

    >>> _harmless("=1+1"), _harmless(-3)
    ("'=1+1", -3)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
