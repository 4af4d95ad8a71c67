"""Other accountants: reading and writing their events, and accounting for their training runs. Each is an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.interop.dp_accounting import from_event as from_event
    from sitr.interop.dp_accounting import to_event as to_event
    from sitr.interop.opacus import SitrAccountant as SitrAccountant

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "SitrAccountant": "opacus",
        "from_event": "dp_accounting",
        "to_event": "dp_accounting",
    },
    extras={"dp_accounting": ("dp_accounting", "dp-accounting"), "opacus": ("opacus", "opacus")},
)
