"""What all tests and the examples in docstrings need.

The examples run where Arb computes with 2 bits, so that whatever forgot to set its own precision shows nonsense: no
result of Sitr may depend on `flint.ctx.prec`, which is everybody's. Keys and witnesses are kept in a folder of the
tests' own. The tables of a new ledger are made quickly: there are thousands of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest
from flint import ctx

from sitr.ledger import sql
from tests import tables

_state = TemporaryDirectory(prefix="sitr-state-")
os.environ["SITR_STATE"] = _state.name  # processes that tests start inherit it


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    with ctx.workprec(2):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def tables_are_made_quickly() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql, "upgrade", tables.upgrade)
        yield
