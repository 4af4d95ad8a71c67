"""In Arabic letters, with the terms of the field, and with formulas that keep their order in lines from the right."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.report.explain import VOICES, explain
from sitr.report.words.arabic.marks import ltr

TERMS: dict[str, Promise] = {
    "الخصوصية التفاضلية النقية:": PureDP(0.25),
    "الخصوصية التفاضلية التقريبية:": ApproximateDP(0.75, 1e-7),
    "منحنى الخصوصية، أي عدة ضمانات": PrivacyProfile(tuple((float(i), 10.0**-i) for i in range(1, 30))),
    "الخصوصية التفاضلية المركزة:": ConcentratedDP(0.35, 0.85, scales_to_groups=True),
    "الخصوصية التفاضلية المركزة الصفرية:": ZeroConcentratedDP(0.125, xi=0.0625),
    "الخصوصية التفاضلية لريني:": RenyiDP.at({2.0: 0.15, 8.0: 0.65}),
    "الخصوصية التفاضلية الغاوسية:": GaussianDP(0.45),
    "الخصوصية التفاضلية العشوائية:": RandomDP(ApproximateDP(0.75, 1e-7), 0.0125),
}
each = pytest.mark.parametrize(
    ("term", "promise"), TERMS.items(), ids=[type(value).__name__ for value in TERMS.values()]
)


def texts(promise: Promise) -> list[str]:
    explanation = explain(promise, language=Language.ARABIC)
    return [getattr(explanation, field.name) for field in fields(explanation) if field.name != "language"]


@each
def test_terms(term: str, promise: Promise) -> None:
    assert texts(promise)[0].startswith(term)


@each
def test_it_is_arabic_and_formulas_are_isolated(term: str, promise: Promise) -> None:
    told = texts(promise)
    assert sum("\u2066" in text for text in told) >= 4, term
    for text in told:
        assert re.search("[\u0621-\u064a]{3}", text)
        # Isolates are paired and never nested, and nothing outside of them is Latin, Greek, a digit or an operator.
        assert re.fullmatch("[^\u2066\u2069]*(\u2066[^\u2066\u2069]+\u2069[^\u2066\u2069]*)*", text)
        assert not re.search("[A-Za-zα-ω0-9=·≤+%]", re.sub("\u2066[^\u2069]*\u2069", "", text))
        # Arabic commas between Arabic words.
        assert not re.search("[\u0621-\u064a][,;?]", text)


def test_headings_are_arabic() -> None:
    for heading in VOICES[Language.ARABIC].headings:
        assert not re.search("[A-Za-z]", heading)


def test_a_formula_breaks_after_commas_only() -> None:
    assert ltr("ε = 1, δ = 2") == "\u2066ε\u00a0=\u00a01, δ\u00a0=\u00a02\u2069"


def test_one_in_so_many() -> None:
    told = "".join(texts(ApproximateDP(1.0, 1e-6)))
    assert f"أي {ltr('1')} من كل {ltr('1,000,000')}" in told


def test_the_size_of_a_group_counts_no_noun() -> None:
    """The noun after a number changes with it, and s is any number."""
    for promise in TERMS.values():
        assert not re.search("\u2066[st]\u2069 [\u0621-\u064a]*(شخص|أشخاص|قادم)", "".join(texts(promise)))


def test_the_average_is_that_which_the_spread_leaves() -> None:
    assert f"يتجاوز {ltr('τ²/2 = 0.5')}" in "".join(texts(ConcentratedDP(5.0, 1.0)))
    assert "التشتت" not in "".join(texts(ConcentratedDP(0.25, 1.0)))


def test_random_says_what_gamma_rests_on_and_comes_from() -> None:
    finite = explain(RandomDP(PureDP(0.5), 0.05, parts=(("newcomer", 0.04),)), language=Language.ARABIC)
    assert "قابلة للتبادل" in finite.promised
    assert "مثبتة للعينات المنتهية" in finite.promised
    assert f"{ltr('newcomer')} {ltr('0.04')}، {ltr('غيرها')} {ltr('0.01')}." in finite.promised
    published = explain(RandomDP(PureDP(0.5), 0.05, Basis.ASYMPTOTIC), language=Language.ARABIC)
    assert "تقاربية كما نُشرت" in published.promised
    assert "مثبتة للعينات المنتهية" not in published.promised
