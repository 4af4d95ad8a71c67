"""The rules of the house that neither the type checker nor the linter can see."""

from __future__ import annotations

import ast
import builtins
import io
import re
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import sitr

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "sitr"
MODULES = sorted(SOURCE.rglob("*.py"))
COINS = SOURCE / "noise" / "coins.py"
SIGNING = SOURCE / "ledger" / "key.py"
TOKENS = SOURCE / "server" / "tokens.py"
"""The ids of sessions, which add no noise."""
CHECKING = SOURCE / "audit" / "checker" / "sitr_chain.py"
"""A program of its own, which compares signatures where cryptography is installed."""
PROSE = [path for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))) if path.exists()]


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def offending(paths: Iterable[Path], check: Callable[[Path], object]) -> dict[str, object]:
    """What a rule finds, by file; nothing for files that follow it."""
    return {place(path): found for path in paths if (found := check(path))}


# What the package offers


PARTS = (
    *("accounting", "audit", "errors", "flavors", "interop", "learn", "ledger"),
    *("loss", "mechanisms", "noise", "questions", "sensitivity"),
)


TOGETHER = ("load_together", "synthesize_together")
"""Public names that a star import leaves out."""


def test_public_names_are_pinned() -> None:
    assert sorted(sitr.__all__) == [
        "ApproximateDP",
        "ApproximateZeroConcentratedDP",
        "Composed",
        "ConcentratedDP",
        "Gaussian",
        "GaussianDP",
        "Laplace",
        "PrivacyProfile",
        "PureDP",
        "RandomDP",
        "Relation",
        "RenyiDP",
        "Repeated",
        "Row",
        "SitrError",
        "Subsampled",
        "Training",
        "ZeroConcentratedDP",
        "calibrate",
        "column",
        "compare",
        "correlation",
        "count",
        "count_if",
        "covariance",
        "histogram",
        "load",
        "mean",
        "median",
        "protect",
        "quantile",
        "quantiles",
        "read_schedule",
        "standard_deviation",
        "variance",
        "when",
    ]
    assert set(dir(sitr)) == {*sitr.__all__, *PARTS, "connect", "max", "min", "open", "sum", *TOGETHER}
    assert len(sitr.__all__) <= 36


@pytest.mark.parametrize("name", dir(sitr))
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(sitr, name).__doc__


def test_a_star_import_hides_no_name_of_python() -> None:
    offered: dict[str, object] = {}
    exec("from sitr import *", offered)
    assert offered["PureDP"] is sitr.PureDP
    assert not set(sitr.__all__) & set(dir(builtins))
    assert {sitr.open.__module__, sitr.sum.__module__} == {
        "sitr.session.dataset",
        "sitr.questions.aggregate.functions.sum",
    }


@pytest.mark.parametrize("part", sorted({*PARTS} - {"errors", "interop"}))
def test_each_part_offers_its_names_itself(part: str) -> None:
    module = getattr(sitr, part)
    assert sorted(module.__all__) == sorted(set(dir(module)) & set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name).__doc__
    with pytest.raises(AttributeError, match="nothing_like_it"):
        module.nothing_like_it  # noqa: B018


def test_every_namespace_is_a_part() -> None:
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py") if "__all__" in path.read_text()} <= {*PARTS}


def typed_names(source: str) -> set[str]:
    """The names that only type checkers import."""
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    typed = [node for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for node in ast.walk(block)]
    return {alias.name for node in typed for alias in getattr(node, "names", [])}


def test_names_for_type_checkers_are_recognised() -> None:
    assert typed_names("from b import y\nif TYPE_CHECKING:\n    from a import x\n    from a import z as z") == {
        "x",
        "z",
    }


@pytest.mark.parametrize("part", ["sitr", *(f"sitr.{part}" for part in PARTS)])
def test_no_lazy_name_is_forgotten(part: str) -> None:
    """Type checkers see exactly the names that are loaded when used."""
    module = import_module(part)
    source = Path(str(module.__file__)).read_text()
    if re.search(r"= lazily\(\s*__name__,", source):
        assert typed_names(source) == set(dir(module))


DEEP = re.compile(r"(?:from|import) sitr\.\w+\.[\w.]+")
FROM_WITHIN = {"import sitr.interop.opacus", "from sitr.report.comparison"}
"""Importing the first one registers an accountant; the second is a report, which is no value of a question."""


def test_examples_import_from_the_parts() -> None:
    """But for the pages about the five texts, which show formulas that are no part of the public API."""
    pages = [path for path in PROSE if path.parent.name != "texts"]
    assert not offending(pages, lambda path: {*DEEP.findall(path.read_text("utf-8"))} - FROM_WITHIN)


def test_importing_the_package_loads_nothing_else() -> None:
    asked = "import sys, sitr; print(sorted(name for name in sys.modules if name.startswith(('sitr.', 'numpy'))))"
    found = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, timeout=60, text=True)
    assert found.stdout == "['sitr.errors', 'sitr.namespace']\n"


def test_noise_is_there_before_anything_else_has_been_asked_for() -> None:
    asked = "import sitr; sitr.noise.discrete_laplace(scale=1); sitr.loss.gaussian(sigma=1); sitr.mechanisms.NoisyMax"
    subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, timeout=60)


def test_the_wheel_carries_every_file_of_the_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("sitr/")}
    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert carried == {path.relative_to(SOURCE.parent).as_posix() for path in files}
    assert "sitr/py.typed" in carried


# What the code says of itself


def test_every_module_says_what_it_is() -> None:
    assert not offending(MODULES, lambda module: not ast.get_docstring(ast.parse(module.read_text())))


RANDOM_OR_RENYI = re.compile(r"RDP|(?<![a-z])rdp(?![a-z])")
"""An abbreviation with two meanings, as a word or within a name."""


@pytest.mark.parametrize("text", ["ε-RDP", "to_rdp(", "RDPAccountant", "rdp = 1"])
def test_the_ambiguous_abbreviation_would_be_found(text: str) -> None:
    assert RANDOM_OR_RENYI.search(text)


def test_the_ambiguous_abbreviation_is_nowhere() -> None:
    texts = [*MODULES, *PROSE, ROOT / "docs" / "references.bib"]
    assert not offending(texts, lambda path: RANDOM_OR_RENYI.findall(path.read_text()))


KEY = r"(?:[a-z]?[A-Z][A-Za-z]*\d{2}[a-z]?|DLMF)"


def citations(text: str) -> set[str]:
    """The keys in `[BS16]`, `[BS16, Prop. 1.4]` and `[DMNS06; DR14, Thm 3.16]`."""
    cited = re.findall(rf"\[({KEY}(?:[,;][^\]]*)?)\]", text)
    return {key for group in cited for key in re.findall(rf"(?:^|;\s*)({KEY})", group)}


def bibliography() -> set[str]:
    return set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(), re.MULTILINE))


def test_citations_are_recognised() -> None:
    text = "of [BS16, Prop. 1.4] and [DMNS06; DR14,\n Thm 3.16], at [Vad17], [vEH14]; but x[A1] and [KOV, 15] are none"
    assert citations(text) == {"BS16", "DMNS06", "DR14", "Vad17", "vEH14"}


def test_every_citation_resolves() -> None:
    known = bibliography()
    assert not offending([*MODULES, *PROSE], lambda path: citations(path.read_text()) - known)


def test_every_reference_is_cited_and_explained() -> None:
    cited = set().union(*(citations(path.read_text()) for path in MODULES))
    explained = citations((ROOT / "docs" / "reference" / "references.md").read_text())
    assert cited <= explained
    assert explained == bibliography()


RIDDLES = re.compile(r"\b(?:(?:was|were) wanted|(?:is|are|was|were|be|been) told|so many|whosever)\b", re.IGNORECASE)
"""Phrases that make readers stop. Plain English has a subject, a verb and an object: see the table of the design."""


def words_of(source: str) -> Iterator[str]:
    """Every string (joined where it is written in parts) and every comment of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield " ".join(token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)


def riddles(path: Path) -> list[str]:
    texts = words_of(path.read_text()) if path.suffix == ".py" else [path.read_text()]
    return [found[0] for text in texts for found in RIDDLES.finditer(" ".join(text.split()))]


SHARED = {
    "Command": "a program that is audited, and a command of ours",
    "Event": "found by drawing, and by computing: two audits, apart from each other",
    "Figure": "audits are written apart from what they check, with words of their own",
    "Figures": "audits are written apart from what they check, with words of their own",
    "Finding": "of an audit, and of the examination of a ledger",
    "Found": "audits are written apart from what they check, with words of their own",
    "Histogram": "HISTOGRAM in SQL, and a histogram as a question of its own: both are what users call one",
    "Key": "of a group of rows, and of an installation that signs: both are what users call one",
    "Known": "the checker is one file that needs nothing of Sitr",
    "Line": "audits are written apart from what they check, with words of their own",
    "Method": "public in two namespaces: of fitting a model, and of making rows",
    "Moments": "audits are written apart from what they check, with words of their own",
    "Order": "audits are written apart from what they check, with words of their own",
    "Pairs": "audits are written apart from what they check, with words of their own",
    "Part": "the checker is one file that needs nothing of Sitr, and a part of a schedule is of another kind",
    "Quantile": "QUANTILE in SQL, and the statistic whose sensitivity is bounded: both are what users call one",
    "Row": "audits are written apart from what they check, with words of their own",
    "Rows": "of a backend's tree, and of a frame that is joined",
    "Shares": "of δ that the points of a schedule take, and of noise that parties add: the latter is public",
    "Table": "audits are written apart from what they check, with words of their own",
    "Tree": "public in two namespaces: the mechanism, and the way to measure a histogram with it",
    "Variance": "VARIANCE in SQL, and the statistic whose sensitivity is bounded: both are what users call one",
    "Verdict": "of an exact audit, and about a certificate",
    "View": "audits are written apart from what they check, with words of their own",
    "Witness": "audits are written apart from what they check, with words of their own",
}
"""Names that two classes may share, and why; every other name has one meaning."""


def same_names(paths: Iterable[Path]) -> dict[str, list[str]]:
    """The names of several public classes. The words of a report have one class for each language."""
    homes: dict[str, list[str]] = {}
    for path in paths:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path).replace("/arabic/", "/english/"))
    return {name: sorted(set(found)) for name, found in homes.items() if len(set(found)) > 1}


def test_a_name_has_one_meaning(tmp_path: Path) -> None:
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text("class Twice:\n    pass\n\n\nclass _Own:\n    pass\n")
    assert same_names(sorted(tmp_path.glob("*.py"))).keys() == {"Twice"}
    assert same_names(MODULES).keys() == SHARED.keys()


def test_the_texts_are_plain_english(tmp_path: Path) -> None:
    puzzling = tmp_path / "puzzling.py"
    puzzling.write_text(
        '"""So many\ntimes that."""\nx = 1  # what the reader\n# is told\n'
        'y = ("A price was " "wanted.", f"{x} were wanted")\n'
    )
    assert sorted(riddles(puzzling)) == ["So many", "is told", "was wanted", "were wanted"]
    assert not offending([*MODULES, *PROSE], riddles)


# What spends budget and touches rows


DOORS = {
    ("session/ask.py", "ask", "charge"): "the door",
    ("session/ask.py", "ask", "charge_together"): "the door, where a question joins several budgets",
    ("session/ask.py", "_read", "read"): "the door",
    ("ledger/lazy.py", "charge", "charge"): "passes a charge on to the ledger that it stands for",
    ("ledger/together.py", "charge_together", "charge"): "a single ledger",
    ("session/imagined.py", "imagined", "read"): "invented rows, for an example of an answer",
    ("session/public.py", "coded", "read"): "public tables",
    ("session/public.py", "named", "read"): "rows of several tables that were drawn here",
    ("cli/sensitivity.py", "compare", "read"): "a file that is public, which the command makes users say",
    ("audit/empirical/replay.py", "_exact_numbers", "read"): "tables that an audit compares, for their owner",
}
"""The functions that call a charge or a reading, and why each may."""


def doors(path: Path, root: Path = SOURCE) -> set[tuple[str, str, str]]:
    """Who charges a price or reads rows with a salt: the file, the outermost function or method, what it calls."""
    found = set()
    tree = ast.parse(path.read_text())
    methods = [node for kind in tree.body if isinstance(kind, ast.ClassDef) for node in kind.body]
    for function in (*tree.body, *methods):
        if isinstance(function, ast.FunctionDef):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                keywords = {each.arg for each in call.keywords}
                spends = name in ("charge", "charge_together") and "price" in keywords
                if spends or (name == "read" and "salt" in keywords):
                    found.add((path.relative_to(root).as_posix(), function.name, name))
    return found


def test_one_function_spends_budget_and_touches_rows(tmp_path: Path) -> None:
    second = tmp_path / "second.py"
    second.write_text(
        "def one(x):\n    x.charge('a', price=1)\nclass B:\n    def two(self, y):\n        y.read(1, salt=2)"
    )
    assert doors(second, tmp_path) == {("second.py", "one", "charge"), ("second.py", "two", "read")}
    inside = [path for path in MODULES if path.relative_to(SOURCE).parts[0] != "backends"]
    assert set().union(*map(doors, inside)) == set(DOORS)


# What the code may reach for


def imports(tree: ast.AST) -> Iterator[str]:
    """Full dotted names: `from os import urandom` gives os.urandom."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def attributes(tree: ast.AST) -> Iterator[str]:
    """Dotted names in use: `np.random.default_rng` gives that and np.random."""
    return (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))


ENTROPY = re.compile(r"(secrets|cryptography)(\..*)?|os\.(urandom|getrandom)")
CHANCE = re.compile(r"(random|numpy\.random|np\.random)(\..*)?")


def reaches(source: str, names: re.Pattern[str]) -> set[str]:
    tree = ast.parse(source)
    return {name for name in (*imports(tree), *attributes(tree)) if names.fullmatch(name)}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import secrets", ENTROPY),
        ("def f():\n    from secrets import token_bytes", ENTROPY),
        ("import os\nos.urandom(8)", ENTROPY),
        ("from os import urandom", ENTROPY),
        ("from cryptography.hazmat.primitives.ciphers import Cipher", ENTROPY),
        ("import random", CHANCE),
        ("from random import choice", CHANCE),
        ("import numpy as np\nnp.random.default_rng()", CHANCE),
        ("from numpy import random", CHANCE),
        ("import numpy.random", CHANCE),
    ],
)
def test_forbidden_sources_of_chance_would_be_found(source: str, names: re.Pattern[str]) -> None:
    assert reaches(source, names)


def test_entropy_has_one_door() -> None:
    """The key of the ledger draws and signs for itself: it adds no noise, and the layers below know nothing of it."""
    others = [module for module in MODULES if module not in (COINS, SIGNING, TOKENS, CHECKING)]
    assert reaches(COINS.read_text(), ENTROPY)
    assert reaches(SIGNING.read_text(), ENTROPY)
    assert not offending(others, lambda module: reaches(module.read_text(), ENTROPY))


def test_no_statistical_random_numbers() -> None:
    assert not offending(MODULES, lambda module: reaches(module.read_text(), CHANCE))


def hidden_imports(source: str) -> set[str]:
    """What is imported only when a function runs."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {name for function in functions for name in imports(function)}


def may_be_hidden(name: str, module: Path) -> bool:
    """Extras where frames go in and out or models are tried; slow libraries in commands; the package's lazy names."""
    part = module.relative_to(SOURCE).parts[0].removesuffix(".py")
    library = name.partition(".")[0]
    frames = library in {"pandas", "polars"} and part in {"backends", "report", "session"}
    learning = name.startswith("sitr.learn.") and part == "session"  # an extra as a whole: it loads scikit-learn
    losses = name.startswith("sitr.loss.") and part == "flavors"  # numpy and scipy, of which most commands need nothing
    return part in {"cli", "__init__"} or frames or learning or losses


def test_hidden_imports_would_be_found() -> None:
    source = "import os\nclass A:\n  async def f(self):\n    import scipy.stats\n    from pandas import Series"
    assert hidden_imports(source) == {"scipy.stats", "pandas.Series"}
    assert not may_be_hidden("scipy.stats", SOURCE / "session" / "dataset.py")
    assert not may_be_hidden("pandas", SOURCE / "questions" / "aggregate" / "frame.py")
    assert not may_be_hidden("sklearn.ensemble", SOURCE / "questions" / "synthetic" / "quality.py")
    assert may_be_hidden("pandas", SOURCE / "session" / "dataset.py")


def misplaced_imports(module: Path) -> set[str]:
    return {name for name in hidden_imports(module.read_text()) if not may_be_hidden(name, module)}


def test_imports_stand_at_the_top() -> None:
    assert not offending([module for module in MODULES if module != CHECKING], misplaced_imports)


def late_modules(source: str) -> set[str]:
    """What `Later` names: modules that are imported when they are first used."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return {ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "Later"}


def unseen_imports(module: Path) -> set[str]:
    """Late modules that the rules about imports cannot see.

    They see ordinary imports for type checkers, and need not see modules of the same part, nor scipy, which no rule is
    about.
    """
    source, part = module.read_text(), "sitr." + module.relative_to(SOURCE).parts[0]
    seen = set(imports(ast.parse(source)))
    late = {name for name in late_modules(source) if not name.startswith((f"{part}.", "scipy."))}
    return {name for name in late if name not in seen and not any(one.startswith(f"{name}.") for one in seen)}


def test_late_modules_are_seen_by_the_rules_about_imports() -> None:
    assert late_modules('a, b = Later("x.a"), Later("y")') == {"x.a", "y"}
    assert late_modules((SOURCE / "ledger" / "migrate.py").read_text()) == {
        *("alembic.command", "alembic.config"),
    }
    assert not offending([module for module in MODULES if module.name != "namespace.py"], unseen_imports)


# What is installed


def test_constraints_are_plain_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert not [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", pin)]
