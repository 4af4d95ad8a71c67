"""Schedules as YAML: a list of steps, each with one kind of release, how often, and perhaps a name.

::

    - gaussian: {sigma: 2, sensitivity: 1}
      times: 10
    - subsampled: {rate: 0.01, step: {laplace: {scale: 1, sensitivity: 1}}}
      name: training

Numbers are read as the decimals that are written, never as YAML understands them (`1e-6` is text to it, `010` is 8).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml

from sitr.accounting.curves import LaplaceMoments
from sitr.accounting.schedule import MOST_TIMES, Part, Schedule
from sitr.accounting.subsample import subsampled
from sitr.errors import InvalidPromise, no_schedule
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import NAMES
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import LARGEST, Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import pair as finite_pair
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.loss import Loss
from sitr.loss.sampling import sampled
from sitr.mechanisms.shuffled import shuffled
from sitr.numbers import downward, exact, finite, upward

Check = tuple[str, Callable[[Fraction], bool]]

_AT_LEAST_0: Check = ("a number of at least 0", lambda number: number >= 0)
_ABOVE_0: Check = ("a number above 0", lambda number: number > 0)
_SHARE: Check = ("a number from 0 to 1", lambda number: 0 <= number <= 1)
_ORDER: Check = ("an order above 1", lambda number: downward(number) > 1)
_TIMES: Check = (f"a whole number from 1 to {MOST_TIMES}", lambda n: n.denominator == 1 and 1 <= n <= MOST_TIMES)

# Long texts and exponents are no numbers that anybody meant, and would take long to compute with.
_NUMBER = re.compile(r"[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,4})?")


def read_schedule(source: str | Path | Sequence[object]) -> Schedule:
    """A schedule from a file, or from the list that such a file holds.

    >>> read_schedule([{"pure": {"epsilon": 0.1}, "times": 10}])
    Schedule(parts=(Part(promises=(PureDP(epsilon=0.1),), times=10, name=''),))
    >>> read_schedule([{"gaussian": {"sigma": -1, "sensitivity": 1}}])
    Traceback (most recent call last):
    sitr.errors.InvalidPromise: Expected a number above 0 in step 1, gaussian.sigma, got -1. ...
    """
    content = _load(Path(source)) if isinstance(source, str | Path) else source
    if not isinstance(content, list) or not content:
        raise _wrong("the schedule", "a list of steps", content, "Start each step with a dash.")
    kinds = set().union(*map(_kinds, content))
    for replaced in {"random", "shuffled"} & kinds if "subsampled" in kinds else ():
        # The promise of a sample is about adding or removing a person, these are about replacing one.
        do = "Compare them in two schedules: they are about different neighbours, and their losses do not add."
        raise _wrong("the schedule", f"either sampled or {replaced} steps", "both", do)
    try:
        return Schedule(tuple(_step(item, f"step {place}") for place, item in enumerate(content, start=1)))
    except RecursionError:
        raise _wrong("the schedule", "a finite list of steps", "a step that contains itself", "Write it out.") from None


# The kinds of release, and the promises of each


def _gaussian(value: object, place: str) -> Part:
    """Gaussian noise: μ = τ = Δ/σ, and the mean loss τ²/2 of that very noise."""
    sigma, sensitivity = _numbers(value, place, sigma=_ABOVE_0, sensitivity=_AT_LEAST_0)
    noise = GaussianDP(upward(sensitivity / sigma))
    spread = ConcentratedDP(upward(exact(noise.mu) ** 2 / 2), noise.mu, scales_to_groups=True)
    return Part((noise, spread), known=noise.worst_loss())


def _laplace(value: object, place: str) -> Part:
    """Laplace noise: ε = Δ/b, and its moments."""
    scale, sensitivity = _numbers(value, place, scale=_ABOVE_0, sensitivity=_AT_LEAST_0)
    noise = PureDP(upward(sensitivity / scale))
    loss = Loss.of(LaplaceLaw(noise.epsilon)) if noise.epsilon > 0.0 else Loss(())
    return Part((noise, RenyiDP(LaplaceMoments(noise.epsilon))), known=loss)


def _stated(flavor: type[Promise], value: object, place: str) -> Part:
    """A promise by its parameters; one that has a default may be left out."""
    names = {each.name: each.default for each in fields(cast("Any", flavor)) if each.type == "float"}
    defaults = {name: default for name, default in names.items() if default is not MISSING}
    shares = getattr(flavor, "probabilities", ())
    checks = {name: _SHARE if name in shares else _AT_LEAST_0 for name in names}
    numbers = _numbers({**defaults, **_mapping(value, place)}, place, **checks)
    return Part((flavor.read(**{name: upward(number) for name, number in zip(names, numbers, strict=True)}),))


def _profile(value: object, place: str) -> Part:
    """Several (ε, δ) at once."""
    if not isinstance(value, list) or not value:
        raise _wrong(place, "a list of points [ε, δ]", value, "Write for example [[1, 1e-3], [2, 1e-6]].")
    points = []
    for number, pair in enumerate(value, start=1):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise _wrong(f"{place}[{number}]", "a point [ε, δ]", pair, "Write two numbers.")
        stated = {"epsilon": pair[0], "delta": pair[1]}
        epsilon, delta = _numbers(stated, f"{place}[{number}]", epsilon=_AT_LEAST_0, delta=_SHARE)
        points.append((upward(epsilon), upward(delta)))
    return Part((PrivacyProfile(tuple(points)),))


def _renyi(value: object, place: str) -> Part:
    """One order, or a table of orders."""
    content = _mapping(value, place)
    if "orders" not in content:
        order, epsilon = _numbers(content, place, order=_ORDER, epsilon=_AT_LEAST_0)
        return Part((RenyiDP.at({downward(order): epsilon}),))  # D_α grows with α: a smaller order is implied
    (table,) = _fields(content, place, "orders")
    if not isinstance(table, Mapping) or not table:
        raise _wrong(f"{place}.orders", "a table of orders", table, "Write for example {2: 0.1, 8: 0.5}.")
    points = {}
    for order, epsilon in table.items():
        at = f"{place}.orders.{order}"
        points[downward(_number(order, at, _ORDER))] = _number(epsilon, at, _AT_LEAST_0)
    return Part((RenyiDP.at(points),))


def _response(value: object, place: str) -> Part:
    """Randomized response with largest loss ε: its moments, its mean and its spread."""
    (epsilon,) = _numbers(value, place, epsilon=_AT_LEAST_0)
    noise = PureDP(upward(epsilon))
    return Part((noise, noise.to_renyi(), noise.to_concentrated()), known=noise.worst_loss())


def _finite(value: object, place: str) -> Part:
    """Two laws on finitely many outcomes, with everything that their loss keeps."""
    p, q = (_law(law, f"{place}.{name}") for name, law in zip("pq", _fields(value, place, "p", "q"), strict=True))
    if len(p) != len(q):
        raise _wrong(place, "p and q of equal length", f"{len(p)} and {len(q)} numbers", "Write 0 where one has none.")
    law = finite_pair(p, q)
    loss = Loss.of(law)
    if mass := max(sum((a for a, b in zip(x, y, strict=True) if not b), Fraction(0)) for x, y in ((p, q), (q, p))):
        largest = max(0.0, law.greatest, -law.least)
        return Part((ApproximateDP(upward(exact(largest) * (1 + Fraction(1, 10**12))), upward(mass)),), known=loss)
    if loss.max() == 0.0:
        return Part((PureDP(0.0),), known=Loss(()))
    return Part((PureDP.of(loss), ZeroConcentratedDP.of(loss), ConcentratedDP.of(loss)), known=loss)


def _law(value: object, place: str) -> list[Fraction]:
    """Probabilities that add up to exactly 1, as decimals or as fractions such as 1/3."""
    if not isinstance(value, list | tuple) or not value:
        raise _wrong(place, "a list of probabilities", value, "Write for example [3/4, 1/4].")
    law = []
    for number, one in enumerate(value, start=1):
        top, slash, bottom = one.partition("/") if isinstance(one, str) else (one, "", "")
        share = _number(top, f"{place}[{number}]", _AT_LEAST_0)
        law.append(share / _number(bottom, f"{place}[{number}]", _ABOVE_0) if slash else share)
    if sum(law) != 1:
        raise _wrong(
            place, "probabilities that add up to exactly 1", f"a sum of {float(sum(law)):.15g}", "Correct them."
        )
    return law


def _subsampled(value: object, place: str) -> Part:
    """Each person is in the sample with probability `rate`, independently of others (Poisson, add-remove)."""
    rate, step = _fields(value, place, "rate", "step")
    share = upward(_number(rate, f"{place}.rate", _SHARE))
    inner = _known(step, f"{place}.step")
    promises = subsampled(inner.promises, rate=share)
    if not promises:
        wanted = "a step that is pure, approximate, a profile or Gaussian"
        do = "The promises of this step do not extend to a sample: state the promises of the sampled step instead."
        raise _wrong(f"{place}.step", wanted, step, do)
    return Part(promises, known=sampled(whole, rate=share) if (whole := inner.loss()) is not None else None)


def _shuffled(value: object, place: str) -> Part:
    """This many people answer, each with the step's promise, and the answers are shuffled; one person is replaced."""
    number, step = _fields(value, place, "people", "step")
    people = int(_number(number, f"{place}.people", _TIMES))
    pure = [promise for promise in _known(step, f"{place}.step").promises if isinstance(promise, PureDP)]
    if not pure or "shuffled" in _kinds(step):
        do = "Write what each person does, for example laplace: {scale: 5, sensitivity: 20}."
        raise _wrong(f"{place}.step", "a step that is pure, and not shuffled itself", step, do)
    return Part((pure[0],), known=shuffled(pure[0], people=people))


def _random(value: object, place: str) -> Part:
    """The step's promises, except for a fraction γ of exchangeable data; the basis is finite-sample by default."""
    content = {"basis": Basis.FINITE_SAMPLE.value, **_mapping(value, place)}
    gamma, basis, step = _fields(content, place, "gamma", "basis", "step")
    if basis not in (known := [basis.value for basis in Basis]):
        raise _wrong(f"{place}.basis", " or ".join(known), basis, "Leave it out if γ is proved for this many people.")
    share = upward(_number(gamma, f"{place}.gamma", _SHARE))
    inner = _known(step, f"{place}.step")
    if any(isinstance(promise, RandomDP) for promise in inner.promises):
        raise _wrong(f"{place}.step", "a step that is not random itself", step, "Write one γ for both.")
    promises = tuple(RandomDP(promise, share, Basis(basis)) for promise in inner.promises)
    return Part(promises, known=inner.known)


NOISE: Mapping[str, Callable[[object, str], Part]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "response": _response,
    "finite": _finite,
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "random": _random,
    "profile": _profile,
    "renyi": _renyi,
    "zero_concentrated": partial(_stated, ZeroConcentratedDP),
}
"""The kinds of release that are read in a way of their own. Any other flavor is read by its parameters."""


UNSCHEDULED = {
    "pufferfish": "Leave it out: two Pufferfish answers together may reveal a secret that each of them hides.",
    "computational": "Write the promise inside of it, and computational(…) around the total.",
}
"""Flavors that are no kinds of step, and what to do instead."""


def kinds() -> dict[str, Callable[[object, str], Part]]:
    """All kinds of release: noise, and promises of any flavor."""
    others = {name: flavor for name, flavor in NAMES.items() if name not in NOISE and name not in UNSCHEDULED}
    return {**NOISE, **{name: partial(_stated, flavor) for name, flavor in others.items()}}


# Reading


class _Text(yaml.BaseLoader):
    """Scalars stay text; a key that is written twice is an error instead of a choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            raise yaml.constructor.ConstructorError(None, None, "a key is written twice", node.start_mark)
        return super().construct_mapping(node, deep)


def _load(path: Path) -> object:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Text)
    except OSError as error:
        raise no_schedule(path, reason=str(error.strerror)) from None
    except UnicodeDecodeError:
        raise InvalidPromise(
            wanted="a schedule as YAML",
            given=f"{path.name}, which is not text",
            do="Name a .yaml file that lists the releases; a ledger is given as sitr compare --ledger FILE.",
        ) from None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"the schedule, line {mark.line + 1}" if mark else "the schedule"
        raise _wrong(where, "YAML", getattr(error, "problem", None) or "something else", "Correct it.") from None


def _step(item: object, place: str) -> Part:
    content = _mapping(item, place)
    name = content.get("name", "")
    if not isinstance(name, str):
        raise _wrong(f"{place}, name", "text", name, "Write a name in words.")
    times = _number(content.get("times", 1), f"{place}, times", _TIMES)
    kind = {key: value for key, value in content.items() if key not in ("times", "name")}
    return replace(_known(kind, place), times=int(times), name=name)


def _kinds(item: object) -> set[str]:
    """The kinds of release that a step mentions, inner ones too."""
    if not isinstance(item, Mapping):
        return set()
    inner = (value["step"] for value in item.values() if isinstance(value, Mapping) and "step" in value)
    return set().union(kinds().keys() & item.keys(), *map(_kinds, inner))


def _known(item: object, place: str) -> Part:
    """One kind of release: a mapping with one key."""
    content = _mapping(item, place)
    readers = kinds()
    wanted = f"one of {', '.join(readers)}"
    for flavor, do in UNSCHEDULED.items():
        if flavor in content:
            raise _wrong(place, "steps whose promises add up", flavor, do)
    if unknown := [key for key in content if key not in readers]:
        raise _wrong(place, wanted, unknown[0], "Correct that key.")
    if len(content) != 1:
        raise _wrong(place, wanted, " and ".join(content) or "none", "Write one kind of release in each step.")
    ((kind, value),) = content.items()
    try:
        return readers[kind](value, f"{place}, {kind}")
    except InvalidPromise:
        raise
    except ValueError:  # there is no float that large
        wanted = "numbers whose ratios and squares are below 1.8e308"
        raise _wrong(f"{place}, {kind}", wanted, value, "Choose less extreme ones.") from None


def _mapping(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(place, "a mapping of names to values", value, "Write for example pure: {epsilon: 0.1}.")
    return dict(value)


def _fields(value: object, place: str, *names: str) -> list[object]:
    """The values of exactly these keys."""
    content = _mapping(value, place)
    if unknown := [key for key in content if key not in names]:
        raise _wrong(place, f"only {' and '.join(names)}", unknown[0], "Leave that key out, or correct it.")
    if missing := [name for name in names if name not in content]:
        raise _wrong(f"{place}.{missing[0]}", "a value", "none", f"Write {' and '.join(names)}.")
    return [content[name] for name in names]


def _numbers(value: object, place: str, **checks: Check) -> list[Fraction]:
    values = zip(checks.items(), _fields(value, place, *checks), strict=True)
    return [_number(number, f"{place}.{name}", check) for (name, check), number in values]


def _number(value: object, place: str, check: Check) -> Fraction:
    wanted, holds = check
    text = value.strip() if isinstance(value, str) else ""
    number = Fraction(text) if _NUMBER.fullmatch(text) else finite(value)
    if number is None or abs(number) > LARGEST or not holds(number):
        raise _wrong(place, wanted, value, "Write a number in that range.")
    return number


def _wrong(place: str, wanted: str, given: object, do: str) -> InvalidPromise:
    shown = given if isinstance(given, str) else repr(given)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
    return InvalidPromise(wanted=f"{wanted} in {place}", given=shown, do=do)
