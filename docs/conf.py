"""How Sphinx builds these pages: `sphinx-build -W docs OUT`."""

from __future__ import annotations

from importlib.metadata import version as installed

project = "Sitr"
author = "The authors of Sitr"
version = release = installed("sitr")

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3  # pages link to headings of other pages

html_theme = "furo"
html_title = f"Sitr {version}"
