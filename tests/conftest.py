"""How hypothesis searches: at random for developers, the same way every time in a build, which must be repeatable."""

from __future__ import annotations

import os

from hypothesis import settings

# Neither profile has a deadline: on a busy machine, time says nothing about the code.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "desk")
