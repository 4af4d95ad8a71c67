"""Settings from a file, and secrets that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.errors import DescriptionError, FileError
from sitr.server.demonstration import demonstration
from sitr.server.registration import files
from sitr.server.settings import Settings, check_secret, read_settings

SECRET = "0123456789abcdef0123456789abcdef"


def written(folder: Path, text: str, *, secret: str | None = SECRET) -> Path:
    if secret is not None:
        (folder / "secret").write_text(secret)
    path = folder / "sitr.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_start_from_the_folder_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'secret_file = "secret"\nhosts = ["a"]\n[datasets]\nVisits = "v.yaml"\n')
    found = read_settings(path, {})
    assert found.datasets == {"visits": tmp_path / "v.yaml"}
    assert (found.state, found.hosts, found.secret) == (tmp_path / "sitr-server", ("a",), SECRET)
    assert SECRET not in repr(found)


def test_the_secret_may_come_from_the_environment(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, ""), {"SITR_SECRET": SECRET}).secret == SECRET


@pytest.mark.parametrize("secret", ["", "changeme", "a" * 64, "abc" * 20, " " * 40, None, 5])
def test_a_missing_or_default_secret_is_refused(secret: object) -> None:
    with pytest.raises(DescriptionError):
        check_secret(secret)


@pytest.mark.parametrize(
    "text",
    [
        'secret = "0123456789abcdef0123456789abcdef"',
        "secret_file = 'secret'\nprot = 1",
        "secret_file = 'secret'\nworkers = 0",
        "secret_file = 'secret'\nworkers = true",
        "secret_file = 'secret'\nhosts = []",
        "secret_file = 'secret'\nanswer_rows = -1",
        "secret_file = 'secret'\ndatasets = 3",
        "",
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DescriptionError):
        read_settings(written(tmp_path, text), {})


@pytest.mark.parametrize("text", ["= 1", "secret_file = 'nowhere'"])
def test_unreadable_files_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError):
        read_settings(written(tmp_path, text), {})
    with pytest.raises(FileError):
        read_settings(tmp_path / "none.toml", {})


def test_deadlines_are_on_unless_they_are_turned_off(tmp_path: Path) -> None:
    assert Settings(tmp_path, SECRET).answer_rows > 0


def test_folders_start_from_the_file_of_the_settings(tmp_path: Path) -> None:
    path = written(tmp_path, 'secret_file = "secret"\nfolders = ["data", "/srv/more"]\n')
    assert read_settings(path).folders == (tmp_path / "data", Path("/srv/more"))
    path = written(tmp_path, 'secret_file = "secret"\nfolders = "data"\n')
    with pytest.raises(DescriptionError, match="list of folders"):
        read_settings(path)


def test_the_demonstration_has_a_file_to_register(tmp_path: Path) -> None:
    made = demonstration(tmp_path, rows=100)
    assert [each.name for each in files(made)] == ["staff.csv"]
