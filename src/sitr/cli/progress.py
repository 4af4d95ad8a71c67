"""A sign of life while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


@contextmanager
def advancing(what: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """The same with a bar, for work that can say which part of it is done."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda done: bar.update(task, completed=done)
