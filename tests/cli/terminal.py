"""A pseudo-terminal on which a command asks and a script answers."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

PROGRAM = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C interrupts, even if tests run in the background
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "sitr"
from sitr.cli.main import main
main()
"""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE = 60.0
"""Seconds until a command that says nothing has failed."""


@dataclass(frozen=True)
class Talk:
    """What was said on both sides, and how the command ended."""

    text: str
    code: int


def talk(
    *words: object,
    answers: dict[str, str] | None = None,
    folder: Path,
    width: int = 120,
    then: dict[str, str] | None = None,
) -> Talk:
    """Run `sitr` on a terminal. To each prompt that contains a key of `answers`, type its value, and Enter otherwise.

    A value that is a control character, such as Ctrl-C, is typed alone. An answer that is typed twice fails the talk:
    it was refused; `then` has answers to the same prompts when they come again.
    """
    master, slave = pty.openpty()
    settings = termios.tcgetattr(slave)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    size = {"COLUMNS": str(width), "LINES": "50"}  # rich takes both from the environment, or neither
    environment = {**os.environ, **size, "TERM": "dumb", "LANG": "C.UTF-8", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(slave)
    left, later, said, seen = dict(answers or {}), dict(then or {}), "", 0
    try:
        while (heard := _heard(master)) is not None:
            said += heard
            prompt = ESCAPE.sub("", said[seen:]).rpartition("\n")[2]
            if not prompt.endswith(": "):
                continue
            key = next((key for key in left if key in prompt), None)
            answer = left.pop(key) if key is not None else ""
            if key in later:
                left[key] = later.pop(key)
            typed = answer if answer in ("\x03", "\x04") else f"{answer}\n"
            seen = len(said)
            said += typed.replace("\x03", "^C").replace("\x04", "^D")
            os.write(master, typed.encode())
        code = process.wait(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(master)
    assert not left, f"never asked for: {sorted(left)}\n{said}"
    return Talk(ESCAPE.sub("", said).replace("\r", ""), code)


def _heard(master: int) -> str | None:
    """What the command says until it pauses; None when it has ended."""
    found = b""
    try:
        while select.select([master], [], [], 0.05 if found else PATIENCE)[0]:
            if not (more := os.read(master, 1 << 16)):
                break
            found += more
    except OSError:  # the other side is closed
        return found.decode() or None
    assert found, "the command says nothing"
    return found.decode()
