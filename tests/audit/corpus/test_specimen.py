"""A mechanism of the corpus is a black box that draws from coins."""

from __future__ import annotations

import pytest

from sitr.audit.corpus.specimen import Specimen
from sitr.flavors.pure import PureDP
from sitr.noise import TestCoins, discrete_laplace


def made(coins: TestCoins | None) -> Specimen:
    return Specimen(
        "noise",
        PureDP(1.0),
        "A reason.",
        "[DMNS06]",
        (0, 1),
        lambda data, size, coins: data + discrete_laplace(scale=1, size=size, coins=coins),
        coins=coins,
    )


@pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")
def test_the_same_coins_give_the_same_answers_and_the_thread_s_own_do_not() -> None:
    one, again = (made(TestCoins(1)).draw(0, 50).numbers.tolist() for _ in range(2))
    assert one == again
    private, other = (made(None).draw(0, 50).numbers.tolist() for _ in range(2))
    assert private != other
    assert made(None).broken
