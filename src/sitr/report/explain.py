"""Any promise in plain words, in English or in Arabic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.words.arabic.explain import ArabicVoice
from sitr.report.words.english.explain import EnglishVoice
from sitr.report.words.explanation import Explanation, Language, Voice, Whom

VOICES: Mapping[Language, Voice] = {Language.ENGLISH: EnglishVoice(), Language.ARABIC: ArabicVoice()}


def explain(promise: Promise, *, language: Language) -> Explanation:
    """What a promise means for one person, and what it does not mean.

    >>> explain(PureDP(0.5), language=Language.ENGLISH).title
    'Pure differential privacy: ε = 0.5'
    """
    return _explained(promise, VOICES[language], Whom.YOU)


def to_dict(explanation: Explanation) -> dict[str, str]:
    """For machines."""
    return asdict(explanation) | {"language": explanation.language.value}


def render(explanation: Explanation) -> RenderableType:
    """For a terminal: the title, and each part below its heading."""
    parts = (explanation.promised, explanation.meaning, explanation.failure, explanation.not_promised)
    lines = [Text(explanation.title, style="bold")]
    for heading, part in zip(VOICES[explanation.language].headings, parts, strict=True):
        lines += [Text(), Text(heading, style="dim"), Text(part)]
    return Group(*lines)


def _explained(promise: Promise, voice: Voice, whom: Whom) -> Explanation:
    match promise:
        case PureDP():
            return voice.pure(promise, whom=whom)
        case ApproximateDP():
            return voice.approximate(promise, whom=whom)
        case PrivacyProfile():
            return voice.profile(promise, whom=whom)
        case ConcentratedDP():
            return voice.concentrated(promise, whom=whom)
        case ZeroConcentratedDP():
            return voice.zero_concentrated(promise, whom=whom)
        case RenyiDP():
            return voice.renyi(promise, whom=whom)
        case GaussianDP():
            return voice.gaussian(promise, whom=whom)
        case RandomDP(inner):
            return voice.random(promise, inner=_explained(inner, voice, Whom.NEWCOMER))
    raise IncompatiblePromises(
        wanted="a promise of one of the eight flavors",
        given=repr(promise),
        do="Convert it to one of them first.",
    )
