"""Draw the certificate and the pages of the server for the documentation; `bash dev/picture` runs it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from sitr.server.app import create
from sitr.server.demonstration import accounts, demonstration
from sitr.server.users import Users

SQL = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"

Take = Callable[[Page, str], None]


def main(scratch: Path, folder: Path) -> None:
    """Draw all pictures into a folder."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert program, "the pictures are drawn by chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pictures(browser, scratch, folder)
        browser.close()


def pictures(browser: Browser, scratch: Path, folder: Path) -> None:
    """Ask questions on the page, as an analyst, a steward and an auditor, and take pictures of what they see."""
    with served(scratch) as (address, passwords):

        def take(page: Page, name: str) -> None:
            page.mouse.move(0, 0)
            page.screenshot(path=folder / f"{name}.png")

        def entered(name: str, language: str = "en") -> Page:
            return logged_in(browser, address, name, passwords[name], language)

        page = entered("ana")
        analyst(page, address, take)
        arabic = entered("ana", "ar")
        arabic.goto(f"{address}/datasets/visits/ask")
        arabic.fill("#sql", SQL)
        arabic.wait_for_selector("#preview .imagined")
        take(arabic, "server-ask-ar")
        desk = entered("noor")
        desk.goto(f"{address}/queue")
        take(desk, "server-queue")
        books = entered("omar")
        books.goto(f"{address}/datasets/visits/ledger")
        take(books, "server-ledger")
        paper = browser.new_page(viewport={"width": 900, "height": 1040})
        paper.set_content(certificate(scratch).read_text(encoding="utf-8"))
        take(paper, "certificate")


def certificate(scratch: Path) -> Path:
    """The certificate of the demonstration on the command line, of somebody who publishes it."""
    at, sitr = scratch / "demo", [sys.executable, "-m", "sitr"]
    subprocess.run([*sitr, "demo", "--directory", str(at)], check=True, stdout=subprocess.DEVNULL)
    said = {"--title": "Visits by ward", "--organisation": "Example hospital", "--contact": "data@hospital.example"}
    words = [word for pair in said.items() for word in pair]
    shown = [*sitr, "show", str(at / "sitr.db"), "1", "--certificate", str(scratch / "page.html"), *words]
    subprocess.run(shown, check=True, stdout=subprocess.DEVNULL)
    return scratch / "page.html"


def analyst(page: Page, address: str, take: Take) -> None:
    """Play, ask, read the answer, compose tables, and request what needs approval."""
    page.goto(f"{address}/play")
    take(page, "server-play")
    page.goto(f"{address}/datasets/visits/ask")
    page.fill("#sql", SQL)
    page.wait_for_selector("#preview .imagined")
    take(page, "server-ask")
    page.click("form#question button.main")
    page.wait_for_url("**/answers/*")
    page.wait_for_selector("section:nth-of-type(2) table")
    take(page, "server-answer")
    page.goto(f"{address}/datasets/visits")
    take(page, "server-dataset")
    page.goto(f"{address}/datasets/visits/publish")
    for table in ("#table-0-1", "#table-0-4", "#table-1-5"):
        page.check(table)
    page.wait_for_selector("#preview table")
    take(page, "server-tables")
    page.goto(f"{address}/datasets/visits/ask")
    page.fill("#sql", SQL.replace("SUM(cost) AS total", "AVG(days) AS days"))
    page.click("details.request summary")
    page.fill("#reason", "Annual report on how long visits last")
    page.click("details.request button")
    page.wait_for_url("**/queue")


def logged_in(browser: Browser, address: str, name: str, password: str, language: str) -> Page:
    """A page of somebody who has logged in."""
    page = browser.new_page(viewport={"width": 1080, "height": 1180}, locale=language)
    page.goto(f"{address}/login")
    page.fill("#name", name)
    page.fill("#password", password)
    page.click("main button")
    page.wait_for_url(lambda url: "/login" not in url)
    return page


@contextmanager
def served(scratch: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The demonstration, its address, and the passwords of its accounts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    settings = demonstration(scratch / "server", port=port, answer_rows=0)
    people = Users.open(scratch / "people.db", idle=timedelta(hours=1), longest=timedelta(hours=1))
    passwords = accounts(settings, people)
    server = uvicorn.Server(uvicorn.Config(create(settings, people), port=settings.port, log_level="error"))
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{settings.port}", passwords
    server.should_exit = True
    running.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
