"""The checker agrees with Sitr on plans of every kind, and finds every figure that was changed."""

from __future__ import annotations

import ast
import gzip
import json
import math
import random
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from html import escape, unescape
from itertools import islice, product
from pathlib import Path
from typing import Any, get_args

import pytest
from flint import arb, ctx
from typer.testing import CliRunner

import sitr
from sitr.audit.checker import sitr_check
from sitr.audit.checker.sitr_check import (
    Known,
    Part,
    Stated,
    check,
    composed,
    corners,
    distance,
    epsilon_at,
    least_mu,
)
from sitr.backends import sources
from sitr.backends.sources import ArrowRows
from sitr.cli.main import app
from sitr.errors import SitrError
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import NAMES
from sitr.flavors.random import RandomDP
from sitr.loss.discrete_mu import discrete_mu
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.neighbors.relation import Relation
from sitr.questions import Prefixes
from sitr.questions.question import Question
from sitr.report.evidence import evidence
from sitr.report.evidence.evidence import law
from sitr.report.papers import preview_paper
from sitr.sensitivity.in_total import in_total
from tests.audit.checker.plans import KINDS, ROWS, WARDS
from tests.laws import walk

SOURCE = Path(sitr_check.__file__)

MANY, FEW = 1_000, 2
"""How many random plans of every kind are checked, and how many of them every time."""

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@pytest.fixture(autouse=True)
def _as_many_bits_as_the_checker_has() -> Iterator[None]:
    """The parts of it are called by themselves here."""
    with ctx.workprec(sitr_check.BITS):
        yield


def wrong(text: str) -> list[tuple[str, ...]]:
    return [row for row in check(text).rows if row[3] == "DIFFERS"]


def asked(kind: str, seed: int, folder: Path | None) -> Any:
    request, price, *more = KINDS[kind](random.Random(f"{kind} {seed}"), folder)
    return request, price, (more[0] if more else {})


# What it is


def test_it_is_one_short_file_that_needs_nothing_of_sitr() -> None:
    source = SOURCE.read_text()
    assert len(source.splitlines()) <= 600
    assert "a program of 600 lines" in (Path(__file__).parents[3] / "README.md").read_text()
    tree = ast.walk(ast.parse(source))
    modules = {name.name for node in tree if isinstance(node, ast.Import) for name in node.names}
    tree = ast.walk(ast.parse(source))
    modules |= {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} - sys.stdlib_module_names == {"flint"}


def test_no_kind_of_question_is_missing(tmp_path: Path) -> None:
    kinds = {type(asked(kind, 0, tmp_path)[0].question) for kind in KINDS}
    assert kinds | {each for each in walk.like(Question) if each.__name__ == "QualityQuestion"} == walk.like(Question)


LAWS = {
    "discrete Laplace": ("elsewhere", 0),
    "discrete Gaussian": ("elsewhere", 1),
    "rounded Gaussian": ("elsewhere", 4),
    "threshold": ("selected", 0),
    "partition selection": ("selected", 6),
    "grouped quantile": ("elsewhere", 1),
    "exponential": ("histogram", 5),
    "shared noise": ("synthetic", 6),
    "sparse histogram": ("sparse", 0),
    "residual Gaussian": ("tables", 7),
    "prefix Gaussian": ("ranges", 0),
}
"""A random plan with each law of `sitr.report.evidence`."""


def test_no_law_is_missing() -> None:
    """The laws that the documentation of certificates names, and those of all plans that say what moves them."""
    known = re.search(r"law +parameters\n=+ +=+\n(.*?)\n=", str(evidence.__doc__), re.DOTALL)
    assert known is not None
    assert {name.strip() for name in re.findall(r"^(\w.*?)  ", known[1], re.MULTILINE)} == set(LAWS)
    for name, (kind, seed) in LAWS.items():
        measured = planned(kind, seed)["plan"]["measurements"]
        assert name in {one["mechanism"]["law"] for one in measured}, name


def test_no_plan_is_missing() -> None:
    """Of the plans that say what one unit may add."""
    asked_for = [asked(kind, 0, None) for kind in KINDS if kind not in {"judged", "statistic"}]
    plans = {type(request.question.plan(price)) for request, price, _ in asked_for}
    assert {f"{each.__module__}.{each.__qualname__}" for each in plans} == set(evidence.MOVED)


BUDGETS = {
    "pure": ("joined", 1),
    "approximate": ("joined", 4),
    "zcdp": ("elsewhere", 0),
    "approximate_zcdp": ("selected", 0),
    "gaussian": ("elsewhere", 7),
    "random": ("elsewhere", 2),
    "odometer(pure)": ("elsewhere", 3),
    "odometer(approximate": ("elsewhere", 5),
    "odometer(zcdp": ("elsewhere", 1),
}
"""A random plan that is paid from a budget of each flavor, and from each odometer."""


def test_no_flavor_of_budgets_is_missing() -> None:
    names = {name for name, flavor in NAMES.items() if flavor in {*get_args(Additive), RandomDP}}
    assert {name for name in BUDGETS if "odometer" not in name} == names
    for name, place in BUDGETS.items():
        promise = planned(*place)["budget"]["promise"]
        assert promise["notation"].startswith(name) if "odometer" in name else promise["flavor"] == name


# It agrees with Sitr


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The few tables of these plans are read once, and not again for each description: half of the time goes there."""
    types, read = ArrowRows.types, sources.read_all
    known, done = dict[str, dict[str, str]](), set[str]()

    def types_once(rows: ArrowRows) -> dict[str, str]:
        schema = str(rows.table.schema)
        return known[schema] if schema in known else known.setdefault(schema, types(rows))

    def read_once(rows: ArrowRows, *more: Any) -> None:
        schema = str(rows.table.schema)
        if schema not in done:
            read(rows, *more)
            done.add(schema)

    monkeypatch.setattr(ArrowRows, "types", types_once)
    monkeypatch.setattr(sources, "read_all", read_once)


def planned(kind: str, seed: int) -> Any:
    """The JSON of a preview, without the table of other prices, which are other plans; None if the price is refused."""
    request, price, more = asked(kind, seed, None)
    try:
        found = request.preview(price, **more)
    except SitrError:  # some prices buy nothing
        return None
    return preview_paper(found.plan, found.standing, lambda: (), others=found.others, sizes=found.sizes).to_dict()


def agreed(kind: str, seed: int) -> bool:
    """Whether there is such a plan."""
    content = planned(kind, seed)
    if content is None:
        return False
    found = check(json.dumps(content))
    assert not [row for row in found.rows if row[3] == "DIFFERS"], (kind, seed)
    derivable = not any(row[3].startswith("not derivable") for row in found.rows)
    assert derivable == (kind != "statistic")
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("read_once")
def test_it_agrees_on_a_few_random_plans_of_every_kind(kind: str) -> None:
    assert sum(agreed(kind, seed) for seed in range(FEW)) > 0


@pytest.mark.parametrize("column", ["SUM(cost)", "MEDIAN(cost)"])
def test_it_agrees_where_the_threshold_shows_its_numbers(column: str, tmp_path: Path) -> None:
    """The other measurements keep their own distances."""
    said: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 1, "bounds": {"cost": (0, 100)}}
    budget = sitr.protect(ROWS, name="visits", **said).budget("approximate(2, 1e-5)", ledger=tmp_path / "ledger.db")
    request = budget.sql(f"SELECT town, COUNT(*) AS n, {column} AS c FROM visits GROUP BY town")
    content = request.preview("approximate(1, 1e-6)").to_dict()
    assert any(one["mechanism"]["law"] == "threshold" for one in content["plan"]["measurements"])
    assert all(one["name"] != "COUNT(*)" for one in content["plan"]["measurements"])
    assert not wrong(json.dumps(content))


@pytest.mark.parametrize("flip", [False, True])
def test_losses_of_permute_and_flip_lie_in_no_interval(flip: bool) -> None:
    choice = GroupedQuantile(rate=Fraction(1, 4), level=Fraction(1, 2), low=0, high=99, groups=4, flip=flip)
    known = Stated(json.loads(json.dumps(law(choice)))).known()
    assert known is not None
    assert known.epsilon == choice.promise().epsilon
    assert float(known.paid("rho")) == pytest.approx(choice.zero_concentrated().rho, rel=1e-12)
    twin = Stated(law(replace(choice, flip=not flip))).known()
    assert twin is not None
    found, other = (composed([each], Fraction(1, 1000)) for each in (known, twin))
    assert found is not None
    assert other is not None
    assert choice.loss().epsilon(delta=1e-3).upper <= found * (1 + 5e-4)
    assert abs(other - found) > 0.05 * found


def test_bars_are_in_no_more_groups_than_there_are(tmp_path: Path) -> None:
    said: dict[str, Any] = {"unit": "patient", "max_groups": 7, "max_rows_per_group": 2, "bounds": {"days": (-4, 4)}}
    data = sitr.protect(ROWS, name="visits", keys={"ward": ["a", "b"]}, **said)
    request = data.budget("pure(2)", ledger=tmp_path / "ledger.db").sql(
        "SELECT ward, HISTOGRAM(days, 0, 2) AS h FROM visits GROUP BY ward", bias="off"
    )
    assert not wrong(json.dumps(request.preview("pure(1)").to_dict()))


def test_a_histogram_of_one_bar_is_one_number() -> None:
    """Of this plan the checker once derived another distance: one bar was taken for a vector and for one number."""
    assert agreed("batch", 106)


@pytest.mark.parametrize(("kind", "seed"), [("synthetic", 132), ("suggested", 208), ("suggested", 1088)])
def test_little_noise_on_whole_numbers_loses_what_its_curve_says(kind: str, seed: int) -> None:
    """Of these plans the checker once proved an ε that was 0.06% above the true one: chords between the jumps."""
    assert agreed(kind, seed)


def test_jumps_of_the_loss_are_on_the_lattice() -> None:
    """Three draws of noise with σ = 0.57, by adding up all outcomes; between the jumps, chords are 0.06% above."""
    square = Fraction(321, 1000)
    weights = {y: math.exp(-y * y / (2 * float(square))) for y in range(-12, 13)}
    total = sum(weights.values())
    masses = {0: 1.0}  # of the sum of y, which the sum of losses depends on
    for _ in range(3):
        added: dict[int, float] = {}
        for (old, mass), (y, weight) in product(masses.items(), weights.items()):
            added[old + y] = added.get(old + y, 0) + mass * weight / total
        masses = added
    found = epsilon_at([Part("bell", (square, 1), 3)], arb("1e-6"))

    def delta(epsilon: float) -> float:  # moved by 1 in each of the three: L = (2·Σy + 3)/(2σ²)
        losses = ((mass, (2 * y + 3) / (2 * float(square))) for y, mass in masses.items())
        return sum(mass * max(0.0, -math.expm1(epsilon - loss)) for mass, loss in losses)

    assert delta(found) <= 1e-6 * (1 + 1e-9) < delta(found * (1 - 1e-5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("read_once")
def test_it_agrees_on_a_thousand_random_plans_of_every_kind(kind: str) -> None:
    """Run it with `pytest tests/audit/checker -m slow -k thousand`, one kind by `-k "thousand and joined"`.

    Prices that buy nothing are refused, and other plans take their place.
    """
    admitted = filter(partial(agreed, kind), range(100, 100 + 2 * MANY))
    assert sum(1 for _ in islice(admitted, MANY)) == MANY


# It finds what was changed


class Pages(dict[str, str]):
    """A certificate of every kind, written when it is needed."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self.factory = factory

    def __missing__(self, kind: str) -> str:
        folder = self.factory.mktemp(kind)
        request, price, more = asked(kind, 3, folder)
        self[kind] = request.release(price, **more).certificate(folder / "page.html").read_text()
        return self[kind]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory)


def element(page: str, name: str) -> str:
    found = re.search(rf'<template class="{name}"[^>]*>(.*?)</template>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def with_element(page: str, name: str, text: str) -> str:
    """The page with another text in an element."""
    found = re.search(rf'<template class="{name}"[^>]*>(.*?)</template>', page, re.DOTALL)
    assert found is not None
    assert unescape(found[1]) != text
    return page[: found.start(1)] + escape(text) + page[found.end(1) :]


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of losses are computed once for the same parts: most changes do not concern them."""
    known: dict[str, float] = {}

    def once(parts: list[Part], goal: Any) -> float:
        key = repr((parts, goal))
        if key not in known:
            known[key] = epsilon_at(parts, goal)
        return known[key]

    monkeypatch.setattr(sitr_check, "epsilon_at", once)


@pytest.mark.parametrize("kind", KINDS)
def test_it_agrees_with_certificates(kind: str, pages: Pages) -> None:
    rows = check(pages[kind]).rows
    assert not [row for row in rows if row[3] == "DIFFERS"]
    assert sum(row[3] == "agrees" for row in rows) >= 12


NOT_DERIVABLE = (
    # Released values and what follows from them: a page carries them with their hash.
    r"^(rows|cells|values|value|missing|total|stretches|bias|tables|missed|histograms|covered|expected|options)\b",
    r"^chosen_caps histograms|^answers \d+ (rows|bias)|^quality (mean|single|pairs|ranges|correlations|scores)",
    # The number of a ledger's entry, which a page compares with its record.
    r"\bentry$",
    # Public sizes: more cells than one unit can reach change no figure, and fewer are found by the distance.
    r"cells$|^shape|rows_per_unit$|most_rows$|^measurements",
    # What Sitr adds for readers: the mean noise, the units with which a key is shown, how good a division is, the share
    # that chooses caps, and the price of a later question.
    r"people$|mean$|^exposed|^objective|chosen_caps share$|^for ",
    # The end of the bounds that is nearer to the centre, which matters only if units replace others.
    r"moves \d+ bounds",
    # Which columns a residual is about: their numbers are names, and matter only if units replace others.
    r"bases \d+ columns",
    # The errors of cells and of ranges of cells with correlated noise, which differ between cells.
    r"^noise (error|ranges)$",
    # Errors of columns that follow from several noises, or are in ranks: a checksum covers them. See `lone_columns`.
    r"columns \d+ error(_at)?( |$)",
    # The figures of a part of the plan, as if it were asked alone.
    r"^quality (headline|delta)",
)
"""The numbers of an answer that cannot be derived from others, and why not."""


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers, and of texts that are fractions."""
    if isinstance(value, dict | list):
        for name, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inside, (*path, name))
    written = isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value) and path[-1] not in {"name", "key"}
    if written or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield path


def altered(old: Any) -> list[Any]:
    """Other numbers: by 3% more and less, and by 1 more and less, where floats can tell them apart."""
    one = Fraction(old) if isinstance(old, str) else Fraction(repr(old))
    others = {one + 1, one - 1} | (
        set() if isinstance(old, int) else {one * Fraction(103, 100), one * Fraction(97, 100)}
    )
    form = {str: str, int: int, float: float}[type(old)]
    top = Fraction(sys.float_info.max) if form is float else max(others)
    return [other for each in others - {one} if each <= top and (other := form(each)) != old]


def changed(figures: Any, path: tuple[Any, ...]) -> Iterator[str]:
    """The same figures with other numbers at this place."""
    copy = json.loads(json.dumps(figures))
    inside = copy
    for name in path[:-1]:
        inside = inside[name]
    for other in altered(inside[path[-1]]):
        inside[path[-1]] = other
        yield json.dumps(copy)


CHECKSUM = "checksum of all figures"


def found(text: str) -> bool:
    """Whether a derived figure differs, or the file cannot be read any more: a forger can change the checksum, too."""
    try:
        return any(row[0] != CHECKSUM for row in wrong(text))
    except (ValueError, TypeError, ArithmeticError, LookupError, StopIteration):
        return True


def derivable(figures: Any) -> list[tuple[Any, ...]]:
    """The places of figures that can be derived. Answers to aggregate questions state caps twice; in others, one that
    does not bind a measurement could be any number."""
    text = json.dumps(figures)
    patterns = NOT_DERIVABLE if '"caps":' in text else (*NOT_DERIVABLE, r"moves \d+ max_")
    plain = [path for path in numbers(figures) if not any(re.search(one, " ".join(map(str, path))) for one in patterns)]
    plain = [path for path in plain if not (path[-1] in {"granularity", "offset"} and chosen(figures, path))]
    plain = [path for path in plain if "families" not in path or largest(figures, path)]
    return plain + [(*path, "error") for path in lone_columns(figures)]


def chosen(figures: Any, path: tuple[Any, ...]) -> bool:
    """Whether this is about a value that is chosen among others: which one is shown, in which unit, changes no loss."""
    one = figures["plan"]["measurements"][path[2]] if path[:2] == ("plan", "measurements") else {"mechanism": {}}
    return bool(one["mechanism"].get("law") == "grouped quantile")


def largest(figures: Any, path: tuple[Any, ...]) -> bool:
    """Whether this is the one largest family of cells: smaller ones matter only if units replace others."""
    sizes: Any = figures
    for name in path[:-1]:
        sizes = sizes[name]
    return bool(sorted(sizes)[-2:][0] < sizes[path[-1]] or len(sizes) == 1)


def lone_columns(figures: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of columns that show one noisy number: their errors are those of the noise."""
    if isinstance(figures, dict) and "aggregate" in figures:
        names = [each["name"] for each in figures["measured"] if each["noise"] and not figures["error_at"]]
        yield from [path] if names == [figures["aggregate"]] and "FILTER" not in names[0] else []
    elif isinstance(figures, dict | list):
        for name, inside in figures.items() if isinstance(figures, dict) else enumerate(figures):
            yield from lone_columns(inside, (*path, name))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "statistic"])
@pytest.mark.usefixtures("remembered")
def test_it_finds_every_derivable_figure_that_was_changed(kind: str, pages: Pages) -> None:
    """In the figures of a page: every number, one at a time."""
    page = pages[kind]
    figures = json.loads(element(page, "sitr-figures"))
    places = derivable(figures)
    assert len(places) >= 15
    missed = [
        path
        for path in places
        for text in changed(figures, path)
        if not found(with_element(page, "sitr-figures", text))
    ]
    assert not missed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "statistic"])
@pytest.mark.usefixtures("remembered")
def test_it_finds_changed_figures_in_the_json_of_an_answer(kind: str, tmp_path: Path) -> None:
    """Which says caps, bounds, noise and thresholds outside the plan, too."""
    request, price, more = asked(kind, 3, tmp_path)
    answer = json.loads(json.dumps(request.release(price, **more).to_dict()))
    assert not wrong(json.dumps(answer))
    assert not [path for path in derivable(answer) if not all(map(found, changed(answer, path)))]
    bounds = [path for path in numbers(answer) if "bounds" in path and path[-1] == "high" and "moves" in path]
    for path in bounds:  # of the two ends, the farther one always matters
        ends = (path, (*path[:-1], "low"))
        assert any(all(map(found, changed(answer, end))) for end in ends), path


def without_points(value: Any) -> Any:
    """The same content as other programs write it: 8 for 8.0."""
    if isinstance(value, dict):
        return {name: without_points(inside) for name, inside in value.items()}
    if isinstance(value, list):
        return [without_points(inside) for inside in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["elsewhere", "aggregate", "selected"])
def test_another_name_of_a_flavor_is_found(kind: str) -> None:
    """Of the price, of the budget, and of each measurement: numbers alone do not say what they promise."""
    content = planned(kind, 1)
    places = [path[:-1] for path in leaves(content) if path[-1] == "flavor"]
    assert len(places) > 6
    for path in places:
        other = json.loads(json.dumps(content))
        inside = other
        for name in path:
            inside = inside[name]
        inside["flavor"] = "gaussian" if inside["flavor"] != "gaussian" else "pure"
        assert found(json.dumps(other)), path


@pytest.mark.parametrize("name", [name for name in BUDGETS if "odometer" in name])
def test_a_budget_without_a_cap_says_so(name: str) -> None:
    """A number that cannot be read in its notation was ignored in the budget of an odometer, whatever it was called."""
    content = planned(*BUDGETS[name])
    assert not wrong(json.dumps(content))
    promise = content["budget"]["promise"]
    of, _, rest = promise["notation"].removeprefix("odometer(").partition(",")
    number = next(each for each in ("epsilon", "rho") if each in promise)
    promise["notation"] = f"{of.rstrip(')')}({number} = 4,{rest})" if rest else f"{of.rstrip(')')}({number} = 4)"
    assert {row[0] for row in wrong(json.dumps(content))} == {"numbers that are stated twice"}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all that is neither a list nor an object."""
    if isinstance(value, dict | list):
        for name, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inside, (*path, name))
    else:
        yield path


@pytest.mark.parametrize("kind", KINDS)
def test_the_checksum_covers_every_number_of_an_answer(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Also those that cannot be derived, such as the errors of averages and released values."""
    request, price, more = asked(kind, 3, tmp_path)
    answer = json.loads(json.dumps(request.release(price, **more).to_dict()))
    monkeypatch.setattr(sitr_check.Check, "certificate", lambda *_: None)  # by the checksum alone, which is quick
    assert not wrong(json.dumps(answer))
    places = [*numbers(answer)]
    for path in random.Random(1).sample(places, min(len(places), 60)) + [each for each in places if "columns" in each]:
        for text in changed(answer, path):
            assert [row[0] for row in wrong(text)] == [CHECKSUM], path
    assert not wrong(json.dumps(without_points(answer)))
    del answer["receipt"]["figures_sha256"]  # as in files of earlier versions
    assert [row[3] for row in check(json.dumps(answer)).rows] == ["not derivable: there is none"]


@pytest.mark.parametrize("kind", ["aggregate", "batch"])
def test_errors_of_single_noisy_numbers_are_derived(kind: str) -> None:
    content = planned(kind, 3)
    places = [*lone_columns(content)]
    assert places
    for place in places:
        assert all(map(found, changed(content, (*place, "error"))))


def test_errors_may_be_wider_where_noise_chooses_the_rows(tmp_path: Path) -> None:
    """All intervals hold together then; the checker says nothing about these errors."""
    said: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 1, "keys": {"ward": WARDS}}
    budget = sitr.protect(ROWS, name="visits", **said).budget("pure(2)", ledger=tmp_path / "ledger.db")
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    plain, having = (
        json.dumps(budget.sql(each).preview("pure(1)").to_dict()) for each in (text, f"{text} HAVING n > 3")
    )
    assert [row[0] for row in check(plain).rows if row[0] == "n: 95% error"] == ["n: 95% error"]
    assert not [row for row in check(having).rows if row[0] == "n: 95% error"]
    assert not wrong(plain)
    assert not wrong(having)


@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_changed_released_values_by_their_hash(kind: str, pages: Pages) -> None:
    page, release = pages[kind], element(pages[kind], "sitr-release")
    places = [found.start() for found in re.finditer(r"\d", release)]
    for place in places[:: len(places) // 5]:
        digit = int(release[place]) % 9 + 1  # never a 0, which cannot begin a number in JSON
        altered = release[:place] + str(digit) + release[place + 1 :]
        assert wrong(with_element(page, "sitr-release", altered))


@pytest.mark.parametrize("kind", ["aggregate"])
def test_a_changed_number_in_the_visible_table_is_found(kind: str, pages: Pages) -> None:
    """Where it is shown rounded, and where it is written out for a pointer."""
    page = pages[kind]
    shown = [*re.finditer(r'title="([−\d,.]+)[^"]*"[^>]*><bdi dir="ltr"><b>([^<]*)<', page)]
    assert shown
    for group in (1, 2):
        start, end = shown[0].span(group)
        digit = re.search(r"\d", page[start:end])
        assert digit is not None
        place = start + digit.start()
        assert wrong(page[:place] + str(int(page[place]) % 9 + 1) + page[place + 1 :])


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_promise_in_the_visible_text_is_found(kind: str, pages: Pages) -> None:
    page = pages[kind]
    places = {"badge": r'class="badge">[^<]*?[ερμ] = ([\d.]+)', "statement": r'class="statement">[^<\d]*([\d.]+)'}
    for place, pattern in places.items():
        shown = re.search(pattern, page)
        assert shown is not None
        for factor in (0.9, 1.1):
            altered = page[: shown.start(1)] + f"{float(shown[1]) * factor:.3g}" + page[shown.end(1) :]
            found = f"shown: {place}" in [row[0] for row in wrong(altered)]
            assert found or (place, kind) == ("statement", "sparse")  # it begins with the share γ of newcomers


@pytest.mark.parametrize(
    ("epsilon", "badge", "statement", "right"),
    [
        (0.5, "0.5, δ = 10⁻⁶", "1.65", True),
        (1e-5, "10⁻⁵", "1.01", True),
        (1.2e-5, "1.2 × 10⁻⁵", "1.01", True),
        (60.0, "60", "1.15 × 10²⁶", True),
        (1234.5, "1,235", "e^1,235", True),
        (1.2e-5, "1.2 × 10⁻⁴", "1.01", False),
        (1e-5, "10⁻⁶", "1.01", False),
        (60.0, "60", "1.15 × 10²⁵", False),
        (0.5, "0.5", "1.64", False),
    ],
)
def test_numbers_are_read_as_they_are_shown(epsilon: float, badge: str, statement: str, right: bool) -> None:
    promise = {"flavor": "pure", "epsilon": epsilon}
    figures = {"promise": promise, "headline": promise, "plan": {"measurements": []}, "question": "", "receipt": {}}
    page = f'<p class="statement">at most {statement} times</p><p class="badge">pure · ε = {badge}</p>'
    found = sitr_check.Check([])
    found.seen(page, figures, "")
    rows = [row for row in found.rows if row[0].startswith("shown")]
    assert all(row[3] == "agrees" for row in rows) is right
    assert len(rows) == 3 - (epsilon > 700)


@pytest.mark.parametrize("place", ["badge", "statement"])
def test_a_page_must_show_its_promise_where_it_is_read(place: str, pages: Pages) -> None:
    """In a paragraph of another class, any number could be shown."""
    other = pages["aggregate"].replace(f'class="{place}"', f'class="{place} "')
    assert {row[0] for row in wrong(other)} == {"shown: promise and e^ε"}


def test_numbers_that_are_computed_are_not_taken_for_released_ones(tmp_path: Path) -> None:
    """Ranks, multiples and means are marked; the counts beside them are compared, also where a mean is shown."""
    said: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 1, "keys": {"ward": WARDS}}
    budget = sitr.protect(ROWS, name="visits", bounds={"cost": (0, 50)}, **said).budget(
        "pure(9)", ledger=tmp_path / "l"
    )
    columns = (
        "COUNT(*) * 2 AS d, RANK() OVER (ORDER BY COUNT(*)) AS r, AVG(cost) AS a, MEDIAN(cost) AS m, COUNT(*) AS n"
    )
    answer = budget.sql(f"SELECT ward, {columns} FROM visits GROUP BY ward").release("pure(3)")
    page = answer.certificate(tmp_path / "page.html").read_text()
    assert not wrong(page)
    assert page.count('<td class="n computed" title=') == 4 * len(WARDS)
    assert [row[0] for row in check(page).rows].count("shown: released") == len(WARDS)
    shown = sitr_check.CELL.search(page)
    assert shown is not None
    other = page[: shown.start(1)] + str(int(shown[1].replace(",", "").replace("−", "-")) + 1000) + page[shown.end(1) :]
    assert {row[0] for row in wrong(other)} == {"shown: released"}


def test_grouping_sets_show_each_number_with_the_digits_of_its_own_error(tmp_path: Path) -> None:
    """They were rounded by the error of the least exact table, which the checker took for other numbers."""
    request, price, _ = asked("groupings", 2, tmp_path)
    page = request.release(price).certificate(tmp_path / "page.html").read_text()
    shown = [row for row in check(page).rows if row[0] == "shown: released"]
    assert len(shown) > 50
    assert not [row for row in shown if row[3] != "agrees"]


def test_a_stage_that_costs_more_than_its_epsilon_and_delta_is_found(tmp_path: Path) -> None:
    """Gaussian noise has no ε of its own: the stage has one at its δ."""
    said: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2}
    budget = sitr.protect(ROWS, name="visits", **said).budget("approximate(2, 1e-5)", ledger=tmp_path / "ledger.db")
    request = budget.sql("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", caps="auto")
    figures = json.loads(json.dumps(request.preview("approximate(1, 1e-6)").to_dict()))
    assert not wrong(json.dumps(figures))
    for stage, name in ((0, "epsilon"), (1, "epsilon"), (1, "delta")):
        other = json.loads(json.dumps(figures))
        other["plan"]["stages"][stage]["price"][name] *= 0.9 if name == "epsilon" else 0.3
        found = {row[0] for row in wrong(json.dumps(other))}
        assert {f"stage {stage + 1}: epsilon in price", f"promise: {name}"} <= found, (stage, name)


def test_less_noise_than_promised_is_found(pages: Pages) -> None:
    """Even if each promise is written as the noise says: the sum is above the price then."""
    figures = json.loads(element(pages["joined"], "sitr-figures"))
    for one in figures["plan"]["measurements"]:
        law = one["mechanism"]
        name = "scale" if "scale" in law else "sigma"
        law[name] = str(Fraction(law[name]) * Fraction(9, 10))
        known = Stated(law).known()
        assert known is not None
        one["promise"] |= {key: float(value) for key, value in known.promise.items()}
        one["error"] = None
    assert {row[0].partition(":")[0] for row in wrong(json.dumps(figures))} >= {"promise"}


def test_noise_for_other_neighbours_is_found(pages: Pages) -> None:
    figures = json.loads(element(pages["suggested"], "sitr-figures"))
    figures["receipt"]["neighbors"] = "person (patient), replace-one"
    for one in figures["plan"]["measurements"]:
        for block in one["moves"]:
            block["relation"] = "add-remove"
    assert any("relation" in row[0] for row in wrong(json.dumps(figures)))


def test_neighbours_are_the_same_wherever_they_are_stated(pages: Pages, tmp_path: Path) -> None:
    """Noise for people who are replaced may hide added ones, too; but the page says what the plan was made for."""
    other = {"add-remove": "replace-one", "replace-one": "add-remove"}
    stated = set()
    for kind in ("suggested", "aggregate"):
        figures, _ = forged(pages, kind)
        who, _, relation = figures["receipt"]["neighbors"].rpartition(" ")
        stated.add(relation)
        figures["receipt"]["neighbors"] = f"{who} {other[relation]}"
        assert any("relation" in row[0] for row in wrong(json.dumps(figures)))
    assert stated == {*other}
    request, price, _ = asked("selected", 3, tmp_path)
    answer = json.loads(json.dumps(request.release(price).to_dict()))
    answer["protected"]["relation"] = other[answer["protected"]["relation"]]
    assert any("relation" in row[0] for row in wrong(json.dumps(answer)))


@pytest.mark.parametrize("kind", ["aggregate", "selected", "elsewhere"])
def test_the_text_of_a_promise_says_nothing_else(kind: str, pages: Pages) -> None:
    """No unit after a number, no other flavor with the same numbers, and no more than the promise."""
    figures, _ = forged(pages, kind)
    places = [path[:-1] for path in leaves(figures) if path[-1] == "notation"]
    assert len(places) > 8
    for path in places:
        text = at(figures, path)["notation"]
        flavor = at(figures, path)["flavor"]
        others = [{"notation": f"{text}x"}, {"notation": f"{text[:-1]} thousandths)"}, {"flavor": "mine"}]
        others += [{"flavor": f"approximate_{flavor}" if flavor == "zcdp" else "zcdp"}] if "zcdp" in flavor else []
        for other in others:
            copy = json.loads(json.dumps(figures))
            at(copy, path).update(other)
            assert found(json.dumps(copy)), (path, other)


def at(content: Any, path: tuple[Any, ...]) -> Any:
    """What is at this place."""
    for name in path:
        content = content[name]
    return content


@pytest.mark.parametrize("law", ["mine", "threshold", "discrete gaussian"])
def test_keys_need_noise_of_a_known_law(law: str, pages: Pages) -> None:
    """A threshold with noise of another name was taken for Gaussian noise."""
    figures, measurements = forged(pages, "selected")
    (shown,) = (one for one in measurements if one["mechanism"]["law"] == "threshold")
    assert shown["mechanism"]["noise"]["law"] == "discrete Gaussian"
    shown["mechanism"]["noise"]["law"] = law
    assert found(json.dumps(figures))


def test_a_finite_tail_is_stated_where_there_is_one(pages: Pages) -> None:
    figures, _ = forged(pages, "aggregate")
    assert figures["delta"]["finite_tail"] == 0
    figures["delta"]["finite_tail"] = None
    assert "δ for finite losses above ε" in {row[0] for row in wrong(json.dumps(figures))}


def test_questions_of_a_batch_have_caps_of_their_own(tmp_path: Path) -> None:
    """A question without groups has all rows of a person in one: its caps are others than those of the rest."""
    said: dict[str, Any] = {"unit": "patient", "max_groups": 3, "max_rows_per_group": 2, "keys": {"ward": WARDS}}
    budget = sitr.protect(ROWS, name="visits", **said).budget("pure(2)", ledger=tmp_path / "ledger.db")
    text = "SELECT {} COUNT(*) AS n FROM visits {}"
    asked_for = {"all": text.format("", ""), "wards": text.format("ward,", "GROUP BY ward")}
    answer = budget.batch({name: budget.sql(each) for name, each in asked_for.items()}).release("pure(1)")
    page = answer.certificate(tmp_path / "page.html").read_text()
    assert not wrong(page)
    assert not wrong(json.dumps(answer.to_dict()))
    for name in asked_for:
        assert not wrong(answer[name].certificate(tmp_path / f"{name}.html").read_text())
    figures = json.loads(element(page, "sitr-figures"))
    assert figures["caps"]["all"] != figures["caps"]["wards"]
    for path in numbers(figures):
        if path[0] == "caps":
            assert all(map(found, changed(figures, path))), path
    for more in ({"max_groups": 7, "note": 0}, {"max_groups": 7}):  # beside others, or alone
        assert found(json.dumps(figures | {"caps": {**figures["caps"], "all": {**figures["caps"]["all"], **more}}}))
        assert found(json.dumps(figures | {"caps": {"all": more}}))


def forged(pages: Pages, kind: str) -> tuple[Any, Any]:
    figures = json.loads(element(pages[kind], "sitr-figures"))
    assert not wrong(json.dumps(figures))
    return figures, figures["plan"]["measurements"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stage_without_one_of_its_measurements_is_found(kind: str, pages: Pages) -> None:
    figures, _ = forged(pages, kind)
    for stage in figures["plan"]["stages"] or ():
        left_out = stage["measurements"].pop()
        assert wrong(json.dumps(figures))
        stage["measurements"].append(left_out)


def test_a_measurement_cannot_have_less_than_no_loss(pages: Pages) -> None:
    """A second one with a negative scale would make up for the first one, whose noise is too small."""
    figures, measurements = forged(pages, "joined")
    measurements.append(json.loads(json.dumps(measurements[0])))
    for one, factor in ((measurements[0], Fraction(1, 2)), (measurements[-1], Fraction(-1))):
        one["mechanism"]["scale"] = str(Fraction(one["mechanism"]["scale"]) * factor)
        one["promise"]["epsilon"] /= float(factor)
        one["error"] = None
    found = [row[0] for row in wrong(json.dumps(figures)) if not row[0].endswith("95% error in granules")]
    assert [name.partition(":")[0] for name in found] == ["sizes", "numbers that are stated twice", CHECKSUM]


@pytest.mark.parametrize("times", [0, -1])
def test_numbers_are_released_at_least_once(times: int, pages: Pages) -> None:
    figures, measurements = forged(pages, "joined")
    measurements[0]["moves"][0]["times"] = times
    assert any(row[0].startswith("sizes") for row in wrong(json.dumps(figures)))


def test_gaussian_noise_has_no_epsilon_of_its_own() -> None:
    """A pure promise must not count it as nothing; nor may a promise without δ hide one."""
    bell = {"law": "discrete Gaussian", "sigma": "1/9", "sensitivity": "1", "granularity": "1", "single": True}
    laplace = {"law": "discrete Laplace", "scale": "1", "sensitivity": "1", "granularity": "1"}
    shown_keys = {"law": "threshold", "noise": laplace, "groups": 1, "each": 1, "least": 2}
    price = {"flavor": "pure", "epsilon": 1.0}
    for laws, right in (([laplace], True), ([laplace, bell], False), ([shown_keys], False)):
        found = sitr_check.Check([])
        known = [Stated(law).known() for law in laws]  # type: ignore[call-overload]
        headline = {"epsilon": 1.0, "delta": 0.0, "implied": 1.0, "odds": 1.0, "gamma": None}
        masses = {"infinite_mass": sum((float(each.delta) for each in known if each), 0.0), "finite_tail": 0.0}
        figures = {"promise": price, "price": price, "plan": {"stages": None}, "headline": headline, "delta": masses}
        found.promise([each for each in known if each], figures)
        wrong_ones = {row[0].partition(":")[0] for row in found.rows if row[3] != "agrees"}
        assert wrong_ones == (set() if right else {"promise"})


@pytest.mark.parametrize(
    ("price", "rho", "delta"),
    [
        ({"flavor": "pure", "epsilon": 2.0}, 2, 0),
        ({"flavor": "approximate", "epsilon": 2.0, "delta": 0.125}, 2, Fraction(1, 8)),
        ({"flavor": "zcdp", "rho": 0.5, "xi": 0.0}, Fraction(1, 2), 0),
        ({"flavor": "approximate_zcdp", "rho": 0.5, "delta": 0.125}, Fraction(1, 2), Fraction(1, 8)),
        ({"flavor": "gaussian", "mu": 3.0}, Fraction(9, 2), 0),
    ],
)
def test_shared_noise_costs_its_whole_price(price: Any, rho: Any, delta: Any) -> None:
    """A forged plan could hide an (ε, δ) price once: it was added up as ρ = 0 and δ = 0."""
    known = Stated({"law": "shared noise", "price": price}).known()
    assert known is not None
    assert (known.paid("rho"), known.paid("delta")) == (rho, delta)
    if "epsilon" not in price:
        assert known.paid("epsilon") == math.inf
    bound = composed([known], Fraction(1, 4))
    assert math.isinf(bound) == ("rho" in price)
    assert math.isinf(composed([known], delta / 2)) or not delta


def test_a_promise_without_numbers_costs_infinitely_much() -> None:
    """As that of a flavor that the checker does not know."""
    known = sitr_check.keeping({})
    assert all(known.paid(name) == math.inf for name in ("epsilon", "rho"))
    assert math.isinf(composed([known], Fraction(1, 4)))


def summed(prices: list[Any], promise: Any, stages: list[Any] | None = None) -> set[str]:
    """What differs in a certificate about noise shared by tables with these prices; everything else is right."""
    rho, delta, xi = (promise.get(name, 0.0) for name in ("rho", "delta", "xi"))
    with ctx.workprec(sitr_check.BITS):
        rest = sitr_check.ball(Fraction(1, 1000) - Fraction(delta)) / sitr_check.ball(1 - Fraction(delta))
        epsilon = sitr_check.from_rho(Fraction(rho), rest) + xi
        odds = None if delta else float(sitr_check.ball(rho) + 2 * (-sitr_check.ball(rho) * rest.log()).sqrt() + xi)
        headline = {"epsilon": epsilon, "delta": 0.001, "implied": epsilon, "odds": odds, "gamma": None}
        masses = {"infinite_mass": sum(each.get("delta", 0) for each in prices), "finite_tail": None}
        plan = {"stages": stages and [{"price": price, "measurements": [n]} for n, price in enumerate(stages)]}
        found, known = sitr_check.Check([]), [Stated({"law": "shared noise", "price": each}).known() for each in prices]
        figures = {"promise": promise, "price": promise, "plan": plan, "headline": headline, "delta": masses}
        found.promise([each for each in known if each], figures)
    return {row[0] for row in found.rows if row[3] != "agrees"}


def zero(rho: float, **more: float) -> dict[str, Any]:
    """A zero-concentrated promise, outside an event if it has a δ."""
    return {"flavor": "approximate_zcdp" if "delta" in more else "zcdp", "rho": rho, **more}


def test_a_promise_does_not_hide_the_constant_of_a_measurement() -> None:
    """The ξ of a zero-concentrated price was added up only if the promise had one."""
    assert summed([zero(0.5)], zero(0.5)) == set()
    assert summed([zero(0.5, xi=2.0)], zero(0.5, xi=2.0)) == set()
    assert summed([zero(0.5, xi=2.0)], zero(0.5)) == {"promise: xi"}
    assert "promise: xi" in summed([zero(0.5)], zero(0.5, xi=2.0))


def test_the_price_of_a_stage_hides_nothing() -> None:
    """A later stage could have a price without δ, or in a flavor that is not known, and a measurement any δ and ρ."""
    one, two, both = zero(0.25, delta=0.0001), zero(0.25, delta=0.0002), zero(0.5, delta=0.0003)
    assert summed([one, two], both, [one, two]) == set()
    short = zero(0.5, delta=0.0001)
    assert "stage 2: delta in price" in summed([one, two], short, [one, zero(0.25)])
    first, second = zero(0.25), zero(100.0)
    assert "stage 2: rho in price" in summed([first, second], first, [first, {"flavor": "renyi"}])
    assert "stage 2: rho in price" in summed([first, second], first, [first, {"flavor": "pure", "epsilon": 1.0}])


@pytest.mark.parametrize("law", ["discrete Laplace", "discrete Gaussian", "rounded Gaussian"])
def test_a_threshold_below_what_one_person_adds_shows_nearly_always(law: str) -> None:
    noise = {"law": law, "sensitivity": "1", "granularity": "1", "single": True}
    noise["scale" if "Laplace" in law else "sigma"] = "2"
    for k in range(-9, 10):
        both = Stated(noise).upper_tail(k) + Stated(noise).upper_tail(1 - k)
        assert abs(both - 1) < 1e-30
    assert Stated(noise).upper_tail(-2) > 0.8


def test_many_numbers_are_not_one() -> None:
    """The loss of Gaussian noise on one number is smaller than on several."""
    law = {"law": "discrete Gaussian", "sigma": "3", "sensitivity": "2", "granularity": "1"}
    for single in (False, True):
        found = sitr_check.Check([])
        moves = [{"relation": "add-remove", "counts": "units", "max_groups": 4, "cells": None}]
        far = {"l1": 4, "l2_squared": 4, "largest": 1}
        found.distance({"moves": moves, "mechanism": law | {"single": single}, "distance": far, "granularity": "1"}, "")
        assert [row[0] for row in found.rows if row[3] == "DIFFERS"] == [": sensitivity, squared"] * single


@pytest.mark.parametrize("kind", KINDS)
def test_only_statistics_have_noise_that_cannot_be_derived(kind: str, pages: Pages) -> None:
    """Of any law: the noise of thresholds, of sparse histograms and of shared prices is made for a distance, too.

    Every figure of a question could be lowered to a hundredth once, if its noise had a law that is not known.
    """
    figures = json.loads(element(pages[kind], "sitr-figures"))
    verdict = "not derivable" if kind == "statistic" else "DIFFERS"
    forgeries: Any = {"distance": {"moves": None, "distance": None}, "promise": {"mechanism": {"law": "mine"}}}
    for one, (of, forgery) in product(figures["plan"]["measurements"], forgeries.items()):
        found = sitr_check.Check([])
        with ctx.workprec(sitr_check.BITS):
            found.measurement("it", one | forgery, figures["kind"] == "statistic")
        assert any(row[0] == f"it: {of}" and row[3].startswith(verdict) for row in found.rows), (one["name"], of)
    other = figures | {"plan": {"measurements": [one | forgery], "stages": None}}
    assert any(row[0].endswith(f": {of}") and row[3].startswith(verdict) for row in check(json.dumps(other)).rows)


@pytest.mark.parametrize("cap", [0, 0.5, False, "1"])
@pytest.mark.parametrize("name", ["max_groups", "max_rows_per_group", "times"])
def test_caps_are_whole_numbers(name: str, cap: Any, pages: Pages) -> None:
    """Half a group of a person would halve the distance, and the noise that is made for it."""
    figures, measurements = forged(pages, "joined")
    measurements[0]["moves"][0][name] = cap
    assert found(json.dumps(figures))
    assert re.search(sitr_check.ODD, json.dumps(figures["plan"]))


@pytest.mark.parametrize("scale", ["\t-3", "\u00a0-3", " -3", "-3", True])
def test_a_negative_number_cannot_hide_behind_a_space(scale: Any, pages: Pages) -> None:
    """Python reads a number after any space, and the truth as 1."""
    figures, measurements = forged(pages, "joined")
    measurements[0]["mechanism"]["scale"] = scale
    if re.search(sitr_check.ODD, json.dumps(figures["plan"])) is None:
        with pytest.raises(ValueError, match="Invalid literal"):
            check(json.dumps(figures))


def test_what_is_counted_in_unknown_words_is_counted_by_rows() -> None:
    block = {"relation": "add-remove", "max_groups": 2, "max_rows_per_group": 3, "max_rows": None, "cells": None}
    assert distance(block | {"counts": "Units"}) == distance(block | {"counts": "rows"})
    assert distance(block | {"counts": "units"})["l1"] == 2


@pytest.mark.parametrize("neighbors", ["person (patient), replace-one.", "person (patient), replace‑one", "row"])
def test_noise_for_added_units_needs_neighbours_that_say_so(neighbors: str, pages: Pages) -> None:
    """However somebody writes that units replace each other."""
    figures, measurements = forged(pages, "suggested")
    for block in (block for one in measurements for block in one["moves"]):
        block["relation"] = "add-remove"
    figures["receipt"]["neighbors"] = neighbors
    assert any("relation" in row[0] for row in wrong(json.dumps(figures)))


# Prefix sums


def prefix_sums(folder: Path, columns: tuple[str, ...], relation: Relation, **caps: Any) -> Any:
    """The figures of an answer about prefix sums of patients' rows, with a cell for missing values beside each line."""
    bounds = {"cost": (0, 50), "days": (-4, 5)}
    data = sitr.protect(ROWS, name="visits", unit="patient", relation=relation, bounds=bounds, **caps)
    bins = {"cost": 12, "days": 3}
    request = data.budget("zcdp(1)", ledger=folder / "ledger.db").histogram(
        *columns, bins={name: bins[name] for name in columns}, method=Prefixes()
    )
    return json.loads(json.dumps(request.release("zcdp(0.5)").to_dict()))


@pytest.mark.parametrize("relation", [*Relation])
@pytest.mark.parametrize("columns", [("cost",), ("cost", "days")])
@pytest.mark.parametrize(
    "caps",
    [
        {"max_groups": 1, "max_rows_per_group": 1},
        {"max_groups": 4, "max_rows_per_group": 2},
        {"max_groups": 3, "max_rows_per_group": 3, "max_rows": 7},
    ],
)
def test_changed_noise_on_prefix_sums_is_found(
    caps: dict[str, int], columns: tuple[str, ...], relation: Relation, tmp_path: Path
) -> None:
    """Its sensitivity, size, lines, caps and neighbours; nothing is left underived."""
    figures = prefix_sums(tmp_path, columns, relation, **caps)
    rows = check(json.dumps(figures)).rows
    assert {row[3] for row in rows} == {"agrees"}
    assert "1. counts: sensitivity, squared" in {row[0] for row in rows}
    (one,) = figures["plan"]["measurements"]
    assert one["mechanism"]["lines"] == [[12, 1], [3, 1]][: len(columns)]
    place = ("plan", "measurements", 0)
    for path in numbers(one["mechanism"]):
        assert all(map(found, changed(figures, (*place, "mechanism", *path)))), path
    for name in caps:
        if name == "max_rows" or "max_rows" not in caps:
            assert all(map(found, changed(figures, (*place, "moves", 0, name)))), name
    other = {"add-remove": "replace-one", "replace-one": "add-remove"}[relation.value]
    one["moves"][0]["relation"] = other
    assert "1. counts: sensitivity, squared" in {row[0] for row in wrong(json.dumps(figures))}


@pytest.mark.parametrize("odd", ["below 0", "no line", "a column"])
def test_lines_cannot_hide_what_a_row_costs(odd: str, tmp_path: Path) -> None:
    """Even with a sensitivity, and so a promise, that fits the forged lines."""
    figures = prefix_sums(tmp_path, ("cost",), Relation.ADD_REMOVE, max_groups=1, max_rows_per_group=1)
    law = figures["plan"]["measurements"][0]["mechanism"]
    if odd == "a column":  # whose noise would count half
        law["bases"][0] |= {"columns": [0], "families": [[2]]}
    else:
        law["lines"], law["sensitivity"] = ([[-1, 14]] if odd == "below 0" else [[0, 12]]), "1"
    assert "1. counts: cells of the lines" in {row[0] for row in wrong(json.dumps(figures))}


def test_prefix_sums_by_all_ways_to_fill_the_cells() -> None:
    """‖Lv‖², with L written out: no unit moves counts farther than derived, and one row or pair exactly as far."""
    dice = random.Random(1)
    for _ in range(60):
        line, beside = dice.choice([(0, 3), (1, 1), (2, 1), (3, 0), (4, 0), (3, 1)])
        each, groups, total = dice.randint(1, 2), dice.randint(1, 3), dice.choice([None, dice.randint(1, 4)])
        cells, relation = line + beside, dice.choice([*Relation])
        block = {"counts": "rows", "max_groups": groups, "max_rows_per_group": each, "max_rows": total, "cells": cells}
        law = {"law": "prefix Gaussian", "lines": [[line, beside]]}
        most = float(Stated(law).prefixed(block | {"relation": relation.value}))
        units = [
            v
            for v in product(range(each + 1), repeat=cells)
            if sum(map(bool, v)) <= groups and sum(v) <= (total or math.inf)
        ]
        others = units if relation is Relation.REPLACE_ONE else [(0,) * cells]
        far = max(cost([a - b for a, b in zip(*two, strict=True)], line) for two in product(units, others))
        assert far <= most * (1 + 1e-12)
        if total == 1 or each == groups == 1:
            assert far == pytest.approx(most, rel=1e-12)


def cost(v: list[int], line: int) -> float:
    """‖Lv‖² of counts in a line and beside it."""
    c = [float(Fraction(math.comb(2 * k, k), 4**k)) for k in range(line)]
    inside = [sum(c[t - i] * v[i] for i in range(t + 1)) for t in range(line)]
    return sum(x * x for x in (*inside, *v[line:]))


# Ledgers


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """A ledger with two budgets, as `sitr ledger show --json` shows it."""
    for seed in range(2):
        request, price, _ = asked("suggested", seed, tmp_path)
        request.release(price)
    (path, *_) = sorted(tmp_path.glob("*.db"))
    said = CliRunner().invoke(app, ["ledger", "show", str(path), "--json"])
    return json.loads(said.stdout)


def test_it_adds_up_the_entries_of_a_ledger(ledger: Any) -> None:
    assert not wrong(json.dumps(ledger))
    for path in numbers(ledger):
        if (
            path[-1] == "number" or "in_advance" in path
        ):  # a total of losses, which the plans of a ledger's entries have
            continue
        assert all(map(found, changed(ledger, path))), path
    ledger["entries"].append(ledger["entries"][0])
    assert len(wrong(json.dumps(ledger))) >= 3


# The parts of it, against what Sitr computes in other ways


def test_distances() -> None:
    dice = random.Random(1)
    for _ in range(2_000):
        low, each, groups = dice.randint(-3, 2), dice.randint(1, 4), dice.randint(1, 5)
        high, rows = low + dice.randint(0, 4), dice.choice([None, dice.randint(1, 12)])
        cells, relation = dice.choice([None, dice.randint(1, 9)]), dice.choice([*Relation])
        reached = groups if cells is None else min(groups, cells)
        block = {"counts": "rows", "max_groups": groups, "max_rows_per_group": each, "max_rows": rows, "cells": cells}
        block |= {"bounds": {"low": str(low), "high": str(high), "centre": "0"}, "relation": relation.value}
        total = each * reached if rows is None else rows
        want = in_total(low=low, high=high, each=each, total=total, groups=groups, cells=cells, relation=relation)
        got = distance(block)
        assert got == {"l1": want.l1, "l2_squared": want.l2_squared, "largest": want.largest}, (block, relation)


def test_distances_by_trying_everything() -> None:
    """All ways in which two people can put at most 3 rows, 2 in a group, into 2 of 3 cells."""
    ways = [
        (a, b, c) for a in range(3) for b in range(3) for c in range(3) if a + b + c <= 3 and (a, b, c).count(0) > 0
    ]
    most = max(sum(max(x, y) ** 2 for x, y in zip(one, other, strict=True)) for one in ways for other in ways)
    assert max(sum(max(a, b) ** 2 * n for a, b, n in way) for way in corners(2, 2, 3, 3, "replace-one")) == most


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 9.0, 31.0])
def test_the_least_mu_of_the_discrete_gaussian(sigma: float) -> None:
    found, known = float(least_mu(Fraction(sigma))), discrete_mu(sigma)
    assert known.lower * (1 - 1e-9) <= found <= known.upper * (1 + 1e-4)


def test_losses_add_up() -> None:
    """The optimum of [KOV15] for (0.1, 10⁻⁸) a hundred times, at δ = 10⁻⁵; Gaussians; and a sum of different laws."""
    pair = Known({}, delta=1 - (1 - arb("1e-8")) ** 100, parts=(Part("pair", (Fraction(1, 10),), 100),))
    assert composed([pair], Fraction(1, 10**5)) == pytest.approx(4.329637, rel=1e-4)
    gauss = [Part("gauss", (Fraction(1, 4),)), Part("gauss", (Fraction(3, 4),))]
    assert epsilon_at(gauss, arb("1e-6")) == pytest.approx(4.8864, rel=1e-4)
    both = epsilon_at([gauss[0], Part("laplace", (Fraction(2), 1))], arb("1e-6"))
    loss = sitr.loss.gaussian(sigma=2) + sitr.Laplace(scale=2).loss()
    interval = loss.epsilon(delta=1e-6)
    assert interval.lower <= both <= interval.upper * (1 + 1e-4)


def test_a_twin_that_adds_no_loss_would_be_found() -> None:
    """The bound grows with every part, so leaving one out is seen."""
    law = {"law": "discrete Laplace", "scale": "10", "sensitivity": "1", "granularity": "1"}
    known = Stated(law).known()
    assert known is not None
    one, two = (composed([known] * times, Fraction(1, 10**6)) for times in (1, 2))
    assert one is not None
    assert two is not None
    assert 1.9 * one < two < 2.01 * one


# How it is run


@pytest.fixture
def page(pages: Pages, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(pages["suggested"])
    return path


def ran(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(program), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


def test_the_program_on_a_page_checks_that_page(page: Path, tmp_path: Path) -> None:
    link = re.search(r'download="sitr_check.py.gz" href="data:application/gzip;base64,([^"]+)"', page.read_text())
    assert link is not None
    program = tmp_path / "sitr_check.py"
    program.write_bytes(gzip.decompress(b64decode(link[1])))
    assert program.read_text() == SOURCE.read_text()
    found = ran(program, page)
    assert (found.returncode, found.stderr) == (0, "")
    assert re.search(r"^\d+ figures agree, 0 differ, 0 are not derivable\.$", found.stdout, re.MULTILINE)


def test_exit_codes(page: Path, tmp_path: Path) -> None:
    text = element(page.read_text(), "sitr-figures")
    figures = json.loads(text)
    figures["headline"]["epsilon"] *= 0.9
    page.write_text(with_element(page.read_text(), "sitr-figures", json.dumps(figures)))
    found = ran(SOURCE, page)
    assert found.returncode == 1
    assert "DIFFERS" in found.stdout
    (tmp_path / "other.html").write_text("<html></html>")
    for arguments in ([tmp_path / "other.html"], [tmp_path / "missing.html"], []):
        found = ran(SOURCE, *arguments)
        assert (found.returncode, found.stdout) == (2, "")
        assert "Cannot check this" in found.stderr


@pytest.mark.parametrize("odd", [{"receipt": 5}, {"plan": 5}, {"plan": {"measurements": [5], "stages": None}}])
def test_odd_content_is_no_traceback(odd: Any, pages: Pages, tmp_path: Path) -> None:
    figures = json.loads(element(pages["suggested"], "sitr-figures")) | odd
    (tmp_path / "odd.json").write_text(json.dumps(figures))
    assert sitr_check.main([str(tmp_path / "odd.json")]) == 2
    (tmp_path / "odd.json").write_text("[" * 100_000)
    assert sitr_check.main([str(tmp_path / "odd.json")]) == 2


def test_it_leaves_the_precision_of_other_code_alone(pages: Pages) -> None:
    said = subprocess.run(
        [sys.executable, "-c", "from flint import ctx; import sitr.audit.checker.sitr_check; print(ctx.prec)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip() == "53"
    with ctx.workprec(53):
        assert not wrong(pages["suggested"])
        assert ctx.prec == 53
