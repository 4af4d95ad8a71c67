"""Audit the corpus and other libraries: `python -m benchmarks.audit [--runs 100] [--peers] [--json file]`.

Broken mechanisms that are caught, false alarms on correct ones, CPU time, and how near the bounds come to the truth.
With `--peers`, the mechanisms of other libraries that are installed are audited too: "claimed against audited".
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.accounting import targets_table
from benchmarks.targets import Target
from sitr.audit import adapters
from sitr.audit.corpus.corpus import BROKEN, examine
from sitr.audit.corpus.correct import CORRECT
from sitr.audit.empirical.audit import audit
from sitr.audit.empirical.boxes import Function
from sitr.errors import MissingExtra
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.response import Response
from sitr.noise import discrete_gaussian, discrete_laplace, system_coins

UNIT = 1_000
CONFIDENCE = 0.999
FEW = 20_000
"""Draws of each audit of a correct mechanism: how rare false alarms are does not depend on it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One audit: what was claimed, what was found, and the CPU seconds it took."""

    name: str
    claim: str
    broken: bool
    epsilon: float
    mu: float
    draws: int
    seconds: float
    event: str


def timed(name: str, subject: object, inputs: tuple[Any, Any], claim: Promise, draws: int) -> Row:
    """One audit of a black box."""
    start = time.process_time()
    found = audit(subject, inputs=inputs, claim=claim, draws=draws, confidence=CONFIDENCE)
    spent = time.process_time() - start
    delta = claim.stated[-1][1] if claim.stated else 0.0
    seen = found.closest.event
    return Row(name, write(claim), found.broken, found.epsilon(delta=delta), found.mu, found.draws, spent, seen.feature)


# Sitr's own noise: how near the bounds come


def laplace(data: int, size: int) -> Any:
    return data + discrete_laplace(scale=UNIT, size=size)


def gaussian(data: int, size: int) -> Any:
    return data + discrete_gaussian(sigma=UNIT, size=size)


def response(data: int, size: int) -> Any:
    """Randomized response of ε = 1; the words of the coins decide, and 2⁻⁶⁴ is below every bound here."""
    truth = int(math.e / (1 + math.e) * 2**64)
    return np.where(system_coins().words(size) < np.uint64(truth), data, 1 - data)


def powers() -> Iterator[Row]:
    assert Response(1).promise() == PureDP(1.0)
    yield timed("Laplace noise, 2 million draws", laplace, (0, UNIT), PureDP(1.0), 2_000_000)
    yield timed("Laplace noise, 1 million draws", laplace, (0, UNIT), PureDP(1.0), 1_000_000)
    yield timed("randomized response, 1 million draws", response, (0, 1), PureDP(1.0), 1_000_000)
    yield timed("Gaussian noise, 1 million draws", gaussian, (0, UNIT), GaussianDP(1.0), 1_000_000)


# The corpus


def corpus(progress: Console) -> Iterator[Row]:
    for specimen in BROKEN:
        start = time.process_time()
        found = examine(specimen, confidence=CONFIDENCE)
        delta = specimen.claim.stated[-1][1] if specimen.claim.stated else 0.0
        yield Row(
            specimen.name,
            write(specimen.claim),
            found.broken,
            found.epsilon(delta=delta),
            found.mu,
            found.draws,
            time.process_time() - start,
            found.closest.event.feature,
        )
        progress.print(f"{specimen.name}: {'caught' if found.broken else 'MISSED'}")


def false_alarms(runs: int, progress: Console) -> tuple[int, int, float]:
    """Accusations of correct mechanisms, the number of audits, and their CPU seconds."""
    start, alarms = time.process_time(), 0
    for run in range(runs):
        alarms += sum(examine(specimen, confidence=CONFIDENCE, draws=FEW).broken for specimen in CORRECT)
        if run % 10 == 9:
            progress.print(f"correct mechanisms: {run + 1} runs, {alarms} false alarms")
    return alarms, runs * len(CORRECT), time.process_time() - start


# Other libraries: claimed against audited


@dataclass(frozen=True, slots=True)
class Peer:
    """A mechanism of another library with the claim that it makes, on a number that moves by 1."""

    library: str
    name: str
    claim: Promise
    make: Callable[[], Function]
    draws: int = 40_000
    inputs: tuple[Any, Any] = (0.0, 1.0)


def _opendp(kind: type, law: str) -> Function:
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib", "floating-point")
    atoms = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
    metric = dp.l1_distance(T=kind) if law == "laplace" else dp.l2_distance(T=kind)
    make = dp.m.make_laplace if law == "laplace" else dp.m.make_gaussian
    return adapters.opendp_vector(make(dp.vector_domain(atoms), metric, scale=1.0))


def _opendp_response() -> Function:
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    return adapters.opendp(dp.m.make_randomized_response_bool(1 / (1 + math.exp(-1.0))))


def _diffprivlib(name: str, **parameters: Any) -> Function:
    mechanisms = import_module("diffprivlib.mechanisms")
    return adapters.diffprivlib(getattr(mechanisms, name)(**parameters))


def _python_dp(name: str, **parameters: Any) -> Function:
    mechanisms = import_module("pydp.algorithms.numerical_mechanisms")
    return adapters.python_dp(getattr(mechanisms, name)(**parameters))


def _smartnoise(name: str, **parameters: Any) -> Function:
    module = import_module(f"snsql.sql._mechanisms.{name.lower()}")
    return adapters.smartnoise(getattr(module, name)(**parameters))


def _tumult(name: str) -> Function:
    noises = import_module("tmlt.core.measurements.noise_mechanisms")
    domains = import_module("tmlt.core.domains.numpy_domains")
    if name == "AddGeometricNoise":
        made = noises.AddGeometricNoise(alpha=1)
        return adapters.tumult(lambda data: made(np.int64(data)))
    noise = noises.AddLaplaceNoise(domains.NumpyFloatDomain(), scale=1)
    return adapters.tumult(lambda data: noise(np.float64(data)))


ONE = {"epsilon": 1.0, "sensitivity": 1.0}
LOOSE = ApproximateDP(1.0, 0.1)
PEERS = (
    Peer("opendp", "make_laplace, integers", PureDP(1.0), lambda: _opendp(int, "laplace"), inputs=(0, 1)),
    Peer("opendp", "make_laplace, floats", PureDP(1.0), lambda: _opendp(float, "laplace")),
    Peer("opendp", "make_gaussian, floats", GaussianDP(1.0), lambda: _opendp(float, "gaussian")),
    Peer("opendp", "make_randomized_response_bool", PureDP(1.0), _opendp_response, draws=10_000, inputs=(False, True)),
    Peer("diffprivlib", "Laplace", PureDP(1.0), lambda: _diffprivlib("Laplace", **ONE)),
    Peer("diffprivlib", "Geometric", PureDP(1.0), lambda: _diffprivlib("Geometric", epsilon=1.0), inputs=(0, 1)),
    Peer(
        "diffprivlib",
        "LaplaceTruncated",
        PureDP(1.0),
        lambda: _diffprivlib("LaplaceTruncated", **ONE, lower=0.0, upper=2.0),
    ),
    Peer(
        "diffprivlib",
        "LaplaceBoundedDomain",
        PureDP(1.0),
        lambda: _diffprivlib("LaplaceBoundedDomain", **ONE, lower=0.0, upper=2.0),
    ),
    Peer("diffprivlib", "Snapping", PureDP(1.0), lambda: _diffprivlib("Snapping", **ONE, lower=-10.0, upper=10.0)),
    Peer("diffprivlib", "Staircase", PureDP(1.0), lambda: _diffprivlib("Staircase", **ONE)),
    Peer("diffprivlib", "GaussianAnalytic", LOOSE, lambda: _diffprivlib("GaussianAnalytic", **ONE, delta=0.1)),
    Peer("python-dp", "LaplaceMechanism", PureDP(1.0), lambda: _python_dp("LaplaceMechanism", **ONE)),
    Peer("python-dp", "GaussianMechanism", LOOSE, lambda: _python_dp("GaussianMechanism", **ONE, delta=0.1)),
    Peer(
        "smartnoise-sql",
        "Laplace",
        PureDP(1.0),
        lambda: _smartnoise("Laplace", **ONE, max_contrib=1),
    ),
    Peer("smartnoise-sql", "Gaussian", LOOSE, lambda: _smartnoise("Gaussian", **ONE, delta=0.1, max_contrib=1)),
    Peer("tmlt.core", "AddGeometricNoise", PureDP(1.0), lambda: _tumult("AddGeometricNoise"), 8_000, (0, 1)),
    Peer("tmlt.core", "AddLaplaceNoise", PureDP(1.0), lambda: _tumult("AddLaplaceNoise"), 8_000),
    Peer("opacus", "noise of DPOptimizer, σ = 1", GaussianDP(1.0), lambda: adapters.opacus(sigma=1.0), 400_000),
)


def peers(progress: Console) -> Iterator[tuple[Peer, Row | str]]:
    """Every mechanism with its audit, or why there is none."""
    for peer in PEERS:
        try:
            found: Row | str = timed(peer.name, peer.make(), peer.inputs, peer.claim, peer.draws)
        except (ImportError, MissingExtra) as error:
            found = f"cannot be imported: {error}".splitlines()[0][:100]
        except Exception as error:  # noqa: BLE001 - any exception of another library is its answer
            found = f"{type(error).__name__}: {error}".splitlines()[0][:100]
        yield peer, found
        progress.print(f"{peer.library} {peer.name}: {found if isinstance(found, str) else found.broken}")


# Output


def targets(power: list[Row], caught: list[Row], alarms: tuple[int, int, float]) -> Iterator[Target]:
    two, one, coin, bell = power
    yield Target("CPU seconds of an audit of Laplace noise, 2 million draws", two.seconds, 30)
    yield Target("bound on ε / ε, Laplace, 1 million draws", one.epsilon, 0.9, at_most=False)
    yield Target("bound on ε / ε, randomized response, 1 million draws", coin.epsilon, 0.9, at_most=False)
    yield Target("bound on μ / μ, Gaussian, 1 million draws", bell.mu, 0.9, at_most=False)
    above = max(one.epsilon, two.epsilon, coin.epsilon, bell.mu)
    yield Target("largest of these bounds over the truth", above, 1)
    missed = sum(not row.broken for row in caught) if caught else math.nan
    yield Target(f"broken mechanisms missed, of {len(caught)}", missed, 0)
    yield Target(f"false alarms in {alarms[1]} audits of correct mechanisms", alarms[0] if alarms[1] else math.nan, 0)


def audits_table(title: str, rows: list[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("", "claimed", "verdict", "ε ≥", "μ ≥", "draws", "CPU s", "by"):
        table.add_column(heading, justify="right" if heading in ("ε ≥", "μ ≥", "draws", "CPU s") else "left")
    for row in rows:
        verdict = "broken" if row.broken else "consistent"
        found = (f"{row.epsilon:.3f}", f"{row.mu:.3f}", f"{row.draws:,}", f"{row.seconds:.2f}", row.event)
        table.add_row(row.name, row.claim, verdict, *found)
    return table


def peers_table(found: list[tuple[Peer, Row | str]]) -> Table:
    table = Table(title="Claimed against audited", title_justify="left", box=None, pad_edge=False)
    for heading in ("library", "mechanism", "claimed", "verdict", "ε ≥", "μ ≥", "by"):
        table.add_column(heading, justify="right" if "≥" in heading else "left")
    for peer, row in found:
        if isinstance(row, str):
            table.add_row(peer.library, peer.name, write(peer.claim), row)
        else:
            verdict = "broken" if row.broken else "consistent"
            table.add_row(peer.library, peer.name, row.claim, verdict, f"{row.epsilon:.3f}", f"{row.mu:.3f}", row.event)
    return table


def report(
    power: list[Row],
    caught: list[Row],
    alarms: tuple[int, int, float],
    others: list[tuple[Peer, Row | str]],
    judged: list[Target],
) -> dict[str, object]:
    """All figures as plain values."""
    kept = [asdict(one) | {"found": None if math.isnan(one.found) else one.found} for one in judged]
    rows = [
        {"library": peer.library, "version": _version(peer.library), "mechanism": peer.name}
        | ({"trouble": row} if isinstance(row, str) else _finite(asdict(row)))
        for peer, row in others
    ]
    return {
        "confidence": CONFIDENCE,
        "power": [_finite(asdict(row)) for row in power],
        "broken": [_finite(asdict(row)) for row in caught],
        "correct": {"alarms": alarms[0], "audits": alarms[1], "seconds": alarms[2]},
        "peers": rows,
        "targets": kept,
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, float) and math.isinf(value) else value for name, value in row.items()
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def main() -> None:
    options = _options()
    console, progress = Console(width=130), Console(stderr=True)
    power = list(powers())
    caught = [] if options.only_peers else list(corpus(progress))
    alarms = (0, 0, 0.0) if options.only_peers else false_alarms(options.runs, progress)
    others = list(peers(progress)) if options.peers or options.only_peers else []
    judged = list(targets(power, caught, alarms))
    console.print(audits_table("How near the bounds come", power))
    if caught:
        console.print(audits_table("Broken mechanisms", caught))
        spent = sum(row.seconds for row in caught)
        console.print(f"CPU seconds: {spent:.1f} for the broken ones, {alarms[2]:.1f} for {alarms[1]} correct ones")
    if others:
        console.print(peers_table(others))
    console.print(targets_table(judged))
    if options.json:
        options.json.write_text(json.dumps(report(power, caught, alarms, others, judged), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--runs", type=int, default=100, help="audits of each correct mechanism")
    parser.add_argument("--peers", action="store_true", help="audit other libraries, too")
    parser.add_argument("--only-peers", action="store_true", help="audit other libraries without the corpus")
    return parser.parse_args()


if __name__ == "__main__":
    main()
