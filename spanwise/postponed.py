"""Puts off a slow import until enough work has been done without it."""

import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec


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

        Otherwise the work is subtracted from the budget. False for a module that is not installed.
        """
        if self.module in sys.modules or work > self.budget:
            return is_installed(self.module)
        self.budget -= work
        return False


@cache
def is_installed(module: str) -> bool:
    """True for a module that can be imported; it is not imported."""
    return find_spec(module) is not None
