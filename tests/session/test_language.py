"""`lang="ar"` makes one page, card or chart in Arabic, whatever was shown before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sitr.errors import InvalidUse
from sitr.language import Language, speaking
from tests.session.conftest import KINDS

ARABIC = re.compile("[\u0621-\u064a]")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_cards_and_charts_in_both_languages(everything: dict[str, Any], kind: str, tmp_path: Path) -> None:
    answer = everything[kind]
    english = str(answer)
    for write, name in ((answer.certificate, "page.html"), (answer.label, "card.html"), (answer.plot, "chart.svg")):
        arabic = write(tmp_path / f"ar-{name}", lang="ar").read_text(encoding="utf-8")
        plain = write(tmp_path / name).read_text(encoding="utf-8")
        assert ARABIC.search(arabic)
        assert not ARABIC.search(plain)
        assert ('<html lang="ar" dir="rtl">' in arabic) == name.endswith(".html")
    assert str(answer) == english


@pytest.mark.parametrize("kind", KINDS)
def test_everything_speaks_the_language_that_is_spoken(everything: dict[str, Any], kind: str) -> None:
    answer = everything[kind]
    english = (repr(answer), str(answer), answer.to_dict())
    with speaking(Language.ARABIC):
        assert ARABIC.search(repr(answer))
        assert ARABIC.search(str(answer))
        assert 'dir="rtl"' in answer._repr_html_()
        assert answer.to_dict() == english[2]
    assert (repr(answer), str(answer), answer.to_dict()) == english


def test_an_unknown_language_is_refused(everything: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidUse, match="lang with one of en, ar"):
        everything["answer"].certificate(tmp_path / "page.html", lang="xx")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_cards_and_charts_in_both_digits(everything: dict[str, Any], kind: str, tmp_path: Path) -> None:
    answer = everything[kind]
    for write, name in ((answer.certificate, "page.html"), (answer.label, "card.html"), (answer.plot, "chart.svg")):
        chosen = write(tmp_path / f"indic-{name}", lang="ar", digits="arabic-indic").read_text(encoding="utf-8")
        assert re.search("[٠-٩]", chosen)
        for others in ({"lang": "ar"}, {"lang": "en", "digits": "arabic-indic"}, {"lang": "ar", "digits": "latin"}):
            assert not re.search("[٠-٩]", write(tmp_path / name, **others).read_text(encoding="utf-8"))


def test_unknown_digits_are_refused(everything: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidUse, match="digits with one of latin, arabic-indic"):
        everything["answer"].certificate(tmp_path / "page.html", lang="ar", digits="roman")
    assert not (tmp_path / "page.html").exists()
