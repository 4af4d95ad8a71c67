"""A sign of life while a command works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sitr.cli.terminal import console


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Says what is being done, beside a turning wheel and on standard error; on terminals only, and gone afterwards."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield
        return
    with out.status(what):
        yield
