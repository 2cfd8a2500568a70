"""Puts off a slow import until enough work has been done without it."""

import sys
from dataclasses import dataclass


@dataclass(slots=True)
class PostponedImport:
    """A module that a slower way of doing some work does without.

    The total time is never more than twice that of the better choice.

    module: the module's full name
    budget: units of work that take the slower way as long as the import takes
    """

    module: str
    budget: int

    def is_worth(self, work: int) -> bool:
        """True if the module is imported already, or the rest of the budget is too small for this work.

        Otherwise the work is subtracted from the budget.
        """
        if self.module in sys.modules or work > self.budget:
            return True
        self.budget -= work
        return False
