"""Start the server, in one process or in several that share its files."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from sitr.server.app import create
from sitr.server.connection import PunctualProtocol
from sitr.server.settings import SECRET, Settings
from sitr.server.users import Users

PATIENCE = 120
"""Seconds in which a worker process may finish what runs when the server stops."""

HELD_UP = 30
"""Seconds in which a worker process must show that it lives. One that a busy machine held up for a few seconds would
otherwise be killed, and the answers that wait in it would be lost after their charge."""

CARRIED = "SITR_SERVER_SETTINGS"
"""The environment variable by which worker processes get the settings."""


def serve(settings: Settings) -> None:
    """Serve until the process is asked to end. Running answers finish first; what was charged stays charged."""
    os.environ[CARRIED] = _written(settings)
    uvicorn.run(
        "sitr.server.run:application",
        factory=True,
        http=PunctualProtocol,
        host=settings.address,
        port=settings.port,
        workers=settings.workers,
        proxy_headers=settings.tls,
        server_header=False,
        access_log=False,  # it would hold addresses with their queries
        log_level="warning",
        timeout_graceful_shutdown=PATIENCE,
        timeout_worker_healthcheck=HELD_UP,
        limit_concurrency=1000,
    )


def application() -> ASGIApp:
    """The application of a worker process."""
    logging.getLogger("sitr.server").setLevel(logging.INFO)
    if not logging.getLogger("sitr.server").handlers:
        logging.getLogger("sitr.server").addHandler(logging.StreamHandler())
    settings = _read(os.environ.pop(CARRIED))  # engines start processes of their own, which must not inherit the secret
    os.environ.pop(SECRET, None)
    return create(settings, people_of(settings))


def people_of(settings: Settings) -> Users:
    """The accounts of a server."""
    return Users.open(
        settings.state / "server.db",
        idle=timedelta(minutes=settings.idle_minutes),
        longest=timedelta(hours=settings.session_hours),
    )


def _written(settings: Settings) -> str:
    return json.dumps(asdict(settings), default=str)


def _read(text: str) -> Settings:
    found: dict[str, Any] = json.loads(text)
    paths = {name: Path(path) for name, path in found.pop("datasets").items()}
    lists = {"hosts": tuple(found.pop("hosts")), "folders": tuple(map(Path, found.pop("folders")))}
    return Settings(**{**found, "state": Path(found["state"]), "datasets": paths, **lists})
