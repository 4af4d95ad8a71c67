"""Every example in README.md and docs/ runs, and its output is true.

The blocks of a document run in order, in a new folder:

- ```` ```console ````: a line that starts with `$ ` is a command (a final backslash continues it), and the lines below
  are its output. Values that change with the noise or the clock only need to be present: a number with its error (the
  first of `12 ± 3`), a share of people (`9% ± 1%`), the numbers of a CSV row, dates and times. All other numbers must
  be equal. Spaces and box-drawing characters count as one space; a line `...` matches anything. `bash dev/…` is not
  run, but must exist. README.md runs in processes of its own, as a reader would run it; elsewhere, plain calls of
  `sitr` run in this process.
- ```` ```python ````: run as a doctest if it has prompts, otherwise as a script. Names stay for the next block.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sitr.cli.main import app
from tests import postgres, spark

ROOT = Path(__file__).resolve().parents[2]
HARMLESS = {"sitr", "cat", "cut", "echo", "head", "ls", "sort", "tail", "wc"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str
    line: int


def blocks(document: Path) -> list[Block]:
    """The fenced blocks that can be run, each with the line where its text begins."""
    text = document.read_text()
    fences = re.finditer(r"^(?P<fence>`{3,})(console|python)\s*\n(.*?)^(?P=fence)\s*$", text, re.DOTALL | re.MULTILINE)
    return [Block(found[2], found[3], text[: found.start(3)].count("\n") + 1) for found in fences]


def commands(text: str) -> list[tuple[str, str]]:
    """Pairs of a command and the output shown below it."""
    before, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not before.strip(), f"a console block starts with a command after `$ `, not with {before!r}"
    pairs = []
    for part in parts:
        command, output = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
        pairs.append((re.sub(r"\\\n(> )?", "", command), output))
    return pairs


NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
CSV_ROW = re.compile(r'^".*$', re.MULTILINE)
CSV_NUMBER = re.compile(r"(?<=,)-?\d[^,]*")
SHARE = re.compile(rf"{NUMBER}% ± {NUMBER}%|{NUMBER} \(± {NUMBER}\)")  # of people: both numbers are noisy
NOISY = re.compile(rf"{NUMBER}(?= ±)")  # one space: in a preview, the column before the errors is not noisy
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


def normal(output: str) -> str:
    """The output with # for values that change from run to run, and one space for spaces and box-drawing."""
    rows = CSV_ROW.sub(lambda row: CSV_NUMBER.sub("#", row[0]), output)
    settled = MOMENT.sub("#", NOISY.sub("#", SHARE.sub("#", rows)))
    return re.sub(r"[\s\u2500-\u257f]+", " ", settled).strip()


def shows(expected: str, actual: str) -> bool:
    parts = re.split(r"^\s*\.\.\.\s*$", expected, flags=re.MULTILINE)
    return re.fullmatch(".*".join(re.escape(normal(part)) for part in parts), normal(actual), re.DOTALL) is not None


def programs(command: str) -> set[str]:
    """The first word of the command and of each command that it is piped or chained to."""
    words = list(shlex.shlex(command, posix=True, punctuation_chars="|;&"))
    return {word for before, word in zip(["|", *words], words, strict=False) if set(before) <= set("|;&")}


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([sysconfig.get_path("scripts"), "/usr/bin", "/bin"]),
        "HOME": str(folder),
        "COLUMNS": "120",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
    }


def in_shell(command: str, *, folder: Path, given: str = "") -> tuple[int, str]:
    """The status and the output of a command in a shell."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(folder),
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


WORD = r"""(?:[^\s|&;<>()$`*?~!#\\\[\]{}'"]|'[^']*'|"[^"$`!\\]*")+"""
PLAIN = re.compile(rf"(sitr(?:\s+{WORD})*)\s*(?:\|((?!\|)(?:\s+{WORD}|\s*\|(?!\|))+\s*))?")
"""One call of `sitr`, with nothing that a shell would expand or refuse, and what it is piped to."""


def is_plain(command: str) -> bool:
    found = PLAIN.fullmatch(command)
    return found is not None and "sitr" not in programs(found[2] or "cat")


def in_process(command: str, *, folder: Path) -> tuple[int, str]:
    """The same for a plain command, without the second that a new process needs to import Sitr."""
    assert Path.cwd() == folder
    call, pipe = PLAIN.fullmatch(command).groups()  # type: ignore[union-attr]
    others = [name for name in os.environ if name.startswith(("LC_", "FORCE_COLOR", "TTY_", "SITR_"))]
    names = {**dict.fromkeys(others), **environment(folder)}
    result = CliRunner().invoke(app, shlex.split(call)[1:], env=names, prog_name="sitr")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if pipe is None:
        return result.exit_code, result.output
    status, piped = in_shell(pipe, folder=folder, given=result.stdout)
    return status, result.stderr + piped


def run_console(text: str, *, folder: Path, processes: bool) -> None:
    for command, expected in commands(text):
        if script := re.match(r"bash (dev/\S+)", command):
            assert (ROOT / script[1]).is_file(), f"{script[1]} does not exist"
            continue
        assert programs(command) <= HARMLESS, f"`{command}` is not one of the commands that examples may run"
        call = in_shell if processes or not is_plain(command) else in_process
        status, output = call(command, folder=folder)
        assert shows(expected, output), f"$ {command}\nshould show:\n{expected}\nbut showed:\n{output}"
        # An error that the document shows in full is intended; any other error is a mistake.
        whole = expected.strip() and not re.search(r"^\s*\.\.\.\s*$", expected, re.MULTILINE)
        assert status == 0 or whole, f"$ {command}\nended with status {status}:\n{output}"


def run_python(block: Block, *, names: dict[str, Any], document: Path) -> None:
    if not re.search(r"^\s*>>> ", block.text, re.MULTILINE):
        exec(compile("\n" * (block.line - 1) + block.text, document, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, document.name, str(document), block.line - 1)
    test.globs = names  # the parser made a copy
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


def run(document: Path, *, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(document):
        if block.language == "console":
            run_console(block.text, folder=folder, processes=document.name == "README.md")
        else:
            run_python(block, names=names, document=document)


PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
DOCUMENTS = [page for page in PAGES if page.exists() and blocks(page)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if document.name == "postgres.md":
        monkeypatch.setenv("PGSERVICEFILE", str(hospital(document, tmp_path)))
    if document.name == "spark.md":
        spark.session()  # the page gets this one, and other tests do not get one that the page has made
    run(document, folder=tmp_path)


def hospital(document: Path, folder: Path) -> Path:
    """A service file of a database with everything that the blocks of SQL in a document make."""
    postgres.connection().execute("DROP DATABASE IF EXISTS hospital")
    postgres.connection().execute("DROP ROLE IF EXISTS sitr_reader")
    postgres.connection().execute("CREATE DATABASE hospital")
    with postgres.connected("hospital") as made:
        for block in re.findall(r"^```sql\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE):
            made.execute(block)
    place = folder / "services"
    place.write_text(f"[hospital]\nhost={postgres.server().folder}\ndbname=hospital\nuser=sitr_reader\n")
    return place


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("sitr ask visits.sitr.yaml 'SELECT COUNT(*) FROM v WHERE cost > 5' --price 'zcdp(0.1)'", True),
        ('sitr protect a.csv --keys "ward=A B"', True),
        ("sitr preview visits.sitr.yaml --price zcdp(0.1)", False),
        ("echo sitr", False),
        ("sitr demo | head -n 1 | cut -c 1-9", True),
        ("sitr demo || ls", False),
        ("sitr demo | sitr show", False),
        ("sitr demo | head -n 1 > table", False),
        ("sitr demo > table", False),
        ("sitr demo; ls", False),
        ("sitr show $HOME", False),
        ('sitr show "$HOME"', False),
        ("sitr show *.db", False),
    ],
)
def test_only_plain_calls_run_without_a_shell(command: str, plain: bool) -> None:
    assert is_plain(command) == plain


SOUND = """\
```console
$ echo "name  ─── 12,345.5 ± 3e-06" > table
$ cat table | \\
  head -n 1
│ name │ -7 ± 3e-06 │
$ cat table table
name 1 ± 3e-06
...
$ echo '"A, 1",-44.5,1e3'; echo "left 0.5 at 2026-11-15 22:45:28"
"A, 1",3,4
left   0.5 at 2001-01-01 00:00:00
$ bash dev/test -q
1 passed
```
```python
from pathlib import Path

numbers = Path("table").read_text().split()
```
```python
>>> len(numbers)
5
```
"""


def test_sound_examples_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = tmp_path / "sound.md"
    document.write_text(SOUND)
    assert [block.line for block in blocks(document)] == [2, 16, 21]
    run(document, folder=tmp_path)


@pytest.mark.parametrize(
    "unsound",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ echo one\n```\n",
        "```console\n$ echo one two\none\n```\n",
        "```console\n$ echo one\none\n...\ntwo\n```\n",
        "```console\n$ echo 'n 12 ± 3'\nn 12 ± 4\n```\n",
        "```console\n$ echo 'n 12 ± 3'\nn ± 3\n```\n",
        "```console\n$ echo 'moves 12   ± 3'\nmoves 13   ± 3\n```\n",
        "```console\n$ echo 'ρ = 0.05'\nρ = 0.5\n```\n",
        "```console\n$ echo 'left -5'\nleft 5\n```\n",
        "```console\n$ echo 'a factor of 4.36, or 10⁻⁶'\na factor of 5.55, or 10⁻⁶\n```\n",
        "```console\n$ echo 'left ██░░ 50%'\nleft █░░░ 50%\n```\n",
        '```console\n$ echo \'"ward 2",5\'\n"ward 1",5\n```\n',
        '```console\n$ echo \'  "rows": 5,\'\n  "rows": 6,\n```\n',
        "```console\n$ cat missing\n...\n```\n",
        "```console\n$ bash dev/missing\n```\n",
        "```console\n$ echo one | tee two\none\n```\n",
        "```console\necho one\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\n>>> 1 + 1\n2\n>>> nothing\n```\n",
        "````python\nassert False\n````\n",
    ],
)
def test_unsound_examples_fail(unsound: str, tmp_path: Path) -> None:
    document = tmp_path / "unsound.md"
    document.write_text(unsound)
    with pytest.raises(AssertionError):
        run(document, folder=tmp_path)


ARABIC = [page for page in DOCUMENTS if page.stem.endswith("-ar")]


@pytest.mark.parametrize("document", ARABIC, ids=lambda path: path.name)
def test_an_arabic_page_shows_arabic_commands_and_their_arabic_output(document: Path) -> None:
    """Every command of Sitr speaks Arabic, and what it shows here has Arabic letters."""
    pairs = [pair for block in blocks(document) if block.language == "console" for pair in commands(block.text)]
    spoken = [(command, shown) for command, shown in pairs if command.startswith("sitr ")]
    assert len(spoken) >= 8
    for command, shown in spoken:
        assert "--lang ar" in command
        assert re.search("[\u0621-\u064a]{3}", shown), command
