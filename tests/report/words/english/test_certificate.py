"""The sentences of certificates: every number in them is rounded outward."""

from __future__ import annotations

from datetime import date

import pytest

from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import Provenance
from sitr.report.headline import Headline
from sitr.report.level import Level
from sitr.report.views import Missing, ProvedView, views
from sitr.report.words.english.certificate import FLAVORS, CertificateWords

SAY = CertificateWords()


def test_every_level_and_every_flavor_has_a_name() -> None:
    assert all(SAY.heading(level) for level in Level)
    shown = views(Headline.of(ZeroConcentratedDP(0.5)), None).rows
    assert {view.flavor for view in shown} == {*FLAVORS} - {ApproximateZeroConcentratedDP}  # which is shown as a price
    assert all(SAY.flavor(view) and SAY.bound(view) and SAY.proof(view) for view in shown)


@pytest.mark.parametrize(
    ("promise", "bound"),
    [
        (PureDP(0.33331), "ε ≤ 0.3334"),
        (GaussianDP(1.00001), "μ ≤ 1.001"),
        (ZeroConcentratedDP(0.1, xi=0.2), "ρ ≤ 0.1, ξ ≤ 0.2"),
    ],
)
def test_bounds_are_rounded_up(promise: PureDP | GaussianDP | ZeroConcentratedDP, bound: str) -> None:
    assert SAY.bound(ProvedView(type(promise), promise)) == bound


def test_a_missing_bound_says_why() -> None:
    reasons = [SAY.proof(ProvedView(PureDP, None, missing=why)) for why in Missing]
    assert SAY.bound(ProvedView(PureDP, None)) == "none"
    assert len({*reasons}) == len(Missing)


def test_the_share_that_an_attack_detects_is_rounded_up() -> None:
    assert "at 1% false positives" in SAY.attack(0.03001).lower()
    assert "at most 3.1%" in SAY.attack(0.03001)


def test_test_coins_are_not_called_private() -> None:
    test, keyed = Provenance.TEST, Provenance.KEYED
    assert not any("generator" in sentence for sentence in SAY.handling(test, private=False, exact=True))
    assert any("exact samplers" in sentence for sentence in SAY.handling(keyed, private=True, exact=True))
    assert not any("exact samplers" in sentence for sentence in SAY.handling(keyed, private=True, exact=False))


def test_the_provenance_of_the_coins_says_against_whom_the_promise_holds() -> None:
    keyed, hardware = (
        " ".join(SAY.handling(coins, private=True, exact=True)) for coins in (Provenance.KEYED, Provenance.HARDWARE)
    )
    assert "computational differential privacy (IND-CDP)" in keyed
    assert "nothing is promised" in keyed
    assert "even against unlimited computing power" in hardware
    assert "IND-CDP" not in hardware
    assert "IND-CDP" in SAY.coins(Provenance.KEYED)
    assert "according to its operator" in SAY.coins(Provenance.HARDWARE)


def test_dates_are_written_out() -> None:
    assert SAY.day(date(2026, 12, 31)) == "31 December 2026"
