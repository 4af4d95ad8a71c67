"""The corpus: every broken mechanism is caught, and no correct one is accused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitr.audit.corpus.corpus import BROKEN, CORPUS, examine
from sitr.audit.corpus.correct import CORRECT
from sitr.audit.corpus.specimen import Specimen
from sitr.loss import gaussian
from sitr.mechanisms.gaussian import Gaussian
from sitr.noise import TestCoins

QUICK = 450_000
"""Up to this many draws, a test runs every time."""


def named(specimens: list[Specimen] | tuple[Specimen, ...]) -> pytest.MarkDecorator:
    marked = [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.draws > QUICK else []) for each in specimens
    ]
    return pytest.mark.parametrize("specimen", marked)


def test_there_are_enough_of_both() -> None:
    assert len(BROKEN) >= 24
    assert len(CORRECT) >= 12
    assert all(each.broken for each in BROKEN)
    assert not any(each.broken for each in CORRECT)
    assert len({each.name for each in CORPUS}) == len(CORPUS)


def test_every_one_has_a_reason_and_a_source() -> None:
    known = (Path(__file__).resolve().parents[3] / "docs" / "references.bib").read_text()
    for each in CORPUS:
        assert each.why.endswith(".")
        keys = re.findall(r"[A-Z][A-Za-z]*\d{2}", each.source)
        assert keys
        assert all(f"{{{key}," in known for key in keys), each.source


@named(BROKEN)
def test_a_broken_mechanism_is_caught(specimen: Specimen) -> None:
    assert examine(specimen, coins=TestCoins(1)).broken


@named(CORRECT)
def test_a_correct_mechanism_is_not_accused(specimen: Specimen) -> None:
    assert not examine(specimen, coins=TestCoins(1)).broken


def test_three_percent_are_found_by_more_draws_and_only_by_them() -> None:
    """With few draws the verdict is "consistent", not a guess."""
    three = BROKEN[0]
    assert three.name == "Laplace noise 3% short"
    assert not examine(three, draws=20_000, coins=TestCoins(1)).broken
    assert examine(three, coins=TestCoins(1)).broken


def test_the_approximate_claim_of_gaussian_noise_is_true() -> None:
    """The granules cost less than the thousandth that the claim allows for."""
    claims = {each.name: each.claim for each in CORRECT}
    loss = Gaussian(1_000, 1_000).loss()
    assert loss is not None
    assert claims["Gaussian noise, as approximate"].kept_by(loss)
    assert claims["Gaussian noise, as approximate"].kept_by(gaussian(sigma=1))
