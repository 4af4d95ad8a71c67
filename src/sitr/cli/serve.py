"""`sitr serve`: the server and its web page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage
from sitr.namespace import needs
from sitr.report.words.messages import said


def serve(
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The settings, such as sitr.toml; see docs/how-to/serve.md.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve an invented hospital, with an account of each role.")
    ] = False,
    directory: Annotated[Path, typer.Option(help="With --demo: the folder for the files.")] = Path("sitr-demo-server"),
    administrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Invite the first administrator, print the link, and end.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port, instead of the one in the settings.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the server and its web page.

    A team asks on the page or over HTTP, a steward approves, and an auditor verifies. Stop it with Ctrl-C: running
    answers finish first.

    Example: sitr serve --demo
    """
    for library in ("fastapi", "uvicorn", "argon2", "limits", "multipart"):
        needs(library, extra="server")
    if demo == (config is not None):
        raise BadUsage(
            wanted="either --config with the settings, or --demo",
            given="both" if demo else "neither",
            do="Write for example sitr serve --demo.",
        )
    from sitr.server.demonstration import accounts, demonstration
    from sitr.server.run import people_of
    from sitr.server.run import serve as served
    from sitr.server.settings import read_settings

    settings = demonstration(directory) if config is None else read_settings(config)
    settings = settings if port is None else replace(settings, port=port)
    people = people_of(settings)
    if administrator is not None:
        from sitr.server.role import UserRole

        link = f"/invitation/{people.invite(administrator, UserRole.ADMINISTRATOR, by='console')}"
        say_json({"invitation": link}) if as_json else console().print(said(f"Open this link on the server: {link}"))
        return
    passwords = accounts(settings, people) if demo else {}
    address = f"http://{settings.address}:{settings.port}/"
    if as_json:
        say_json({"address": address, "passwords": passwords})
    else:
        console().print(said(f"The server is at {address}. Stop it with Ctrl-C."), soft_wrap=True)
        for name, password in passwords.items():
            console().print(f"  {name}  {password}")
        if demo and not passwords:
            again = (
                f"The accounts have the passwords that were shown first. To begin anew, remove the folder {directory}."
            )
            console().print(said(again), soft_wrap=True)
    served(settings)
