"""Options that several commands share, as one parameter: a frozen dataclass whose fields are options of Typer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints

Option = inspect.Parameter


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of such a parameter as options of its own; it is called with the dataclass again.

    Every field with the type of an option is one; others keep their default.

    >>> from sitr.cli.papers import Pages
    >>> def shown(pages: Pages, exact: bool = False) -> None: ...
    >>> list(inspect.signature(grouped(shown)).parameters)
    ['certificate', 'label', 'title', 'organisation', 'contact', 'purpose', 'caveat', 'exact']
    """
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    groups = {name: [*_options(hints[name])] for name in given if is_dataclass(hints[name])}

    @functools.wraps(command)
    def called(**values: Any) -> None:
        for name, options in groups.items():
            values[name] = hints[name](**{option.name: values.pop(option.name) for option in options})
        command(**values)

    alone = {name: [_option(name, hints[name], each.default)] for name, each in given.items()}
    options = [option for name in given for option in groups.get(name, alone[name])]
    called.__annotations__ = {option.name: option.annotation for option in options}
    vars(called)["__signature__"] = inspect.Signature(options)
    return called


def _options(group: Any) -> Iterator[Option]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        if hasattr(hints[field.name], "__metadata__"):
            yield _option(field.name, hints[field.name], _default(field))


def _option(name: str, annotation: Any, default: Any) -> Option:
    return Option(name, Option.KEYWORD_ONLY, annotation=annotation, default=default)


def _default(field: Field[Any]) -> Any:
    return Option.empty if field.default is MISSING else field.default
