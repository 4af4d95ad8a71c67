"""Values on the command line, read without a library where none is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sitr.dataclass import dataclass

AS_WRITTEN: dict[object, Callable[[Any], object]] = {
    str: str,
    Path: Path,
    list[str]: lambda texts: list(map(str, texts)),
    list[Path]: lambda texts: list(map(Path, texts)),
}
"""How values are read that cannot be wrong, by type."""


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Reads the value of one parameter; what can be wrong is left to typer.

    Typer validates every value with pydantic, even text, and to load that takes longer than to refuse a command.
    """

    typers: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value in the type of the parameter."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        kind, own = param.type_descriptor.annotation, param.type_descriptor.parameter_info.parser
        if own is not None:
            return own(value) if isinstance(value, str) else list(map(own, value))
        if kind in AS_WRITTEN:
            return AS_WRITTEN[kind](value)
        if isinstance(kind, type) and isinstance(value, kind):  # a default: what is given is text
            return value
        if kind is float and (number := _number(value)) is not None and not _bounded(param):
            return number
        return self.typers().coerce(value, param=param, ctx=ctx)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _bounded(param: Any) -> bool:
    bounds = param.type_descriptor.parameter_info
    return bounds.min is not None or bounds.max is not None


def read_lightly(parameters: list[Any]) -> list[Any]:
    """These parameters, whose values a `ValueReader` reads, if this version of typer has readers of its own."""
    for parameter in parameters:
        theirs = getattr(parameter, "get_runtime_param", None)
        if theirs is not None and "get_runtime_param" not in vars(parameter):
            parameter.get_runtime_param = partial(ValueReader, theirs)
    return parameters
