"""`sitr convert`: the arrows that exist, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.headline import Headline

Sitr = Callable[..., Any]

RESULTS: list[tuple[tuple[object, ...], Promise]] = [
    (("zcdp(0.5)", "--to", "approximate", "--delta", 1e-6), ZeroConcentratedDP(0.5).to_approximate(delta=1e-6)),
    (("gaussian(1)", "--to", "approximate", "--delta", 1e-6), GaussianDP(1.0).to_approximate(delta=1e-6)),
    (
        ("concentrated(0.5, 1)", "--to", "approximate", "--delta", 1e-6),
        ConcentratedDP(0.5, 1).to_approximate(delta=1e-6),
    ),
    (("renyi(8, 0.4)", "--to", "approximate", "--delta", 1e-5), RenyiDP.at({8.0: 0.4}).to_approximate(delta=1e-5)),
    (("pure(1)", "--to", "approximate"), ApproximateDP(1.0, 0.0)),
    (("pure(1)", "--to", "approximate", "--delta", 0.1), PureDP(1.0).to_approximate(delta=0.1)),
    (("pure(1)", "--to", "zcdp"), express(PureDP(1.0), ZeroConcentratedDP)),
    (("pure(1)", "--to", "concentrated"), PureDP(1.0).to_concentrated()),
    (("pure(1)", "--to", "gaussian"), PureDP(1.0).to_gaussian()),
    (("pure(1)", "--to", "profile"), PrivacyProfile(((1.0, 0.0),))),
    (("gaussian(0.5)", "--to", "zcdp"), ZeroConcentratedDP(0.125)),
    (("concentrated(0.125, 0.5)", "--to", "zcdp"), ZeroConcentratedDP(0.125)),
    (("approximate(1, 1e-6)", "--to", "approximate"), ApproximateDP(1.0, 1e-6)),
    (("approximate(1, 1e-6)", "--to", "profile"), PrivacyProfile(((1.0, 1e-6),))),
    (
        ("approximate(1, 1e-6)", "--to", "approximate", "--delta", 0.1),
        PrivacyProfile(((1.0, 1e-6),)).to_approximate(delta=0.1),
    ),
    (("gaussian(0)", "--to", "pure"), PureDP(0.0)),
    (("zcdp(0, xi=0.3)", "--to", "pure"), PureDP(0.3)),
    (("renyi({4: 0.1, 6: 0.2})", "--to", "renyi", "--group", 2), RenyiDP.at({1.5: 0.3, 2: 0.3, 3: 0.6})),
    (("random(pure(1), 0.1)", "--to", "random"), RandomDP(PureDP(1.0), 0.1)),
    (("zcdp(0.5)", "--to", "zcdp"), ZeroConcentratedDP(0.5)),
    (("zcdp(0.5)", "--to", "zcdp", "--group", 3), ZeroConcentratedDP(4.5)),
    (("gaussian(1)", "--to", "gaussian", "--group", 2), GaussianDP(2.0)),
    (
        ("pure(1)", "--to", "approximate", "--delta", 1e-6, "--group", 2),
        PureDP(2.0).to_approximate(delta=1e-6),
    ),
]


@pytest.mark.parametrize(("words", "result"), RESULTS, ids=[" ".join(map(str, words)) for words, _ in RESULTS])
def test_arrows(sitr: Sitr, words: tuple[object, ...], result: Promise) -> None:
    done = sitr("convert", *words)
    assert (done.code, done.err) == (0, "")
    first, headline, *sentences = done.out.splitlines()
    assert (first, headline) == (write(result), Headline.of(result).symbols())
    told = sitr("convert", *words, "--json").told()
    assert list(told) == ["promise", "group", "result", "meaning", "failure", "headline"]
    assert told["headline"] == Headline.of(result).to_dict()
    assert " ".join(sentences) == f"{told['meaning']} {told['failure']}"
    assert parse(told["result"]) == result
    assert told["promise"] == write(parse(str(words[0])))


@pytest.mark.parametrize("stated", ["pure(1)", "zcdp(0.5)", "gaussian(1)", "concentrated(0.5, 1)"])
def test_a_curve_is_written_at_a_few_orders_that_it_implies(sitr: Sitr, stated: str) -> None:
    table = parse(sitr("convert", stated, "--to", "renyi", "--json").told()["result"])
    assert isinstance(table, RenyiDP)
    curve = express(parse(stated), RenyiDP) if stated != "concentrated(0.5, 1)" else ZeroConcentratedDP(0.5).to_renyi()
    assert curve.covers(table)
    # The table loses little: at δ = 10⁻⁶ less than one percent.
    assert table.to_approximate(delta=1e-6).epsilon < 1.01 * curve.to_approximate(delta=1e-6).epsilon


def test_a_group_is_named_in_the_sentence(sitr: Sitr) -> None:
    assert "For a group of 3" in " ".join(sitr("convert", "pure(1)", "--to", "zcdp", "--group", 3).out.split())
    assert "group" not in sitr("convert", "pure(1)", "--to", "zcdp").out


OUTRIGHT: list[tuple[tuple[object, ...], str]] = [
    (("zcdp(0.5)", "--to", "approximate", "--delta", 1e-6), "Nobody can be exposed outright"),
    (("pure(1)", "--to", "approximate", "--delta", 0.1), "All of δ is finite tail."),
    (("approximate(1, 1e-6)", "--to", "approximate", "--delta", 0.1), "with probability up to 10⁻⁶ (1 in 1,000,000)."),
    (("profile((1, 1e-3), (2, 1e-6))", "--to", "approximate", "--delta", 1e-3), "with probability up to 10⁻⁶ ("),
    (("approximate(1, 1e-6)", "--to", "profile"), "It may be either"),
    (("gaussian(1)", "--to", "zcdp"), "Nobody is ever exposed outright"),
    (("random(pure(1), 0.1)", "--to", "random"), "the newcomer may be exposed outright, every time."),
]


@pytest.mark.parametrize(("words", "told"), OUTRIGHT, ids=[" ".join(map(str, words)) for words, _ in OUTRIGHT])
def test_the_two_failures_of_delta_look_different(sitr: Sitr, words: tuple[object, ...], told: str) -> None:
    assert told in sitr("convert", *words, "--json").told()["failure"]
    assert told in " ".join(sitr("convert", *words).out.split())


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        (("zcdp(0.5)", "--to", "approximate"), "BadUsage", "--delta 1e-6"),
        (("renyi(2, 1)", "--to", "approximate"), "BadUsage", "--delta 1e-6"),
        (("profile((1, 1e-6))", "--to", "approximate"), "BadUsage", "--delta 1e-6"),
        (("approximate(1, 1e-6)", "--to", "zcdp"), "IncompatiblePromises", "nor any moment"),
        (("approximate(1, 1e-6)", "--to", "renyi"), "IncompatiblePromises", "nor any moment"),
        (("approximate(1, 0)", "--to", "zcdp"), "IncompatiblePromises", "or PureDP if δ = 0"),
        (("approximate(1, 1e-6)", "--to", "pure"), "IncompatiblePromises", "largest loss"),
        (("zcdp(0.5)", "--to", "pure"), "IncompatiblePromises", "sets no largest loss"),
        (("zcdp(0.5)", "--to", "concentrated"), "IncompatiblePromises", ""),
        (("zcdp(0.5)", "--to", "gaussian"), "IncompatiblePromises", "Gaussians"),
        (("random(pure(1), 0.1)", "--to", "approximate", "--delta", 1e-6), "IncompatiblePromises", "γ cannot be moved"),
        (("random(pure(1), 0.1)", "--to", "pure"), "IncompatiblePromises", "γ"),
        (("pure(1)", "--to", "random"), "IncompatiblePromises", "about replacing one person"),
        (("concentrated(0.5, 1)", "--to", "zcdp", "--group", 2), "IncompatiblePromises", "scales_to_groups"),
        (("renyi(2, 0.1)", "--to", "renyi", "--group", 2), "IncompatiblePromises", "higher order"),
        (("renyi(7, 0.1)", "--to", "renyi", "--group", 3), "IncompatiblePromises", "needs order 2s"),
        (("pure(1)", "--to", "approximately"), "BadUsage", ""),
        (("pure(1)", "--to", ""), "BadUsage", ""),
        (("pure(1)",), "BadUsage", ""),
        (("pure(1)", "--to", "zcdp", "--delta", 1e-6), "BadUsage", ""),
        (("pure(1)", "--to", "zcdp", "--group", 0), "InvalidPromise", ""),
        (("pure(1)", "--to", "zcdp", "--group", "two"), "BadUsage", ""),
        (("zcdp(0.5)", "--to", "approximate", "--delta", 0), "InvalidPromise", ""),
        (("zcdp(0.5)", "--to", "approximate", "--delta", "nan"), "InvalidPromise", ""),
        (("zcdp(0.5)", "--to", "approximate", "--delta", 2), "InvalidPromise", ""),
        (("approximate(1, 1e-6)", "--to", "approximate", "--delta", 1e-9), "InvalidPromise", "larger δ"),
        (("pure(-1)", "--to", "zcdp"), "InvalidPromise", ""),
    ],
)
def test_what_cannot_be(sitr: Sitr, words: tuple[object, ...], error: str, told: str) -> None:
    refused = sitr("convert", *words, "--json")
    assert (refused.code, refused.error()["error"]) == (2, error)
    assert told in refused.error()["do"] + refused.error()["given"]
