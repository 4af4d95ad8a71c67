"""What the OpenAPI description says about problems: all routes answer with them, and not with FastAPI's own."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from sitr.server.problems import MEDIA

PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457. `wanted` and `given` make one sentence, and `do` says what to do.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "wanted", "given", "do"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "The kind of the error, such as BudgetExceeded."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "The whole message, in the language of the reader."},
        "wanted": {"type": "string"},
        "given": {"type": "string"},
        "do": {"type": "string"},
        "excerpt": {"type": "object", "description": "The part of the question that is wrong."},
        "others": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
        "instead": {"type": "string", "description": "A similar question that can be asked."},
    },
}

_CONTENT = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}

RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "What was sent is refused. Nothing was spent.", "content": _CONTENT},
    "5XX": {"description": "The server failed. What was charged stays charged.", "content": _CONTENT},
}
"""For every route."""


def describe(app: FastAPI) -> None:
    """Add the schema of problems to the description."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        found = made()
        found["components"].setdefault("schemas", {})["Problem"] = PROBLEM
        return found

    app.openapi = openapi  # type: ignore[method-assign]
