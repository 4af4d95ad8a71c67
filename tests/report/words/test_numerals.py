"""Arabic-Indic digits: in every number of every Arabic page, card, text and chart, and nowhere else."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator

import pytest

from sitr.errors import InvalidUse, NotPrivate
from sitr.language import Digits, Language, digits, preferred_digits, speaking
from sitr.report.page import html
from sitr.report.text import terminal
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.arabic.labels import LABELS
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.messages import Catalogue
from sitr.report.words.numerals import numeral, numerals
from tests.report.chart.pictures import PICTURES
from tests.report.words.arabic.conftest import PAPERS, Spoken
from tests.report.words.test_sentences import SENTENCES, calls, of, said

MARKS = "\u200e\u061c\u2066\u2068\u2069"


@pytest.fixture
def indic() -> Iterator[None]:
    with speaking(Language.ARABIC, Digits.ARABIC_INDIC):
        yield


def plain(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, MARKS)))


@pytest.mark.parametrize(
    ("latin", "shown"),
    [
        ("1,234,567", "١٬٢٣٤٬٥٦٧"),
        ("−12.5", "−١٢٫٥"),
        ("± 0.052", "± ٠٫٠٥٢"),
        ("95%", "٩٥٪"),
        ("6.272 × 10⁻⁷", "٦٫٢٧٢ × ١٠⁻⁷"),
        ("ε = 1, δ = 10⁻⁶", "ε = ١, δ = ١٠⁻⁶"),
        ("(0.5, 1), (1, 2)", "(٠٫٥, ١), (١, ٢)"),
        ("2024-11-03 09:30:00 UTC", "٢٠٢٤-١١-٠٣ ٠٩:٣٠:٠٠ UTC"),
        ("e^1,000,000,000", "e^١٬٠٠٠٬٠٠٠٬٠٠٠"),
        ("D₂ ≤ 0.1", "D₂ ≤ ٠٫١"),
        ("2.72 · p + 10⁻⁶", "٢٫٧٢ · p + ١٠⁻⁶"),
    ],
)
@pytest.mark.usefixtures("indic")
def test_numbers_in_formulas(latin: str, shown: str) -> None:
    assert plain(numerals(latin)) == shown
    assert plain(numerals(numerals(latin))) == shown


@pytest.mark.parametrize(
    "text", ["SHA-256", "DRV 2010", "Sitr 0.1.0", "1e-06", "column_2", "x2", "9f86d081884c7d65", "visits2024.csv"]
)
@pytest.mark.usefixtures("indic")
def test_names_code_and_hashes_keep_their_digits(text: str) -> None:
    assert numerals(text) == text


def displayed(text: str) -> str:
    """The order of a text from left to right, by the Unicode bidirectional algorithm for a line that runs to the right.

    Enough of it for formulas without letters that run to the left: of numbers, neutrals and marks. [UAX 9]
    """
    kinds = [unicodedata.bidirectional(each) for each in text]
    kinds = ["ON" if kind in ("ES", "ET", "CS", "WS") else "L" if kind == "EN" else kind for kind in kinds]  # W6, W7
    levels = [0] * len(text)
    for place, kind in enumerate(kinds):
        before = next((each for each in reversed(kinds[:place]) if each != "ON"), "L")
        after = next((each for each in kinds[place + 1 :] if each != "ON"), "L")
        right = {before, after} <= {"AN", "AL", "R"}  # N1, with numbers as R
        levels[place] = {"L": 0, "AN": 2, "AL": 1, "R": 1}.get(kind, 1 if right else 0)
    for level in (2, 1):  # L2
        runs = re.finditer("1+", "".join("1" if each >= level else "0" for each in levels))
        for run in runs:
            text = text[: run.start()] + text[run.start() : run.end()][::-1] + text[run.end() :]
    return plain(text)


@pytest.mark.parametrize("text", ["6.272 × 10⁻⁷", "(0.5, 1), (1, 2)", "2024-11-03 09:30:00", "1/2 + 3", "−12 ± 3"])
@pytest.mark.usefixtures("indic")
def test_numbers_of_a_formula_do_not_change_places(text: str) -> None:
    shown = numerals(text)
    assert displayed(shown) == plain(shown)


@pytest.mark.usefixtures("indic")
def test_without_marks_they_would_and_a_power_would_belong_to_another_number() -> None:
    assert displayed(plain(numerals("6 × 10⁻⁷"))) == "١٠ × ٦⁻⁷"


@pytest.mark.usefixtures("indic")
def test_a_percent_sign_stands_to_the_left_of_its_number() -> None:
    assert displayed(numerals("95%")) == "٪٩٥"


@pytest.mark.usefixtures("indic")
def test_only_whole_numbers_are_taken_from_values_of_messages() -> None:
    assert plain(numeral("1,000")) == "١٬٠٠٠"
    assert plain(numeral("-3.5")) == "-٣٫٥"
    assert numeral("visits 2024") == "visits 2024"
    made = Catalogue({"At most {} in {}.": "{0} في {1} على الأكثر.", "Run {}.": "شغّل \u2066x --n {0}\u2069."})
    assert plain(made.say("At most 12 in a1.csv.")) == "١٢ في a1.csv على الأكثر."
    assert "--n 12" in made.say("Run 12.")


NAMES = re.compile(r"City hospital, 2024|ward \d+|alert\(1\)|two␊.*?31m")
"""Names in the fixtures that hold digits."""


def latin_digits(text: str) -> list[str]:
    """Words with Latin digits outside of names and of code, each in an isolate with letters."""
    outside = re.sub("\u2068[^\u2068\u2069]*\u2069|\u2066[^\u2066\u2069]*[A-Za-z]{2}[^\u2066\u2069]*\u2069", "", text)
    return re.findall(r"\S*[0-9]\S*", NAMES.sub("", re.sub(r"Sitr [0-9.]+|SHA-256|\b[0-9a-f]{64}\b", "", outside)))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", [name for name in PAPERS if "hostile" not in name])
@pytest.mark.usefixtures("indic")
def test_pages_cards_notebooks_and_terminals_have_arabic_indic_digits_only(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        paper = PAPERS[name]()
        page, card, shown = html.page(paper, release='{"n": 1}'), html.label(paper), html.fragment(paper)
        text = terminal.as_text(terminal.facts(paper.facts, words=ARABIC), width=10_000)
        content = paper.to_dict()
    for source in (page, card, shown):
        heard = Spoken(source).said
        assert re.search("[٠-٩]", " ".join(heard))
        assert [found for each in heard for found in latin_digits(each)] == []
        assert not re.search("[٠-٩]", " ".join(re.findall(r"<style>.*?</style>|<code>.*?</code>", source, re.DOTALL)))
    assert latin_digits(text.replace(paper.question, "")) == []
    assert "{&#34;n&#34;: 1}" in page
    assert not re.search("[٠-٩٫٬٪]", str(content))


@pytest.mark.parametrize(
    "name", [name for name in PICTURES if not any(each in name for each in ("Arabic", "hostile", "theorems", "ways"))]
)
@pytest.mark.usefixtures("indic")
def test_charts_have_arabic_indic_digits_only(name: str) -> None:
    drawn = PICTURES[name]()
    texts = re.findall("<(?:text|title|desc)[^>]*>([^<]*)", drawn)
    assert [found for each in texts for found in latin_digits(each) if "مستشفى" not in each] == []


@pytest.mark.sampled(90)
@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.usefixtures("indic")
def test_sentences_have_arabic_indic_digits_only(name: str) -> None:
    for values, named in calls(name):
        english, arabic = (list(said(of(words, name)(*values, **named))) for words in (ENGLISH, ARABIC))
        assert not re.search("[٠-٩٫٬٪]", " ".join(english))
        assert [found for each in arabic for found in latin_digits(each)] == []


@pytest.mark.usefixtures("indic")
def test_labels_have_arabic_indic_digits_only() -> None:
    assert [found for label in LABELS for found in latin_digits(ARABIC.label(label))] == []
    assert plain(ARABIC.label("95% error")) == "خطأ ٩٥٪"


def test_latin_digits_are_the_default_and_the_choice_ends_with_its_block() -> None:
    assert digits() is Digits.LATIN
    with speaking(Language.ARABIC):
        assert ARABIC.numerals("12.5%") == "12.5%"
        with speaking(Language.ARABIC, Digits.ARABIC_INDIC), speaking(Language.ARABIC):
            assert digits() is Digits.ARABIC_INDIC
    assert digits() is Digits.LATIN


def test_an_environment_variable_chooses_and_unknown_digits_are_refused() -> None:
    assert preferred_digits({"SITR_DIGITS": ""}) is Digits.LATIN
    assert preferred_digits({"SITR_DIGITS": "arabic-indic"}) is Digits.ARABIC_INDIC
    with pytest.raises(InvalidUse, match="SITR_DIGITS with one of latin, arabic-indic"):
        preferred_digits({"SITR_DIGITS": "roman"})
