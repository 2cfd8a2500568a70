"""Checks a built wheel the way an application meets it: installed, in a folder that is not ours.

The folder owns an `index.py` and an `eval/`, as many applications do; both must stay theirs. Run as
`python scripts/wheel_smoke.py dist/spanwise-*.whl` by a Python that has spanwise's dependencies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

IMPORT_ALL = """
import importlib.resources, pkgutil, sys, spanwise, index, eval
assert spanwise.__file__.startswith(sys.argv[1]), spanwise.__file__
assert (index.OWNER, eval.OWNER) == ("application", "application")
for module in pkgutil.walk_packages(spanwise.__path__, "spanwise."):
    importlib.import_module(module.name)
    assert sys.modules[module.name].__file__.startswith(sys.argv[1]), module.name
assert (importlib.resources.files("spanwise.corpora") / "sample" / "docs").is_dir()
"""


def main(wheel: Path) -> None:
    """Install the wheel into a folder of its own and use it from another one; raise when anything fails."""
    check_top_level(wheel)
    with tempfile.TemporaryDirectory() as scratch:
        site, home = Path(scratch, "site"), Path(scratch, "application")
        run("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
        make_application(home)
        env = {**os.environ, "PYTHONPATH": str(site)}
        run("-c", IMPORT_ALL, str(site), cwd=home, env=env)
        run("-m", "spanwise", "index", "notes", "--index", "library", "--json", cwd=home, env=env)
        search = ("search", "who founded the mill?", "--index", "library", "--retriever", "bm25", "--json")
        hits = json.loads(run("-m", "spanwise", *search, cwd=home, env=env))["hits"]
        if [hit["document"] for hit in hits] != ["mill.txt"]:
            raise SystemExit(f"expected one hit in mill.txt, got {hits}")


def check_top_level(wheel: Path) -> None:
    """Raise unless `spanwise` is all that the wheel puts at the top of site-packages."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    if {top for top in tops if not top.endswith(".dist-info")} != {"spanwise"}:
        raise SystemExit(f"{wheel.name} puts {sorted(tops)} at the top, expected spanwise alone")


def make_application(home: Path) -> None:
    """A folder with modules named like our folders, and one document."""
    for path, text in {
        "index.py": 'OWNER = "application"\n',
        "eval/__init__.py": 'OWNER = "application"\n',
        "notes/mill.txt": "The mill was founded by Ada Farrow in 1841.\n",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")


def run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The standard output of this Python with the arguments; its error stream is shown, failure raises."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=env, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
