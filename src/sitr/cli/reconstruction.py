"""`sitr demo --reconstruction`: too many answers that are too accurate give everybody away; a promise prevents it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from sitr.cli.progress import advancing
from sitr.cli.terminal import say
from sitr.report.figures import at_most, number, percent
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.text import terminal
from sitr.report.words.messages import said
from sitr.report.words.words import in_words

if TYPE_CHECKING:
    from sitr.audit.reconstruction import Trial

PEOPLE, QUESTIONS = 100, 400
SIGMAS = (0, 1, 2, 4, 8, 16, 32, 64)


def show_reconstruction(*, as_json: bool) -> None:
    """Attack invented people with more and more noise, and show what is found beside what is promised."""
    from sitr.audit.reconstruction import attacks

    trials: list[Trial] = []
    with advancing("Attacking", quiet=as_json) as progress:
        for trial in attacks(SIGMAS, people=PEOPLE, questions=QUESTIONS):
            trials.append(trial)
            if progress is not None:
                progress(len(trials) / len(SIGMAS))
    say(_shown(trials), {"people": PEOPLE, "questions": QUESTIONS, "trials": _dicts(trials)}, as_json=as_json)


def _shown(trials: Sequence[Trial]) -> Group:
    words = in_words(None)
    headings = ("noise of each count", "all counts promise", "bits found", "at most, on average")
    rows = [
        (
            words.formula(f"σ = {number(trial.sigma)}") if trial.sigma else said("none"),
            words.formula(f"ε = {at_most(trial.promise.epsilon)}, δ = {at_most(trial.promise.delta)}")
            if trial.promise is not None
            else said("nothing"),
            words.numerals(percent(trial.found)),
            words.numerals(percent(trial.most)),
        )
        for trial in trials
    ]
    roles = (Role.TEXT, Role.TEXT, Role.NUMBER, Role.NUMBER)
    columns = tuple(PaperColumn(said(heading), role) for heading, role in zip(headings, roles, strict=True))
    before = said(
        f"Each of {PEOPLE} invented people has one secret bit. An attacker sees {QUESTIONS} counts, each of the bits "
        "of a random half of the people, and looks for the bits that explain them best, by linear programming."
    )
    after = said(
        "Guessing finds 50%. Noise well below the square root of the number of people hides nobody, if there are "
        "enough counts. Where all counts together promise a small ε, no attack finds much more than guessing does: the "
        "last column bounds every attack on average, and a single one may be luckier."
    )
    return Group(Text(before), Text(), terminal.grid(PaperTable(columns, lambda: rows, len(rows))), Text(), Text(after))


def _dicts(trials: Sequence[Trial]) -> list[dict[str, object]]:
    return [
        {
            "sigma": trial.sigma,
            "epsilon": None if trial.promise is None else trial.promise.epsilon,
            "delta": None if trial.promise is None else trial.promise.delta,
            "found": trial.found,
            "at_most": trial.most,
        }
        for trial in trials
    ]
