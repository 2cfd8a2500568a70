"""How long it takes to add one file to a folder whose passages have token vectors.

    SPANWISE_DATA=/data python scripts/measure_token_sync.py --passages 10000

The folder is made of SQuAD paragraphs, a hundred a file, and indexed with words, dense vectors and token
vectors of the built-in models. Then a file of five paragraphs is added, and after that one is deleted. Prints
one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from make_token_corpus import read_asked

import spanwise

PER_FILE, ADDED = 100, 5


def write(folder: Path, name: str, paragraphs: list[str]) -> None:
    """One text file."""
    (folder / name).write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def seconds_of(library: spanwise.Library) -> float:
    """A sync, timed."""
    began = time.perf_counter()
    library.sync()
    return round(time.perf_counter() - began, 2)


def measured(folder: Path, paragraphs: list[str], n: int, bits: int) -> dict[str, Any]:
    """Index, add, delete."""
    for number in range(0, n, PER_FILE):
        write(folder, f"{number:05}.txt", paragraphs[number : min(number + PER_FILE, n)])
    with spanwise.open(folder) as library:
        library.use_colbert("builtin", bits)
        first = seconds_of(library)
        with library.reading() as snapshot:
            n_passages = snapshot.n_passages
        write(folder, "added.txt", paragraphs[n : n + ADDED])
        added = seconds_of(library)
        [hit] = library.search(paragraphs[n][:200], 1, "colbert")
        (folder / "00000.txt").unlink()
        return {
            "passages": n_passages,
            "first_s": first,
            "added_s": added,
            "found_in": hit.passage.document_id,
            "deleted_s": seconds_of(library),
            "nothing_s": seconds_of(library),
        }


def main() -> None:
    """Makes the folder, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--bits", type=int, default=4)
    options = parser.parse_args()
    if "SPANWISE_DATA" not in os.environ:
        sys.exit("SPANWISE_DATA is not set: it names the folder of data sets")
    paragraphs, _ = read_asked(Path(os.environ["SPANWISE_DATA"]))
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(Path(folder), paragraphs, options.passages, options.bits), indent=1))


if __name__ == "__main__":
    main()
