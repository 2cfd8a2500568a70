"""Makes `.links/spanwise/`, where static tools see the packages under their installed names."""

from __future__ import annotations

import tomllib
from pathlib import Path

root = Path(__file__).resolve().parent.parent
folders = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"].values()
links = root / ".links" / "spanwise"
links.mkdir(parents=True, exist_ok=True)
for link in links.iterdir():
    link.unlink()
tops = [root / folder for folder in folders if folder != "spanwise" and "/" not in folder]
for target in [*(root / "spanwise").glob("*.py"), *tops]:
    (links / target.name).symlink_to(target)
