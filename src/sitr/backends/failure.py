"""The one error after a charge."""

from __future__ import annotations

from sitr.errors import BackendFailure

CHARGED = "the charge stands, because the data were touched"
UNCHARGED = "nothing was spent"


def failed(charge: str) -> BackendFailure:
    """The error, whose text is always the same. Raise it when the engine's own error is gone: see `engine.read`."""
    return BackendFailure(
        given="The data could not be read; the reason is withheld because it could quote the data.",
        do=f"Check the data set itself; {charge}.",
    )
