"""T11: three hundred malformed files of every format beside good ones: each is indexed or refused with a
reason, nothing crashes or hangs, and the good ones are what they are without them.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import malformed
import pytest
from made_files import MAKERS

import spanwise
from spanwise.pipelines.library import Library
from spanwise.types import ProgressCallback, SyncReport, no_progress

HANG_S = 60 + 15  # the limit by the clock, and the slack of a busy machine
NEIGHBOURS = ["Vellan", "Corrow", "Tressick", "Ombrel"]


def neighbours(library: Library) -> dict[str, object]:
    """All that is stored of the good files, and the best passage for a question about each."""
    stored: dict[str, object] = {}
    every = list(library.passages())
    for name in (name for name in library.snapshot.files() if name.partition("/")[0] in NEIGHBOURS):
        passages = [(p.start, p.end, p.text, p.heading) for p in every if p.document_id == name]
        place, file = name.split("/")
        (hit,) = library.search(f"bridge of {place}{file[2:]}", k=1, retriever="bm25")
        found = (hit.passage.document_id, hit.passage.start, hit.passage.end, hit.passage.text)
        stored[name] = (library.document(name), passages, found)
    return stored


def synced(
    root: Path, index: Path, on_progress: ProgressCallback = no_progress
) -> tuple[SyncReport, dict[str, object]]:
    with spanwise.open(root, index) as library:
        return library.sync(vectors=False, on_progress=on_progress, workers=2), neighbours(library)


@pytest.mark.times(10, 300, 3000)
def test_malformed_files_cost_themselves_alone(tmp_path, record, times) -> None:
    root = tmp_path / "folder"
    for place in NEIGHBOURS[: 1 if times == 10 else None]:
        (root / place).mkdir(parents=True)
        for name, make in MAKERS.items():
            text = f"About {place}\n\nThe bridge of {place}{name[2:]} was opened by Ada Rook.\n"
            (root / place / name).write_bytes(make(text))
    _, alone = synced(root, tmp_path / "alone")
    n_bad = 0
    for seed in range(max(1, times // 300)):
        (root / f"bad{seed}").mkdir()
        n_bad += malformed.make_folder(root / f"bad{seed}", seed, step=60 if times == 10 else 1)
    clock = [time.monotonic()]
    report, among_bad = synced(root, tmp_path / "among", lambda *_: clock.append(time.monotonic()))

    n_skipped = sum(report.skipped.values())
    assert report.found == len(report.added) + len(report.rejected) + n_skipped == n_bad + len(alone)
    assert all(rejection.reason.strip() for rejection in report.rejected)
    assert among_bad == alone
    longest = max(after - before for before, after in pairwise(clock))
    assert longest < HANG_S
    n_indexed, n_rejected = len(report.added) - len(alone), len(report.rejected)
    figures = f"{n_indexed} + {n_rejected} + {n_skipped} = {n_bad}"
    record("T11", "malformed files: indexed + rejected with a reason + skipped", figures)
    record("T11", "good neighbours changed", f"0 of {len(alone)}")
    record("T11", "longest wait for one file", f"{longest:.0f} s")
