"""The routes of all pages for people who are logged in, and who may call them.

Every form carries a mark that only a page of this server can have.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import RedirectResponse

from sitr.server.access import EVERYBODY, Allowed, Caller
from sitr.server.role import UserRole

router = APIRouter(include_in_schema=False)

READERS = (UserRole.STEWARD, UserRole.ANALYST, UserRole.AUDITOR)

Reads = Annotated[Caller, Depends(Allowed(READERS, page=True))]
Asks = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.ANALYST), page=True))]
Stewards = Annotated[Caller, Depends(Allowed((UserRole.STEWARD,), page=True))]
Audits = Annotated[Caller, Depends(Allowed((UserRole.STEWARD, UserRole.AUDITOR), page=True))]
Administers = Annotated[Caller, Depends(Allowed((UserRole.ADMINISTRATOR,), page=True))]
Anybody = Annotated[Caller, Depends(Allowed(EVERYBODY, page=True))]

Field = Annotated[str, Form()]
Optional = Annotated[str, Form()]


def there(path: str) -> RedirectResponse:
    """Go to a page after a form was sent."""
    return RedirectResponse(path, status_code=303)
