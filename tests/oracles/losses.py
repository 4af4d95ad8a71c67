"""The loss of a mechanism that must have one."""

from __future__ import annotations

from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism


def loss_of(mechanism: Mechanism) -> Loss:
    found = mechanism.loss()
    assert found is not None
    return found
