"""Puts off a slow import until enough work has been done without it."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(slots=True)
class PostponedImport:
    """A slow import with a slower way that works without it.

    The total is never more than twice that of the better choice.

    Attributes:
        module: the name of the module.
        budget: units of work that take as long as the import.
    """

    module: str
    budget: int

    def is_worth(self, work: int) -> bool:
        """True if the module is imported already, or the budget is too small for this work.

        Otherwise the work is taken from the budget.
        """
        if self.module in sys.modules or work > self.budget:
            return True
        self.budget -= work
        return False
