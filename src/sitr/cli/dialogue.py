"""Questions and answers on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sitr.errors import SitrError, printable
from sitr.report.words.messages import error_text, said

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Value = TypeVar("Value")

BACK = "<"
WIDEST = 100
"""Longer lines are hard to read."""


class Back(Exception):
    """The previous question is to be asked again."""


def on_terminal(*, as_json: bool) -> bool:
    """Whether somebody is there to answer."""
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Somebody at a terminal. The first answers may be known: then nothing is printed before the next question."""

    out: Console
    known: tuple[str, ...] = ()
    given: list[str] = field(default_factory=list)
    """All answers so far."""

    @property
    def replaying(self) -> bool:
        return len(self.given) < len(self.known)

    def say(self, *texts: str, whole: bool = False) -> None:
        """Print some paragraphs, with a blank line before them. Names in them cannot act on the terminal.

        Where their lines are too long for the terminal, they are broken anew between words, unless they must be
        `whole` to be copied.
        """
        if self.replaying:
            return
        self.out.print()
        for text in texts:
            lines = [printable(line) for line in said(text).split("\n")]
            fits = whole or max(map(len, lines)) < self.out.width
            for line in lines if fits else [" ".join(lines)]:
                self.print(line, whole=fits)

    def print(self, text: str | Text, *, style: str = "", end: str = "\n", whole: bool = False) -> None:
        """Print a text in lines that fit the terminal."""
        self.out.print(text, style=style, end=end, soft_wrap=whole, width=min(self.out.width, WIDEST))

    def ask(self, question: str, read: Callable[[str], Value], *, proposal: str | None = None) -> Value:
        """The answer as `read` understands it. Enter means the proposal; a wrong answer is asked for again."""
        from rich.text import Text

        if self.replaying:
            self.given.append(self.known[len(self.given)])
            return read(self.given[-1])
        proposed = f" [{printable(proposal)}]" if proposal else ""
        prompt = Text(f"{printable(said(question))}{proposed}:", style="bold")
        while True:
            try:
                self.print(prompt, end="")
                self.print(" ", end="", whole=True)  # a space at the end of a full line would be cut
                text = input().strip()
                if text == BACK and self.given:
                    raise Back
                answer = text or proposal
                if text == BACK:
                    problem = said("This is the first question.")
                elif answer is None:
                    problem = said("An answer is needed here.")
                else:
                    value = read(answer)
                    self.given.append(answer)
                    return value
            except EOFError:  # Ctrl-D
                raise KeyboardInterrupt from None
            except SitrError as error:
                problem = printable(error_text(error))
            except ValueError:  # not a number, or bytes that are not text
                problem = said("This cannot be understood. Write it as in the question.")
            self.print(problem, style="red")


def yes(text: str) -> bool:
    """Whether the answer is yes.

    >>> yes("Y"), yes("no"), yes("نعم"), yes("لا")
    (True, False, True, False)
    """
    return ("no", "yes").index(_SHORT.get(text.lower(), text.lower())) == 1


_SHORT = {"n": "no", "y": "yes", "لا": "no", "نعم": "yes"}
