"""Draw the pages of the server for the documentation; `bash dev/picture` runs it."""

from __future__ import annotations

import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from sitr.server.app import create
from sitr.server.demonstration import accounts, demonstration
from sitr.server.users import Users

SQL = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"


PICTURES = {"width": 1080, "height": 1180}


def main(scratch: Path, pictures: Path) -> None:
    """Ask a question on the page, and take pictures of the main pages."""
    settings = demonstration(scratch / "server", port=8399, answer_rows=0)
    people = Users.open(scratch / "people.db", idle=timedelta(hours=1), longest=timedelta(hours=1))
    password = accounts(settings, people)["ana"]
    server = uvicorn.Server(uvicorn.Config(create(settings, people), port=settings.port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    address = f"http://127.0.0.1:{settings.port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport=PICTURES)  # type: ignore[arg-type]

        def taken(name: str) -> None:
            page.mouse.move(0, 0)
            page.screenshot(path=pictures / f"server-{name}.png")

        page.goto(f"{address}/play")
        taken("play")
        page.goto(f"{address}/login")
        page.fill("#name", "ana")
        page.fill("#password", password)
        page.click("main button")
        page.goto(f"{address}/datasets/visits/ask")
        page.fill("#sql", SQL)
        page.wait_for_selector("#preview .imagined")
        taken("ask")
        page.click("form#question button.main")
        page.wait_for_url("**/answers/*")
        page.wait_for_selector("section:nth-of-type(2) table")
        taken("answer")
        page.goto(f"{address}/datasets/visits")
        taken("dataset")
        page.goto(f"{address}/datasets/visits/publish")
        page.check("#table-0-1")
        page.check("#table-0-4")
        page.check("#table-1-5")
        page.wait_for_selector("#preview table")
        taken("tables")
        browser.close()
    server.should_exit = True


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
