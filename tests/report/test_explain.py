"""Every flavor in every language: complete, with its parameters, and honest about what it does not promise."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import cast

import pytest

from sitr.errors import IncompatiblePromises
from sitr.flavors import FLAVORS
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.report.explain import VOICES, explain, render, to_dict
from sitr.report.headline import READING_DELTA, Headline
from sitr.report.text.terminal import as_text
from sitr.report.words.explanation import Explanation, symbols
from sitr.report.words.notation import odds

PROMISES: dict[str, Promise] = {
    "pure": PureDP(0.25),
    "approximate": ApproximateDP(0.75, 1e-7),
    "approximate without δ": ApproximateDP(0.75, 0.0),
    "profile": PrivacyProfile(((1.5, 1e-3), (2.5, 1e-8))),
    "long profile": PrivacyProfile(tuple((float(i), 10.0**-i) for i in range(1, 30))),
    "concentrated": ConcentratedDP(0.35, 0.85),
    "concentrated, for groups": ConcentratedDP(0.35, 0.85, scales_to_groups=True),
    "zero-concentrated": ZeroConcentratedDP(0.125),
    "zero-concentrated with ξ": ZeroConcentratedDP(0.125, xi=0.0625),
    "Rényi": RenyiDP.at({2.0: 0.15, 8.0: 0.65}),
    "Rényi curve": PureDP(0.5).to_renyi(),
    "Gaussian": GaussianDP(0.45),
    "random": RandomDP(PureDP(0.25), 0.0125),
    "random approximate": RandomDP(ApproximateDP(0.75, 1e-7), 0.0125),
    "random Gaussian": RandomDP(GaussianDP(0.45), 0.0125),
    "random with γ = 0": RandomDP(PureDP(0.25), 0.0),
    "Gaussian without noise to hide": GaussianDP(0.0),
    "zero-concentrated without slope": ZeroConcentratedDP(0.0, xi=0.0625),
    "concentrated without spread": ConcentratedDP(0.35, 0.0),
    "Rényi with a moment of 0": RenyiDP.at({2.0: 0.0}),
    "profile with a last δ of 0": PrivacyProfile(((1.5, 1e-3), (2.5, 0.0))),
    "Gaussian beyond all floats": GaussianDP(1e200),
    "concentrated beyond all floats": ConcentratedDP(0.35, 1e200),
    "random without loss": RandomDP(GaussianDP(0.0), 0.0125),
    "Pufferfish": Pufferfish(0.35, Framework("whether one person is ill", "illness is contagious")),
    "Pufferfish for quilts": Pufferfish(0.35, Framework("the state at each time", "one Markov chain", series="0a1b")),
    "nothing": PureDP(0.0),
    "nearly nothing": ApproximateDP(1e300, 1.0),
}
each_promise = pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
each_language = pytest.mark.parametrize("language", Language, ids=lambda language: language.value)


def parts(explanation: Explanation) -> dict[str, str]:
    """All texts, with unbroken spaces as plain ones and without isolates."""
    texts = {field.name: getattr(explanation, field.name) for field in fields(explanation) if field.name != "language"}
    return {name: re.sub("[\u2066\u2069]", "", text).replace("\u00a0", " ") for name, text in texts.items()}


@each_language
@each_promise
def test_every_part_is_there(promise: Promise, language: Language) -> None:
    explanation = explain(promise, language=language)
    assert explanation.language is language
    for text in parts(explanation).values():
        assert len(text) > 20
        assert "  " not in text
        assert not re.search(r"RDP|rdp|None|nan|inf\b|\{|\}", text)
    for name in ("promised", "meaning", "failure", "not_promised"):
        assert parts(explanation)[name].endswith(".")


@each_language
@each_promise
def test_the_parameters_are_in_it(promise: Promise, language: Language) -> None:
    told = parts(explain(promise, language=language))
    assert symbols(promise) in told["title"]
    inner = promise.inner if isinstance(promise, RandomDP) else promise
    for number in re.findall(r"[\d.]+", re.sub("D(.|[(].*?[)]) ≤", "", symbols(inner))):
        assert number in told["promised"], number


@each_language
@pytest.mark.parametrize("name", ["concentrated", "zero-concentrated", "zero-concentrated with ξ", "Rényi", "Gaussian"])
def test_what_has_no_single_epsilon_is_read_at_one_delta_and_says_so(name: str, language: Language) -> None:
    promise = cast("ZeroConcentratedDP", PROMISES[name])
    told = parts(explain(promise, language=language))["meaning"]
    read = promise.to_approximate(delta=READING_DELTA)
    assert symbols(read).partition(",")[0] in told
    factor = odds(read.epsilon)
    assert {Language.ENGLISH: f"{factor} times as likely", Language.ARABIC: f"{factor} · p + 10⁻⁶"}[language] in told
    tail = Headline.of(promise).odds
    assert tail is not None
    assert tail > read.epsilon
    moves = {Language.ENGLISH: "by more than a factor of {}", Language.ARABIC: "بعامل أكبر من {}"}
    assert moves[language].format(odds(tail)) in told
    assert "δ = 10⁻⁶" in told
    assert {Language.ENGLISH: "One reading of many", Language.ARABIC: "قراءة واحدة من قراءات كثيرة"}[language] in told


OUTRIGHT = {Language.ENGLISH: "exposed outright", Language.ARABIC: "انكشافًا تامًا"}
NEVER = {Language.ENGLISH: "Nobody is ever exposed outright", Language.ARABIC: "لا ينكشف أحد انكشافًا تامًا أبدًا"}
EITHER = {Language.ENGLISH: "It may be either", Language.ARABIC: "فقد تكون أحد أمرين"}
GRACEFUL = {Language.ENGLISH: "graceful", Language.ARABIC: "بلطف"}


@each_language
@pytest.mark.parametrize("name", ["approximate", "profile", "long profile", "nearly nothing"])
def test_a_delta_may_be_either_failure(name: str, language: Language) -> None:
    told = parts(explain(PROMISES[name], language=language))["failure"]
    assert EITHER[language] in told
    assert OUTRIGHT[language] in told
    assert GRACEFUL[language] in told
    assert NEVER[language] not in told


@each_language
@pytest.mark.parametrize("name", ["concentrated", "zero-concentrated", "Rényi", "Gaussian"])
def test_bounded_moments_never_expose_outright(name: str, language: Language) -> None:
    told = parts(explain(PROMISES[name], language=language))["failure"]
    assert NEVER[language] in told
    assert GRACEFUL[language] in told
    assert EITHER[language] not in told


@each_language
@each_promise
def test_delta_is_never_said_to_be_the_probability_of_a_larger_loss(promise: Promise, language: Language) -> None:
    """P(L > ε) may well exceed δ: nothing holds "but for an event of probability δ"."""
    said = " ".join(parts(explain(promise, language=language)).values())
    assert not re.search("apart from|except|1 − δ|باستثناء|عدا (حدث|احتمال)", said)


LARGEST = {
    "Gaussian without noise to hide": ("0", "1"),
    "zero-concentrated without slope": ("0.0625", "1.07"),
    "concentrated without spread": ("0", "1"),
    "Rényi with a moment of 0": ("0", "1"),
    "Rényi curve": ("0.5", "1.65"),
}


@each_language
@pytest.mark.parametrize("name", LARGEST)
def test_a_largest_loss_leaves_nothing_to_luck(name: str, language: Language) -> None:
    """Such a promise is pure: no reading at one δ of many, and no loss without a ceiling."""
    told = parts(explain(PROMISES[name], language=language))
    loss, factor = LARGEST[name]
    never, by, ceiling = {
        Language.ENGLISH: (f"never exceeds {loss}.", f"by at most a factor of {factor}:", "ceiling"),
        Language.ARABIC: (f"لا تتجاوز الخسارة {loss} أبدًا.", f"إلا بعامل لا يتجاوز {factor}:", "سقف"),
    }[language]
    assert never in told["failure"]
    assert by in told["meaning"]
    assert "δ" not in told["meaning"]
    assert ceiling not in told["failure"]
    assert GRACEFUL[language] not in told["failure"]
    assert OUTRIGHT[language] in told["failure"]


@each_language
def test_a_profile_that_ends_at_0_exposes_nobody(language: Language) -> None:
    told = parts(explain(PROMISES["profile with a last δ of 0"], language=language))["failure"]
    assert NEVER[language] in told
    assert "2.5" in told
    assert EITHER[language] not in told


@each_language
@pytest.mark.parametrize("name", ["pure", "approximate without δ"])
def test_without_delta_luck_plays_no_part(name: str, language: Language) -> None:
    told = parts(explain(PROMISES[name], language=language))["failure"]
    assert {Language.ENGLISH: "Luck plays no part", Language.ARABIC: "لا شأن للحظ هنا"}[language] in told
    assert EITHER[language] not in told
    assert GRACEFUL[language] not in told


@each_language
@pytest.mark.parametrize("name", [name for name in PROMISES if name.startswith("random")])
def test_a_random_promise_is_not_about_you_and_never_without_gamma(name: str, language: Language) -> None:
    promise = cast("RandomDP", PROMISES[name])
    told = parts(explain(promise, language=language))
    newcomer, to_you, you = {
        Language.ENGLISH: ("random newcomer, not you", "You yourself are not protected", "your data"),
        Language.ARABIC: ("قادمًا جديدًا عشوائيًا، ولا يحميك أنت", "لست محميًا أنت بعينك", "بياناتك"),
    }[language]
    assert newcomer in told["promised"]
    assert to_you in told["not_promised"]
    assert you not in " ".join(told.values())
    gamma = f"γ = {'0.0125' if promise.gamma else '0'}"
    assert gamma in told["title"]
    assert gamma in told["promised"]
    # γ, or what it leaves, stands before the numbers of the inner promise.
    assert {0.0125: "98.75%", 0.0: "100%"}[promise.gamma] in told["meaning"].partition("· p")[0][:40]
    assert (gamma in told["failure"]) == (promise.gamma > 0)


def test_groups_are_promised_what_the_promise_says() -> None:
    alone = explain(PROMISES["concentrated"], language=Language.ENGLISH).not_promised
    assert "promised nothing by this alone" in alone
    assert "s²·μ and s·τ" in explain(PROMISES["concentrated, for groups"], language=Language.ENGLISH).not_promised


@each_language
def test_as_text_and_for_machines(language: Language) -> None:
    explanation = explain(PROMISES["pure"], language=language)
    shown = as_text(render(explanation), width=10_000)
    for text in (*VOICES[language].headings, explanation.title, explanation.promised, explanation.not_promised):
        assert text in shown
    assert to_dict(explanation) == {
        "language": language.value,
        **{name: getattr(explanation, name) for name in ("title", "promised", "meaning", "failure", "not_promised")},
    }


@each_language
def test_no_flavor_is_missing_in_any_language(language: Language) -> None:
    assert [file for file in FLAVORS.values() if not hasattr(VOICES[language], file)] == []


def test_an_unknown_flavor_is_refused() -> None:
    with pytest.raises(IncompatiblePromises, match="one of the flavors PureDP, "):
        explain(cast("Promise", "ε"), language=Language.ENGLISH)
