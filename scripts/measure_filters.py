"""What a filter costs: to find out what it leaves, and to search that, as Markdown.

    OMP_NUM_THREADS=1 python scripts/measure_filters.py --documents 20000

The collection is made up: documents of one to eight passages of random words, each passage with a random
unit vector. Times are medians of rounds in which all cases take turns, in milliseconds.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from spanwise.index import FileState, Snapshot, Store
from spanwise.index.postings_index import PostingsIndex
from spanwise.pipelines.selection import Selection, select
from spanwise.retrieval.bm25 import BM25
from spanwise.types import Document, Filter, Passage

MODEL, WIDTH, K = "random", 384, 10
WORDS = [f"w{number}" for number in range(2_000)]
TYPES = {"md": "text/markdown", "pdf": "application/pdf", "txt": "text/plain"}
FILTERS = {
    "one file in hundreds": Filter(paths=("file*77?.md",)),
    "one folder in seven": Filter(paths=("/area3/",)),
    "two patterns": Filter(paths=("area3/**/*.md", "*.pdf")),
    "one type in three": Filter(types=("md",)),
    "a third of a month": Filter(after="2024-01-21"),
    "one language in two": Filter(metadata={"language": "de"}),
}
Search = Callable[[NDArray[np.int64] | None], object]


def fill(store: Store, n_documents: int) -> None:
    """Documents with folders, types, dates and languages in even shares, in one commit."""
    draw, vectors = random.Random(7), np.random.default_rng(7)
    with store.writer() as writer:
        for number in range(n_documents):
            bags = [draw.choices(WORDS, k=100) for _ in range(draw.randint(1, 8))]
            document = made_up(draw, number, "\n".join(map(" ".join, bags)))
            state = FileState(len(document.text), 1, document.sha256)
            ids = writer.put(document, passages_of(document), bags, state)
            writer.put_vectors(MODEL, ids, unit_vectors(vectors, len(ids)))
        writer.commit()


def made_up(draw: random.Random, number: int, text: str) -> Document:
    """A document of this text; few have the same metadata."""
    suffix = draw.choice(sorted(TYPES))
    date = f"2024-01-{draw.randint(1, 30):02}T{draw.randrange(24):02}:{draw.randrange(60):02}:00+00:00"
    return Document(
        id=f"area{number % 7}/sub{number % 131}/file{number}.{suffix}",
        media_type=TYPES[suffix],
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        title="",
        text=text,
        metadata={"language": draw.choice(["de", "en"]), "date": date},
    )


def passages_of(document: Document) -> list[Passage]:
    """One passage a line."""
    passages, start = [], 0
    for line in document.text.split("\n"):
        passages.append(Passage(0, document.id, start, start + len(line), line))
        start += len(line) + 1
    return passages


def unit_vectors(draw: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Random directions, (n, WIDTH)."""
    vectors = draw.standard_normal((n, WIDTH), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def searches(snapshot: Snapshot) -> dict[str, Search]:
    """The search of one question through each kind of index."""
    lexical = PostingsIndex(snapshot.postings(), BM25(), snapshot.places)
    dense, query = snapshot.vectors(MODEL), unit_vectors(np.random.default_rng(8), 1)
    return {
        "bm25": lambda among: lexical.search([WORDS[:6]], K, among),
        "dense": lambda among: dense.search(query, K, among),
    }


def measured(snapshot: Snapshot, rounds: int) -> tuple[dict[str, Selection], dict[tuple[str, str], float]]:
    """What each filter leaves, and the median milliseconds of each case; "" is no filter."""
    found = {name: select(snapshot, where) for name, where in FILTERS.items()}
    cases: dict[tuple[str, str], Callable[[], object]] = {
        (name, "resolve"): lambda where=where: select(snapshot, where) for name, where in FILTERS.items()
    }
    for kind, search in searches(snapshot).items():
        cases["", kind] = lambda search=search: search(None)
        for name, selection in found.items():
            cases[name, kind] = lambda search=search, ids=selection.passage_ids: search(ids)
    times: dict[tuple[str, str], list[float]] = {case: [] for case in cases}
    for _ in range(rounds):
        for case, run in cases.items():
            began = time.perf_counter()
            run()
            times[case].append((time.perf_counter() - began) * 1000)
    return found, {case: median(each) for case, each in times.items()}


def markdown(snapshot: Snapshot, rounds: int) -> Iterator[str]:
    """The lines of the table: searches are given as shares of the search of everything."""
    found, ms = measured(snapshot, rounds)
    size = f"{snapshot.n_documents:,} documents, {snapshot.n_passages:,} passages"
    yield f"{size}; medians of {rounds} rounds\n"
    yield "| filter | documents | passages | resolve, ms | bm25, ms | of all | dense, ms | of all |"
    yield "|---|---|---|---|---|---|---|---|"
    yield f"| none | {snapshot.n_documents:,} | {snapshot.n_passages:,} | | {row('', ms)} |"
    for name, selection in found.items():
        left = f"{selection.scope.documents:,} | {selection.scope.passages:,}"
        yield f"| {name} | {left} | {ms[name, 'resolve']:.1f} | {row(name, ms)} |"


def row(name: str, ms: dict[tuple[str, str], float]) -> str:
    """Milliseconds and share of each kind of search."""
    return " | ".join(
        f"{ms[name, kind]:.2f} | {ms[name, kind] / ms['', kind]:.2f}" for kind in ("bm25", "dense")
    )


def main() -> None:
    """Makes the collection, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "index", {}) as store:
        fill(store, options.documents)
        with store.snapshot() as snapshot:
            for line in markdown(snapshot, options.rounds):
                print(line)


if __name__ == "__main__":
    main()
