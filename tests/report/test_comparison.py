"""Table and dictionary say what the theorems said, rounded outward, with the two failures of δ kept apart."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.compare import THEOREMS, Comparison, compare
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.numbers import exact
from sitr.report.comparison import facts, render, tightest, to_dict
from sitr.report.text.terminal import as_text
from sitr.report.words.english.accounting import THEOREMS as LABELS
from sitr.report.words.english.english import ENGLISH

PURE = Schedule((Part((PureDP(0.1),), times=100),))
MIXED = Schedule((Part((PureDP(0.1),), times=3), Part((ApproximateDP(0.2, 1e-9),), times=2)))
RANDOM = Schedule((Part((RandomDP(PureDP(0.1), 0.001),), times=3),))
GAUSSIAN = Schedule((Part((GaussianDP(0.1),), times=3), Part((PureDP(0.1),))))
PLANS = {"pure": PURE, "mixed": MIXED, "random": RANDOM, "gaussian": GAUSSIAN}


@pytest.fixture(scope="module")
def compared() -> dict[str, Comparison]:
    return {name: compare(plan, delta=1e-6) for name, plan in PLANS.items()}


def lines(comparison: Comparison, *, recorded: bool = False) -> dict[str, str]:
    """The line of each theorem that says something."""
    shown = as_text(render(comparison, recorded=recorded), width=200)
    return {
        name: line
        for name in LABELS
        for line in shown.splitlines()
        if line.startswith(f"{ENGLISH.accounting.theorem(name)} ")
    }


def silent(comparison: Comparison) -> dict[str, str]:
    """Theorems that say nothing, each with the reason."""
    shown = as_text(render(comparison), width=500)
    found = [line.removeprefix("cannot say").strip().split(" — ") for line in shown.splitlines() if " — " in line]
    return {name: reason for names, reason in found for name in names.split(" · ")}


def test_every_theorem_has_a_label_and_no_label_is_for_none() -> None:
    assert set(LABELS) == {theorem.name for theorem in THEOREMS}
    assert ENGLISH.accounting.theorem("of_tomorrow") == "of tomorrow"


def test_every_theorem_has_a_line_or_a_reason(compared: dict[str, Comparison]) -> None:
    for comparison in compared.values():
        proved = [row.theorem.name for row in comparison.rows if isinstance(row.outcome, Total)]
        reasons = {
            ENGLISH.accounting.theorem(row.theorem.name): row.outcome
            for row in comparison.rows
            if isinstance(row.outcome, str)
        }
        assert list(lines(comparison)) == proved
        assert silent(comparison) == reasons
        assert len(proved) + len(reasons) == len(THEOREMS)


def test_known_totals(compared: dict[str, Comparison]) -> None:
    told = lines(compared["pure"])
    assert told["basic"].split() == ["basic", "10", "yes"]
    assert re.search(r"\(DRV 2010\) +6\.309 +yes$", told["advanced"])
    assert re.search(r"\(DR 2016\) +5\.783 +yes$", told["halved"])
    assert re.search(r" no$", told["optimal_equal"])


def test_a_condition_takes_the_place_of_yes_and_no(compared: dict[str, Comparison]) -> None:
    told = lines(compared["gaussian"])
    assert told["basic"].endswith("if the shares of δ are fixed in advance")
    assert re.search(r"if order [\d.]+ is fixed in advance$", told["renyi"])
    for comparison in compared.values():
        for row in comparison.rows:
            if isinstance(row.outcome, Total):
                shown = "yes" if row.adaptive.valid else row.adaptive.condition or "no"
                assert lines(comparison)[row.theorem.name].endswith(f" {shown}")


def test_the_tightest_is_marked_and_only_it(compared: dict[str, Comparison]) -> None:
    for comparison in compared.values():
        marked = [name for name, line in lines(comparison).items() if "← tightest" in line]
        assert comparison.tightest is not None
        assert marked == [comparison.tightest.theorem.name]


def test_of_a_ledger_only_what_is_valid_adaptively_is_tightest(compared: dict[str, Comparison]) -> None:
    for comparison in (compared["pure"], compared["gaussian"]):
        best = tightest(comparison, recorded=True)
        assert best is not None
        assert best != comparison.tightest == tightest(comparison, recorded=False)
        told = lines(comparison, recorded=True)
        assert [name for name, line in told.items() if "← tightest" in line] == [best.theorem.name]
        assert told[best.theorem.name].endswith(" yes")
        assert isinstance(best.outcome, Total)
        valid = [row.outcome for row in comparison.rows if row.adaptive.valid]
        assert best.outcome.upper == min(bounds.upper for bounds in valid if isinstance(bounds, Total))
        assert to_dict(comparison, recorded=True)["tightest"] == best.theorem.name
        assert "Only a row that says yes" in dict(facts(comparison, recorded=True))["adaptive"]
        assert "adaptive" not in dict(facts(comparison))
    assert tightest(compared["random"], recorded=True) is None


def test_what_cannot_be_said_is_said_with_the_reason(compared: dict[str, Comparison]) -> None:
    told = silent(compared["mixed"])
    assert told["zero-concentrated"].startswith("step 2: an (ε, δ) promise bounds neither the largest")
    # A reason that several theorems share is told once.
    shown = as_text(render(compared["mixed"]), width=500)
    assert shown.count("nor any moment") == 1


@pytest.mark.parametrize("width", [80, 120])
def test_reasons_are_readable_on_narrow_terminals(compared: dict[str, Comparison], width: int) -> None:
    for comparison in compared.values():
        shown = as_text(render(comparison), width=width).splitlines()
        assert all(len(line) <= width for line in shown)
        table = shown[: shown.index("")]
        # Three lines of heading beside an interval, one of drawing, and two at most for each theorem with a total.
        totals = [row for row in comparison.rows if isinstance(row.outcome, Total)]
        assert len(table) <= 4 + sum(2 if row.adaptive.condition else 1 for row in totals)
        told = " ".join(" ".join(shown).split())
        for row in comparison.rows:
            assert isinstance(row.outcome, Total) or row.outcome in told


def test_an_interval_where_it_can_be_seen() -> None:
    assert ENGLISH.accounting.total(Total(4.1, 4.2, two_sided=True)) == "[4.1, 4.2]"
    assert ENGLISH.accounting.total(Total(4.10000001, 4.10000002, two_sided=True)) == "4.101"
    assert ENGLISH.accounting.total(Total(0.0, 4.2, two_sided=False)) == "4.2"


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.booleans())
def test_totals_are_rounded_outward(first: float, second: float, two_sided: bool) -> None:
    low, high = sorted((first, second))
    shown = ENGLISH.accounting.total(Total(low, high, two_sided))
    if re.search("[×⁻]", shown):
        return
    ends = [Fraction(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?(?!,\d)", shown.strip("[]"))]
    assert exact(high) <= ends[-1]
    if shown.startswith("["):
        assert two_sided
        assert ends[0] <= exact(low)


def test_the_infinite_mass_stands_apart(compared: dict[str, Comparison]) -> None:
    nobody = dict(facts(compared["pure"]))["outright"]
    assert nobody.startswith("Nobody can be exposed outright:")
    assert "All of δ is finite tail" in nobody
    somebody = dict(facts(compared["mixed"]))["outright"]
    assert somebody.startswith("Somebody may be exposed outright:")
    assert "probability up to 2 × 10⁻⁹ (1 in 500,000,000)" in somebody
    assert "only the rest of δ is finite tail" in somebody


@pytest.mark.parametrize(
    ("mass", "delta", "within"), [(1e-9, 1e-6, True), (1e-6, 1e-6, True), (1.1e-6, 1e-6, False), (1e-9, 0.0, False)]
)
def test_an_infinite_mass_beyond_delta_leaves_no_epsilon(mass: float, delta: float, within: bool) -> None:
    told = ENGLISH.accounting.outright(mass, delta=delta)
    assert ("only the rest of δ is finite tail" in told) is within
    assert ("no ε follows at this δ" in told) is not within


def test_what_is_said_of_the_infinite_mass_agrees_with_the_theorems() -> None:
    """(1, 10⁻³) at δ = 10⁻³ has ε = 1, though 1 − (1 − 10⁻³) has no float: it is shown as it was written."""
    plan = Schedule((Part((ApproximateDP(1.0, 1e-3),)),))
    at = compare(plan, delta=1e-3)
    assert at.tightest is not None
    told = dict(facts(at))["outright"]
    assert "probability up to 0.001 (1 in 1,000)." in told
    assert "no ε follows" not in told
    assert to_dict(at)["infinite_mass"] == 1e-3
    below = compare(plan, delta=9.99e-4)
    assert below.tightest is None
    assert "This is more than δ = 9.99 × 10⁻⁴: no ε follows at this δ" in dict(facts(below))["outright"]
    hopeless = as_text(render(below), width=80)
    assert "theorem  " not in hopeless  # no empty table
    assert hopeless.startswith("cannot say")


def test_gamma_is_never_left_out(compared: dict[str, Comparison]) -> None:
    random = compared["random"]
    shown = as_text(render(random), width=200)
    assert re.search(r"γ = 0\.003.*, finite-sample: every ε here holds except for this fraction of data\.", shown)
    assert "assumes exchangeable data" in shown
    assert "a random newcomer and not you" in shown
    assert "Except in the fraction γ, no newcomer can be exposed outright" in shown
    assert "Nobody" not in shown  # of the others in the data nothing is said
    assert not re.search(r"\byes\b", shown)
    assert to_dict(random)["gamma"] == 0.003
    assert to_dict(random)["gamma_basis"] == "finite-sample"
    assert "γ" not in as_text(render(replace(random, gamma=None, rows=())), width=200)


def test_for_machines(compared: dict[str, Comparison]) -> None:
    told = json.loads(json.dumps(to_dict(compared["mixed"]), allow_nan=False))
    assert list(told) == ["delta", "gamma", "releases", "recorded", "infinite_mass", "tightest", "rows"]
    assert told["recorded"] is False
    assert (told["delta"], told["gamma"], told["releases"]) == (1e-6, None, 5)
    assert told["infinite_mass"] == pytest.approx(2e-9)
    assert [row["theorem"] for row in told["rows"]] == [theorem.name for theorem in THEOREMS]
    for row, said in zip(compared["mixed"].rows, told["rows"], strict=True):
        assert (said["epsilon"] is None) != (said["reason"] is None)
        assert said["adaptive"] == {"valid": row.adaptive.valid, "condition": row.adaptive.condition or None}
        assert re.fullmatch(r"[A-Z].*\d.*", said["source"])
        if isinstance(row.outcome, Total):
            assert said["epsilon"]["upper"] == row.outcome.upper
    best = min((row for row in told["rows"] if row["epsilon"]), key=lambda row: row["epsilon"]["upper"])
    assert told["tightest"] == best["theorem"]


def test_if_no_theory_can_say_anything() -> None:
    hopeless = compare(Schedule((Part((ApproximateDP(0.1, 1e-3),), times=10),)), delta=1e-6)
    assert hopeless.tightest is None
    assert to_dict(hopeless)["tightest"] is None
    assert "tightest" not in as_text(render(hopeless), width=200)
