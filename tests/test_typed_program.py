"""A user's program is checked by mypy against the package as it is installed: strictly, without an `Any`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = Path(__file__).parent / "typed_program.py"
WRONG = {
    "library.search(3)": 'incompatible type "int"; expected "str"',
    "library.search('x', n=3)": 'Unexpected keyword argument "n"',
    "library.ask('x').answer": '"Answer" has no attribute "answer"',
    "spanwise.AsyncLibrary(library).ask(3)": 'incompatible type "int"; expected "str"',
    "library.use_reader('x', object())": 'incompatible type "object"; expected "Reading"',
}


def mypy(*programs: Path) -> str:
    """What mypy says of programs; what `make lint` found out about the package itself is used again."""
    if not (ROOT / ".links").is_dir():
        subprocess.run([sys.executable, "scripts/links.py"], cwd=ROOT, check=True)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, programs)]
    env = {**os.environ, "MYPYPATH": ".links"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.stress
def test_a_program_is_typed_and_its_mistakes_are_found(tmp_path) -> None:
    wrong = tmp_path / "wrong.py"
    lines = ["import spanwise", "def wrong(library: spanwise.Library) -> None:"]
    wrong.write_text("\n".join([*lines, *(f"    {line}" for line in WRONG)]) + "\n")
    told = mypy(PROGRAM, wrong, *sorted((ROOT / "examples").glob("*.py"))).splitlines()
    assert [line for line in told if f"{wrong.name}:" not in line] == []
    for number, expected in enumerate(WRONG.values(), start=len(lines) + 1):
        assert any(f":{number}: error:" in line and expected in line for line in told), (expected, told)
