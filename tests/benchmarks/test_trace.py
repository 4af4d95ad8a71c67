"""The way of one `sitr ask` through the folders of the package stays short."""

from __future__ import annotations

import re
import subprocess
import sys

from benchmarks.trace import Stop, by_file, changes

MOST = {"files": 30, "functions": 122}


def test_a_question_passes_few_folders() -> None:
    # In a new process, because functions that remember their results are not called twice.
    # Which sentences an answer needs depends on its noise, so that about one run in thirty passes more folders.
    command = [sys.executable, "-m", "benchmarks.trace", "--list"]
    runs = []
    for _ in range(3):
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        assert "ask.py: ask" in found.stdout
        counted = dict(re.findall(r"(files|functions), (\d+) changes", found.stdout))
        assert counted.keys() == MOST.keys()
        runs.append(counted)
        if all(int(counted[name]) <= most for name, most in MOST.items()):
            return
    raise AssertionError(runs)


def test_a_file_counts_where_it_is_first_entered() -> None:
    way = [Stop("cli/ask.py", "ask"), Stop("session/ask.py", "ask"), Stop("cli/ask.py", "show"), Stop("cli/b.py", "c")]
    assert by_file(way) == [way[0], way[1], way[3]]
    assert changes([stop.folder for stop in way]) == 2
