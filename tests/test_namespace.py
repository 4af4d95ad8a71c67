"""Public names are loaded when first used, and a missing library is named with its extra."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sitr.errors import MissingExtra
from sitr.namespace import Later, lazily, needs


def test_every_name_is_found_at_home() -> None:
    get, names, offered = lazily("sitr", {"exact": "numbers", "Rule": "sitr.dataset.cells", "flavors": ""})
    assert names() == offered == ["Rule", "exact", "flavors"]
    assert [getattr(get(name), "__name__", None) for name in names()] == ["Rule", "exact", "sitr.flavors"]


def test_a_misspelled_name_is_refused_with_a_suggestion() -> None:
    get, _, _ = lazily("sitr", {"PureDP": "flavors.pure"})
    with pytest.raises(AttributeError, match="Did you mean 'PureDP'"):
        get("PureDp")


def test_a_late_module_is_imported_when_a_name_of_it_is_used() -> None:
    asked = "import sys; from sitr.namespace import Later; late = Later('colorsys'); print('colorsys' in sys.modules);"
    used = "same = late.rgb_to_hsv; print(same is sys.modules['colorsys'].rgb_to_hsv)"
    done = subprocess.run([sys.executable, "-c", asked + used], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"
    with pytest.raises(AttributeError, match="colour"):
        Later("colorsys").colour  # noqa: B018


def test_names_of_our_own_modules_are_looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others stay as they were when they were first used."""
    ours, theirs = Later("sitr.numbers"), Later("colorsys")
    before = ours.exact, theirs.hls_to_rgb
    for place in ("sitr.numbers.exact", "colorsys.hls_to_rgb"):
        monkeypatch.setattr(place, None)
    assert (ours.exact, theirs.hls_to_rgb) == (None, before[1])


def test_a_missing_library_is_named_with_its_extra() -> None:
    needs("json", extra="anything")
    get, _, _ = lazily("sitr", {"thing": "home"}, extras={"home": ("no_such_library", "learn")})
    with pytest.raises(MissingExtra, match=r"no_such_library.*Run pip install 'sitr\[learn\]'"):
        get("thing")


WITHOUT = """
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {library!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, Hidden())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == {library!r} else found(name, package)
class Answer:
    def __getattr__(self, name):
        import pyarrow as pa
        from sitr.session.shown import Tabled
        made = type("Made", (Tabled,), dict(table=pa.table(dict(x=[1])), paper=None, private=True))
        return getattr(made(), name)
ANSWER = Answer()
{use}
"""


@pytest.mark.parametrize(
    ("library", "use", "extra"),
    [
        ("sklearn", "import sitr; sitr.learn", "learn"),
        ("sklearn", "import sitr.learn.trial", "learn"),
        ("dp_accounting", "from sitr.interop import from_event", "dp-accounting"),
        ("opacus", "from sitr.interop import SitrAccountant", "opacus"),
        ("opacus", "import sitr.interop.opacus", "opacus"),
        ("dp_accounting", "import sitr.interop.dp_accounting", "dp-accounting"),
        ("pandas", "ANSWER.to_pandas()", "pandas"),
        ("polars", "ANSWER.to_polars()", "polars"),
    ],
)
def test_each_extra_says_how_to_install_it(library: str, use: str, extra: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(library=library, use=use)], capture_output=True, text=True, check=False
    )
    assert found.stderr.splitlines()[-1].startswith("sitr.errors.MissingExtra: ")
    assert f"pip install 'sitr[{extra}]'" in found.stderr
