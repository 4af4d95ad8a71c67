"""Progress on the terminal while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sitr.cli.terminal import console
from sitr.report.words.messages import said


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show a spinner with this text on standard error, only on terminals, and remove it afterwards."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield
        return
    with out.status(said(what)):
        yield


@contextmanager
def advancing(what: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """The same with a progress bar; the block reports the finished share by calling the value."""
    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(said(what), total=1.0)
        yield lambda done: bar.update(task, completed=done)
