"""Words are cut or broken so that they fit, and never lose more than they must."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitr.report.chart.lettering import cut, lines, width

WORDS = st.text(st.sampled_from("abc mW…مستشفى漢字 =1234"), max_size=120)


@given(WORDS, st.floats(30, 400))
def test_what_is_cut_fits_and_begins_like_the_whole(words: str, room: float) -> None:
    shown = cut(words, room)
    assert width(shown) <= room + 1e-9
    assert shown == words or (shown.endswith("…") and words.startswith(shown[:-1]))


@given(WORDS, st.floats(60, 400))
def test_lines_fit_and_have_all_words_in_order(words: str, room: float) -> None:
    found = lines(words, room, most=1000)
    assert all(width(line) <= room + 1e-9 for line in found)
    if not any(line.endswith("…") for line in found):
        assert "".join(found).replace(" ", "") == words.replace(" ", "")


def test_a_symbol_stays_with_its_number() -> None:
    for room in range(100, 300, 7):
        assert any("δ = 10⁻⁶" in line for line in lines("Total ε of all releases, at δ = 10⁻⁶, proved", room, most=99))
