"""Checks a built wheel as an application uses it: installed, from another folder.

The folder owns an `index.py`, an `eval/` and a `reader.py`, as many applications do; the wheel must not hide
them. A program in it embeds the wheel and asks a question, with the built-in models. Run
`python scripts/wheel_smoke.py dist/spanwise-*.whl` with a Python that has spanwise's dependencies.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

IMPORT_ALL = """
import importlib.resources, pkgutil, sys, spanwise, index, eval, reader
assert spanwise.__file__.startswith(sys.argv[1]), spanwise.__file__
assert (index.OWNER, eval.OWNER, reader.OWNER) == ("application",) * 3
for module in pkgutil.walk_packages(spanwise.__path__, "spanwise."):
    importlib.import_module(module.name)
    assert sys.modules[module.name].__file__.startswith(sys.argv[1]), module.name
assert (importlib.resources.files("spanwise.corpora") / "sample" / "docs").is_dir()
"""

EMBEDDING = """
import index, reader
import spanwise

with spanwise.open("notes") as library:
    library.sync()
    answer = library.ask("Who founded the mill?")
    text = library.document(answer.span.document_id).text
    place = f"{answer.span.document_id} {answer.span.start}-{answer.span.end}"
    print(f"{text[answer.span.start : answer.span.end]} ({place}, {answer.confidence:.0%})")
print(index.OWNER, reader.OWNER, spanwise.__file__)
"""
ANSWER = re.compile(r"Ada Farrow \(mill\.txt 24-34, [0-9]{1,3}%\)")


def main(wheel: Path) -> None:
    """Install the wheel into one folder and use it from another; raise when anything fails."""
    check_top_level(wheel)
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "site")
        home = Path(scratch, "application")
        run("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
        make_application(home)
        env = {**os.environ, "PYTHONPATH": str(site)}
        run("-c", IMPORT_ALL, str(site), cwd=home, env=env)
        run("-m", "spanwise", "index", "notes", "--index", "library", "--json", cwd=home, env=env)
        search = ("search", "who founded the mill?", "--index", "library", "--retriever", "bm25", "--json")
        hits = json.loads(run("-m", "spanwise", *search, cwd=home, env=env))["hits"]
        if [hit["document"] for hit in hits] != ["mill.txt"]:
            raise SystemExit(f"expected one hit in mill.txt, got {hits}")
        check_embedded(site, home, env)


def check_embedded(site: Path, home: Path, env: dict[str, str]) -> None:
    """Raise unless the application's program gets the answer as a span, from the installed wheel."""
    answer, owners = run("app.py", cwd=home, env=env).splitlines()
    print(answer)
    if ANSWER.fullmatch(answer) is None:
        raise SystemExit(f"expected Ada Farrow with the place in mill.txt, got {answer!r}")
    if not owners.startswith(f"application application {site}"):
        raise SystemExit(f"imported neither the application's modules nor the wheel's package: {owners}")


def check_top_level(wheel: Path) -> None:
    """Raise if the wheel puts anything but `spanwise` at the top of site-packages."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    if {top for top in tops if not top.endswith(".dist-info")} != {"spanwise"}:
        raise SystemExit(f"{wheel.name} puts {sorted(tops)} at the top, expected only spanwise")


def make_application(home: Path) -> None:
    """Write modules named like our folders, a program that embeds the wheel, and one document."""
    for path, text in {
        "index.py": 'OWNER = "application"\n',
        "eval/__init__.py": 'OWNER = "application"\n',
        "reader.py": 'OWNER = "application"\n',
        "app.py": EMBEDDING,
        "notes/mill.txt": "The mill was founded by Ada Farrow in 1841.\n",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")


def run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The standard output of this Python with the arguments; its error stream is shown.

    CalledProcessError when it fails.
    """
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=env, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
