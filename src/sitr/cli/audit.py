"""`sitr audit`: does a mechanism, or a trained model, keep its claim?"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.options import Json
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.progress import advancing
from sitr.cli.terminal import console, say_json
from sitr.cli.timing import check_alone, time_of
from sitr.errors import BadUsage
from sitr.neighbors.relation import Relation

if TYPE_CHECKING:
    from sitr.audit.canaries.one_run import OneRun
    from sitr.audit.empirical.finding import Finding
    from sitr.flavors.promise import Promise
    from sitr.report.paper import Facts
    from sitr.report.words.words import Words

BROKEN = 3
"""The exit code for a claim that is refuted."""

NUMBERS = "[0, 1]"
"""The inputs unless the user says otherwise: a number that one person moves by 1."""

DRAWS = 200_000
"""Draws on both inputs together, unless the user says otherwise."""


def audit(
    subject: Annotated[
        str | None, typer.Argument(metavar="MODULE:FUNCTION", help="The mechanism, a Python function of its input.")
    ] = None,
    claim: Annotated[str | None, typer.Option(help="The promise to check, such as 'approximate(1, 1e-6)'.")] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            help="Two neighbouring inputs as a JSON list, or @FILE; with --search, one table; default: [0, 1]."
        ),
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Search for neighbours of the table in --inputs.")] = False,
    relation: Annotated[Relation, typer.Option(help="How neighbouring data sets differ.")] = Relation.ADD_REMOVE,
    command: Annotated[
        str | None,
        typer.Option(help="A program that reads the input as JSON and prints one line."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="An address on this machine that answers to posted JSON.")] = None,
    scores: Annotated[Path | None, typer.Option(help="A CSV file of canaries: score, and included (1 or 0).")] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=400, help="Draws on both inputs together; default: 200,000, or 4,000 with --timing."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="The confidence of all bounds together.")] = 0.99,
    delta: Annotated[
        float | None, typer.Option(help="The δ of the bound on ε, for canaries; default: the claim's.")
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="The accountant's interval of ε, for the chart of canaries.")
    ] = None,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Stop as soon as the claim is refuted; the bounds allow for it.")
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Test whether the time of an answer tells the inputs apart; no claim.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Coins from a seed, for functions that take coins, to repeat an audit.")
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Look for evidence that a claim about privacy is false.

    The claim is about a mechanism or a model. The mechanism is a function, a --command or a --url; for a model, give
    the --scores of canaries. "Broken" comes with an event that proves it at the stated confidence. "Consistent" is no
    proof. Exit codes: 0 consistent, 3 broken.

    With --timing, the time of an answer is tested instead: a statistical test on this machine, whose noise hides small
    differences. A promise says nothing about time. Exit codes: 0 no difference found, 3 the time tells.

    Example: sitr audit noise:count --claim 'pure(1)' --inputs '[10, 11]'
    """
    if timing:
        check_alone(
            claim=claim,
            scores=scores,
            search=search,
            delta=delta is not None,
            interval=interval,
            sequential=sequential,
            plot=plot,
        )
        time_of(
            _box(subject, command, url, seed=seed),
            _pairs(_needed(inputs), search=False, relation=relation)[0],
            draws=draws,
            confidence=confidence,
            as_json=as_json,
        )
    check_plot(plot)
    if scores is not None:
        _canaries(scores, claim, delta=delta, confidence=confidence, interval=interval, plot=plot, as_json=as_json)
        return
    from sitr.audit.empirical.audit import audit as audited
    from sitr.audit.empirical.curves import allowed
    from sitr.flavors.notation import parse
    from sitr.report.chart.audited import chart

    if claim is None:
        raise BadUsage(wanted="--claim with a mechanism", given="none", do="Write for example --claim 'pure(1)'.")
    promise: Promise = parse(claim)
    box = _box(subject, command, url, seed=seed)
    pairs = _pairs(NUMBERS if inputs is None else inputs, search=search, relation=relation)
    with advancing("Drawing answers", quiet=as_json) as told:
        found = audited(
            box,
            claim=promise,
            pairs=pairs,
            draws=DRAWS if draws is None else draws,
            confidence=confidence,
            sequential=sequential,
            progress=told,
        )
    if as_json:
        say_json({**found.to_dict(), "inputs": [_plain(each) for each in pairs[found.pair]]})
    else:
        shown = pairs[found.pair] if len(pairs) > 1 or inputs is None else None
        _show(lambda words: _facts(found, shown, words))
    draw(plot, lambda: chart(allowed(promise), found.trade_off(), broken=found.broken), as_json=as_json)
    raise typer.Exit(BROKEN if found.broken else 0)


def _show(facts: Callable[[Words], Facts]) -> None:
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words

    text.show(text.facts(facts(in_words())), out=console())


def _facts(found: Finding, inputs: tuple[Any, Any] | None, words: Words) -> Facts:
    from sitr.audit.empirical.claims import failure_of
    from sitr.flavors.notation import write

    say, delta, order = words.audit, failure_of(found.claim), found.refuting_order
    seen = found.witness or found.closest
    event = seen.event
    verdict = say.broken(found.confidence) if found.broken else say.consistent(found.draws)
    if found.witness is None and order is not None:
        witnessed: Facts = (("event", say.moment(*order)),)
    else:
        witnessed = (
            ("event", say.event(event.feature, event.place, event.order, event.edge)),
            ("happened", say.frequencies(seen.first, seen.second, seen.draws)),
            ("probability", say.probabilities(seen.at_least, seen.at_most)),
        )
    return (
        ("verdict", verdict),
        ("claim", say.claim(write(found.claim))),
        *(() if inputs is None else (("inputs", say.inputs(*(str(_plain(each)) for each in inputs))),)),
        *witnessed,
        ("audited", f"{say.epsilon(found.epsilon(delta=delta), delta)}; {say.mu(found.mu)}"),
        ("draws", say.drawn(found.draws, found.sequential)),
    )


def _canaries(
    scores: Path,
    claim: str | None,
    *,
    delta: float | None,
    confidence: float,
    interval: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    from sitr.audit.canaries.one_run import one_run
    from sitr.audit.canaries.scores import read_scores
    from sitr.audit.empirical.claims import check, failure_of
    from sitr.flavors.approximate import ApproximateDP
    from sitr.flavors.gaussian import GaussianDP
    from sitr.flavors.notation import parse
    from sitr.report.chart.audited import bounds_chart

    promise = None if claim is None else parse(claim)
    at = delta if delta is not None else 0.0 if promise is None else failure_of(promise)
    if promise is not None:
        check(promise)
        if at == 0.0 and not promise.stated and not isinstance(promise, GaussianDP):
            raise BadUsage(
                wanted="--delta with a claim that states no δ", given=repr(claim), do="Add for example --delta 1e-6."
            )
    lower, upper = (None, None) if interval is None else _interval(interval)
    found = one_run(*read_scores(scores), delta=at, confidence=confidence)
    if promise is not None and upper is None:
        stated = ApproximateDP.implied_by(promise, delta=at) if at > 0 and not promise.stated else None
        upper = promise.stated[0][0] if promise.stated else None if stated is None else stated.epsilon
    broken = promise is not None and found.refutes(promise)
    if as_json:
        more = {} if interval is None else {"interval": {"lower": lower, "upper": upper}}
        say_json({**(found.to_dict() if promise is None else found.verdict(promise)), **more})
    else:
        _show(lambda words: _canary_facts(found, promise, words, broken=broken))
    drawn = lambda: bounds_chart(found.epsilon, lower=lower, upper=upper, delta=at)  # noqa: E731
    draw(plot, drawn, as_json=as_json)
    raise typer.Exit(BROKEN if broken else 0)


def _canary_facts(found: OneRun, promise: Promise | None, words: Words, *, broken: bool) -> Facts:
    from sitr.flavors.notation import write

    say, first = words.audit, found.guesses[0]
    judged: Facts = ()
    if promise is not None:
        verdict = say.broken(found.confidence) if broken else say.consistent(first.canaries)
        judged = (("verdict", verdict), ("claim", say.claim(write(promise))))
    return (
        *judged,
        ("audited", f"{say.epsilon(found.epsilon, found.delta)}; {say.mu(found.mu)}"),
        ("guesses", say.guesses(first.made, first.correct, first.canaries)),
    )


def _box(subject: str | None, command: str | None, url: str | None, *, seed: int | None) -> Any:
    from sitr.audit.empirical.boxes import Command, Endpoint, Function
    from sitr.noise.coins import TestCoins, system_coins

    if sum(each is not None for each in (subject, command, url)) != 1:
        raise BadUsage(
            wanted="one mechanism: MODULE:FUNCTION, --command, --url, or --scores for a model",
            given="none or several",
            do="Write for example sitr audit noise:count --claim 'pure(1)' --inputs '[10, 11]'.",
        )
    if command is not None:
        return Command(_words(command))
    if url is not None:
        return Endpoint(url)
    return Function(_function(str(subject)), coins=system_coins() if seed is None else TestCoins(seed))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise BadUsage(
            wanted="a program with its arguments for --command",
            given=repr(command),
            do="Check its quotation marks, and write for example --command 'python noise.py'.",
        )
    return words


def _function(name: str) -> Callable[..., Any]:
    """The function of a module on the path, or in the current folder."""
    from importlib import import_module

    module, colon, function = name.partition(":")
    if not colon:
        raise BadUsage(wanted="MODULE:FUNCTION", given=repr(name), do="Write for example noise:count, for noise.py.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), function, None)
    except Exception as error:  # noqa: BLE001 - a module may do anything while it is imported
        reason = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise BadUsage(given=f"The module {module!r} cannot be imported: {reason}.", do="Check its name.") from None
    finally:
        sys.path.pop(0)
    if not callable(found):
        raise BadUsage(given=f"The module {module!r} has no function {function!r}.", do="Check its name.")
    checked: Callable[..., Any] = found
    return checked


def _needed(inputs: str | None) -> str:
    if inputs is None:
        raise BadUsage(wanted="--inputs with --timing", given="none", do="Write for example --inputs '[10, 11]'.")
    return inputs


def _pairs(text: str, *, search: bool, relation: Relation) -> list[tuple[Any, Any]]:
    from sitr.audit.empirical.neighbours import neighbouring

    if text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8", errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or (not search and len(found) != 2):
        raise BadUsage(
            wanted="two neighbouring inputs as a JSON list, such as [10, 11], or one table with --search",
            given=repr(text if len(text) < 60 else f"{text[:60]}…"),
            do="Write --inputs '[10, 11]', or --inputs '[3, 5, 8]' --search.",
        )
    return neighbouring(found, relation=relation) if search else [(found[0], found[1])]


def _interval(text: str) -> tuple[float, float]:
    low, colon, high = text.partition(":")
    try:
        lower, upper = float(low), float(high)
    except ValueError:
        lower, upper = 1.0, 0.0
    if not colon or not 0.0 <= lower <= upper:
        raise BadUsage(wanted="an interval LOW:HIGH for --interval", given=repr(text), do="Write for example 3.1:3.2.")
    return lower, upper


def _plain(value: Any) -> Any:
    """An input as JSON can hold it."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)
