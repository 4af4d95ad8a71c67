"""Invented tables for the corpus: small, seeded, and within their public bounds, so that nothing is cut or clamped."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Schema:
    """A protected table with what is public about it, and public tables beside it."""

    name: str
    rows: pa.Table
    unit: str
    described: dict[str, Any]
    public: dict[str, pa.Table] = field(default_factory=dict)


STATES = ["Ohio", "Utah", "Iowa", "Texas", "Maine"]
PEOPLE, ROWS = 240, 6
"""How many people there are, and how many rows each of them has at most."""


def _table(rows: list[tuple[Any, ...]], *names: str) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _each(chance: random.Random) -> list[int]:
    """Whose rows there are."""
    return [person for person in range(PEOPLE) for _ in range(chance.randint(1, ROWS))]


def people() -> Schema:
    chance = random.Random(1)
    rows = [
        (
            number,
            chance.choice("FM"),
            chance.randint(0, 99),
            chance.randint(1, 8),
            None if chance.random() < 0.1 else float(chance.randint(0, 900) * 100),
            chance.random() < 0.5,
            chance.choice(STATES),
        )
        for number in range(PEOPLE)
    ]
    return Schema(
        "people",
        _table(rows, "person_id", "sex", "age", "schooling", "income", "married", "state"),
        "person_id",
        {
            "max_groups": 1,
            "max_rows_per_group": 1,
            "bounds": {"age": (0, 100), "schooling": (1, 8), "income": (0, 90_000)},
            "granularity": {"income": 1},
            "keys": {"sex": ["F", "M"]},
        },
    )


def shop() -> Schema:
    chance, rows = random.Random(2), []
    for customer in _each(chance):
        shipped = date(2024, 1, 2) + timedelta(chance.randint(0, 300))
        rows.append(
            (
                customer,
                shipped,
                shipped + timedelta(chance.randint(5, 25)),
                shipped + timedelta(chance.randint(1, 30)),
                chance.randint(1, 50),
                chance.randint(100, 9_000) / 100,
                chance.randint(0, 10) / 100,
                chance.randint(0, 8) / 100,
                chance.choice("RAN"),
                chance.choice("OF"),
                chance.choice(["air", "ship", "rail", "truck"]),
                chance.choice(["urgent", "high", "normal", "low"]),
                chance.randint(1, 8),
                chance.randint(1, 6),
            )
        )
    names = (
        *("customer_id", "shipped", "promised", "received", "quantity", "price", "discount", "tax"),
        *("returned", "status", "mode", "priority", "part_id", "supplier_id"),
    )
    days = (date(2024, 1, 1), date(2024, 12, 31))
    kinds = ["PROMO TIN", "SMALL TIN", "PROMO STEEL", "LARGE BRASS", "SMALL STEEL", "LARGE TIN", "PROMO BRASS"]
    parts = [(number, f"B{number % 3}", kinds[number - 1], number) for number in range(1, 8)]
    places = ["Chad", "Peru", "Fiji"]
    return Schema(
        "lines",
        _table(rows, *names),
        "customer_id",
        {
            "max_groups": ROWS,
            "max_rows_per_group": ROWS,
            "bounds": {
                "shipped": days,
                "promised": days,
                "received": days,
                "quantity": (1, 50),
                "price": (0, 100),
                "discount": (0, 0.1),
                "tax": (0, 0.08),
                "part_id": (1, 8),
                "supplier_id": (1, 6),
            },
            "granularity": {"price": 0.01, "discount": 0.01, "tax": 0.01},
            "keys": {"returned": ["A", "N", "R"], "mode": ["air", "ship", "rail", "truck"]},
        },
        {
            "parts": _table(parts, "part_id", "brand", "type", "size"),
            "suppliers": _table([(n, places[n % 3]) for n in range(1, 7)], "supplier_id", "nation"),
            "nations": _table([("Chad", "Africa"), ("Peru", "America"), ("Fiji", "Oceania")], "nation", "region"),
        },
    )


ZONES = ["A", "B", "C", "D"]


def rides() -> Schema:
    chance, rows = random.Random(3), []
    for rider in _each(chance):
        begin = datetime.fromisoformat("2024-01-01") + timedelta(minutes=chance.randint(0, 129_000))
        rows.append(
            (
                rider,
                begin,
                begin + timedelta(minutes=chance.randint(5, 100)),
                chance.randint(1, 59) / 2,
                chance.randint(40, 990) / 10,
                chance.randint(0, 200) / 10,
                chance.randint(1, 5),
                chance.choice(["cash", "card"]),
                chance.choice(ZONES),
            )
        )
    times = (datetime.fromisoformat("2024-01-01"), datetime.fromisoformat("2024-04-01"))
    return Schema(
        "rides",
        _table(
            rows,
            *("rider", "picked_up", "dropped_off", "distance", "fare", "tip", "passengers", "payment", "zone"),
        ),
        "rider",
        {
            "max_groups": ROWS,
            "max_rows_per_group": ROWS,
            "bounds": {
                "picked_up": times,
                "dropped_off": times,
                "distance": (0, 30),
                "fare": (0, 100),
                "tip": (0, 20),
                "passengers": (1, 6),
            },
            "granularity": {"distance": 0.5, "fare": 0.1, "tip": 0.1},
            "keys": {"payment": ["cash", "card"]},
        },
        {
            "zones": _table(
                [("A", "North"), ("B", "North"), ("C", "South"), ("D", "East")],
                *("zone", "borough"),
            )
        },
    )


def visits() -> Schema:
    chance, rows = random.Random(4), []
    for patient in _each(chance):
        admitted = date(2024, 1, 1) + timedelta(chance.randint(0, 330))
        rows.append(
            (
                patient,
                chance.choice(["surgery", "cardiology", "maternity"]),
                admitted,
                admitted + timedelta(chance.randint(0, 20)),
                None if chance.random() < 0.05 else float(chance.randint(0, 1_000)),
                None if chance.random() < 0.1 else chance.choice(["flu", "Flu ", "asthma", "fracture"]),
                None if chance.random() < 0.1 else chance.random() < 0.4,
                chance.randint(0, 99),
            )
        )
    days = (date(2024, 1, 1), date(2024, 12, 31))
    return Schema(
        "visits",
        _table(rows, "patient_id", "ward", "admitted", "discharged", "cost", "diagnosis", "urgent", "age"),
        "patient_id",
        {
            "max_groups": ROWS,
            "max_rows_per_group": ROWS,
            "bounds": {"admitted": days, "discharged": days, "cost": (0, 1_000), "age": (0, 100)},
            "granularity": {"cost": 1},
            "keys": {"ward": ["surgery", "cardiology", "maternity"]},
        },
        {
            "wards": _table(
                [("surgery", "east", 1), ("cardiology", "east", 2), ("maternity", "west", 3)],
                *("ward", "building", "floor"),
            )
        },
    )


def events() -> Schema:
    chance, rows = random.Random(5), []
    for user in _each(chance):
        event = chance.choice(["view", "view", "buy", "search"])
        rows.append(
            (
                user,
                datetime.fromisoformat("2024-01-01") + timedelta(minutes=chance.randint(0, 14 * 1440)),
                chance.choice(["/", "/shop/a", "/shop/bc", "/help"]),
                event,
                chance.choice(["phone", "desk"]),
                chance.choice(["FR", "EG", "JP", None]),
                chance.choice(["search.example", "news.example", None]),
                chance.randint(0, 120),
                float(chance.randint(1, 90)) if event == "buy" else 0.0,
            )
        )
    times = (datetime.fromisoformat("2024-01-01"), datetime.fromisoformat("2024-01-16"))
    return Schema(
        "events",
        _table(rows, *("user_id", "happened", "page", "event", "device", "country", "referrer", "seconds", "revenue")),
        "user_id",
        {
            "max_groups": ROWS,
            "max_rows_per_group": ROWS,
            "bounds": {"happened": times, "seconds": (0, 120), "revenue": (0, 90)},
            "granularity": {"revenue": 1},
            "keys": {"device": ["phone", "desk"], "event": ["view", "buy", "search"]},
        },
        {
            "pages": _table(
                [("/", "home"), ("/shop/a", "shop"), ("/shop/bc", "shop"), ("/help", "help")],
                *("page", "section"),
            )
        },
    )


SCHEMAS = {"people": people, "shop": shop, "rides": rides, "visits": visits, "events": events, "newcomers": visits}
"""By the names of the files with questions."""
