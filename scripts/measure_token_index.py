"""What an index of token vectors takes, and whether changes spoil it, on a folder of `make_token_corpus.py`.

    python scripts/measure_token_index.py memory FOLDER --scratch DIR     a new process that searches
    python scripts/measure_token_index.py bytes FOLDER --scratch DIR      an index of everything
    python scripts/measure_token_index.py changes FOLDER --scratch DIR    additions and deletions

Prints one JSON object. `memory` opens the index that `compare_maxsim.py` made in --scratch, or makes it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from exact_token_rankings import exact_rankings
from maxsim_child import Memory, anonymous_mib
from numpy.typing import NDArray
from token_corpus import TokenCorpus
from token_store import MODEL, GivenEncoder, create, created, folder_bytes, name_of, put, segment_bytes

from spanwise.index import Store
from spanwise.pipelines.colbert_setting import ColbertSetting
from spanwise.pipelines.token_sync import sync_tokens

K, N_QUESTIONS, DEEP = 10, 200, 2000
BEGIN, N_COMMITS, N_DELETED = 15_000, 20, 100  # deleted a commit
DENSE_WIDTH, BATCH = 384, 4096
MIB = 2**20


def memory(corpus: TokenCorpus, scratch: Path, bits: int) -> dict[str, Any]:
    """What a new process takes that opens the index and searches it; mapped files are not counted."""
    path = scratch / f"spanwise-{bits}-{len(corpus.lengths)}"
    created(path, corpus, bits)
    command = [sys.executable, __file__, "search", str(corpus.folder), "--index", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {"bits": bits, "passages": len(corpus.lengths), **found}


def search(corpus: TokenCorpus, index: Path) -> dict[str, Any]:
    """The same, in this process."""
    queries = corpus.queries[:N_QUESTIONS]
    before, watch = anonymous_mib(), Memory()
    with Store.open(index) as store, store.snapshot() as snapshot:
        for query in queries:
            snapshot.maxsim(MODEL).search([query], K)
    return {
        "mapped_mib": round(sum(segment_bytes(index).values()) / MIB, 1),
        "before_mib": round(before, 1),
        "after_mib": round(anonymous_mib(), 1),
        "peak_mib": round(watch.peak, 1),
    }


def sizes(corpus: TokenCorpus, scratch: Path, bits: int) -> dict[str, Any]:
    """The bytes of an index of words, dense vectors (drawn at random) and token vectors, and of its parts."""
    path = scratch / "everything"
    shutil.rmtree(path, ignore_errors=True)
    create(path, corpus, bits, words=True)
    with Store.open(path) as store, store.writer() as writer, store.snapshot() as snapshot:
        ids = snapshot.passage_ids().tolist()
        for first in range(0, len(ids), BATCH):
            some = ids[first : first + BATCH]
            writer.put_vectors("random", some, unit_rows(len(some)))
        writer.commit()
    text = sum(len(each.encode()) for each in corpus.texts)
    parts = segment_bytes(path)
    whole = folder_bytes(path)
    rest = whole - sum(parts.values())
    shutil.rmtree(path)
    return {
        "bits": bits,
        "text": text,
        "whole": whole,
        "times_text": {
            name: round(n / text, 2) for name, n in {**parts, "catalog": rest, "whole": whole}.items()
        },
        "bytes_a_token": round((parts["tokens"] + parts["codebook"]) / len(corpus.tokens), 1),
    }


def unit_rows(n: int) -> NDArray[np.float32]:
    """Random directions."""
    rows = np.random.default_rng(n).standard_normal((n, DENSE_WIDTH), np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def changes(corpus: TokenCorpus, scratch: Path, bits: int) -> dict[str, Any]:
    """How near the best ten come to the exact ones while passages are added and deleted."""
    queries = corpus.queries[:N_QUESTIONS]
    exact = exact_rankings(corpus, queries, DEEP)[0]
    path = scratch / "changing"
    shutil.rmtree(path, ignore_errors=True)
    steps = {}
    with Store.create(path, {}) as store:
        for step, live in enumerate(generations(store, corpus, bits)):
            steps[step] = {"live": len(live), "overlap": overlap(store, corpus, exact, live)}
            print(step, steps[step], file=sys.stderr, flush=True)
        steps["problems"] = store.verify()
    shutil.rmtree(path)
    return {"bits": bits, "commits": steps}


def generations(store: Store, corpus: TokenCorpus, bits: int) -> Iterator[set[int]]:
    """The live passages after each commit: first many, then some more and some less each time."""
    encoder, setting = GivenEncoder(corpus), ColbertSetting(MODEL, bits)
    draw = np.random.default_rng(0)
    n = len(corpus.lengths)
    begin = min(BEGIN, n * 3 // 4)
    live = set(range(begin))
    put(store, corpus, range(begin))
    sync_tokens(store, encoder, setting)
    yield live
    for added in np.array_split(np.arange(begin, n), N_COMMITS):
        gone = draw.choice(sorted(live), min(N_DELETED, len(live) // 2), replace=False).tolist()
        with store.writer() as writer:
            for number in gone:
                writer.remove(name_of(number))
            writer.commit()
        put(store, corpus, added.tolist())
        sync_tokens(store, encoder, setting)
        live = (live - {*gone}) | {*added.tolist()}
        yield live


def overlap(store: Store, corpus: TokenCorpus, exact: NDArray[np.int64], live: set[int]) -> float:
    """The mean share of the exact best ten of the live passages that are found."""
    shares = []
    with store.snapshot() as snapshot:
        ids = snapshot.passage_ids().tolist()  # ordered as the numbers of their passages
        number_of = dict(zip(ids, sorted(live), strict=True))
        index = snapshot.maxsim(MODEL)
        for query, ranking in zip(corpus.queries, exact, strict=False):
            wanted = [number for number in ranking.tolist() if number in live][:K]
            found = {number_of[i] for i in index.search([query], K)[0].passage_ids.tolist()}
            shares.append(len(found & {*wanted}) / K)
    return round(float(np.mean(shares)), 4)


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("memory", "bytes", "changes", "search"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scratch", type=Path, default=Path("made"))
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--passages", type=int, help="only so many, the first ones")
    parser.add_argument("--index", type=Path, help="for search: the index")
    options = parser.parse_args()
    corpus = TokenCorpus(options.folder, options.passages)
    if options.what == "search":
        found = search(corpus, options.index)
    else:
        options.scratch.mkdir(parents=True, exist_ok=True)
        measure = {"memory": memory, "bytes": sizes, "changes": changes}[options.what]
        found = measure(corpus, options.scratch, options.bits)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
