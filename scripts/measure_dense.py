"""Measures dense search over a growing collection: exact, approximate, and FAISS's flat index.

    python scripts/measure_dense.py FOLDER --sizes 20963 200000 1000000

FOLDER keeps what is slow to make: the vectors of SQuAD's paragraphs (of an index that holds them with
`--index DIR`, else encoded from SPANWISE_DATA), of real questions, and the large collection. That begins with
the real vectors; the others are mixed of two of them, 0.75 and 0.25, plus noise with the covariance of the
real ones and a length of about 0.5. What is found is compared with the exact top 10 of real questions.

Latency and time for a batch are CPU times of one thread (set OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to 1),
so that neighbours on the machine change them little; the engines take turns, and medians are reported.
FAISS's flat index is measured as it comes and, for batches, with matrix products, which it does not choose.
`--tried` names indexes of FAISS's factory to be measured too, a tenth of their lists, exact scores of 400
candidates.
"""

from __future__ import annotations

import argparse
import random
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from spanwise.index.approximate_index import ApproximateIndex
from spanwise.index.approximation import RECALL, renewed
from spanwise.index.faiss_library import faiss, inner_products, one_thread
from spanwise.index.segment import Segment, open_segment
from spanwise.index.stored_vectors import StoredVectors
from spanwise.index.vector_index import VectorIndex
from spanwise.index.vectors import KIND, VectorSegment, sums

Vectors = NDArray[np.float32]
K = 10
FLAT, PRODUCTS = "FAISS Flat", "FAISS Flat, products"
NOBODY = np.empty(0, np.int64)
BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class Engine:
    """A way to search: rows of the best K for each query, what it holds in memory and took to build."""

    name: str
    search: Callable[[Vectors], Sequence[Sequence[int]]]
    bytes_held: float
    build_s: float
    note: str = ""


def real_vectors(folder: Path, index: Path | None) -> Vectors:
    """The vectors of SQuAD's paragraphs."""
    path = folder / "real.npy"
    if not path.is_file():
        np.save(path, vectors_of_index(index) if index else encoded(passages()))
    return np.load(path)  # type: ignore[no-any-return]


def vectors_of_index(index: Path) -> Vectors:
    """Every vector in the segments of an index, which is only read."""
    segments = [open_segment(path) for path in sorted((index / "segments").iterdir())]
    return np.concatenate([each.columns["vectors"] for each in segments if each.kind == KIND])


def passages() -> list[str]:
    """The passages of SQuAD's paragraphs below SPANWISE_DATA."""
    from spanwise.pipelines.evaluation.speed.corpus import corpus_of
    from spanwise.pipelines.evaluation.speed.data import read_paragraphs

    return corpus_of(read_paragraphs([], 0).asked, 1, 0).texts


def real_questions(folder: Path, n: int) -> Vectors:
    """The vectors of questions drawn from all of SQuAD's."""
    path = folder / "questions.npy"
    if not path.is_file():
        from spanwise.pipelines.evaluation.speed.data import read_paragraphs

        every = [question for _, asked in read_paragraphs([], 0).asked for question in asked]
        random.Random(1).shuffle(every)
        np.save(path, encoded(every[:n]))
    return np.load(path)[:n]  # type: ignore[no-any-return]


def encoded(texts: list[str]) -> Vectors:
    """The base model's vectors."""
    from spanwise.models.encoder import TextEncoder

    return TextEncoder.load().encode(texts)


def collection(folder: Path, real: Vectors, n: int) -> Vectors:
    """The first n of the large collection, mapped from the disk."""
    path = folder / f"mixed-{n}.npy"
    if not path.is_file():
        _mix(path.with_suffix(".unfinished"), real, n)
        path.with_suffix(".unfinished").rename(path)
    return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]


def _mix(path: Path, real: Vectors, n: int) -> None:
    draw = np.random.default_rng(7)
    values, axes = np.linalg.eigh(np.cov(real.T.astype(np.float64)))
    shape = (axes * np.sqrt(values.clip(0) / values.sum())).astype(np.float32).T  # rows of expected length 1
    out = open_memmap(path, "w+", np.float32, (n, real.shape[1]))
    out[: len(real)] = real[:n]
    for at in range(min(len(real), n), n, BLOCK):
        size = min(BLOCK, n - at)
        one, other = (real[draw.integers(0, len(real), size)] for _ in range(2))
        mixed = (
            0.75 * one + 0.25 * other + 0.5 * draw.standard_normal((size, real.shape[1]), np.float32) @ shape
        )
        out[at : at + size] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    out.flush()


def stored_of(vectors: Vectors) -> tuple[VectorSegment, StoredVectors]:
    """The collection as one segment whose digest was compared."""
    columns = {"passage_ids": np.arange(len(vectors)), "vectors": vectors}
    segment = VectorSegment(Segment(Path("measured"), KIND, "m", columns, {}, b""))
    segment.__dict__["sums"] = np.concatenate(
        [sums(vectors[at : at + BLOCK]) for at in range(0, len(vectors), BLOCK)]
    )
    return segment, StoredVectors.live([segment], NOBODY, checked=True)


def engines(vectors: Vectors, tried: Sequence[str]) -> list[Engine]:
    """Ours and FAISS's over one collection."""
    segment, stored = stored_of(vectors)
    exact = VectorIndex.build([segment], NOBODY, places)
    return [
        Engine("exact", lambda queries: ids(exact, queries), vectors.nbytes / 2, 0.0),
        approximate(stored),
        *flat(vectors),
        *(of_factory(name, vectors, stored) for name in tried),
    ]


def approximate(stored: StoredVectors) -> Engine:
    """Ours, with codes on all processors."""
    started = perf_counter()
    codes = renewed(stored)
    if codes is None:
        raise ValueError(f"vectors of width {stored.width} have no codes")
    build_s = perf_counter() - started
    index = ApproximateIndex.build(stored, codes, places)
    tuning = codes.tuning
    note = f"{tuning.n_lists} of {len(codes.ends)} lists, {tuning.candidates} candidates"
    note += f"; {tuning.recall:.3f} on held-back queries"
    held = codes.codes.nbytes + codes.quantizer.centroids.nbytes + 24 * len(stored)  # three numbers a row
    return Engine(f"approximate {RECALL}", lambda queries: ids(index, queries), held, build_s, note)


def flat(vectors: Vectors) -> list[Engine]:
    """FAISS's flat index as it comes, and by matrix products."""
    index = faiss().IndexFlatIP(vectors.shape[1])
    started = perf_counter()
    for at in range(0, len(vectors), BLOCK):
        index.add(np.ascontiguousarray(vectors[at : at + BLOCK]))
    build_s = perf_counter() - started

    def search(queries: Vectors) -> Sequence[Sequence[int]]:
        return index.search(queries, K)[1].tolist()  # type: ignore[no-any-return]

    def products(queries: Vectors) -> Sequence[Sequence[int]]:
        return inner_products(queries, vectors, K)[1].tolist()

    return [
        Engine(FLAT, search, vectors.nbytes, build_s),
        Engine(PRODUCTS, products, vectors.nbytes, build_s),
    ]


def of_factory(name: str, vectors: Vectors, stored: StoredVectors) -> Engine:
    """An index of FAISS's factory with its own defaults (a tenth of the lists), and exact scores on top."""
    index: Any = faiss().index_factory(vectors.shape[1], name, faiss().METRIC_INNER_PRODUCT)
    started = perf_counter()
    sample = np.random.default_rng(1).choice(len(vectors), min(len(vectors), 80_000), replace=False)
    index.train(np.ascontiguousarray(vectors[np.sort(sample)]))
    for at in range(0, len(vectors), BLOCK):
        index.add(np.ascontiguousarray(vectors[at : at + BLOCK]))
    build_s = perf_counter() - started
    if lists := getattr(index, "nlist", 0):
        index.nprobe = max(1, lists // 10)

    def search(queries: Vectors) -> list[list[int]]:
        rows = index.search(queries, 40 * K)[1]
        best = []
        for query, found in zip(queries, rows, strict=True):
            kept = found[found >= 0]
            best.append(kept[np.argsort(-(stored.gather(kept) @ query))[:K]].tolist())
        return best

    return Engine(name, search, faiss().serialize_index(index).nbytes, build_s)


def ids(index: VectorIndex | ApproximateIndex, queries: Vectors) -> list[list[int]]:
    """The passages found, which are numbered like the rows."""
    return [ranking.passage_ids.tolist() for ranking in index.search(queries, K)]


def places(passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
    """A passage stands where its number says."""
    return [("", number, 0) for number in passage_ids]


@dataclass(frozen=True, slots=True)
class Times:
    """CPU milliseconds a query, alone and in a batch, and the share of the exact top K found."""

    single: float
    batch: float
    recall: float


def measured(found: Sequence[Engine], queries: Vectors, rounds: int) -> list[Times]:
    """The times of each engine, in turns."""
    truth = [set(rows) for rows in found[0].search(queries)]
    single: list[list[float]] = [[] for _ in found]
    batch: list[list[float]] = [[] for _ in found]
    recall = [0.0] * len(found)
    for turn in range(rounds):
        for number, engine in enumerate(found):
            with one_thread():
                for row in range(turn * 10, turn * 10 + 10):
                    one = queries[row % len(queries)][np.newaxis]
                    single[number].append(cpu_ms(lambda: engine.search(one)))  # noqa: B023
                answers: list[Sequence[Sequence[int]]] = []
                some = queries[:32] if engine.name == FLAT else queries
                batch[number].append(cpu_ms(lambda: answers.append(engine.search(some))) / len(some))  # noqa: B023
            hits = sum(len(right & set(rows)) for right, rows in zip(truth, answers[0], strict=False))
            recall[number] = hits / (K * len(some))
    return [Times(median(s), median(b), r) for s, b, r in zip(single, batch, recall, strict=True)]


def cpu_ms(work: Callable[[], object]) -> float:
    """What the process computes while this runs."""
    started = process_time()
    work()
    return 1000 * (process_time() - started)


def table(n: int, found: Sequence[Engine], times: Sequence[Times]) -> None:
    """Prints one size as Markdown."""
    print(f"\n{n:,} vectors\n")
    print("| | recall@10 | one query, ms | batch, queries/s | times Flat's | bytes a vector | build, s | |")
    print("|---|---|---|---|---|---|---|---|")
    slowest = next(t.batch for e, t in zip(found, times, strict=True) if e.name == FLAT)
    for engine, time in zip(found, times, strict=True):
        alone = "" if engine.name == PRODUCTS else f"{time.single:.2f}"
        cells = [engine.name, f"{time.recall:.3f}", alone, f"{1000 / time.batch:,.0f}"]
        cells += [f"{slowest / time.batch:.1f}", f"{engine.bytes_held / n:.0f}", f"{engine.build_s:.0f}"]
        print("| " + " | ".join([*cells, engine.note]) + " |")


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="keeps the vectors between runs")
    parser.add_argument("--index", type=Path, help="an index of SQuAD's paragraphs to take the vectors from")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_963, 200_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tried", nargs="*", default=[], help="such as IVF2048,PQ96x4fs HNSW32,SQ8 RaBitQ")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    real, questions = real_vectors(given.folder, given.index), real_questions(given.folder, given.questions)
    for n in given.sizes:
        found = engines(collection(given.folder, real, n), given.tried)
        table(n, found, measured(found, questions, given.rounds))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nCPU time of one thread, medians; peak memory of everything together {peak:.1f} GiB.")


if __name__ == "__main__":
    main()
