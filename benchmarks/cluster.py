"""Shards beside one index: rankings, failures, and size. Needs `pip install -e '.[ray]'`.

python -m benchmarks.cluster failures INDEX --questions FILE --retrievers bm25,hybrid --seconds 180
python -m benchmarks.cluster size --passages 1000000 --retrievers bm25,dense,hybrid

failures   two replicas on four workers of this machine, one of which dies every few seconds: searches that
           fail, are wrong, or come from some of the shards, and their time
size       synthetic passages and vectors: time to build, bytes, memory, ms per search, of one index, of four
           shards by threads, and of four on Ray
"""

import argparse
import json
import logging
import os
import random
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise import ClusterOptions
from spanwise.index.analysis import Analyzer
from spanwise.index.store import Store
from spanwise.models import encoder, model_files
from spanwise.pipelines.cluster.indexing import split_index
from spanwise.pipelines.evaluation.corpus import put_document
from spanwise.types import Document, Passage

SHARDS = 8
WORKERS = 4
REPLICAS = 2
K = 10
PASSAGES_PER_DOCUMENT = 100
SEARCHES_PER_ASK = 12
PAUSE_S = 0.05  # between two searches
TOLERANCE = {"tfidf": 1e-6, "bm25": 1e-6}  # of a score; 1e-3 for vectors
Ranking = list[tuple[str, int, float]]
Matrix = NDArray[np.float32]
Record = dict[str, Any]


def ranking(library: spanwise.Library, question: str, retriever: str) -> Ranking:
    """The place and score of each hit, by exact search."""
    hits = library.search(question, retriever=retriever, k=K, exact=True)
    return [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]


def differs(ranking: Ranking, expected: Ranking, name: str) -> bool:
    """True if rankings of a retriever differ in more than the order of equal scores."""
    if len(ranking) != len(expected):
        return True
    tolerance = TOLERANCE.get(name, 1e-3)
    scores = {hit[:2]: hit[2] for hit in expected}
    return any(
        abs(hit[2] - other[2]) > tolerance or abs(hit[2] - scores.get(hit[:2], expected[-1][2])) > tolerance
        for hit, other in zip(ranking, expected, strict=True)
    )


def questions_of(options: argparse.Namespace, n: int) -> list[str]:
    """The first n questions of the files that have an answer."""
    questions = [each for path in options.questions for each in spanwise.evaluation.read_questions(path)]
    return [question.question for question in questions if question.answerable][:n]


class Deaths:
    """A Ray cluster on this machine, with four workers, that kills and replaces one every few seconds."""

    def __init__(self, every_s: float) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray
        from ray.cluster_utils import Cluster

        self._ray = ray
        self._every_s = every_s
        self._draw = random.Random(7)
        self.n = 0
        self._cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        self._workers = [self._cluster.add_node(num_cpus=1) for _ in range(WORKERS)]
        self.address = self._cluster.address
        ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)

    def during(self, work: Callable[[], object]) -> None:
        """Work in another thread; only the main thread can start nodes."""
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            while not wait([result], self._every_s).done:
                dead = self._workers.pop(self._draw.randrange(WORKERS))
                self._cluster.remove_node(dead, allow_graceful=False)
                self._workers.append(self._cluster.add_node(num_cpus=1))
                self.n += 1
            result.result()  # raises what the work raised

    def close(self) -> None:
        """End the cluster."""
        self._ray.shutdown()
        self._cluster.shutdown()


def failures(options: argparse.Namespace, root: Path) -> Record:
    """The searches that fail, are wrong or partial while workers die."""
    shutil.copytree(options.target, root / "shards")
    split_index(root / "shards", SHARDS)
    questions = questions_of(options, 100)
    asked = questions[:4]
    with spanwise.open_index(options.target, cache=False) as whole:
        expected = {(q, name): ranking(whole, q, name) for q in questions for name in options.retrievers}
        outcomes = {q: whole.ask(q, k=3, exact=True).outcome for q in asked}
    cluster = Deaths(options.every)
    draw = random.Random(7)
    counts = dict.fromkeys(("searches", "asks", "failed", "wrong", "partial"), 0)
    times: list[float] = []

    def search() -> None:
        end = time.monotonic() + options.seconds
        while time.monotonic() < end or counts["searches"] < options.n:
            counts["searches"] += 1
            is_ask = counts["searches"] % SEARCHES_PER_ASK == 0
            question = draw.choice(asked if is_ask else questions)
            name = draw.choice(options.retrievers)
            try:
                began = time.monotonic()
                hits = ranking(library, question, name)
                times.append(time.monotonic() - began)
                is_partial = bool(library.left_out(retriever=name))
                is_wrong = differs(hits, expected[question, name], name)
                if is_ask:
                    counts["asks"] += 1
                    answer = library.ask(question, k=3, exact=True)
                    is_wrong = is_wrong or answer.outcome != outcomes[question]
                    is_partial = bool(answer.left_out)
                counts["partial"] += is_partial
                counts["wrong"] += is_wrong and not is_partial
            except spanwise.errors.SpanwiseError:
                counts["failed"] += 1
            time.sleep(PAUSE_S)

    replicas = ClusterOptions(cluster.address, REPLICAS)
    with spanwise.open_index(root / "shards", cache=False, cluster=replicas) as library:
        cluster.during(search)
    cluster.close()
    times.sort()
    quantiles = {f"p{percent}_s": round(times[len(times) * percent // 100], 3) for percent in (50, 99)}
    return {**counts, "deaths": cluster.n, **quantiles}


class RandomEncoder:
    """An encoder whose vectors are drawn from a seed."""

    digest = "made up"
    width = 384
    device = "cpu"

    def vectors(self, n: int, seed: int) -> Matrix:
        """(n, 384) unit vectors."""
        rows = np.random.default_rng(seed).standard_normal((n, self.width), np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_questions(self, texts: Sequence[str]) -> Matrix:
        """(n, 384) unit vectors."""
        return np.concatenate([self.vectors(1, len(text)) for text in texts])


def size(options: argparse.Namespace, root: Path) -> Record:
    """Time, bytes and memory of synthetic passages."""
    use_random_encoder()
    draw = np.random.default_rng(7)
    words = np.array([f"w{number:x}" for number in range(200_000)])
    chances = 1 / np.arange(10, len(words) + 10)
    chances /= chances.sum()
    began = time.perf_counter()
    shape = (PASSAGES_PER_DOCUMENT, options.words)
    write_index(root / "one", options.passages, lambda: draw.choice(words, shape, p=chances))
    record: Record = {"build_s": round(time.perf_counter() - began)}
    shutil.copytree(root / "one", root / "four")
    began = time.perf_counter()
    split_index(root / "four", 4)
    record["split_s"] = round(time.perf_counter() - began)
    n_bytes = sum(path.stat().st_size for path in (root / "one").rglob("*.*"))
    record["bytes_a_passage"] = round(n_bytes / options.passages)
    rare = chances[50:] / chances[50:].sum()
    questions = [" ".join(row) for row in draw.choice(words[50:], (options.n, 5), p=rare)]
    for name, cluster in (("one", None), ("threads", None), ("ray", ClusterOptions("local"))):
        target = root / ("one" if name == "one" else "four")
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            record |= pool.submit(
                search_figures, name, target, cluster, questions, options.retrievers
            ).result()
    return record


def write_index(index: Path, n_passages: int, draw_words: Callable[[], Any]) -> None:
    """Writes an index of documents of PASSAGES_PER_DOCUMENT passages each, with random vectors."""
    with spanwise.open(index.parent, index, model="base", colbert="none", cache=False) as library:
        analyzer = Analyzer.from_settings(dict(library.store.settings))
    encoder = RandomEncoder()
    with Store.open(index) as store, store.writer() as writer:
        for number in range(n_passages // PASSAGES_PER_DOCUMENT):
            texts = [" ".join(row) for row in draw_words()]
            name = f"d{number:06}.txt"
            document = Document(name, "text/plain", f"{number:064x}", name, "\n\n".join(texts))
            ends = np.cumsum([len(text) + 2 for text in texts]) - 2
            passages = [
                Passage(0, name, end - len(text), end, text)
                for text, end in zip(texts, ends.tolist(), strict=True)
            ]
            ids = put_document(writer, analyzer, document, passages)
            writer.put_vectors(encoder.digest, ids, encoder.vectors(len(ids), number))
            if number % 200 == 199:
                writer.commit()
        writer.commit()


def use_random_encoder() -> None:
    """Replace the encoder of this process."""
    encoder.load_encoder = lambda name: RandomEncoder()  # type: ignore[assignment]
    model_files.model_digest = lambda name, kind="encoder": RandomEncoder.digest  # type: ignore[assignment]


def search_figures(
    name: str, index: Path, cluster: ClusterOptions | None, questions: list[str], retrievers: list[str]
) -> Record:
    """The times of searches, and the memory of this process, which does nothing else."""
    use_random_encoder()
    record: Record = {}
    with spanwise.open_index(index, cache=False, cluster=cluster) as library:
        for retriever in retrievers:
            times = []
            for question in [*questions[:3], *questions]:
                began = time.perf_counter()
                ranking(library, question, retriever)
                times.append((time.perf_counter() - began) * 1000)
            times = sorted(times[3:])
            p99 = times[-1 - len(questions) // 100]
            record[f"{name}_{retriever}_p50_p99_ms"] = (round(median(times), 1), round(p99, 1))
        record[f"{name}_MiB"] = resident_mib()
    return record


def resident_mib() -> int:
    """The memory of this process without mapped files, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))


def main() -> None:
    """Run one of them and print a JSON record."""
    runs = {"failures": failures, "size": size}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", choices=runs)
    parser.add_argument("target", type=Path, nargs="?", help="an index")
    parser.add_argument("--questions", type=Path, action="append", default=[])
    parser.add_argument("--retrievers", type=lambda names: names.split(","), default=["bm25"])
    parser.add_argument("--n", type=int, default=300, help="questions, or the least number of searches")
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two deaths")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=40, help="of a synthetic passage")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(runs[options.run](options, Path(folder))))


if __name__ == "__main__":
    main()
