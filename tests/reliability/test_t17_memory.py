"""T17: a hundred times more documents take no more memory than the index itself grows by.

Each size is synced in a process of its own. Commits are small, so that both sizes make many of them: the
memory that is held until a commit is bounded, and no growth.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

SYNC = """
import json, pathlib, re, resource, sys
import spanwise
from spanwise.pipelines.parsing import sync

sync.PASSAGES_PER_COMMIT = 100
if limit := int(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
with spanwise.open(sys.argv[1], sys.argv[2]) as library:
    report = library.sync(vectors=False)
# Not `ru_maxrss`, which begins with the peak of the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
print(json.dumps([report.passages, int(peak[1]) * 1024]))
"""


def peak_of(folder: Path, number: int, limit: int) -> tuple[int, int]:
    """Peak memory of a sync of that many documents of one passage, and the size of its index; in bytes."""
    chance = random.Random(number)
    common = [a + b + c for a in ("mil", "tor", "ves", "kan") for b in ("an", "er", "ill") for c in "sdy"]
    (folder / "docs").mkdir(parents=True)
    for i in range(number):
        words = chance.choices(common, k=90) + [f"w{chance.randrange(100_000)}" for _ in range(30)]
        (folder / "docs" / f"{i}.txt").write_text(f"Note {i}. {' '.join(words)}.\n")
    call = [sys.executable, "-c", SYNC, str(folder / "docs"), str(folder / "index"), str(limit)]
    passages, peak = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    assert passages == number
    return peak, sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())


@pytest.mark.times(10, 200, 1000)
def test_memory_grows_by_the_index_alone(tmp_path, record, times) -> None:
    many = times * (20 if times == 10 else 100)
    small, _ = peak_of(tmp_path / "few", times, 0)
    large, index_size = peak_of(tmp_path / "many", many, 2**30)
    figures = f"{small / 1e6:.0f} MB, {large / 1e6:.0f} MB (index {index_size / 1e6:.0f} MB)"
    record("T17", f"peak of a sync of {times:,} and of {many:,} documents, in 1 GB", figures)
    assert large < 1.1 * small + index_size
