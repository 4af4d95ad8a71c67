"""Public facts about columns beyond the description: a YAML file of bounds, bins and keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.cli.question import expression
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.dataset.cells import Scale
    from sitr.dataset.schema import Key, Table
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.synthetic.declared import Map

FIELDS = ("bounds", "bins", "edges", "keys", "required", "spikes", "scale", "derived", "at_most", "null_with")


@dataclass(frozen=True, slots=True)
class Domain:
    """By column: bounds (numbers or times), a number of bins or their edges, and a list of keys; the columns that are
    never NULL; and rules that are built in: derived columns, those that are at most another, and those that are NULL
    with another.

    ::

        age: {bounds: [0, 120], bins: 24, required: true}
        ward: {keys: [Cardiology, Surgery, null]}
        cost: {spikes: [0], scale: log}
        weight: {edges: [0, 50, 70, 90, 250]}
        admitted: {bounds: [2023-01-01, 2024-12-31], at_most: discharged}
        month: {derived: EXTRACT(month FROM admitted)}
        region: {derived: {district: {Irbid: North, Aqaba: South}}}
        cost: {null_with: discharged}
    """

    ranges: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    bins: dict[str, int] = field(default_factory=dict)
    keys: dict[str, list[Key]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    cuts: dict[str, list[Any]] = field(default_factory=dict)
    spikes: dict[str, list[Any]] = field(default_factory=dict)
    scales: dict[str, Scale] = field(default_factory=dict)
    derived: dict[str, Expr | Map] = field(default_factory=dict)
    ordered: list[tuple[str, str]] = field(default_factory=list)
    together: list[tuple[str, str]] = field(default_factory=list)

    def bounds(self, table: Table) -> dict[str, tuple[Any, Any]]:
        """The bounds by column; in a timestamp column, a date means its midnight."""
        stamps = _stamps(table)
        return {name: tuple(map(_moment, ends)) if name in stamps else ends for name, ends in self.ranges.items()}

    def edges(self, table: Table) -> dict[str, list[Any]]:
        """The edges by column, likewise."""
        stamps = _stamps(table)
        return {name: [*map(_moment, ends)] if name in stamps else ends for name, ends in self.cuts.items()}


def _stamps(table: Table) -> set[str]:
    """The columns of timestamps."""
    from sitr.dataset.schema import Kind

    return {column.name for column in table.columns if column.kind is Kind.TIMESTAMP}


def read_domain(path: Path | None) -> Domain:
    """The domain in a file, or an empty one."""
    import yaml

    if path is None:
        return Domain()
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        raise _wrong(path, "it is not YAML with one mapping for each column") from None
    except ValueError:  # the only values that YAML itself can refuse
        raise _wrong(path, "a date or time does not exist") from None
    return domain_of(content, path)


def domain_of(content: Any, path: Path) -> Domain:
    """The domain that was read from a file."""
    if not isinstance(content, dict) or not all(isinstance(said, dict) for said in content.values()):
        raise _wrong(path, "it is not YAML with one mapping for each column")
    for name, said in content.items():
        if unknown := [given for given in said if given not in FIELDS]:
            raise _wrong(path, f"{name} has the unknown field {unknown[0]!r}")
        if "bounds" in said and not (isinstance(said["bounds"], list) and len(said["bounds"]) == 2):
            raise _wrong(path, f"the bounds of {name} are not two values")
        if "edges" in said and not isinstance(said["edges"], list):
            raise _wrong(path, f"the edges of {name} are not a list")

    def given(field: str) -> dict[str, Any]:
        return {str(name): said[field] for name, said in content.items() if field in said}

    ranges = {name: (low, high) for name, (low, high) in given("bounds").items()}
    return Domain(
        ranges,
        given("bins"),
        given("keys"),
        [name for name, must in given("required").items() if must],
        given("edges"),
        given("spikes"),
        {name: _scale(path, name, scale) for name, scale in given("scale").items()},
        {name: expression(rule) if isinstance(rule, str) else rule for name, rule in given("derived").items()},
        list(given("at_most").items()),
        list(given("null_with").items()),
    )


def _scale(path: Path, name: str, given: object) -> Scale:
    from sitr.dataset.cells import Scale

    if given not in (known := [scale.value for scale in Scale]):
        raise _wrong(path, f"the scale of {name} is not one of {', '.join(known)}")
    return Scale(given)


def _moment(end: Any) -> Any:
    day = isinstance(end, date) and not isinstance(end, datetime)
    return datetime(end.year, end.month, end.day) if day else end  # noqa: DTZ001 - no column has a zone


def _wrong(path: Path, what: str) -> BadUsage:
    return BadUsage(
        wanted="a YAML file with bounds, bins, keys, required or rules for each column",
        given=f"{path}, where {what}",
        do="Write for example  age: {bounds: [0, 120], bins: 24}.",
    )
