"""A budget on a server is used like one that is here: same previews, same answers, same errors."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import sitr
from sitr.errors import BudgetExceeded, InvalidUse, NotAllowed, UnknownName
from sitr.ledger.who import acting
from sitr.noise.coins import TestCoins
from sitr.session.aggregate import AggregateAnswer
from sitr.session.batch import BatchAnswer
from sitr.session.budget import Budget
from sitr.session.dataset import open as open_description
from tests.client.conftest import Served
from tests.server.conftest import SQL

ONE = "SELECT COUNT(*) AS n FROM visits"


def here(served: Served) -> Budget:
    """The same budget, without the server."""
    return open_description(served.team.settings.datasets["visits"]).budget()


def test_a_preview_is_made_here_and_is_the_same_as_there(served: Served) -> None:
    far, near = served.budget("noor"), here(served)
    one, other = far.sql(SQL).preview(rho=0.01), near.sql(SQL).preview(rho=0.01)
    assert one.to_dict() == other.to_dict()
    assert str(one) == str(other)
    assert far.sql(SQL, max_groups=1, bias="off").preview(rho=0.01).errors() == (
        near.sql(SQL, max_groups=1, bias="off").preview(rho=0.01).errors()
    )
    assert far.promise == near.promise
    assert far.entries() == []


def test_an_answer_is_the_same_object_as_here(served: Served) -> None:
    far = served.budget("noor")
    answer = far.ask(SQL, "zcdp(0.01)")
    assert type(answer) is AggregateAnswer
    again = here(served).ask(SQL, "zcdp(0.01)")  # kept beside the ledger, at no charge
    assert again.receipt.again
    assert answer.table == again.table
    assert answer.intervals(confidence=0.9) == again.intervals(confidence=0.9)
    assert answer.receipt.entry == again.receipt.entry
    assert answer.receipt.sha256 == again.receipt.sha256
    assert answer.receipt.standing == again.receipt.standing
    assert answer.errors() == again.errors()
    assert answer.loss == again.loss
    assert len(answer.to_pandas()) == len(again.to_pandas())
    assert "ward" in str(answer)
    assert answer.plot().svg == again.plot().svg
    assert far.entries() == here(served).entries()
    assert far.standing() == here(served).standing()


def test_a_certificate_comes_from_the_server_and_is_verified(served: Served, tmp_path: Path) -> None:
    answer = served.budget("ana").ask(SQL, "zcdp(0.01)")
    path = answer.certificate(tmp_path / "wards.html")
    found = here(served).ledger.seals(answer.receipt.entry.number)
    assert sha256(path.read_bytes()).hexdigest() in [seal.sha256 for seal in found]


def test_every_kind_of_question(served: Served) -> None:
    far, near = served.budget("noor"), here(served)
    both = far.batch({"wards": far.sql(SQL), "all": far.sql(ONE)}, weights={"all": 2}).release(rho=0.01)
    assert type(both) is BatchAnswer
    assert both.names == ("wards", "all")
    assert (
        both["all"].table
        == near.batch({"wards": near.sql(SQL), "all": near.sql(ONE)}, weights={"all": 2}).release(rho=0.01)["all"].table
    )
    counted = far.histogram("days", bins=5, bounds=(0, 30)).release(rho=0.01)
    assert len(counted) >= 5
    published = far.tables([("ward",)]).release(rho=0.01)
    assert list(published.tables) == ["ward"]
    suggested = far.suggest("cost").release(rho=0.01)
    assert suggested.paper is not None
    chosen = far.sql("SELECT COUNT(*) AS n FROM visits", caps="auto").release(rho=0.02)
    assert len(chosen) == 1
    assert len(far.entries()) == 5
    assert [far.answer(number).receipt.entry.number for number in far.answers()] == [1, 2, 3, 4, 5]  # type: ignore[attr-defined]


def test_tables_that_were_paid_for_in_whole_numbers_are_free(served: Served) -> None:
    """The server sends what it keeps, which is shown here as it was planned here."""
    far, near = served.budget("noor"), here(served)
    with acting("noor"):
        whole = near.tables([("ward",)], whole=True).release(rho=0.01)
    free = far.tables([("ward",)]).release(rho=0.01)
    assert (free.receipt.entry, free.receipt.sha256) == (whole.receipt.entry, whole.receipt.sha256)
    assert free.released.plan.whole is False
    assert free.of("ward") == near.tables([("ward",)]).release(rho=0.01).of("ward")
    assert len(far.entries()) == 1


def test_questions_made_by_calls_are_sent_as_text(served: Served) -> None:
    far = served.budget("noor")
    made = far.where(sitr.column("days") > 3).group_by("ward").agg(n=sitr.count(), total=sitr.sum("cost"))
    answer = made.having(sitr.column("n") > 0).sort("n", descending=True).limit(3).release(rho=0.01)
    assert answer.table.column_names == ["ward", "n", "total"]
    sorted_again = far.sql(SQL).sort("n").release(rho=0.01)
    assert len(sorted_again) > 0


def test_caps_that_cannot_be_sent_are_refused_before_the_charge(served: Served) -> None:
    far = served.budget("noor")
    made = far.group_by("ward").caps(max_groups=1).agg(n=sitr.count())
    with pytest.raises(InvalidUse, match="understands this question differently"):
        made.release(rho=0.01)
    assert far.entries() == []


def test_errors_are_the_same_errors(served: Served) -> None:
    far = served.budget("ana")
    with pytest.raises(UnknownName):  # found here
        far.sql("SELECT COUNT(*) AS n FROM visits WHERE wardd = 'A'")
    with pytest.raises(BudgetExceeded) as refused:  # found there
        far.ask(SQL, "zcdp(100)")
    assert refused.value.wanted
    assert refused.value.do
    assert far.entries() == []
    with pytest.warns(UserWarning, match="private"):
        coins = TestCoins(1)
    with pytest.raises(InvalidUse, match="its own coins"):
        far.sql(SQL).release(rho=0.01, coins=coins)
    with pytest.raises(NotAllowed):
        far.allot("ben", rho=0.01)
    with pytest.raises(NotAllowed):
        far.account("noor").sql(SQL).preview(rho=0.01)
    with pytest.raises(InvalidUse, match="ordered cannot be sent"):
        far.synthesize(ordered=[("days", "cost")])
    with pytest.raises(InvalidUse, match="people cannot be sent"):
        far.synthesize(people=True)


def test_what_is_left_as_it_is_need_not_be_sent(served: Served) -> None:
    """The command line names every argument, also those that nobody gave."""
    far = served.budget("ana")
    asked = far.synthesize(columns=["ward", "age_band"], never=[], spikes={}, people=False, constant=(), order=None)
    assert asked.question == far.synthesize(columns=["ward", "age_band"]).question


@pytest.mark.slow
def test_synthetic_rows_are_fitted_there_and_drawn_here(served: Served) -> None:
    far = served.budget("ana")
    asked = far.synthesize(columns=["ward", "age_band"])
    near = here(served).account("ana").synthesize(columns=["ward", "age_band"])
    assert asked.preview(rho=0.05).to_dict()["price"] == near.preview(rho=0.05).to_dict()["price"]
    made = asked.release(rho=0.05, rows=30)
    assert made.table.column_names == ["ward", "age_band"]
    assert made.table.num_rows == 30
    assert made.draw(7).num_rows == 7
    assert [entry.price for entry in far.entries()] == [sitr.ZeroConcentratedDP(0.05)]
    again = asked.release(rho=0.05, rows=30)
    assert again.table == made.table
    assert len(far.entries()) == 1
    for refused in ({"quality": "zcdp(0.01)"}, {"coins": TestCoins.__new__(TestCoins)}):
        with pytest.raises(InvalidUse, match="its own coins"):
            asked.release(rho=0.05, **refused)


def test_what_is_left_is_what_the_own_account_has_left(served: Served) -> None:
    noor, ana = served.budget("noor"), served.budget("ana")
    near = here(served)
    assert ana.remaining() == near.account("ana").remaining()
    assert ana.remaining() != noor.remaining()
    assert noor.remaining() == near.remaining()
    assert "visits" in repr(ana)
    assert "visits" in str(ana)


def test_a_key_of_ones_own_is_charged_once(served: Served) -> None:
    far = served.budget("ana")
    first = far.ask(SQL, "zcdp(0.01)", key="monday")
    second = served.budget("ana").ask(SQL, "zcdp(0.01)", key="monday")
    assert second.table == first.table
    assert len(far.entries()) == 1
    with pytest.raises(NotAllowed, match="another question"):
        far.ask(ONE, "zcdp(0.01)", key="monday")
