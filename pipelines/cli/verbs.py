"""The verbs of the command line, each imported when it is named: a search does not wait for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

# Where the function or the group of a verb stands, in this package, and an example for its help.
VERBS = {
    "index": ("index:index", "spanwise index notes --index notes-index --colbert builtin"),
    "search": ("search:search", "spanwise search 'opening hours' -k 5 --path 'town/**' --type md"),
    "ask": ("ask:ask", "spanwise ask 'when does the library open?' notes --after 2024-01-01"),
    "summarize": (
        "summarize:summarize",
        "spanwise summarize 'what changed for the mills?' --max-sentences 2 --index notes",
    ),
    "serve": ("serve:serve", "spanwise serve notes --port 8765"),
    "mcp": ("mcp:mcp", "spanwise mcp --index notes"),
    "status": ("status:status", "spanwise status --index notes"),
    "verify": ("verify:verify", "spanwise verify --index notes"),
    "eval": ("evaluate:app", ""),
    "train": ("train:app", ""),
    "calibrate": ("train:calibrate", "spanwise calibrate --data train-v1.1.json.gz --out runs/reader"),
}


class Verbs(Mapping[str, Any]):
    """The commands by name, in the order of `VERBS`."""

    def __getitem__(self, name: str) -> Any:
        """The command of that name; imports it."""
        place, example = VERBS[name]
        module, _, attribute = place.partition(":")
        found = getattr(import_module(f".{module}", __package__), attribute)
        if isinstance(found, typer.Typer):
            return get_command(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, epilog=f"Example: {example}")(found)
        return get_command(alone)

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(VERBS)

    def __len__(self) -> int:
        """How many verbs there are."""
        return len(VERBS)


class VerbGroup(TyperGroup):
    """The group whose commands are the verbs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Verbs()
