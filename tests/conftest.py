"""How hypothesis searches: at random for developers, the same way every time in a build, which must be repeatable.

And what the garbage collector looks at: the modules and tests that were collected stay, so it need not visit them.
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# Neither profile has a deadline: on a busy machine, time says nothing about the code.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "desk")

gc.disable()  # until all tests are collected


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # libraries complain about what is left when Python ends
