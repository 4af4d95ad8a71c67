"""`sitr explain`: every flavor, both languages, and errors that explain themselves."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from sitr.errors import LargeDelta

Sitr = Callable[..., Any]

FLAVORS = {
    "pure(0.5)": "Pure",
    "approximate(1, 1e-6)": "Approximate",
    "profile((1, 1e-3), (2, 1e-6))": "Privacy profile",
    "concentrated(0.5, 1)": "Concentrated",
    "zcdp(0.5)": "Zero-concentrated",
    "renyi({2: 0.1, 8: 0.5})": "Rényi",
    "gaussian(1)": "Gaussian",
    "random(pure(0.5), 0.01)": "Random",
    "pufferfish(1, 'whether one person is ill', 'illness is contagious')": "Pufferfish",
}


@pytest.mark.parametrize("promise", FLAVORS)
def test_every_flavor_in_english(sitr: Sitr, promise: str) -> None:
    done = sitr("explain", promise)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(FLAVORS[promise])
    headings = ("What is promised", "In numbers", "With bad luck", "What is not promised")
    assert [line for line in done.out.splitlines() if line in headings] == [*headings]
    assert not [line for line in done.out.splitlines() if len(line) > 120 or line != line.rstrip()]


@pytest.mark.parametrize("promise", FLAVORS)
def test_every_flavor_in_arabic(sitr: Sitr, promise: str) -> None:
    done = sitr("explain", promise, "--lang", "ar")
    assert (done.code, done.err) == (0, "")
    title, *_ = lines = done.out.splitlines()
    assert re.search("[\u0621-\u064a]", title)
    # A line is a whole paragraph, so that every isolate ends in the line in which it begins.
    assert all(len(re.findall("[\u2066\u2068]", line)) == line.count("\u2069") for line in lines)
    assert len([line for line in lines if line]) == 9


@pytest.mark.parametrize("language", ["en", "ar"])
def test_for_machines(sitr: Sitr, language: str) -> None:
    told = sitr("explain", "zcdp(0.5)", "--lang", language, "--json").told()
    assert list(told) == ["promise", "language", "title", "promised", "meaning", "failure", "not_promised", "headline"]
    assert (told["promise"], told["language"]) == ("zcdp(rho=0.5)", language)
    assert "5.222" in told["meaning"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("zcdp(0.5)", "--lang", "fr"), "BadUsage"),
        (("zcdp(0.5)", "--lang", ""), "BadUsage"),
        (("zcdp(-1)",), "InvalidPromise"),
        (("approximate(1, 2)",), "InvalidPromise"),
        (("a little",), "InvalidPromise"),
        (("__import__('os')",), "InvalidPromise"),
        (("random(random(pure(1), 0.1), 0.1)",), "InvalidPromise"),
        ((), "BadUsage"),
    ],
)
def test_bad_input(sitr: Sitr, words: tuple[str, ...], error: str) -> None:
    refused = sitr("explain", *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, error)


def test_an_error_names_the_languages(sitr: Sitr) -> None:
    assert "en, ar" in sitr("explain", "zcdp(0.5)", "--lang", "fr").err


def test_delta_and_the_number_of_people(sitr: Sitr) -> None:
    with pytest.warns(LargeDelta, match="exposes 4 of them outright"):
        assert sitr("explain", "approximate(1, 1e-4)", "--people", 40_000).code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sitr("explain", "approximate(1, 1e-9)", "--people", 40_000).code == 0
