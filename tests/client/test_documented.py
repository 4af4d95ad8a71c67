"""The example in docs/how-to/serve.md runs as it stands, with another address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sitr
from tests.client.conftest import Served

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"


def test_the_example_runs(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert "https://sitr.hospital.example" in example
    monkeypatch.chdir(tmp_path)
    names = {"sitr": sitr, "token": served.token("ana")}
    exec(example.replace("https://sitr.hospital.example", served.address), names)
    assert (tmp_path / "wards.html").read_text().startswith("<!")
