"""Imports that take longer than a little work without them: they wait until that work adds up."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(slots=True)
class PostponedImport:
    """A module that a slower way does without, for at most `budget` units of work in a process.

    The budget is the work that takes the slower way as long as the import takes. So at most twice the time of
    the better choice is spent, whatever comes.
    """

    module: str
    budget: int

    def is_worth(self, work: int) -> bool:
        """True if this work needs the module: it is imported already, or the budget is too small.

        Otherwise the work is taken from the budget.
        """
        if self.module in sys.modules or work > self.budget:
            return True
        self.budget -= work
        return False
