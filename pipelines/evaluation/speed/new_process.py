"""A new process that answers one question, for engines that are measured from its start on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def answer_of_new_process(*arguments: str) -> Any:
    """The JSON that a new Python with these arguments prints; `RuntimeError` when it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise RuntimeError(f"exit code {done.returncode}: {' '.join(last)}")
    return json.loads(done.stdout)
