"""The same truth as for the theorems."""

from tests.accounting.conftest import plan_of, precise, worst_delta

__all__ = ["plan_of", "precise", "worst_delta"]
