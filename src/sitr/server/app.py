"""The application: routes, and the guard around them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request as Outgoing
from urllib.request import urlopen

from fastapi import FastAPI

from sitr.namespace import Later, needs
from sitr.server import api, api_books, api_questions, federated, pages, play, visitors
from sitr.server.failures import handle
from sitr.server.guard import Guard
from sitr.server.limiter import Limiter
from sitr.server.office import Office
from sitr.server.openapi import RESPONSES, describe
from sitr.server.previews import Previews
from sitr.server.settings import Settings
from sitr.server.users import Users
from sitr.session.deadline import VARIABLE

if TYPE_CHECKING:
    from sitr.server import oidc
else:  # needs an extra
    oidc = Later("sitr.server.oidc")


def create(settings: Settings, people: Users) -> Guard:
    """The application with these settings and accounts."""
    if settings.answer_rows:  # answers leave at deadlines, unless the operator turned that off
        os.environ[VARIABLE] = str(settings.answer_rows)
    app = FastAPI(
        title="Sitr",
        version="1",
        summary="Ask questions about protected data, and see what each answer costs.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        responses=RESPONSES,
    )

    def descriptions() -> Mapping[str, Path]:
        return {**people.datasets(), **settings.datasets}

    app.state.settings, app.state.people, app.state.limiter = settings, people, Limiter()
    app.state.previews = Previews()
    app.state.provider = _provider(settings)
    app.state.office = Office(descriptions, _webhook(settings.webhook))
    for routes in (api, api_questions, api_books, visitors, federated, play, pages):
        app.include_router(routes.router)
    describe(app)
    handle(app)
    guard = Guard(app, settings)
    app.state.guard = guard
    return guard


def _provider(settings: Settings) -> object:
    """Where people may log in besides here, with an extra; None for nowhere."""
    if not settings.oidc_issuer:
        return None
    for library in ("authlib", "requests"):
        needs(library, extra="oidc")
    return oidc.Provider(settings)


def _webhook(address: str) -> Callable[[str, Mapping[str, object]], None]:
    """Tells an address about requests and decisions, in the background. If it does not answer, nobody waits."""

    def tell(event: str, content: Mapping[str, object]) -> None:
        if not address:
            return
        body = json.dumps({"event": event, **content}).encode()
        sent = Outgoing(address, data=body, headers={"content-type": "application/json"})
        threading.Thread(target=_send, args=(sent,), daemon=True).start()

    return tell


def _send(sent: Outgoing) -> None:
    with suppress(OSError):
        urlopen(sent, timeout=10).close()
