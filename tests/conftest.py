"""How hypothesis searches: at random for developers, the same way every time in a build, which must be repeatable. In a
build it tries fewer examples, unless all tests are run (-m '').

And one real browser for all tests of a process, because to start one takes as long as several tests. And what the
garbage collector looks at: the modules and tests that were collected stay, so it need not visit them.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import pytest
import typer.main
import typer.testing
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Neither profile has a deadline: on a busy machine, time says nothing about the code.
settings.register_profile("desk", deadline=None)
settings.register_profile("whole", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("whole"), max_examples=20)


def pytest_configure(config: pytest.Config) -> None:
    build = "ci" if config.option.markexpr else "whole"
    settings.load_profile(build if os.environ.get("CI") == "true" else "desk")


gc.disable()  # until all tests are collected


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # libraries complain about what is left when Python ends


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test that is `sampled`, all but a few are slow: those from the first to the last, evenly.

    Tests on Spark come first. So one worker has them all and no other has to start a Spark, which takes half a minute.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in cases.values():
        number: int = next(group[0].iter_markers("sampled")).args[0]
        chosen = {round(place * (len(group) - 1) / max(1, number - 1)) for place in range(number)}
        for place, item in enumerate(group):
            if place not in chosen:
                item.add_marker("slow")
    items.sort(key=lambda item: "spark" not in item.nodeid.lower())


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once() -> Iterator[None]:
    """Typer's runner builds all commands at every call, and that takes longer than most calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    # The first has no windows of its own to paint: a new page costs it a fifth of the time.
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert chromium, "these tests drive a real browser: run `bash dev/test`, or as root `apt-get install -y chromium`"
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> Iterator[Page]:
    """One tab for documents from files, because a new one starts two processes. A test leaves nothing behind in it but
    its document."""
    tab = browser.new_page()
    yield tab
    tab.close()
