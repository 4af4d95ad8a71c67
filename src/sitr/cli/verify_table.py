"""`sitr verify TABLE`: what a table of probabilities proves, and whether claims about it hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sitr.cli.papers import check_plot, draw
from sitr.cli.progress import advancing
from sitr.cli.terminal import say
from sitr.errors import BadUsage, FileError

if TYPE_CHECKING:
    from sitr.audit.exact.claims import Decision
    from sitr.audit.exact.mechanism import FiniteMechanism
    from sitr.audit.exact.population import PopulationMechanism, RandomDecision

EXITS = {"kept": 0, "broken": 1, "undecided": 3}
"""The exit code of each verdict; of several, the worst: broken before undecided before kept."""

HEADINGS = frozenset({("record", "probability"), ("secret", "input"), ("input", "seen")})
"""First lines of files of two columns that may be there, and say nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about a table."""

    claims: tuple[str, ...]
    neighbors: str
    rounding: float | None
    delta: float
    epsilon: float
    order: float
    xi: float | None
    uses: int | None
    population: Path | None
    draws: int | None
    priors: Path | None
    secrets: Path | None
    aggregate: Path | None
    plot: Path | None


def verify_table(path: Path, asked: Asked, *, as_json: bool) -> None:
    """Print figures and verdicts, write the picture, and exit with the verdict's code."""
    from sitr.audit.exact.picture import picture
    from sitr.audit.exact.report import verification

    check_plot(asked.plot)
    mechanism, people = _mechanism(path, asked), _people(path, asked)
    with advancing("Verifying", quiet=as_json) as progress:
        decisions = tuple(_decision(mechanism, people, claim) for claim in asked.claims)
        found = verification(
            mechanism,
            decisions,
            delta=asked.delta,
            epsilon=asked.epsilon,
            order=asked.order,
            xi=asked.xi,
            uses=asked.uses,
            people=people,
            progress=progress,
        )
    content: dict[str, object] = {"table": str(path), **found.to_dict()}
    if asked.aggregate is not None:
        content["coupled_worlds"] = _coupled(path, asked)
    say(found.render(), content, as_json=as_json)
    if asked.aggregate is not None and not as_json:
        _say_coupled(content["coupled_worlds"])
    claim = asked.claims[0] if asked.claims else None
    draw(asked.plot, lambda: picture(mechanism, claim), as_json=as_json)
    verdicts = [decision.verdict.value for decision in decisions]
    raise typer.Exit(1 if "broken" in verdicts else 3 if "undecided" in verdicts else 0)


def _rounding(asked: Asked) -> float:
    from sitr.audit.exact.table import ROUNDING

    return ROUNDING if asked.rounding is None else asked.rounding


def _mechanism(path: Path, asked: Asked) -> FiniteMechanism:
    from sitr.audit.exact.mechanism import finite
    from sitr.audit.exact.neighbors import Neighbors
    from sitr.audit.exact.pufferfish import pufferfish

    if (asked.priors is None) != (asked.secrets is None):
        raise BadUsage(
            wanted="--priors and --secrets together, for Pufferfish privacy",
            given="one of them",
            do="Add the other file.",
        )
    if asked.aggregate is not None and asked.priors is None:
        raise BadUsage(
            wanted="--priors and --secrets with --aggregate, for coupled worlds",
            given="--aggregate alone",
            do="Add both files.",
        )
    if asked.priors is not None and asked.secrets is not None:
        return pufferfish(
            path, priors=_priors(asked.priors), secrets=_secrets(asked.secrets), rounding=_rounding(asked)
        )
    known = [relation.value for relation in Neighbors]
    neighbors: object = asked.neighbors if asked.neighbors in known else Path(asked.neighbors)
    return finite(path, neighbors=neighbors, rounding=_rounding(asked))


def _people(path: Path, asked: Asked) -> PopulationMechanism | None:
    from sitr.audit.exact.population import population

    if asked.population is None:
        return None
    records: dict[object, int | float | Fraction] = {name: _fraction(weight) for name, weight in _two(asked.population)}
    return population(path, records=records, draws=asked.draws, rounding=_rounding(asked))


def _decision(mechanism: FiniteMechanism, people: PopulationMechanism | None, claim: str) -> Decision | RandomDecision:
    if people is not None and claim.strip().startswith("random("):
        return people.verify(claim)
    return mechanism.verify(claim)


def _coupled(path: Path, asked: Asked) -> dict[str, object]:
    from sitr.audit.exact.coupled import coupled_worlds

    assert asked.priors is not None
    assert asked.secrets is not None
    assert asked.aggregate is not None
    found = coupled_worlds(
        path,
        epsilon=asked.epsilon,
        priors=_priors(asked.priors),
        secrets=_secrets(asked.secrets),
        aggregate=dict(_two(asked.aggregate)),
        rounding=_rounding(asked),
    )
    delta = {"lower": found.delta.lower, "upper": found.delta.upper}
    return {"epsilon": found.epsilon, "delta": delta, "prior": found.case[0], "secret": found.case[1]}


def _say_coupled(content: object) -> None:
    from sitr.cli.terminal import console
    from sitr.report.figures import about, at_least, at_most
    from sitr.report.words.words import in_words

    assert isinstance(content, dict)
    ends = content["delta"]
    say = in_words().exact
    sentence = say.coupled(about(content["epsilon"]), at_least(ends["lower"]), at_most(ends["upper"]))
    console().print(sentence, soft_wrap=True)


def _priors(path: Path) -> dict[str, dict[object, int | float | Fraction]]:
    """A prior on each line: its name, and the probability of each input, which the first line names."""
    from sitr.audit.exact.reading import read_table

    table = read_table(path)
    found: dict[str, dict[object, int | float | Fraction]] = {}
    for place, name in enumerate(table.inputs):
        found[str(name)] = dict(zip(table.outcomes, table.exact_row(place), strict=True))
    return found


def _secrets(path: Path) -> Mapping[str, list[str]]:
    """A secret and an input for which it is true on each line."""
    found: dict[str, list[str]] = {}
    for secret, name in _two(path):
        found.setdefault(secret, []).append(name)
    return found


def _two(path: Path) -> list[tuple[str, str]]:
    from sitr.audit.exact.neighbors import read_pairs

    pairs = read_pairs(path)
    if pairs and tuple(map(str.lower, pairs[0])) in HEADINGS:
        del pairs[0]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise FileError(given=f"{path} must have two columns on each line.", do="Correct it; it needs no heading.")
    return [(first, second) for first, second in pairs]


def _fraction(text: str) -> Fraction:
    from sitr.audit.exact.reading import read_number

    return read_number(text)
