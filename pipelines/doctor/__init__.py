"""Is everything there that spanwise needs, and what to do where it is not."""

from .checkup import checkup
from .finding import Finding, State

__all__ = ["Finding", "State", "checkup"]
