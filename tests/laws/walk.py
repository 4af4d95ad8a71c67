"""Everything that the package defines. The law suites walk it, so that none of them can miss a class."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Protocol

import sitr

APART = ("sitr.ledger.migrations", "sitr.interop.opacus")
"""Alembic runs the first in an environment of its own; the second needs torch."""


def modules(package: ModuleType = sitr) -> Iterator[ModuleType]:
    """Every module below a package, in folders of any depth."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not found.name.startswith(APART):
            yield (module := import_module(found.name))
            if found.ispkg:
                yield from modules(module)


def classes(package: ModuleType = sitr) -> set[type]:
    """Every class that a module below the package defines, except protocols and abstract classes."""
    return {
        kind
        for module in modules(package)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
        if not getattr(kind, "_is_protocol", False) and not inspect.isabstract(kind)
    }


def having(members: Iterable[str], package: ModuleType = sitr) -> set[type]:
    """Every class below the package that has all of these members."""
    members = list(members)
    return {kind for kind in classes(package) if all(hasattr(kind, member) for member in members)}


def like(protocol: type, package: ModuleType = sitr) -> set[type]:
    """Every class below the package that has all public members of a protocol, inherited ones included."""
    parts = [part for part in protocol.__mro__ if getattr(part, "_is_protocol", False) and part is not Protocol]
    return having((member for part in parts for member in vars(part) if not member.startswith("_")), package)
