"""How Sphinx builds these pages: `sphinx-build -W docs OUT`."""

from __future__ import annotations

from importlib.metadata import version as installed
from typing import Any

from sphinx.application import Sphinx

project = "Sitr"
author = "The authors of Sitr"
version = release = installed("sitr")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3  # pages link to headings of other pages

# The API reference is made from docstrings. A name is documented where it is public, not where it is defined.
autodoc_default_options = {"members": True, "imported-members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["opacus", "torch"]
default_role = "code"  # docstrings write names in single backticks
python_use_unqualified_type_names = True
add_module_names = False
suppress_warnings = ["ref.python"]  # short names of types are ambiguous: two questions have a Method

# Notebooks are executed whenever the pages are built, and an error in a cell fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"Sitr {version}"


def setup(app: Sphinx) -> None:
    """Read docstrings as they are written: | is an absolute value there, and methods of scikit-learn are not ours.

    Pages in Arabic run from right to left, except for code.
    """
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-skip-member", _foreign)
    app.connect("html-page-context", _from_right_to_left)


ARABIC = "-ar"
"""The ending of the names of pages in Arabic."""
STYLE = """<style>
[dir=rtl] pre, [dir=rtl] code { direction: ltr; unicode-bidi: isolate; text-align: left; }
[dir=rtl] pre code { unicode-bidi: normal; }
</style>"""


def _from_right_to_left(_app: Sphinx, name: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if name.endswith(ARABIC):
        context["body"] = f'<div dir="rtl" lang="ar">{context["body"]}</div>'
        context["metatags"] += STYLE


def _plain(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    lines[:] = [line if line.lstrip().startswith((">>>", "...", "|")) else line.replace("|", r"\|") for line in lines]


def _foreign(_app: Sphinx, _what: str, _name: str, found: object, _skip: bool, _options: object) -> bool | None:
    home = getattr(found, "__module__", None) or ""
    return True if home.startswith("sklearn") else None
