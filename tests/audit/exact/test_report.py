"""What is shown of a verified mechanism, in both languages, as text, HTML and JSON."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from sitr.audit.exact.mechanism import finite
from sitr.audit.exact.picture import claimed_curve, picture, verified_curve
from sitr.audit.exact.report import verification
from sitr.flavors.notation import parse
from sitr.report.figured import Figured
from sitr.report.text.terminal import as_text
from sitr.report.words.arabic.arabic import ARABIC

HALF = [["3/4", "1/4"], ["1/4", "3/4"]]


def test_text_html_and_json_agree() -> None:
    mechanism = finite(HALF)
    shares: list[float] = []
    found = verification(mechanism, (mechanism.verify("pure(1)"), mechanism.verify("zcdp(1)")), progress=shares.append)
    assert shares[-1] == 1.0
    assert str(found).startswith("Broken: pure(1)")
    assert "Kept: zcdp(1)" in str(found)
    assert found._repr_html_().startswith("<pre>Broken")
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [claim["verdict"] for claim in content["claims"]] == ["broken", "kept"]
    assert "منقوض" in as_text(found.render(words=ARABIC))


def test_infinite_figures_are_null_in_json() -> None:
    content = verification(finite([[1, 0], [0.5, 0.5]])).to_dict()
    json.dumps(content, allow_nan=False)
    assert "∞" in str(verification(finite([[1, 0], [0.5, 0.5]])))


def test_what_is_infinite_is_not_called_at_least_infinite() -> None:
    mechanism = finite([[1, 0], [0.5, 0.5]])
    found = verification(mechanism, (mechanism.verify("pure(1)"),))
    assert "Broken: pure(1) does not hold: ε is infinite, and the claim allows 1." in str(found)
    assert "لا نهائية، والادعاء" in as_text(found.render(words=ARABIC))
    finitely = verification(finite(HALF), (finite(HALF).verify("pure(1)"),))
    assert "ε is at least 1.09861, and the claim allows 1." in str(finitely)


def test_rho_at_a_xi_and_at_the_best_one() -> None:
    """After many uses a pair (ξ, ρ) with a small ξ is best; after one use ξ = ln 3 and ρ = 0 are."""
    mechanism = finite(HALF)
    figures = {each["figure"]: each for each in verification(mechanism, xi=0.5, uses=200).to_dict()["figures"]}  # type: ignore[attr-defined]
    assert figures["rho at xi"]["parameter"] == "0.5"
    assert figures["rho at xi"]["upper"] == pytest.approx(0.173647, rel=1e-4)
    best = mechanism.best_line(delta=1e-6, times=200)
    assert figures["rho at the best xi"]["upper"] == best.promise.rho
    assert float(figures["rho at the best xi"]["parameter"]) == pytest.approx(best.promise.xi, rel=0.01)
    assert "ρ at the best ξ" in str(verification(mechanism, uses=1))
    (once,) = (each for each in verification(mechanism, uses=1).lines if each.name is Figured.BEST_RHO)
    assert (once.figure.lower, once.figure.upper) == (0.0, 0.0)
    assert "ξ" not in str(verification(mechanism))


@pytest.mark.parametrize("claim", ["pure(1.1)", "approximate(1, 0.08)", "gaussian(1.35)", "zcdp(0.55)"])
def test_a_kept_claim_is_drawn_above_the_mechanism(claim: str) -> None:
    verified, claimed = dict(verified_curve(finite(HALF))), claimed_curve(parse(claim))
    for (low, at_low), (high, at_high) in pairwise(claimed):
        for place, height in verified.items():
            if low <= place <= high and high > low:
                allowed = at_low + (at_high - at_low) * (place - low) / (high - low)
                assert height <= allowed + 1e-6 + 1e-3 * ("gaussian" in claim)  # a polygon of a curve


def test_a_broken_claim_crosses_the_mechanism() -> None:
    claimed = dict(claimed_curve(parse("pure(0.5)")))
    verified = dict(verified_curve(finite(HALF)))
    assert any(height > 1.6488 * place + 1e-9 for place, height in verified.items() if place < 0.3)
    assert claimed
    drawn = picture(finite(HALF), "random(pure(1), 0.1)")
    assert "claimed" not in drawn
    assert "claimed" not in picture(finite(HALF), "probabilistic(1, 0.1)")
