"""A keyed digest of all rows of a source, for its steward alone: whether they were replaced by other rows.

    digest = HMAC(key, columns, number of rows, Σ HMAC(key, row) mod 2^256)

The sum does not depend on the order of the rows, which databases do not keep, and equal rows count as often as they
occur. Whoever has a digest and the key can confirm a guess of the whole table, so it is compared on the steward's own
machine, with the steward's own key, and never while a question is asked.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sitr.backends.backend import Backend
from sitr.backends.duckdb import DuckDB
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, guarded
from sitr.backends.failure import UNCHARGED
from sitr.backends.zoned import local_rows
from sitr.dataset.schema import Kind
from sitr.namespace import Later

if TYPE_CHECKING:
    from sitr.backends import postgres, spark
else:  # each is loaded where rows are there
    postgres, spark = Later("sitr.backends.postgres"), Later("sitr.backends.spark")

PAGE = 10_000
"""The number of rows that are held at once."""

Texts = Sequence[str | None]
"""The values of a row as texts, which differ where the values do."""


def digest(backend: Backend, key: bytes) -> str:
    """The digest of all rows now, 64 hexadecimal digits. Reads every row; for nobody but the steward."""

    def work() -> str:
        total = rows = 0
        for row in _texts(backend):
            total += int.from_bytes(_mac(key, list(row)))
            rows += 1
        columns = [[name, kind.value] for name, kind in sorted(backend.kinds().items())]
        return _mac(key, [columns, rows, f"{total % 2**256:064x}"]).hex()

    return guarded(work, charge=UNCHARGED)


def _mac(key: bytes, content: Any) -> bytes:
    text = json.dumps(["sitr rows", content], ensure_ascii=False)
    return hmac.digest(key, text.encode(errors="surrogatepass"), sha256)


def _texts(backend: Backend) -> Iterator[Texts]:
    if isinstance(backend, DuckDB):
        return _in_duckdb(backend)
    assert isinstance(backend, postgres.Postgres | spark.Spark)
    return iter(backend.texts())


def _in_duckdb(backend: DuckDB) -> Iterator[Texts]:
    source, rows, kinds = backend.source, local_rows(backend.source), backend.kinds()
    types = rows.types
    readable = sorted(name for name in types if kinds[name] is not Kind.OTHER)
    columns = ", ".join(DUCKDB.identity(DUCKDB.identifier(name), types[name]) for name in readable)
    with connection(source.tables()) as engine:
        found = engine.execute(f"SELECT {columns or '1'} FROM {rows.source}")
        while page := found.fetchmany(PAGE):
            yield from (tuple(None if value is None else str(value) for value in row) for row in page)
