"""`sitr audit`: verdicts on functions, commands, endpoints and scores of canaries."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Sitr

NOISE = """
from sitr.noise import discrete_laplace

def count(rows, size, coins):
    return rows + discrete_laplace(scale=1, size=size, coins=coins)

def total(rows, size, coins):
    return sum(rows) + discrete_laplace(scale=1, size=size, coins=coins)

letters = "abc"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "noise_under_audit.py"
    path.write_text(NOISE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return path


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    generator, path = random.Random(1), tmp_path / "canaries.csv"
    bits = [generator.random() < 0.5 for _ in range(1_000)]
    rows = [f"{generator.gauss(3.0 * bit, 1.0)},{int(bit)}" for bit in bits]
    path.write_text("\n".join(["score,included", *rows]) + "\n")
    return path


AUDIT = ("audit", "noise_under_audit:count", "--inputs", "[10, 11]", "--draws", "40000", "--seed", "1")


@pytest.mark.usefixtures("module")
def test_a_claim_that_is_kept_is_consistent(sitr: Sitr) -> None:
    run = sitr(*AUDIT, "--claim", "pure(1)")
    assert run.code == 0
    assert "Consistent: 40,000 draws do not refute it" in run.out
    assert "ε ≥ 0." in run.out


@pytest.mark.usefixtures("module")
def test_a_claim_that_is_too_good_is_broken(sitr: Sitr, tmp_path: Path) -> None:
    run = sitr(*AUDIT, "--claim", "pure(0.5)", "--plot", tmp_path / "chart.svg")
    assert run.code == 3
    assert "Broken, with 99% confidence" in run.out
    assert "on the first input" in run.out
    drawn = (tmp_path / "chart.svg").read_text()
    assert "A test between the two inputs surely reaches more than the claim allows." in drawn
    assert "claim allows" in drawn


@pytest.mark.usefixtures("module")
def test_a_claim_alone_is_enough_for_a_mechanism_on_numbers(sitr: Sitr) -> None:
    """As `sitr audit module:function --claim 'approximate(1, 1e-6)'`; it says which inputs it took."""
    words = ("audit", "noise_under_audit:count", "--draws", "40000", "--seed", "1", "--claim")
    kept, broken = (sitr(*words, claim) for claim in ("approximate(1, 1e-6)", "approximate(0.5, 1e-6)"))
    assert (kept.code, broken.code) == (0, 3)
    assert re.search(r"inputs +0 .*1", kept.out)
    assert sitr(*words, "approximate(0.5, 1e-6)", "--json").told()["inputs"] == [0, 1]
    table = sitr("audit", "noise_under_audit:total", "--search", "--draws", "20000", "--claim", "pure(1)")
    assert "inputs" in table.out


@pytest.mark.usefixtures("module")
def test_json_has_the_verdict_and_its_witness(sitr: Sitr) -> None:
    told = sitr(*AUDIT, "--claim", "approximate(0.5, 1e-6)", "--json", "--sequential").told()
    assert told["verdict"] == "broken"
    assert told["sequential"] is True
    assert told["inputs"] == [10, 11]
    assert told["witness"]["first"] > told["witness"]["second"]
    assert 0.5 < told["epsilon"]["at_least"] <= 1.0


@pytest.mark.usefixtures("module")
def test_neighbours_are_searched_for(sitr: Sitr) -> None:
    """A row of 7, which nothing clamps, is the neighbour that tells."""
    run = sitr(
        "audit", "noise_under_audit:total", "--search", "--inputs", "[0, 7]", "--draws", 20000, "--claim", "pure(1)"
    )
    assert run.code == 3
    assert "inputs" in run.out


@pytest.mark.usefixtures("module")
def test_it_speaks_arabic(sitr: Sitr) -> None:
    run = sitr(*AUDIT, "--claim", "pure(0.5)", "--lang", "ar")
    assert run.code == 3
    assert "منقوض" in run.out


def test_a_command_is_audited(sitr: Sitr) -> None:
    many = "import sys; [print(sys.argv[1]) for _ in range(int(sys.argv[2]))]"
    command = f'python3 -c "{many}" {{input}} {{draws}}'
    run = sitr("audit", "--command", command, "--inputs", "[1, 2]", "--draws", "400", "--claim", "pure(1)")
    assert run.code == 3


def test_canaries_are_judged(sitr: Sitr, canaries: Path, tmp_path: Path) -> None:
    run = sitr("audit", "--scores", canaries, "--claim", "approximate(1, 1e-5)", "--plot", tmp_path / "c.svg")
    assert run.code == 3
    assert "1,000 canaries" in run.out
    assert "accountant" in (tmp_path / "c.svg").read_text()
    told = sitr("audit", "--scores", canaries, "--interval", "2:9", "--delta", "1e-5", "--json").told()
    assert told["interval"] == {"lower": 2.0, "upper": 9.0}
    assert told["epsilon"]["at_least"] > 1.0
    fair = sitr("audit", "--scores", canaries, "--claim", "gaussian(3)")
    assert fair.code == 0


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("noise_under_audit:count", "--inputs", "[1, 2]"), "--claim with a mechanism"),
        (("noise_under_audit:total", "--claim", "pure(1)", "--draws", "400"), "The function failed"),
        (("--claim", "pure(1)", "--inputs", "[1, 2]"), "one mechanism"),
        (("noise_under_audit:count", "--claim", "pure(1)", "--inputs", "[1, 2, 3]"), "two neighbouring inputs"),
        (("noise_under_audit:count", "--claim", "pure(1)", "--inputs", "{"), "two neighbouring inputs"),
        (("noise_under_audit", "--claim", "pure(1)", "--inputs", "[1, 2]"), "MODULE:FUNCTION"),
        (("noise_under_audit:none", "--claim", "pure(1)", "--inputs", "[1, 2]"), "has no function 'none'"),
        (("noise_under_audit:letters", "--claim", "pure(1)", "--inputs", "[1, 2]"), "has no function 'letters'"),
        (("no_such_module:f", "--claim", "pure(1)", "--inputs", "[1, 2]"), "cannot be imported"),
        (("--url", "http://example.org", "--claim", "pure(1)", "--inputs", "[1, 2]"), "address of this machine"),
        (("noise_under_audit:count", "--claim", "pure(x)", "--inputs", "[1, 2]"), "a promise"),
    ],
)
def test_bad_input_is_refused(sitr: Sitr, words: tuple[str, ...], said: str) -> None:
    run = sitr("audit", *words)
    assert run.code == 2
    assert said in run.err


def test_the_name_of_a_module_is_not_translated(sitr: Sitr) -> None:
    """`noise` is also a word."""
    run = sitr("--lang", "ar", "audit", "noise:count", "--claim", "pure(1)", "--inputs", "[1, 2]")
    assert run.code == 2
    assert "'noise'" in run.err
    assert "الضوضاء" not in run.err


def test_a_bad_interval_is_refused(sitr: Sitr, canaries: Path) -> None:
    for text in ("5", "5:4", "a:b"):
        run = sitr("audit", "--scores", canaries, "--interval", text)
        assert run.code == 2
        assert "LOW:HIGH" in run.err


ODD = """
def raises(rows, size):
    raise ZeroDivisionError("no rows")

def single(rows, size):
    return 3
"""


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("subject", "says"),
    [
        (["odd_one:raises"], "The function failed: ZeroDivisionError: no rows."),
        (["odd_one:single"], "returned 1 answers when"),
        (["broken_one:f"], "The module 'broken_one' cannot be imported: SyntaxError"),
        (["raising_one:f"], "The module 'raising_one' cannot be imported: ZeroDivisionError"),
        ([":f"], "cannot be imported"),
        ([".noise:f"], "cannot be imported"),
        (["--command", '"echo'], "Expected a program with its arguments"),
        (["--command", ""], "Expected a program with its arguments"),
        (["--url", "http://[::1"], "Expected an address of this machine"),
    ],
)
def test_whatever_is_wrong_with_the_mechanism_is_said_in_words(
    sitr: Sitr, tmp_path: Path, subject: list[str], says: str
) -> None:
    (tmp_path / "odd_one.py").write_text(ODD)
    (tmp_path / "broken_one.py").write_text("def f(:\n")
    (tmp_path / "raising_one.py").write_text("1 / 0\n")
    run = sitr("audit", *subject, "--claim", "pure(1)", "--inputs", "[10, 11]", "--draws", "400")
    assert run.code == 2
    assert says in run.err


@pytest.mark.usefixtures("module")
def test_inputs_that_are_no_text_are_refused(sitr: Sitr, tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_bytes(b"\xff\xfe")
    run = sitr("audit", "noise_under_audit:count", "--claim", "pure(1)", "--inputs", f"@{tmp_path / 'inputs.json'}")
    assert run.code == 2
    assert "Expected two neighbouring inputs" in run.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--delta", "-1"], "Expected delta of an audit"),
        (["--delta", "2"], "Expected delta of an audit"),
        (["--claim", "random(pure(1), 0.1)"], "one pair of inputs cannot refute it"),
        (["--claim", "zcdp(0.01)"], "Expected --delta with a claim that states no δ"),
    ],
)
def test_canaries_answer_no_question_that_they_cannot(sitr: Sitr, canaries: Path, more: list[str], says: str) -> None:
    """A δ of −1 would raise the bound on ε, and a claim that was compared with nothing is not consistent."""
    run = sitr("audit", "--scores", canaries, *more)
    assert run.code == 2
    assert says in run.err


def test_canaries_refute_a_zero_concentrated_claim_at_a_delta(sitr: Sitr, canaries: Path) -> None:
    assert sitr("audit", "--scores", canaries, "--claim", "zcdp(0.01)", "--delta", "1e-6").code == 3
