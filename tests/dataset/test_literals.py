from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataset.literals import shortened, shown, storable, writable


@given(st.text(st.characters()))
def test_writable_is_what_utf_8_can_write(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        assert not writable(text)
    else:
        assert writable(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\udc80b"])
def test_half_a_character_is_not_writable(text):
    assert not writable(text)


@pytest.mark.parametrize("value", [None, 5, b"a", ["a"], True])
def test_only_text_is_writable(value):
    assert not writable(value)


@pytest.mark.parametrize("number", [0, -(2**63), 2**63 - 1, 0.5, math.nextafter(2**63, 0)])
def test_storable_numbers(number):
    assert storable(number)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400, 1e19, math.nan, math.inf, -math.inf])
def test_numbers_beyond_64_bits_are_not_storable(number):
    assert not storable(number)


@pytest.mark.parametrize("value", [[10**5_000], (0, -(10**5_000)), "a" * 10**6, "a\nb", ["\n"] * 1_000, "\ud800", None])
def test_whatever_is_shown_is_short_and_plain(value):
    assert 0 < len(shown(value)) <= 60
    assert "\n" not in shown(value)
    assert writable(shown(value))


@given(st.text())
def test_only_what_is_long_is_cut(text):
    line = " ".join(text.split())
    assert shortened(text) == line if len(line) <= 60 else shortened(text)[:-1] == line[:59].rstrip()
