"""Which inputs of a table are neighbours: pairs of rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.audit.exact.table import Name, Table
from sitr.errors import FileError, InvalidParameter, quoted
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]
else:
    np = Later("numpy")
    Places = object


class Neighbors(Enum):
    """Relations that follow from the inputs themselves."""

    ALL = "all"
    """Every two inputs."""
    ADJACENT = "adjacent"
    """Each input and the next one, in the order of the table."""
    HAMMING = "hamming"
    """Inputs named by records, such as `0 1 1` or `011`, that differ in one of them."""


def neighboring(table: Table, neighbors: object, /) -> Places:
    """The pairs of places of neighbouring inputs, each once: a relation, its name, a file of pairs, or a list of pairs.

    >>> neighboring(Table.of([[1], [1], [1]], inputs=["00", "01", "11"]), "hamming").tolist()
    [[0, 1], [1, 2]]
    >>> neighboring(Table.of([[1], [1], [1]], inputs=["a", "b", "c"]), [("c", "a")]).tolist()
    [[2, 0]]
    """
    relation = _relation(neighbors)
    match relation:
        case Neighbors.ALL:
            first, second = np.triu_indices(len(table.inputs), 1)
            pairs = np.stack((first, second), axis=1)
        case Neighbors.ADJACENT:
            pairs = np.array([*pairwise(range(len(table.inputs)))], dtype=np.int64).reshape(-1, 2)
        case Neighbors.HAMMING:
            pairs = _hamming(table.inputs)
        case _:
            pairs = _listed(table, neighbors)
    if not len(pairs):
        raise InvalidParameter(
            wanted="at least one pair of neighbouring inputs",
            given="none",
            do="Give a table of at least two inputs, and a relation in which some of them are neighbours.",
        )
    return pairs.astype(np.int64)


def records(name: Name, /) -> tuple[str, ...]:
    """The records of a data set that is an input: a tuple, words with spaces or commas between them, or letters.

    >>> records("a, b"), records("011"), records(("x", "y"))
    (('a', 'b'), ('0', '1', '1'), ('x', 'y'))
    """
    if isinstance(name, tuple):
        return name
    words = tuple(re.split(r"[\s,;]+", name.strip("() ")))
    return words if len(words) > 1 else tuple(words[0])


def _relation(neighbors: object) -> Neighbors | None:
    if isinstance(neighbors, Neighbors):
        return neighbors
    known = [relation.value for relation in Neighbors]
    if isinstance(neighbors, str):
        if neighbors in known:
            return Neighbors(neighbors)
        if not neighbors.endswith((".csv", ".txt")):
            raise InvalidParameter(
                wanted=f"neighbours: {', '.join(known)}, a CSV file of pairs, or a list of pairs",
                given=quoted(neighbors),
                do="Choose one of these.",
            )
    return None


def _hamming(inputs: tuple[Name, ...]) -> Places:
    sets = [records(name) for name in inputs]
    if len({len(one) for one in sets}) > 1:
        raise InvalidParameter(
            wanted="inputs named by the same number of records, such as 00, 01, 11",
            given=f"{quoted(inputs[0])} and others of another length",
            do="Rename them, or list the pairs of neighbours.",
        )
    numbers = {record: number for number, record in enumerate(sorted({record for one in sets for record in one}))}
    codes = np.array([[numbers[record] for record in one] for one in sets])
    found = [
        (place, place + 1 + int(other))
        for place in range(len(codes))
        for other in np.flatnonzero((codes[place + 1 :] != codes[place]).sum(axis=1) == 1)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _listed(table: Table, neighbors: object) -> Places:
    pairs = read_pairs(Path(neighbors)) if isinstance(neighbors, str | Path) else neighbors
    places = {name: place for place, name in enumerate(table.inputs)}
    found: dict[tuple[int, int], None] = {}
    for pair in pairs if isinstance(pairs, Iterable) else ():
        match pair:
            case (one, other):
                first, second = (places[one] if one in places else table.place(one) for one in (one, other))
                if first != second and (second, first) not in found:
                    found[first, second] = None
            case _:
                raise InvalidParameter(
                    wanted="pairs of neighbouring inputs", given=quoted(pair), do="Write two names for each pair."
                )
    return np.array([*found], dtype=np.int64).reshape(-1, 2)


def read_pairs(path: Path, /) -> list[list[str]]:
    """The cells of a CSV file without a heading."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
    except OSError as failure:
        raise FileError(given=f"Cannot read {path}: {failure.strerror}.", do="Check the path.") from None
    except (UnicodeDecodeError, csv.Error):
        raise FileError(
            given=f"Cannot read {path}, because it is no CSV file.", do="Write two names on each line."
        ) from None
