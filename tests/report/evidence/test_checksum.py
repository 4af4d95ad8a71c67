"""The checksum of an answer's figures changes with every figure, and with nothing else."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from sitr.report.evidence.checksum import NAME, with_checksum

ANSWER: dict[str, Any] = {
    "columns": [{"name": "n", "error": 8.0}],
    "rows": [{"key": [], "values": [{"value": 3}]}],
    "receipt": {"entry": 1, "kept": "/answers/1.json", "again": False},
}


def of(content: dict[str, Any]) -> str:
    return str(with_checksum(content)["receipt"][NAME])


def test_it_is_the_hash_of_the_sorted_json() -> None:
    plain = {
        "columns": [{"error": 8, "name": "n"}],
        "receipt": {"entry": 1},
        "rows": [{"key": [], "values": [{"value": 3}]}],
    }
    assert of(ANSWER) == sha256(json.dumps(plain).encode()).hexdigest()


def test_every_figure_changes_it() -> None:
    others = [
        ANSWER | {"columns": [{"name": "n", "error": 8.1}]},
        ANSWER | {"rows": [{"key": [], "values": [{"value": 4}]}]},
        ANSWER | {"receipt": ANSWER["receipt"] | {"entry": 2}},
        ANSWER | {"more": 0},
    ]
    assert len({of(each) for each in (ANSWER, *others)}) == 5


def test_where_an_answer_lies_and_how_numbers_are_written_do_not() -> None:
    same = [
        ANSWER | {"receipt": ANSWER["receipt"] | {"kept": True, "again": True}},
        ANSWER | {"columns": [{"error": 8, "name": "n"}]},
        with_checksum(ANSWER),  # which has one already
    ]
    assert {of(each) for each in same} == {of(ANSWER)}


def test_a_preview_has_none() -> None:
    preview = {"kind": "preview", "receipt": None}
    assert with_checksum(preview) is preview
