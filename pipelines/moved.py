"""Old names of modules, which work for one more version and warn."""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "spanwise.pipelines.adapters.haystack": "spanwise.adapters.haystack",
    "spanwise.pipelines.adapters.langchain": "spanwise.adapters.langchain",
    "spanwise.pipelines.adapters.llama_index": "spanwise.adapters.llama_index",
    "spanwise.pipelines.cluster.manifest": "spanwise",
}


class OldNames:
    """A finder and loader for `sys.meta_path` that imports the new module for an old name."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """The old module; None for other names."""
        if name not in MOVED:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # importlib.abc is slow to import

    def create_module(self, spec: ModuleSpec) -> None:
        """None: the import system makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the new module in the place of the old one."""
        old = module.__name__
        new = MOVED[old]
        warnings.warn(f"{old} has moved: import from {new}", DeprecationWarning, stacklevel=2)
        sys.modules[old] = import_module(new)
