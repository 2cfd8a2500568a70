"""Prints the file that `spanwise eval speed --out FILE` wrote as a Markdown table.

python scripts/speed_table.py docs/speed.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = ("comparison", "peer", "unit", "ours", "peer", "ratio", "recall@{k}: ours, peer", "overlap")


def table(found: dict[str, Any]) -> Iterator[str]:
    """The lines of the table; a ratio above 1 where ours is faster."""
    yield row(cell.format(k=found["settings"]["k"]) for cell in HEAD)
    yield row(["---"] * 3 + ["---:"] * 3 + ["---"] * 2)
    for one in found["rows"]:
        recalls = f"{one['ours_measured']['recall']:.2f}, {one['peer_measured']['recall']:.2f}"
        figures = (number(one["ours"]), number(one["peer"]), f"{one['ratio']:.2f}")
        overlap = f"{one['peer_measured']['overlap']:.2f}"
        yield row([one["name"], one["peer_name"], one["unit"], *figures, recalls, overlap])


def number(figure: float) -> str:
    """A figure as it is written in a table."""
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.4g}"


def row(cells: Iterator[str] | list[str]) -> str:
    """One row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Reads the file named, prints."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FILE")
    print("\n".join(table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
