"""Measures indexing on the documents of `$SPANWISE_DATA/docs`: all of them, and small changes to one folder.

    python scripts/measure_folders.py all            every file: what became of it, time, memory
    python scripts/measure_folders.py changes        ten edits, five deletes, three renames in the Rust RFCs

Prints one JSON object. Vectors are left out of `all` unless `--vectors` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import spanwise
from spanwise.types import SyncReport

KIB_PER_MIB = 1024  # ru_maxrss counts KiB on Linux
N_EDITS, N_DELETES, N_RENAMES = 10, 5, 3  # one edit a keeper
KEEPERS = "Abelin Borvath Cersky Dunmoor Eskelin Farrimon Grabow Hestvik Iwerne Jolbran".split()
NEW_SENTENCE = "\n\nThe keeper of the lock was {keeper}.\n"


def unpack(data: Path, into: Path, *names: str) -> None:
    """Lays out the archives (all, or those named) and the loose files below `into`."""
    for archive in sorted(data.glob("*.tar.xz")):
        name = archive.name.removesuffix(".tar.xz")
        if not names or name in names:
            with tarfile.open(archive) as tar:
                tar.extractall(into / name, filter="data")
    if not names:
        for folder in (entry for entry in data.iterdir() if entry.is_dir()):
            shutil.copytree(folder, into / folder.name)


def peak_mib(who: int) -> float:
    """The highest resident memory of this process or of its largest child so far."""
    return round(resource.getrusage(who).ru_maxrss / KIB_PER_MIB, 1)


def figures(report: SyncReport, seconds: float) -> dict[str, Any]:
    """What became of the files, and what it took."""
    return {
        "found": report.found,
        "added": len(report.added),
        "updated": len(report.updated),
        "deleted": len(report.deleted),
        "unchanged": report.unchanged,
        "rejected": len(report.rejected),
        "skipped": dict(report.skipped),
        "remarks": len(report.remarks),
        "reused_vectors": report.reused_vectors,
        "passages": report.passages,
        "seconds": round(seconds, 2),
        "minutes_per_1000_files": round(seconds / 60 / max(report.found, 1) * 1000, 3),
        "peak_mib": {"parent": peak_mib(resource.RUSAGE_SELF), "child": peak_mib(resource.RUSAGE_CHILDREN)},
    }


def measure_all(data: Path, folder: Path, vectors: bool) -> dict[str, Any]:
    """Indexes every file of the data set once, and again without any change."""
    unpack(data, folder)
    with spanwise.open(folder) as library:
        first, second = timed_sync(library, vectors), timed_sync(library, vectors)
        problems = library.store.verify()
    return {
        "first": figures(*first),
        "second": figures(*second),
        "problems": problems,
        "rejections": {r.document_id: r.reason for r in first[0].rejected},
    }


def measure_changes(data: Path, folder: Path) -> dict[str, Any]:
    """Indexes the RFCs, changes eighteen files, and syncs again; the shares are of the first sync."""
    unpack(data, folder, "rust-rfcs")
    with spanwise.open(folder) as library:
        library.encoder.encode(["warm"])  # loading the model is no part of either sync
        first, first_s = timed_sync(library, vectors=True)
        change(sorted(folder.rglob("*.md")))
        missing_before = library.missing_vectors()
        words_only = library.sync(vectors=False)
        to_encode = library.missing_vectors()
        _, second_s = timed_sync(library, vectors=True)
        second_s += words_only.seconds
        n_found = sum(is_found(library, keeper) for keeper in KEEPERS)
    return {
        "first": figures(first, first_s),
        "second": figures(words_only, second_s),
        "share_of_first": round(second_s / first_s, 4),
        "encoded_in_second": to_encode - missing_before,
        "edits_found_by_search": n_found,
    }


def change(files: list[Path], seed: int = 0) -> None:
    """Edits files (one sentence more at the end), deletes some, renames some."""
    chosen = random.Random(seed).sample(files, N_EDITS + N_DELETES + N_RENAMES)
    for number, file in enumerate(chosen[:N_EDITS]):
        with file.open("a", encoding="utf-8") as opened:
            opened.write(NEW_SENTENCE.format(keeper=KEEPERS[number]))
    for file in chosen[N_EDITS : N_EDITS + N_DELETES]:
        file.unlink()
    for file in chosen[N_EDITS + N_DELETES :]:
        file.rename(file.with_name(f"renamed-{file.name}"))


def is_found(library: spanwise.Library, keeper: str) -> bool:
    """True when the first hit for the new name in an edited file is its new sentence."""
    [hit] = library.search(keeper, 1, "bm25")
    return keeper in hit.passage.text


def timed_sync(library: spanwise.Library, vectors: bool) -> tuple[SyncReport, float]:
    """A sync and the seconds it took."""
    started = time.monotonic()
    report = library.sync(vectors=vectors)
    return report, time.monotonic() - started


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("all", "changes"))
    parser.add_argument("--vectors", action="store_true", help="encode the passages too")
    arguments = parser.parse_args()
    if "SPANWISE_DATA" not in os.environ:
        sys.exit("SPANWISE_DATA is not set: it names the folder of data sets")
    data = Path(os.environ["SPANWISE_DATA"]) / "docs"
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == "all":
            found = measure_all(data, Path(folder), arguments.vectors)
        else:
            found = measure_changes(data, Path(folder))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
