"""The engines there are: those that the modules of `engines` name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules

from . import engines
from .engine import Engine

OURS = "spanwise"


@dataclass(frozen=True, slots=True)
class Entrant:
    """An engine as its process is told: where its class is, and what must be installed for it."""

    name: str
    module: str
    class_name: str
    comparisons: tuple[str, ...]
    needs: tuple[str, ...]

    @property
    def is_ours(self) -> bool:
        """True for the engine that all others are compared with."""
        return self.name == OURS

    @property
    def missing(self) -> list[str]:
        """The distributions that it needs and that are not installed."""
        return [name for name in self.needs if installed(name) is None]


def entrant(engine: type[Engine]) -> Entrant:
    """How a process is told of a class."""
    return Entrant(engine.name, engine.__module__, engine.__name__, engine.comparisons, engine.needs)


def all_entrants() -> tuple[Entrant, ...]:
    """Every registered engine, ours first, then by module; no library is loaded by this."""
    modules = [import_module(f"{engines.__name__}.{found.name}") for found in iter_modules(engines.__path__)]
    found = [entrant(engine) for module in modules for engine in getattr(module, "ENGINES", ())]
    return tuple(sorted(found, key=lambda one: not one.is_ours))


def installed(distribution: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions(entrants: Iterable[Entrant]) -> dict[str, str]:
    """The version of each distribution that these engines need, by name."""
    names = sorted({name for one in entrants for name in one.needs})
    return {name: found for name in names if (found := installed(name)) is not None}
