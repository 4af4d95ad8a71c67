"""The examples in docstrings run where Arb computes with 2 bits, so that whatever forgot to set its own precision shows
nonsense: no result of Sitr may depend on `flint.ctx.prec`, which is everybody's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flint import ctx


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    with ctx.workprec(2):
        return (yield)
