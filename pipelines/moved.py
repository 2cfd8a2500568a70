"""Old names of modules, which work for one more version and warn."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module


def moved(old: str, new: str) -> None:
    """Put the module `new` in the place of the module `old`, which calls this when it is imported."""
    warnings.warn(f"{old} has moved: import from {new}", DeprecationWarning, stacklevel=3)
    sys.modules[old] = import_module(new)
