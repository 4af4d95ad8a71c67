"""The commands of the Containerfile and of the systemd unit, run here: not every machine can build images."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sitr.session.sample import sample
from tests.server.test_run import free_port, running

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs/server/Containerfile").read_text().splitlines()
UNIT = (ROOT / "docs/server/sitr.service").read_text()


def of(instruction: str) -> list[str]:
    """What follows an instruction of the Containerfile, once for each time that it stands there."""
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def unit() -> configparser.SectionProxy:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT)
    return parser["Service"]


def normal(name: str) -> str:
    """A name of a package, as its index writes it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", name)[0]).lower()


def test_what_it_installs_is_pinned() -> None:
    [install] = [part for run in of("RUN") for part in run.split("&&") if "pip install" in part]
    words = shlex.split(install)
    assert words[words.index("-c") + 1] == "/src/constraints.txt"
    [extras] = re.findall(r"^/src\[(.+)\]$", words[-1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {normal(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    for extra in extras.split(","):
        assert {normal(each) for each in project["optional-dependencies"][extra]} <= pinned
    assert {normal(each) for each in project["dependencies"]} <= pinned


def test_the_package_is_built_from_what_is_copied(tmp_path: Path) -> None:
    """`pip install /src[…]`, without what it depends on, into a folder from which `sitr` starts."""
    assert of("COPY") == [". /src"]
    source = tmp_path / "src"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if name.startswith(("src/", "pyproject", "README", "LICENSE", "constraints")) and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "-c", str(source / "constraints.txt")]
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(place), f"{source}[server,postgres]"]
    subprocess.run(install, check=True)
    environment = {**os.environ, "PYTHONPATH": str(place)}
    show = [sys.executable, "-c", "import sitr.server; print(sitr.server.__file__)"]
    found = subprocess.run(show, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).is_relative_to(place)
    assert (place / "sitr/server/templates/ledger.html").is_file()
    assert list((place / "sitr/server/static").glob("htmx-*.js"))


def test_both_start_the_same_server(tmp_path: Path) -> None:
    """`sitr serve --config …` answers, and stops at the signal of the unit within the time of the unit."""
    [command] = of("CMD")
    container = [each.strip(' []"') for each in command.split(",")]
    service = shlex.split(unit()["ExecStart"])
    for words in (container, service):
        assert [Path(words[0]).name, *words[1:3], Path(words[3]).name] == ["sitr", "serve", "--config", "sitr.toml"]
    sample(tmp_path, rows=100)
    (tmp_path / "sitr.toml").write_text('secret_file = "secret"\n[datasets]\nvisits = "visits.sitr.yaml"\n')
    (tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    with running("--config", "sitr.toml", port=free_port(), folder=tmp_path) as process:
        process.send_signal(signal.Signals[unit()["KillSignal"]])
        assert process.wait(timeout=float(unit()["TimeoutStopSec"])) in (0, -signal.SIGTERM)


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed, so nothing here reads its units.")
    changed = UNIT.replace("/opt/sitr/bin/sitr", sys.executable).replace("User=sitr\n", "")
    for name, text, faults in (("sitr.service", changed, False), ("wrong.service", UNIT + "Typo=1\n[Servce]\n", True)):
        (tmp_path / name).write_text(text)
        found = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)], capture_output=True, text=True, check=False
        )
        said = [line for line in found.stderr.splitlines() if name in line]
        assert bool(said) is faults, said
