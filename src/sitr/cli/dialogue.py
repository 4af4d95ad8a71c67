"""Questions and answers on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sitr.errors import SitrError, printable
from sitr.report.words.messages import error_text, said

if TYPE_CHECKING:
    from rich.console import Console

Value = TypeVar("Value")


def on_terminal(*, as_json: bool) -> bool:
    """Whether somebody is there to answer."""
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Somebody at a terminal."""

    out: Console

    def say(self, *texts: str) -> None:
        """Print some paragraphs, with a blank line before them. Names in them cannot act on the terminal."""
        self.out.print()
        for text in texts:
            for line in said(text).split("\n"):
                self.out.print(printable(line), soft_wrap=True)

    def ask(self, question: str, read: Callable[[str], Value], *, proposal: str | None = None) -> Value:
        """The answer as `read` understands it. Enter means the proposal; a wrong answer is asked for again."""
        from rich.text import Text

        proposed = f" [{printable(proposal)}]" if proposal else ""
        prompt = Text(f"{printable(said(question))}{proposed}: ", style="bold")
        while True:
            try:
                self.out.print(prompt, end="", soft_wrap=True)
                text = input().strip() or proposal
                if text is not None:
                    return read(text)
                problem = said("An answer is needed here.")
            except EOFError:  # Ctrl-D
                raise KeyboardInterrupt from None
            except SitrError as error:
                problem = printable(error_text(error))
            except ValueError:  # not a number, or bytes that are not text
                problem = said("This cannot be understood. Write it as in the question.")
            self.out.print(problem, style="red", soft_wrap=True)


def yes(text: str) -> bool:
    """Whether the answer is yes.

    >>> yes("Y"), yes("no"), yes("نعم"), yes("لا")
    (True, False, True, False)
    """
    return ("no", "yes").index(_SHORT.get(text.lower(), text.lower())) == 1


_SHORT = {"n": "no", "y": "yes", "لا": "no", "نعم": "yes"}
