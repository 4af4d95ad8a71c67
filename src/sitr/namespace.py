"""Public names that are loaded when first used, so that `import sitr` and the command line start at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sitr.errors import MissingExtra, unknown_attribute


def lazily(
    package: str,
    homes: Mapping[str, str],
    *,
    extras: Mapping[str, tuple[str, str]] | None = None,
    habits: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, with the home of each public name.

    A home is a module of the package, or a module elsewhere with its whole name (`sitr.…`); it is empty if the name is
    itself a module of the package. `extras` says for a home which library it needs, and which extra installs that;
    `habits`, for names of other libraries, what to write instead.

    >>> found, names, _ = lazily("sitr", {"PureDP": "flavors.pure", "flavors": ""})
    >>> found("PureDP"), found("flavors"), names()
    (<class 'sitr.flavors.pure.PureDP'>, <module 'sitr.flavors' ...>, ['PureDP', 'flavors'])
    """
    names = sorted(homes)

    def get(name: str) -> object:
        if name not in homes:
            raise unknown_attribute(name, names, module=package, instead=(habits or {}).get(name))
        home = homes[name]
        if extras and home in extras:
            library, extra = extras[home]
            needs(library, extra=extra)
        if not home:
            return import_module(f"{package}.{name}")
        return getattr(import_module(home if home.startswith("sitr.") else f"{package}.{home}"), name)

    return get, lambda: names, names


class Later:
    """A module that is imported when one of its names is first used, for libraries that many commands never need.

    For a typed library, write an ordinary import under `if TYPE_CHECKING:`, and `x = Later("x")` under `else:`.

    >>> json = Later("json")
    >>> json.dumps([1])
    '[1]'

    With `made`, the names are those of an object: what this name of the module makes without arguments.

    >>> Later("fractions", made="Fraction").denominator
    1
    """

    def __init__(self, module: str, *, made: str = "") -> None:
        self._name, self._made = module, made

    def __getattr__(self, name: str) -> Any:
        if name == "_found":  # not yet there
            module = import_module(self._name)
            self._found = getattr(module, self._made)() if self._made else module
            return self._found
        value = getattr(self._found, name)
        if not (self._made or self._name.startswith("sitr.")):  # other libraries do not change their names
            setattr(self, name, value)  # then this method is not called again for it
        return value


def needs(library: str, *, extra: str) -> None:
    """Refuse to go on without a library, and name the extra of Sitr that installs it.

    >>> needs("no_such_library", extra="learn")
    Traceback (most recent call last):
    sitr.errors.MissingExtra: This part of Sitr needs no_such_library, which is not installed. Run pip install ...
    """
    if find_spec(library) is None:
        raise MissingExtra(
            given=f"This part of Sitr needs {library}, which is not installed.", do=f"Run pip install 'sitr[{extra}]'."
        )
