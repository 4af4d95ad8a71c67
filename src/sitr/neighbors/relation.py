"""How two neighbouring tables differ."""

from __future__ import annotations

from enum import Enum


class Relation(Enum):
    """One unit is added or removed, or one unit is replaced by another.

    Under `REPLACE_ONE` the number of units is public; under `ADD_REMOVE` even that is protected.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
