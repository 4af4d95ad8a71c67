"""`sitr compare`: the table, the picture, and plans that are none."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sitr.accounting import compare as accounting
from sitr.accounting.compare import THEOREMS, named
from sitr.cli.compare import ERROR
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

PLAN = """\
- gaussian: {sigma: 10, sensitivity: 1}
  times: 3
- pure: {epsilon: 0.1}
  name: weekly count
"""
APPROXIMATE = "- approximate: {epsilon: 0.1, delta: 1e-9}\n  times: 10\n"
RANDOM = "- random: {gamma: 0.001, step: {pure: {epsilon: 0.1}}}\n  times: 2\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    monkeypatch.chdir(tmp_path)

    def written(content: str) -> Path:
        path = tmp_path / "plan.yaml"
        path.write_text(content, encoding="utf-8")
        return path

    return written


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few theorems instead of all: a picture wants each of them at a dozen places."""
    monkeypatch.setattr(accounting, "THEOREMS", tuple(map(named, ("basic", "halved", "zero_concentrated"))))


def test_the_table(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    done = sitr("compare", plan(PLAN), "--delta", 1e-6)
    assert (done.code, done.err) == (0, "")
    assert "ε (at δ = 10⁻⁶)" in done.out
    assert "chosen adaptively?" in done.out
    assert done.out.count("← tightest") == 1
    assert "4 releases in 2 steps." in done.out
    assert "Nobody can be exposed outright" in done.out
    assert "Only a row that says yes" not in done.out
    assert "γ =" not in done.out
    assert not [line for line in done.out.splitlines() if line != line.rstrip()]


def test_for_machines(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    told = sitr("compare", plan(PLAN), "--delta", 1e-6, "--json").told()
    assert [row["theorem"] for row in told["rows"]] == [theorem.name for theorem in THEOREMS]
    assert (told["delta"], told["releases"], told["infinite_mass"]) == (1e-6, 4, 0.0)


def test_a_step_written_in_two_parts_costs_the_same(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    whole, first, second = (f"- {{pure: {{epsilon: 0.1}}, times: {times}}}\n" for times in (30, 10, 20))
    totals = [
        {
            row["theorem"]: row["epsilon"]
            for row in sitr("compare", plan(text), "--delta", 1e-6, "--json").told()["rows"]
        }
        for text in (whole, first + second)
    ]
    for theorem, total in totals[0].items():
        # Profiles are added on a lattice that depends on how they are written; all else is exact.
        width = 1e-3 if theorem == "profile" else 1e-12
        assert total is None or totals[1][theorem]["upper"] == pytest.approx(total["upper"], rel=width), theorem


def test_the_infinite_mass_and_gamma_have_lines_of_their_own(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    within = " ".join(sitr("compare", plan(APPROXIMATE), "--delta", 1e-6).out.split())
    assert "infinite loss is allowed with probability up to 10⁻⁸" in within
    assert "only the rest of δ is finite tail" in within
    beyond = " ".join(sitr("compare", plan(APPROXIMATE), "--delta", 1e-9).out.split())
    assert "infinite loss is allowed with probability up to 10⁻⁸" in beyond
    assert "This is more than δ = 10⁻⁹: no ε follows at this δ" in beyond
    random = sitr("compare", plan(RANDOM), "--delta", 1e-6).out
    assert "γ = 0.002, finite-sample: every ε here holds except for this fraction of data." in " ".join(random.split())


def test_a_total_that_nobody_can_give_is_no_error(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    done = sitr("compare", plan(APPROXIMATE), "--delta", 1e-9)
    assert done.code == 0
    assert "tightest" not in done.out
    assert "cannot say" in done.out


WIDE = "".join(f"- pure: {{epsilon: 0.{i:03}}}\n" for i in range(101, 141))
"""Forty different steps: too many sums to look at all of them."""


def test_the_error_of_the_optimal_theorem_can_be_chosen(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    widths = {}
    for error in (None, 0.5, 0.01):
        words = () if error is None else ("--error", error)
        rows = sitr("compare", plan(WIDE), "--delta", 1e-6, *words, "--json").told()["rows"]
        (mixed,) = (row["epsilon"] for row in rows if row["theorem"] == "optimal_mixed")
        assert mixed["two_sided"]
        widths[error] = mixed["upper"] - mixed["lower"]
    assert widths[None] <= ERROR
    assert widths[0.01] <= 0.01
    assert widths[0.5] <= 0.5


def test_the_error_is_that_of_the_library_unless_it_is_chosen() -> None:
    assert signature(accounting.compare).parameters["error"].default == ERROR


@pytest.mark.parametrize("error", ["0", "-1", "nan", "inf", "wide"])
def test_errors_that_are_none(sitr: Sitr, plan: Callable[[str], Path], error: str) -> None:
    refused = sitr("compare", plan(PLAN), "--delta", 1e-6, "--error", error, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage" if error == "wide" else "InvalidPromise")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlLedger:
    """visits, with four charges, in sitr.db."""
    monkeypatch.chdir(tmp_path)
    kept = SqlLedger("sitr.db")
    kept.open("visits", promise=ZeroConcentratedDP(0.5), neighbors="person (patient_id), add-remove")
    for price in (0.05, 0.05, 0.02, 0.05):
        kept.charge("visits", price=ZeroConcentratedDP(price), question="SELECT COUNT(*) AS n FROM visits")
    return kept


@pytest.mark.usefixtures("ledger")
def test_what_a_ledger_has_recorded(sitr: Sitr) -> None:
    told = sitr("compare", "--ledger", "sitr.db", "--delta", 1e-6, "--json").told()
    assert (told["recorded"], told["releases"], told["infinite_mass"]) == (True, 4, 0.0)
    rows = {row["theorem"]: row for row in told["rows"]}
    # Σρ is exact, and its arrow is the only valid total here; moments at their best order are as small.
    total = ZeroConcentratedDP(0.17).to_approximate(delta=1e-6).epsilon
    assert rows["zero_concentrated"]["epsilon"]["upper"] == total
    assert told["tightest"] == "zero_concentrated"
    assert rows["zero_concentrated"]["adaptive"] == {"valid": True, "condition": None}
    assert not rows["renyi"]["adaptive"]["valid"]
    assert rows["renyi"]["adaptive"]["condition"].startswith("if order ")


@pytest.mark.usefixtures("ledger")
def test_of_a_ledger_only_valid_totals_may_be_used(sitr: Sitr) -> None:
    done = sitr("compare", "--ledger", "sitr.db", "--dataset", "visits", "--delta", 1e-6)
    assert (done.code, done.err) == (0, "")
    assert "4 releases in 2 steps." in done.out
    assert "Only a row that says yes may be used as their total" in " ".join(done.out.split())
    (marked,) = [line for line in done.out.splitlines() if "← tightest" in line]
    assert marked.startswith("zero-concentrated ")
    assert marked.endswith(" yes")


def test_one_data_set_of_several_must_be_chosen(sitr: Sitr, ledger: SqlLedger) -> None:
    ledger.open("wards", promise=PureDP(1.0), neighbors="row, add-remove")
    refused = sitr("compare", "--ledger", "sitr.db", "--delta", 1e-6, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")
    assert "visits, wards" in refused.error()["given"]
    assert sitr("compare", "--ledger", "sitr.db", "--dataset", "visits", "--delta", 1e-6).code == 0
    nothing = sitr("compare", "--ledger", "sitr.db", "--dataset", "wards", "--delta", 1e-6, "--json")
    assert (nothing.code, nothing.error()["error"]) == (1, "LedgerError")
    assert "no charges" in nothing.error()["given"]


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ((), 2, "BadUsage"),
        (("plan.yaml", "--ledger", "sitr.db"), 2, "BadUsage"),
        (("plan.yaml", "--dataset", "visits"), 2, "BadUsage"),
        (("--dataset", "visits"), 2, "BadUsage"),
        (("--ledger", "sitr.db", "--dataset", "prison"), 1, "LedgerError"),
        (("--ledger", "missing.db"), 1, "LedgerError"),
        (("--ledger", "plan.yaml"), 1, "LedgerError"),
    ],
)
def test_a_plan_or_a_ledger(sitr: Sitr, words: tuple[str, ...], code: int, error: str) -> None:
    Path("plan.yaml").write_text(PLAN * 40, encoding="utf-8")
    refused = sitr("compare", *words, "--delta", 1e-6, "--json")
    assert (refused.code, refused.error()["error"]) == (code, error)
    assert not Path("missing.db").exists()


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("as_json", [False, True])
def test_the_picture(sitr: Sitr, plan: Callable[[str], Path], as_json: bool) -> None:
    done = sitr("compare", plan(PLAN), "--delta", 1e-6, "--plot", "plan.svg", *(["--json"] if as_json else []))
    assert (done.code, done.err) == (0, "")
    assert ("Written: plan.svg" in done.out) is not as_json
    assert not as_json or done.told()["tightest"]
    picture = ET.parse("plan.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 6


@pytest.mark.parametrize(
    ("plot", "code", "error"), [("plan.png", 2, "BadUsage"), ("plan", 2, "BadUsage"), ("missing/a.svg", 1, "FileError")]
)
def test_a_picture_that_cannot_be_written_is_known_at_once(
    sitr: Sitr, plan: Callable[[str], Path], plot: str, code: int, error: str
) -> None:
    refused = sitr("compare", plan(PLAN), "--delta", 1e-6, "--plot", plot, "--json")
    assert (refused.code, refused.error()["error"]) == (code, error)


@pytest.mark.parametrize("delta", ["-1", "1", "nan", "inf"])
def test_deltas_that_are_none(sitr: Sitr, plan: Callable[[str], Path], delta: str) -> None:
    refused = sitr("compare", plan(PLAN), "--delta", delta, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


@pytest.mark.parametrize("words", [(), ("--delta", "a little")])
def test_a_delta_must_be_chosen(sitr: Sitr, plan: Callable[[str], Path], words: tuple[str, ...]) -> None:
    refused = sitr("compare", plan(PLAN), *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "BadUsage")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "just text",
        "pure: {epsilon: 1}",
        "- pure: {epsilon: 1",
        "- pure: {epsilon: -1}",
        "- pure: {epsilon: nan}",
        "- pure: {epsilon: .inf}",
        "- pure: {epsilon: 1}\n  times: 0",
        "- pure: {epsilon: 1}\n  times: 1e10",
        "- pure: {epsilon: 1}\n  times: 1.5",
        "- pure: {epsilon: 1, delta: 0}",
        "- pure: {}",
        "- pure: {epsilon: 1}\n  often: 3",
        "- pure: {epsilon: 1}\n  pure: {epsilon: 2}",
        "- {}",
        "- gaussian: {sigma: 0, sensitivity: 1}",
        "- subsampled: {rate: 2, step: {pure: {epsilon: 1}}}",
        "- subsampled: {rate: 0.1, step: {zero_concentrated: {rho: 1}}}",
        "- random: {gamma: 0.1, step: {random: {gamma: 0.1, step: {pure: {epsilon: 1}}}}}",
        "- profile: []",
        "- renyi: {order: 1, epsilon: 1}",
        "- !!python/object/apply:os.system ['true']",
        "- &step\n  random: {gamma: 0.1, step: *step}",
        "\x00",
        "- pure: {epsilon: '\u202e1'}",
        "- pure: {epsilon: 1}\n  name: [1]",
    ],
)
def test_hostile_plans_are_refused_with_a_reason(sitr: Sitr, plan: Callable[[str], Path], content: str) -> None:
    refused = sitr("compare", plan(content), "--delta", 1e-6, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")
    assert all(value for name, value in refused.error().items() if name != "excerpt")


def test_a_name_cannot_act_on_the_terminal(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    content = '- approximate: {epsilon: 1, delta: 1e-9}\n  name: "\\e[31mred \\u202ebidi [bold]x[/bold]"\n'
    done = sitr("compare", plan(content), "--delta", 1e-6)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert "bold" in done.out  # as a name, not as a style


@pytest.mark.parametrize("path", ["missing.yaml", "."])
@pytest.mark.usefixtures("plan")
def test_files_that_cannot_be_read(sitr: Sitr, path: str) -> None:
    refused = sitr("compare", path, "--delta", 1e-6, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


def test_bytes_that_are_no_text(sitr: Sitr, plan: Callable[[str], Path]) -> None:
    path = plan(PLAN)
    path.write_bytes(b"\xff\xfe\x00")
    assert sitr("compare", path, "--delta", 1e-6).code == 2


def test_noise(sitr: Sitr) -> None:
    told = sitr("compare", "--noise", 0.5, "--delta", 1e-6, "--questions", "1,100", "--json").told()
    by = {(each["questions"], each["noise"]): each["standard_deviation"] for each in told["noises"]}
    assert by[1, "Laplace, pure"] < by[1, "Gaussian, by its loss"]
    assert by[100, "Laplace, pure"] > by[100, "Gaussian, by its loss"]
    shown = sitr("compare", "--noise", 2, "--delta", 1e-6, "--questions", "1").out
    assert "textbook" not in shown  # only for ε < 1
    assert "Gaussian, concentrated" in shown


@pytest.mark.parametrize("questions", ["", "0", "1,x", "10000000"])
def test_noise_needs_numbers_of_questions(sitr: Sitr, questions: str) -> None:
    refused = sitr("compare", "--noise", 1, "--delta", 1e-6, "--questions", questions)
    assert refused.code == 2
    assert "--questions as whole numbers" in refused.err


def test_noise_takes_no_schedule(sitr: Sitr, tmp_path: Path) -> None:
    refused = sitr("compare", tmp_path / "schedule.yaml", "--noise", 1, "--delta", 1e-6)
    assert refused.code == 2
    assert "takes no schedule" in refused.err
