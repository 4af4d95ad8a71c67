"""Comments of proposed questions, names of measurements and lists, in Arabic."""

from __future__ import annotations

import re

from sitr.language import Language, speaking
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.arabic.marks import measurement
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.messages import question_text

SQL = (
    "SELECT SUM(CLAMP(x, 0, 100) /* replace 0 and 100 by public bounds */) AS s FROM t "
    "WHERE y > 0 /* replace 0 by the answer to SELECT AVG(y) FROM t */"
)


def test_the_comments_of_a_proposed_question_are_translated_and_nothing_else() -> None:
    assert question_text(SQL) == SQL
    with speaking(Language.ARABIC):
        found = question_text(SQL)
    comments = re.findall(r"/\*(.*?)\*/", found)
    assert len(comments) == 2
    assert not any("replace" in comment for comment in comments)
    assert "SELECT AVG(y) FROM t" in comments[1]
    assert re.sub(r"/\*.*?\*/", "", found) == re.sub(r"/\*.*?\*/", "", SQL)


def test_the_name_of_a_measurement_has_no_english_words() -> None:
    name = "COUNT(DISTINCT id WITH ROWS LEFT OUT)"
    for said in (measurement(name), measurement(f"{name}, over all groups")):
        assert "COUNT(DISTINCT id)" in said
        assert not re.search("WITH|LEFT|over|groups", said)
    assert "SUM(cost)" in measurement("SUM(cost)")


def test_lists_have_the_marks_of_their_language() -> None:
    assert ENGLISH.several(["a", "b"]) == "a; b"
    assert ARABIC.several(["a", "b"]) == "a؛ b"
