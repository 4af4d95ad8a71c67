"""No command loads a slow library that it does not use: the loaded modules are listed, because times depend on luck."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from sitr.cli.main import COMMANDS, GROUPS
from sitr.numbers import Interval

QUESTION = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
SLOW = {
    *("alembic", "cryptography", "duckdb", "jinja2", "numpy", "pandas", "pyarrow", "pydantic", "rich", "scipy"),
    *("sklearn", "sqlalchemy", "sqlglot"),
}
PROBE = """
import sys
from sitr.cli.main import main
sys.argv = ["sitr", *sys.argv[2:]]
try:
    main()
finally:
    with open({listed!r}, "w") as file:
        print(*sys.modules, file=file)
"""

Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """The modules that a command loads in a process of its own, which must end with this code."""

    def run(code: int, *words: object) -> set[str]:
        listed = tmp_path / "modules.txt"
        command = [sys.executable, "-W", "ignore", "-c", PROBE.format(listed=str(listed)), "sitr", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=120, check=False)
        assert done.returncode == code, done.stderr
        return set(listed.read_text().split())

    return run


@pytest.mark.sampled(6)
@pytest.mark.usefixtures("description")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ("--help",)),
        (0, ("preview", "--help")),
        (2, ("previw",)),
        (2, ("preview", "visits.sitr.yaml")),
        (2, ("preview", "visits.sitr.yaml", QUESTION, "--prise", "zcdp(0.05)")),
        (2, ("preview", "visits.sitr.yaml", QUESTION, "--price", "zcpd(0.05)")),
        (2, ("ask", "visits.sitr.yaml", QUESTION, "--price", "0.05", "--json")),
        (2, ("ask", "visits.sitr.yaml", QUESTION, "--price", "zcdp(0.05)", "--budget", "much")),
        (2, ("ask", "missing.yaml", QUESTION, "--price", "zcdp(0.05)")),
        (2, ("ask", "visits.sitr.yaml", QUESTION, "--price", "zcdp(0.05)", "--plot", "chart.png")),
        (1, ("ask", "visits.sitr.yaml", QUESTION, "--price", "zcdp(0.05)", "--plot", "missing/chart.svg")),
        (1, ("protect", "missing.parquet", "--unit-row")),
        (2, ("histogram", "missing.yaml", "--column", "cost", "--price", "pure(0.1)")),
        (1, ("histogram", "missing.parquet", "--column", "cost", "--price", "pure(0.1)", "--unit-row")),
        (1, ("ledger", "show", "missing.db")),
        (2, ("account", "missing.yaml", "--delta", "1e-6")),
        (2, ("compare", "missing.yaml", "--delta", "1e-6")),
    ],
    ids=lambda value: " ".join(value).replace(QUESTION, "SQL") if isinstance(value, tuple) else str(value),
)
def test_help_and_refusals_load_nothing_slow(loaded: Loaded, code: int, words: tuple[str, ...]) -> None:
    assert not loaded(code, *words) & SLOW


OTHER_KINDS = {"sitr.questions.histogram.fit", "sitr.questions.statistic.question", "sitr.questions.synthetic.plan"}


ANSWERING = {"sitr.backends.duckdb", "sitr.report.page.html", "sitr.session.kept", "sitr.session.public"}
FOR_A_PREVIEW = {
    *("flint", "rich", "sitr", "sqlglot", "typer", "yaml"),
    *("annotated_doc", "cython_runtime", "mypy_extensions", "shellingham"),  # what these load
}
"""All packages that a preview may load, beyond the standard library."""

NOT_FOR_A_PREVIEW = {
    *("sqlglot.dialects.duckdb", "sqlglot.generators.duckdb", "statistics"),
    *(f"sitr.questions.aggregate.{name}" for name in ("equivalent", "listing", "obstacles")),
    *("sitr.report.certificate", "sitr.report.evidence.evidence", "sitr.report.views", "sitr.session.explained"),
}
"""What only a refused question, a paid answer or JSON needs."""

MOST_MODULES = 320
"""The most modules of Sitr that a preview may load. Each takes about half a millisecond, needed or not: a module that
only other commands use is loaded by `sitr.namespace.Later`."""


def test_a_command_loads_no_other(loaded: Loaded, description: Path) -> None:
    modules = loaded(2, "preview", description, QUESTION, "--prise", "zcdp(0.05)")
    assert "sitr.cli.preview" in modules
    assert not modules & {f"sitr.cli.{name}" for name in (*COMMANDS, *GROUPS) if name != "preview"}


def test_a_preview_loads_only_what_it_needs(loaded: Loaded, description: Path) -> None:
    modules = loaded(0, "preview", description, QUESTION, "--price", "zcdp(0.05)")
    found = {module.partition(".")[0] for module in modules}
    libraries = {name for name in found - sys.stdlib_module_names if not name.startswith("_") and "__" not in name}
    assert libraries <= FOR_A_PREVIEW  # names with underlines are private parts of one of them
    assert not modules & (OTHER_KINDS | ANSWERING | NOT_FOR_A_PREVIEW)
    assert {"sitr.questions.aggregate.fit", "sqlglot"} <= modules
    assert len([module for module in modules if module.startswith("sitr")]) <= MOST_MODULES


def test_a_preview_of_an_answered_question_reads_its_sizes_without_numpy(loaded: Loaded, description: Path) -> None:
    loaded(0, "ask", description, QUESTION, "--price", "zcdp(0.05)")
    modules = loaded(0, "preview", description, QUESTION, "--price", "zcdp(0.05)")
    assert "sitr.session.kept" in modules  # the kept answer was read
    assert not modules & (SLOW - {"rich", "sqlglot"} | OTHER_KINDS)
    assert not modules & {"sitr.backends.duckdb", "sitr.report.page.html", "sitr.session.public"}


def test_a_preview_compiles_few_classes(loaded: Loaded, description: Path) -> None:
    modules = loaded(0, "preview", description, QUESTION, "--price", "zcdp(0.05)")
    house = [module for module in modules if module.startswith("sitr.")]
    made = [value for module in house for value in vars(import_module(module)).values() if isinstance(value, type)]
    classes = {value for value in made if is_dataclass(value) and value.__module__ in house}
    shared = Interval.__setattr__.__code__
    quickly = {value for value in classes if getattr(value.__setattr__, "__code__", None) is shared}
    assert len(quickly) > 150
    assert len(classes - quickly) < 36, sorted(str(each) for each in classes - quickly)


def test_an_answer_loads_jinja_only_for_a_certificate(loaded: Loaded, description: Path) -> None:
    asked = ("ask", description, QUESTION, "--price", "zcdp(0.05)")
    modules = loaded(0, *asked)
    assert not modules & {"alembic", "jinja2", "pandas", "pydantic", "sklearn", "sqlalchemy"}
    assert {"cryptography", "duckdb"} <= modules
    assert "jinja2" in loaded(0, *asked, "--certificate", "visits.html")


def test_alembic_is_loaded_only_for_a_ledger_that_is_not_up_to_date(loaded: Loaded, description: Path) -> None:
    assert not loaded(0, "ledger", "show", "sitr.db") & {
        "alembic",
        "duckdb",
        "jinja2",
        "pyarrow",
        "scipy",
        "sqlalchemy",
    }
    description.unlink()  # the file may have another budget only if no description names one
    budget = ("--budget", "zcdp(0.5)", "--ledger", "new.db", "--second-budget")
    assert "alembic" in loaded(0, "protect", "visits.parquet", "--unit-row", *budget)
