"""Connections that send nothing, or send it too slowly, are closed: each of them takes the place of somebody else."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 20.0
"""How long the head of a request may take to arrive. The guard bounds the time of its body."""

Protocol: Any = AutoHTTPProtocol


class PunctualProtocol(Protocol):  # type: ignore[misc] # the server chooses which of two classes it is
    """The server's own protocol, and a look at each connection from time to time."""

    seconds = SECONDS
    before: Any = None
    """The request that was the last one when somebody looked; None if there was none yet."""
    look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self.look = self.loop.call_later(self.seconds, self.looked)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to look at any more."""
        if self.look is not None:
            self.look.cancel()
        super().connection_lost(exc)

    def looked(self) -> None:
        """Close the connection if no request runs, and none has begun since the last look."""
        resting = self.cycle is None or self.cycle.response_complete
        if resting and self.cycle is self.before:
            self.transport.close()
            return
        self.before = self.cycle
        self.look = self.loop.call_later(self.seconds, self.looked)
