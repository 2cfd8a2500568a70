"""How many of our files run for a question: one warm question, and `ask FOLDER` from the shell."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import spanwise

ROOT = Path(__file__).parents[1]
QUESTION = "Why is the Eskery Psalter shown for only one month in the year?"
MAX_WARM_FILES = 35
MAX_SHELL_FILES = 75
SHELL = """
import sys
sys.path.insert(0, {tests!r})
from test_paths import files_run
from spanwise.__main__ import main
def run():
    sys.argv = ["spanwise", "ask", {question!r}, {folder!r}, "--index", {index!r}]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
print("\\n".join(files_run(run)), file=sys.stderr)
"""


def files_run(work: Callable[[], object]) -> list[str]:
    """Our files in which a function ran, in any thread."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no body of a module or class
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    folders = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
    return sorted(name for name in seen if name.startswith(tuple(f"{ROOT}/{folder}/" for folder in folders)))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample corpus."""
    path = tmp_path_factory.mktemp("paths") / "index"
    with spanwise.open(ROOT / "corpora/sample/docs", path) as library:
        library.sync()
    return path


def test_a_warm_question_runs_few_files(index: Path) -> None:
    with spanwise.open_index(index, cache=False) as library:
        library.ask("when does the library open?")
        files = files_run(lambda: library.ask(QUESTION))
    assert len(files) <= MAX_WARM_FILES, "\n".join(files)


def test_asking_a_folder_from_the_shell_runs_few_files(index: Path) -> None:
    folder = ROOT / "corpora/sample/docs"
    code = SHELL.format(tests=str(ROOT / "tests"), question=QUESTION, folder=str(folder), index=str(index))
    env = {**os.environ, "SPANWISE_NO_CACHE": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    files = [line for line in done.stderr.splitlines() if line.endswith(".py")]
    assert "May" in done.stdout
    assert len(files) <= MAX_SHELL_FILES, "\n".join(files)
