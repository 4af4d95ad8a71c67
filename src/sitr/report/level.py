"""The order of a certificate: the answer, then what it rests on, from the promise down to the ledger."""

from __future__ import annotations

from enum import Enum


class Level(Enum):
    """The parts of a certificate, in their order.

    After the answer they follow the pyramid of NIST SP 800-226, by which a claim of differential privacy is evaluated:
    the unit and the parameters at the top rest on mechanisms and their assumptions, and these on how data are handled.
    """

    RESULT = "what was answered"
    PROMISE = "the unit and the promise"
    MECHANISMS = "the mechanisms and what they assume"
    DATA = "what was public, how rows were read, side channels"
    BUDGET = "what was charged and what is left"
    NUMBERS = "the rows that a chart stands for"
