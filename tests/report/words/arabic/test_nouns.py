"""Arabic counts: the form of the noun follows the last two digits, and nothing else."""

from __future__ import annotations

import pytest

from sitr.report.figures import number
from sitr.report.words.arabic import nouns
from sitr.report.words.arabic.marks import ltr
from sitr.report.words.arabic.nouns import CELL, ROW, Noun, counted

NOUNS = {name: noun for name, noun in vars(nouns).items() if isinstance(noun, Noun)}


def category(count: int) -> str:
    """The plural category of Arabic, as Unicode's CLDR defines it."""
    last = count % 100
    rules = {"zero": count == 0, "one": count == 1, "two": count == 2, "few": 3 <= last <= 10, "many": last > 10}
    return next((name for name, holds in rules.items() if holds), "other")


@pytest.mark.parametrize("name", NOUNS)
@pytest.mark.parametrize("oblique", [False, True])
def test_every_count_has_the_form_of_its_category(name: str, oblique: bool) -> None:
    noun = NOUNS[name]
    for count in range(301):
        digits = ltr(number(count))
        expected = {
            "zero": f"{digits} {noun.singular}" if oblique else f"لا {noun.plural}",
            "one": f"{noun.singular} {noun.one}",
            "two": noun.oblique if oblique else noun.dual,
            "few": f"{digits} {noun.plural}",
            "many": f"{digits} {noun.accusative}",
            "other": f"{digits} {noun.singular}",
        }
        assert counted(count, noun, oblique=oblique) == expected[category(count)], count


def test_large_counts_follow_their_last_two_digits() -> None:
    assert counted(1_000_003, ROW) == f"{ltr('1,000,003')} صفوف"
    assert counted(1_011, ROW) == f"{ltr('1,011')} صفًا"
    assert counted(2_002, CELL) == f"{ltr('2,002')} خلية"


@pytest.mark.parametrize("noun", NOUNS.values(), ids=NOUNS)
def test_the_adjective_one_agrees_in_gender(noun: Noun) -> None:
    feminine = noun.singular.split()[0].endswith("ة")
    assert noun.one == ("واحدة" if feminine else "واحد")
    assert noun.dual.split()[0].endswith("ان")
    assert noun.oblique.split()[0].endswith("ين")
