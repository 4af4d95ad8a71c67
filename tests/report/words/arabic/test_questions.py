"""Questions of the ledger in Arabic: every kind, with its numbers and names, and SQL as it is."""

from __future__ import annotations

import re

import pytest

from sitr.dataset.cells import Step
from sitr.questions.histogram import methods
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.arabic.questions import METHODS, STEPS
from sitr.report.words.english.english import ENGLISH
from tests.report.words.arabic.conftest import PAPERS, english

SQL = "SELECT COUNT(*) AS n FROM visits"


def plain(text: str) -> str:
    return re.sub("[\u2066-\u2069]", "", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SQL, SQL),
        (
            f"HISTOGRAM OF age in 20 cells from 0 to 120 BY FLAT: {SQL}",
            f"هيستوغرام age في 20 خلية من 0 إلى 120، خلية خلية: {SQL}",
        ),
        (
            f"HISTOGRAM OF ward in 8 categories, day by month from 2024-01-01 to 2024-12-31 BY TREE: {SQL}",
            f"هيستوغرام ward في 8 فئات وday شهرًا شهرًا من 2024-01-01 إلى 2024-12-31، بشجرة من المجاميع: {SQL}",
        ),
        (f"HISTOGRAM OF ward, unlisted categories BY UNLISTED: {SQL}", f"هيستوغرام ward، لفئات غير علنية: {SQL}"),
        (f"HISTOGRAM OF something new BY OTHER: {SQL}", f"هيستوغرام something new، OTHER: {SQL}"),
        ("SYNTHESIZE ward, age FROM visits", "صفوف اصطناعية لـ ward, age من visits"),
        ("SYNTHESIZE ward FROM visits AND MEASURE THE QUALITY", "صفوف اصطناعية لـ ward من visits، مع قياس جودتها"),
        ("QUALITY OF SYNTHETIC ward, age FROM visits", "جودة الصفوف الاصطناعية لـ ward, age من visits"),
    ],
)
def test_questions_in_words(text: str, said: str) -> None:
    assert plain(ARABIC.question(text)) == said
    assert ENGLISH.question(text) == text


@pytest.mark.parametrize("name", [name for name in PAPERS if name.startswith("histogram")])
def test_what_plans_record_is_understood(name: str) -> None:
    """The texts of real plans: no English word is left outside of names and SQL."""
    question = PAPERS[name]().question
    assert english(ARABIC.question(question)) == []
    assert re.search("[\u0621-\u064a]", ARABIC.question(question))


def test_every_method_and_every_step_has_a_name() -> None:
    assert set(METHODS) == {each.__name__.upper() for each in methods.Method.__args__}
    assert set(STEPS) == {step.value for step in Step}
