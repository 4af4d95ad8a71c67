"""The sentences of certificates: every number in them is rounded outward."""

from __future__ import annotations

from datetime import date

import pytest

from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
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


def test_test_coins_are_not_called_entropy() -> None:
    assert not any("entropy" in sentence for sentence in SAY.handling(private=False, exact=True))
    assert any("exact samplers" in sentence for sentence in SAY.handling(private=True, exact=True))
    assert not any("exact samplers" in sentence for sentence in SAY.handling(private=True, exact=False))


def test_dates_are_written_out() -> None:
    assert SAY.day(date(2026, 12, 31)) == "31 December 2026"
