"""Synthetic rows from a server: the model is fitted there and carried here, where rows are drawn for free."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack, cast

from sitr.client.call import FarCall, check_same
from sitr.client.connection import no_server
from sitr.errors import InvalidUse
from sitr.flavors.price import Amounts, Price, price_of
from sitr.noise.coins import Coins
from sitr.questions.synthetic.field import Progress
from sitr.session.synthesis import Synthesis
from sitr.session.synthetic import Synthetic, check_number, load


@dataclass(frozen=True, slots=True, repr=False)
class FarSynthesis(Synthesis):
    """A request for synthetic rows that a server answers."""

    def release(
        self,
        price: Price | None = None,
        *,
        quality: Price | None = None,
        target: str | None = None,
        triples: bool = False,
        rows: int | None = None,
        coins: Coins | None = None,
        fresh: bool = False,
        progress: Progress | None = None,  # noqa: ARG002 - the server does not say how far it is
        **amounts: Unpack[Amounts],
    ) -> Synthetic:
        """Let the server charge, count and fit. The answer is the model, from which rows are drawn here."""
        if quality is not None or coins is not None:
            raise InvalidUse(
                given="A server draws noise with its own coins, and measures no quality for a client.",
                do="Leave out coins and quality; nothing was spent.",
            )
        self._with(None, rows, target, triples=triples)  # refuses both: they are parts of the quality
        paid = price_of(price, **amounts)
        check_number(rows)
        plan, call = self.question.plan(paid), cast("FarCall", self.at.elsewhere)
        found = call.posted(self.question, plan, price=paid, warrant=self.at.warrant, fresh=fresh, rows=rows)
        made = _read(found)
        check_same(made.portrait.plan, plan)
        return made


def _read(found: Any) -> Synthetic:
    """The model that the server sent; it is checked, and no code in it is run."""
    try:
        data = b64decode(found["model"], validate=True)
    except (TypeError, KeyError, ValueError):
        raise no_server() from None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sitr"
        path.write_bytes(data)
        return load(path)
