"""What is carried is what was released, or an error."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from sitr.accounting.filter import Filter
from sitr.errors import FileError, LedgerError
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.session.carried import filter_dict, read, read_filter, written
from sitr.session.dataset import open as open_description
from sitr.session.sample import sample


@pytest.fixture
def answer(tmp_path: Path) -> Any:
    budget = open_description(sample(tmp_path, rows=200).description).budget()
    return budget.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "zcdp(0.01)")


def test_what_is_read_is_what_was_written(answer: Any) -> None:
    released, receipt = read(written(answer.receipt), ledger=answer.receipt.ledger)
    assert released.table() == answer.released.table()
    assert released.plan == answer.released.plan
    assert (receipt.entry, receipt.standing, receipt.sha256) == (
        answer.receipt.entry,
        answer.receipt.standing,
        answer.receipt.sha256,
    )
    assert receipt.neighbors == answer.receipt.neighbors
    assert receipt.private is answer.receipt.private
    assert receipt.coins is answer.receipt.coins


@pytest.mark.parametrize("spoiled", ["number", "plan", "receipt", "missing", "code", "nothing"])
def test_what_was_changed_on_the_way_is_refused(answer: Any, spoiled: str) -> None:
    content: Any = copy.deepcopy(written(answer.receipt))
    match spoiled:
        case "number":
            text = next(name for name in content["released"]["released"])
            content["released"]["released"][text]["extra"] = 1
        case "plan":
            content["released"]["plan"] = [1]
        case "receipt":
            content["receipt"]["sha256"] = "0" * 64
        case "missing":
            del content["receipt"]["standing"]
        case "code":
            content["released"]["released"] = {"os.system": {"command": "true"}}
        case "nothing":
            content = {}
    with pytest.raises(LedgerError, match="not what its receipt says"):
        read(content, ledger=answer.receipt.ledger)


def test_an_answer_that_is_not_kept_cannot_be_carried(answer: Any) -> None:
    answer.receipt.kept.unlink()
    with pytest.raises(FileError, match="No answer"):
        written(answer.receipt)


def test_budgets_are_carried_exactly() -> None:
    random = RandomDP(PureDP(0.5), gamma=0.1)
    budget = Filter(ZeroConcentratedDP(0.5)).consent(ZeroConcentratedDP(0.1)).consent(ZeroConcentratedDP(0.2))
    for each in (Filter(PureDP(1.0)), budget, Filter(random).consent(random)):
        assert read_filter(filter_dict(each)) == each
