"""Tables against peers at equal price: `python -m benchmarks.tables_peers [--columns 6] [--values 6] [--rows 20000]`.

All pairs of some columns, at ρ = 0.05 for one row that is added or removed. The error is the root mean square over all
cells of all tables, in rows; of linear methods the exact one. It compares

- equal shares: every table gets its own Gaussian noise;
- weighted marginals: the best strategy that measures tables of any columns with weights and estimates by least squares,
  as HDMM's template for marginals does;
- mbi: every pair gets an equal share, and a graphical model is fitted to them by mirror descent (needs mbi);
- OpenDP: the same pairs through `make_contingency_table` with `Fixed` (needs opendp[mbi], that is polars 1 and mbi 1).

The last two fit tables of numbers that are not negative, so they are biased, and gain most where cells are empty.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import optimize

from benchmarks.tables import question
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import system_coins
from sitr.questions.tables.publication import release

RHO = 0.05
RUNS = 3

Codes = NDArray[np.int64]
Pairs = dict[tuple[int, int], NDArray[np.float64]]


def data(columns: int, values: int, rows: int) -> Codes:
    """Seeded rows: neighbouring columns depend on each other, and small values are more frequent."""
    random = np.random.default_rng(1)
    found = np.zeros((rows, columns), np.int64)
    for place in range(columns):
        fresh = np.minimum(random.integers(0, values, rows), random.integers(0, values, rows))
        same = random.random(rows) < 0.5
        found[:, place] = np.where(same & (place > 0), found[:, place - 1], fresh)
    return found


def exact_pairs(codes: Codes, values: int) -> Pairs:
    return {
        (one, other): np.bincount(codes[:, one] * values + codes[:, other], minlength=values**2).astype(np.float64)
        for one, other in combinations(range(codes.shape[1]), 2)
    }


def rms(found: Pairs, true: Pairs) -> float:
    return math.sqrt(float(np.mean([np.mean((found[pair] - true[pair]) ** 2) for pair in true])))


def equal_shares(columns: int) -> float:
    return math.sqrt(math.comb(columns, 2) / (2 * RHO))


def weighted_marginals(columns: int, values: int) -> float:
    """With weights θ_S² = w_|S| on the tables of all sets S, which cost Σ w = 2ρ, the residuals of T have the precision
    λ_T = Σ_{S ⊇ T} θ_S²·m^(d−|S|), and a cell of a pair the variance Σ_{T ⊆ S} m^(d−2)·(1 − 1/m)^|T|·m^(|T|−2)/λ_T."""
    d, m = columns, values

    def variance(logs: NDArray[np.float64]) -> float:
        shares = np.exp(logs - logs.max())
        weights = 2 * RHO * shares / sum(math.comb(d, order) * shares[order] for order in range(d + 1))
        found = 0.0
        for size in range(3):
            precision = sum(
                math.comb(d - size, order - size) * weights[order] * m ** (d - order) for order in range(size, d + 1)
            )
            found += math.comb(2, size) * m ** (d - 2) * (1 - 1 / m) ** size * m ** (size - 2) / precision
        return found

    best = min(
        (optimize.minimize(variance, start, method="Nelder-Mead", options={"maxiter": 20_000, "fatol": 1e-10}).fun)
        for start in (np.zeros(d + 1), -3.0 * np.abs(np.arange(d + 1) - 2.0))
    )
    return math.sqrt(float(best))


def sitr_error(columns: int, values: int, codes: Codes) -> tuple[float, float]:
    """The exact error, and that of some releases."""
    asked = question(columns, values, (2,))
    plan = asked.plan(ZeroConcentratedDP(RHO))
    count = plan.measures[0]
    exact = math.sqrt(float(np.mean([plan.variances(count, node).mean() for node in plan.workload.tables])))
    true, errors = exact_pairs(codes, values), []
    for _ in range(RUNS):
        made = release(plan, codes, coins=system_coins())
        found = {(node[0][0], node[1][0]): made.cells(count, node).ravel() for node in plan.workload.tables}
        errors.append(rms(found, true))
    return exact, float(np.mean(errors))


def mbi_error(columns: int, values: int, codes: Codes) -> float:
    """Equal shares, and a graphical model that is fitted to all pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mbi: Any = import_module("mbi")
    names, sigma = [f"c{place}" for place in range(columns)], equal_shares(columns)
    true, random, errors = exact_pairs(codes, values), np.random.default_rng(), []
    domain = mbi.Domain(names, [values] * columns)
    for _ in range(RUNS):
        noisy = {pair: cells + random.normal(0, sigma, len(cells)) for pair, cells in true.items()}
        measured = [mbi.LinearMeasurement(cells, (names[i], names[j]), sigma) for (i, j), cells in noisy.items()]
        total = float(np.mean([cells.sum() for cells in noisy.values()]))
        new = hasattr(mbi.estimation, "MirrorDescent")  # since mbi 2
        fit = mbi.estimation.MirrorDescent().estimate if new else mbi.estimation.mirror_descent
        model = fit(domain, measured, known_total=total, iters=1000)
        found = {(i, j): np.asarray(model.project((names[i], names[j])).datavector()) for i, j in true}
        errors.append(rms(found, true))
    return float(np.mean(errors))


def opendp_error(columns: int, values: int, codes: Codes) -> float:
    """OpenDP's contingency table from the same pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dp: Any = import_module("opendp.prelude")
        pl: Any = import_module("polars")
    dp.enable_features("contrib")
    names = [f"c{place}" for place in range(columns)]
    frame = pl.DataFrame({name: column.astype(str) for name, column in zip(names, codes.T, strict=True)}).lazy()
    keys = {name: [str(value) for value in range(values)] for name in names}
    queries = [dp.mbi.Count(pair) for pair in combinations(names, 2)]
    true, errors = exact_pairs(codes, values), []
    for _ in range(RUNS):
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(rho=RHO),
            split_evenly_over=1,
        )
        asked = context.query().select(*names).contingency_table(keys=keys, algorithm=dp.mbi.Fixed(queries=queries))
        table = asked.release()
        found = {(i, j): np.asarray(table.project((names[i], names[j])))[:values, :values].ravel() for i, j in true}
        errors.append(rms(found, true))
    return float(np.mean(errors))


def compared(columns: int, values: int, rows: int) -> dict[str, float | str]:
    """The errors by method; a peer that cannot run here says why."""
    codes = data(columns, values, rows)
    exact, measured = sitr_error(columns, values, codes)
    found: dict[str, float | str] = {
        "Sitr, exact": exact,
        "Sitr, measured": measured,
        "equal shares, exact": equal_shares(columns),
        "weighted marginals (HDMM), exact": weighted_marginals(columns, values),
    }
    peers: dict[str, Callable[[int, int, Codes], float]] = {
        "mbi, measured": mbi_error,
        "OpenDP, measured": opendp_error,
    }
    for name, peer in peers.items():
        try:
            found[name] = peer(columns, values, codes)
        except Exception as failure:  # noqa: BLE001 - whatever a peer does, the others are compared
            found[name] = f"not run: {type(failure).__name__}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--values", type=int, default=6)
    parser.add_argument("--rows", type=int, default=20_000)
    said = parser.parse_args()
    shown = Table("method", "root mean square error, rows")
    for name, error in compared(said.columns, said.values, said.rows).items():
        shown.add_row(name, error if isinstance(error, str) else f"{error:.2f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
