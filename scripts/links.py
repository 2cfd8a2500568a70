"""Makes `.links/spanwise/`, where static tools see the packages under their installed names."""

import shutil
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parent.parent
folders = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"].values()
links = root / ".links" / "spanwise"
if links.exists():  # with the compiled files of what ran there
    shutil.rmtree(links)
links.mkdir(parents=True)
tops = [root / folder for folder in folders if folder != "spanwise" and "/" not in folder]
for target in [*(root / "spanwise").glob("*.py"), *tops]:
    (links / target.name).symlink_to(target)
