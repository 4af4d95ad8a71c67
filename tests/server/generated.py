"""Requests made from the server's own OpenAPI description, and a check of responses against it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TEXTS = (
    *(
        "",
        "visits",
        "ward",
        "days",
        "cost",
        "ana",
        "zcdp(0.0001)",
        "zcdp(9e99)",
        "pure(1)",
        "SELECT COUNT(*) AS n FROM visits",
    ),
    *(
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "'; DROP TABLE visits; --",
        "../../etc/passwd",
        "\x00",
        "\r\nx: y",
    ),
    *("ستر\u202e", "𝕊", "x" * 5_000, "(" * 400, "{{7*7}}", "<script>", "%s%n", "-1", "1e400", "NaN", "null"),
)
NUMBERS = (0, 1, -1, 2, 10, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308, 5e-324)
USUAL: Mapping[str, Any] = {
    "sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "price": "zcdp(0.0001)",
    "columns": ["ward"],
    "tables": ["ward"],
    "question": "cost",
    "account": "",
    "period": "",
    "request": None,
    "plan": None,
    "later": None,
    "weights": None,
    "keys": None,
    "bounds": None,
    "bins": 5,
    "edges": None,
    "hierarchies": None,
    "required": [],
    "caps": None,
    "bias_rows": None,
    "max_rows": None,
    "measures": ["count"],
    "rows": 3,
    "error": {"n": 100},
    "rows_per_person": None,
    "max_groups": 1,
    "max_rows_per_group": 1,
    "reason": "work",
    "least": "",
    "approve_above": "",
    "questions": [{"sql": "SELECT COUNT(*) AS n FROM visits"}],
    "amount": "zcdp(0.001)",
}
"""What people send, by the names of fields."""

OTHERS: tuple[Any, ...] = (None, True, [], {}, [[]], {"": {}}, [None] * 50, "x", 3)


@dataclass(frozen=True)
class Route:
    """A path with a method, and what is sent to it."""

    path: str
    method: str
    operation: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def routes(document: Mapping[str, Any]) -> list[Route]:
    """All routes of a description."""
    return [
        Route(path, method.upper(), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


class Maker:
    """Makes values of a schema; some of them are wrong, and some are hostile."""

    def __init__(self, document: Mapping[str, Any], seed: str, *, wrong: float) -> None:
        self.document, self.wrong, self.random = document, wrong, random.Random(seed)

    def path(self, route: Route) -> str:
        """The path with names filled in: mostly known ones."""
        known = {"name": "visits", "number": "1", "user": "nobody", "notation": "zcdp(0.1)"}
        found = route.path
        for name, usual in known.items():
            hostile = self.random.choice(
                ["%00", "..%2f..%2fusers", "-1", "99999999999999999999", "a" * 300, "%F0%9F%98%80"]
            )
            found = found.replace(f"{{{name}}}", hostile if self.random.random() < self.wrong else usual)
        return found

    def body(self, route: Route) -> Any:
        """What is sent; None if the route takes nothing."""
        found = route.operation.get("requestBody")
        return None if found is None else self.value(found["content"]["application/json"]["schema"])

    def value(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """A value of a schema, or something else."""
        if depth and self.random.random() < self.wrong / 3:
            return self.random.choice(OTHERS)
        schema = resolved(schema, self.document)
        if "anyOf" in schema:
            return self.value(self.random.choice(schema["anyOf"]), depth)
        listed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        if not listed and self.random.random() < 0.7:
            listed = schema.get("examples", [])
        return self.random.choice(listed) if listed else self._kind(schema, depth)

    def _kind(self, schema: Mapping[str, Any], depth: int) -> Any:
        """A value of a type."""
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
        plain: dict[str, tuple[Any, ...]] = {
            "string": TEXTS,
            "integer": tuple(number for number in NUMBERS if isinstance(number, int)),
            "number": NUMBERS,
            "boolean": (True, False),
            "null": (None,),
        }
        return self.random.choice(plain.get(schema.get("type", ""), OTHERS))

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        if parts := schema.get("prefixItems"):
            return [self.value(part, depth + 1) for part in parts]
        least = 1 if self.random.random() > self.wrong else 0
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.random.randint(least, 3))]

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        known, required = schema.get("properties", {}), schema.get("required", ())
        found = {
            name: USUAL[name]
            if name in USUAL and self.random.random() > 0.2 + self.wrong
            else self.value(part, depth + 1)
            for name, part in known.items()
            if (name in required and self.random.random() > self.wrong / 4) or self.random.random() < 0.3
        }
        if isinstance(more := schema.get("additionalProperties"), dict):
            found |= {self.random.choice(("ward", "cost", "n", "x" * 200)): self.value(more, depth + 1)}
        return found | ({"unknown": 1} if self.random.random() < self.wrong / 4 else {})


def resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema, or the one that it refers to."""
    while "$ref" in schema:
        found: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = found
    return schema


def faults(value: Any, schema: Mapping[str, Any], document: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Where a value is not as its schema says."""
    schema = resolved(schema, document)
    if "anyOf" in schema:
        if all(any(True for _ in faults(value, each, document)) for each in schema["anyOf"]):
            yield f"{where} is none of its kinds"
        return
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    if (kind := schema.get("type")) in kinds and not isinstance(value, kinds[kind]):  # type: ignore[arg-type]
        yield f"{where} is no {kind}"
        return
    for place, each, part in _parts(value, schema):
        yield from faults(each, part, document, f"{where}{place}")
    if isinstance(value, dict):
        yield from (f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value)


def _parts(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """The parts of a value with their schemas."""
    if isinstance(value, dict):
        known, more = schema.get("properties", {}), schema.get("additionalProperties")
        for name, each in value.items():
            if name in known or isinstance(more, dict):
                yield f".{name}", each, known.get(name, more)
    if isinstance(value, list) and "items" in schema:
        for place, each in enumerate(value):
            yield f"[{place}]", each, schema["items"]
