"""Losses add: what many releases promise together, and when to stop. Names are loaded when first used.

`calibrate` and `compare` are at the top level of Sitr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.accounting.anytime import loss_at_any_time as loss_at_any_time
    from sitr.accounting.filter import Filter as Filter
    from sitr.accounting.filter import replay as replay
    from sitr.accounting.odometer import Odometer as Odometer
    from sitr.accounting.residue import GaussianResidue as GaussianResidue
    from sitr.accounting.schedule import Part as Part
    from sitr.accounting.schedule import Schedule as Schedule
    from sitr.accounting.schedule_file import read_schedule as read_schedule
    from sitr.accounting.training import Training as Training

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Filter": "filter",
        "GaussianResidue": "residue",
        "Odometer": "odometer",
        "Part": "schedule",
        "Schedule": "schedule",
        "Training": "training",
        "loss_at_any_time": "anytime",
        "read_schedule": "schedule_file",
        "replay": "filter",
    },
)
