"""The benchmark of starting commands: it times what it says, in a folder that has all it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.startup import CASES, Case, prepare, seconds, targets


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("startup")
    prepare(made)
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_command_ends_as_expected(case: Case, folder: Path) -> None:
    assert 0 < seconds(case, folder, repeat=1) < 60


def test_a_command_that_ends_otherwise_is_not_timed(folder: Path) -> None:
    with pytest.raises(SystemExit, match="sitr previw ended with 2, not with 0"):
        seconds(Case("a typing error", ("previw",)), folder, repeat=1)


def test_a_figure_above_its_target_fails() -> None:
    quick = {case.name: 0.1 for case in CASES}
    assert {one.verdict for one in targets(quick, import_time=0.1)} == {"pass"}
    assert "FAIL" in {one.verdict for one in targets(quick | {"a preview": 0.7}, import_time=0.1)}
