"""Any promise in plain words, in English or in Arabic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.errors import IncompatiblePromises
from sitr.flavors import FLAVORS
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.language import Language
from sitr.report.words.arabic.explain import ArabicVoice
from sitr.report.words.english.explain import EnglishVoice
from sitr.report.words.explanation import Explanation, Voice, Whom

VOICES: Mapping[Language, Voice] = {Language.ENGLISH: EnglishVoice(), Language.ARABIC: ArabicVoice()}


def explain(promise: Promise, *, language: Language) -> Explanation:
    """What a promise means for one person, and what it does not mean.

    >>> from sitr.flavors import PureDP
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
    if isinstance(promise, RandomDP):
        return voice.random(promise, inner=_explained(promise.inner, voice, Whom.NEWCOMER))
    if isinstance(promise, ComputationalDP):
        return voice.computational(promise, inner=_explained(promise.inner, voice, whom))
    explained = getattr(voice, FLAVORS.get(type(promise).__name__, ""), None)
    if explained is None:
        raise IncompatiblePromises(
            wanted=f"a promise of one of the flavors {', '.join(FLAVORS)}",
            given=repr(promise),
            do="Convert it to one of them first.",
        )
    return cast("Explanation", explained(promise, whom=whom))
