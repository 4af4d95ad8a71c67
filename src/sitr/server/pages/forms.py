"""What the forms of all kinds of questions have in common: they are counted, previewed for free, and paid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request

from sitr.errors import SitrError
from sitr.flavors.notation import parse
from sitr.report.page.html import shown
from sitr.server.access import Caller, Decided, Here, Limits, check_form
from sitr.server.limiter import Limiter
from sitr.server.office import Office
from sitr.server.pages.routes import Asks, Field
from sitr.server.render import problems
from sitr.server.settings import Settings
from sitr.session.budget import Budget
from sitr.session.request import Request as Asked


class PricedForm(Protocol):
    """A form that is a question at a price."""

    @property
    def price(self) -> str:
        """What an answer may cost."""

    def request(self, budget: Budget) -> Asked[Any]:
        """The question."""


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form that came from a page of this server, and who sent it."""

    request: Request
    caller: Caller
    office: Office
    limiter: Limiter
    settings: Settings

    def count_preview(self, times: int) -> None:
        """Count a free look, as several usual ones if it takes as long as they do."""
        self.limiter.count("preview", self.caller.name, most=self.settings.previews_per_minute, times=times)

    @contextmanager
    def paying(self) -> Iterator[None]:
        """Count an answer, and let somebody wait for a few of them at once."""
        self.limiter.count("ask", self.caller.name, most=self.settings.answers_per_minute)
        with self.limiter.running(self.caller.name, most=self.settings.answers_at_once):
            yield

    def previewed(self, name: str, made: PricedForm) -> dict[str, Any]:
        """What a page shows before anything is spent: errors and price, or what is wrong."""
        self.count_preview(10)
        try:
            with self.office.acting_as(self.caller.user, name) as opened:
                paper = made.request(opened.paying()).preview(parse(made.price)).paper
                return {"sections": shown(paper, pictures=False)}
        except SitrError as error:
            return problems(error)


async def _sent(
    request: Request, caller: Asks, office: Here, limiter: Limits, settings: Decided, mark: Field
) -> SentForm:
    check_form(request, mark)
    return SentForm(request, caller, office, limiter, settings)


Sent = Annotated[SentForm, Depends(_sent)]
