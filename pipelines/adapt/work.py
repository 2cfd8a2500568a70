"""The folder in which an adaptation works: `<index>/adapt/`, kept until it has ended, so that it can go on.

lock            held by the one process that adapts
work/plan.json  what is adapted to what: another plan begins anew
work/mined/     lists of passages; work/scored/ with the teacher's scores; work/student/ the training
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...index.atomic import make_folder
from ...index.faults import named_faults
from ...index.lock import WriteLock

FOLDER = "adapt"
_PLAN = "plan.json"


@contextmanager
def work_folder(index: Path, plan: Mapping[str, Any]) -> Iterator[Path]:
    """The folder with what was done before by the same plan; IndexLocked while another process adapts.

    It is deleted when all went well.
    """
    place = index / FOLDER
    with named_faults(index):
        make_folder(place)
    lock = WriteLock(place / "lock")
    lock.acquire()
    try:
        folder = place / "work"
        if _read(folder / _PLAN) != plan:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (folder / _PLAN).write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()


def _read(path: Path) -> object:
    """The plan there, or None for none and for a damaged one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
