"""A charge is accepted if and only if every account above it accepts: against an oracle that tries it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.errors import BudgetExceeded, IncompatiblePromises, LedgerError, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.shares import Accounts, Amount, Share, check_path, line

PATHS = ("a", "a/b", "a/b/c", "a/d", "e", "e/f")


def whole(promise: Kept) -> Accounts:
    return Accounts("clinic", promise, tuple(Fraction(0) for _ in promise.coordinates()))


def holds(tree: Accounts) -> bool:
    """(*) at every account, written down once more, by recursion from the root."""

    def own(path: str) -> tuple[Amount, Amount, Amount]:
        if not path:
            return tree.promise.coordinates(), tuple(Fraction(0) for _ in tree.paid), tree.paid
        share = tree.shares[path]
        return share.cap, share.reserve, share.paid

    def walk(path: str) -> Amount:
        cap, reserve, paid = own(path)
        children = [
            each for each in tree.shares if each.count("/") == path.count("/") + bool(path) and inside(each, path)
        ]
        needs = [walk(child) for child in children]
        sums = [sum((need[place] for need in needs), Fraction(0)) for place in range(len(cap))]
        if any(spent + need > most for spent, need, most in zip(paid, sums, cap, strict=True)):
            raise OverflowError
        return tuple(
            max(set_aside - spent, need, Fraction(0))
            for set_aside, spent, need in zip(reserve, paid, sums, strict=True)
        )

    try:
        walk("")
    except OverflowError:
        return False
    return True


def inside(path: str, above: str) -> bool:
    return not above or path.startswith(f"{above}/")


def tried(tree: Accounts, path: str, price: Kept) -> Accounts:
    """The accounts after a charge, whether anybody consents or not."""
    cost = price.coordinates()

    def more(paid: Amount) -> Amount:
        return tuple(one + other for one, other in zip(paid, cost, strict=True))

    concerned = [each for each in tree.shares if each == path or inside(path, each)]
    shares = {
        each: replace(share, paid=more(share.paid), charges=share.charges + 1)
        for each, share in tree.shares.items()
        if each in concerned
    }
    return replace(tree, paid=more(tree.paid), shares={**tree.shares, **shares})


steps = st.integers(0, 12).map(lambda tenths: tenths / 10)
amounts = st.builds(lambda epsilon, delta: ApproximateDP(epsilon, delta * 1e-6), steps, steps)
acts = st.lists(
    st.tuples(
        st.sampled_from(["charge", "allot", "reserve", "move"]), st.sampled_from(PATHS), amounts, st.sampled_from(PATHS)
    ),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(amounts, min_size=len(PATHS), max_size=len(PATHS)), acts)
def test_a_charge_is_accepted_if_and_only_if_all_accounts_above_accept(
    caps: list[Kept], done: list[tuple[str, str, Kept, str]]
) -> None:
    tree = whole(ApproximateDP(1.0, 1e-6))
    for path, cap in zip(PATHS, caps, strict=True):
        tree = tree.allot(path, cap)
    for kind, path, amount, other in done:
        before, accepted = tree, True
        try:
            match kind:
                case "charge":
                    tree = tree.charge(path, amount)
                case "allot":
                    tree = tree.allot(path, amount)
                case "reserve":
                    tree = tree.reserve(path, amount)
                case _:
                    tree = tree.move(path, other, amount)
        except SitrError:
            accepted = False
        assert holds(tree)
        if kind == "charge":
            after = tried(before, path, amount)
            assert accepted == holds(after)
            assert tree == (after if accepted else before)
            left = before.left(path).coordinates()
            fits = all(cost <= most for cost, most in zip(amount.coordinates(), left, strict=True))
            assert accepted == fits  # what is said to be left can be charged, and no more
        elif not accepted:
            assert tree == before


def test_an_oracle_that_forgets_reserves_differs() -> None:
    """The broken twin: caps alone would let one analyst use what is set aside for another."""
    tree = whole(PureDP(1.0)).allot("ana", PureDP(1.0)).allot("ben", PureDP(0.5)).reserve("ben", PureDP(0.5))
    after = tried(tree, "ana", PureDP(0.6))
    assert not holds(after)
    assert holds(replace(after, shares={**after.shares, "ben": replace(after.shares["ben"], reserve=(Fraction(0),))}))
    with pytest.raises(BudgetExceeded, match=r"within the pure\(epsilon=0\.5\) of .* that clinic has left"):
        tree.charge("ana", PureDP(0.6))


@pytest.mark.parametrize(
    ("promise", "part"),
    [
        (PureDP(1.0), PureDP(0.1)),
        (GaussianDP(1.0), GaussianDP(0.1)),
        (ZeroConcentratedDP(1.0), ZeroConcentratedDP(0.01)),
        (RenyiDP.at({2: 1.0, 8: 2.0}), RenyiDP.at({2: 0.1, 8: 0.2})),
    ],
)
def test_a_share_is_used_up_exactly(promise: Kept, part: Kept) -> None:
    """Ten tenths are one, and a Gaussian's μ² add up."""
    times = round(promise.coordinates()[0] / part.coordinates()[0])
    tree = whole(promise).allot("ana", promise)
    for _ in range(times):
        tree = tree.charge("ana", part)
    assert tree.shares["ana"].paid == tree.paid == promise.coordinates()
    with pytest.raises(BudgetExceeded, match="clinic/ana"):
        tree.charge("ana", part)


def test_the_account_that_refuses_is_named() -> None:
    tree = whole(PureDP(1.0)).allot("team", PureDP(0.5)).allot("team/ana", PureDP(0.4)).allot("team/ben", PureDP(0.4))
    with pytest.raises(BudgetExceeded, match="clinic/team/ana has left"):
        tree.charge("team/ana", PureDP(0.45))
    tree = tree.charge("team/ana", PureDP(0.3))
    with pytest.raises(BudgetExceeded, match="clinic/team has left"):
        tree.charge("team/ben", PureDP(0.3))
    tree = tree.charge("", PureDP(0.6))
    with pytest.raises(BudgetExceeded, match="that clinic has left"):
        tree.charge("team/ben", PureDP(0.11))


def test_shares_may_exceed_the_whole_and_the_root_still_refuses() -> None:
    tree = whole(PureDP(1.0)).allot("ana", PureDP(0.8)).allot("ben", PureDP(0.8))
    assert tree.exceeded("")
    assert not tree.exceeded("ana")
    tree = tree.charge("ana", PureDP(0.8))
    assert tree.left("ben") == PureDP(0.2)
    with pytest.raises(BudgetExceeded, match="that clinic has left"):
        tree.charge("ben", PureDP(0.3))


def test_a_reserve_deep_down_holds_up_to_the_root() -> None:
    tree = whole(PureDP(1.0)).allot("team", PureDP(0.9)).allot("team/ana", PureDP(0.5)).allot("zoe", PureDP(1.0))
    tree = tree.reserve("team/ana", PureDP(0.5))
    assert tree.left("zoe") == PureDP(0.5)
    assert tree.left("team/ana") == PureDP(0.5)
    assert tree.left("team") == PureDP(0.4)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.allot("ana", PureDP(0.2)),  # less than it has spent
        lambda tree: tree.reserve("ana", PureDP(0.6)),  # more than its cap
        lambda tree: tree.reserve("ben", PureDP(0.8)),  # more than is left in the whole
        lambda tree: tree.move("ana", "ben", PureDP(0.3)),
        lambda tree: tree.move("ben", "ana", PureDP(2.0)),
    ],
)
def test_a_share_cannot_be_less_than_what_is_spent_and_reserved(change) -> None:
    tree = whole(PureDP(1.0)).allot("ana", PureDP(0.5)).allot("ben", PureDP(1.0)).charge("ana", PureDP(0.3))
    with pytest.raises(BudgetExceeded, match="would be more than its share"):
        change(tree)


@pytest.mark.parametrize("path", ["", "/", "a//b", "Ana", " ana", "a\nb", "x" * 101, None, "a/", "ana\u202e"])
def test_a_name_cannot_be_taken_for_another(path: object) -> None:
    with pytest.raises(LedgerError, match="a name such as ana"):
        check_path(path)


def test_what_does_not_fit_is_refused() -> None:
    tree = whole(PureDP(1.0)).allot("ana", PureDP(0.5))
    with pytest.raises(LedgerError, match=r"no sub-budget 'anna'\. Did you mean 'ana'"):
        tree.charge("anna", PureDP(0.1))
    with pytest.raises(LedgerError, match="no sub-budget 'team'"):
        tree.allot("team/ben", PureDP(0.1))
    with pytest.raises(IncompatiblePromises, match="an amount in the flavor of the budget"):
        tree.allot("ben", ZeroConcentratedDP(0.1))
    with pytest.raises(LedgerError, match="both the source and the target"):
        tree.move("ana", "ana", PureDP(0.1))
    with pytest.raises(IncompatiblePromises, match="cannot be divided"):
        whole(RandomDP(PureDP(1.0), 0.05)).allot("ana", PureDP(0.1))
    with pytest.raises(IncompatiblePromises):
        tree.allot("ana", RenyiDP.at({3: 0.1}))


def test_a_share_is_the_same_after_a_file() -> None:
    share = Share((Fraction(1, 3), Fraction(2)), (Fraction(0), Fraction(1)), (Fraction(1, 7), Fraction(0)), 4)
    assert Share.of(share.plain()) == share
    assert list(line("")) == [""]
