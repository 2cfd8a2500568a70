"""Shards beside one index: rankings, failures, and size. Needs `pip install -e '.[ray]'`.

python -m benchmarks.cluster equality INDEX --questions FILE --retrievers tfidf,bm25 --asks 40
python -m benchmarks.cluster failures INDEX --questions FILE --retrievers bm25,hybrid --seconds 180
python -m benchmarks.cluster indexing FOLDER --every 10
python -m benchmarks.cluster size --passages 1000000 --retrievers bm25,dense,hybrid
python -m benchmarks.cluster simulate --shard-ms 40 80

equality   eight shards: passages in another order, the largest difference of scores, and other answers
failures   two replicas on four workers of this machine, one of which dies every few seconds: what fails, is
           wrong, or comes from some of the shards, and the time of a search
indexing   workers die while they index: whether segments are those of an undisturbed run
size       made-up passages and vectors: time to build, bytes, memory, ms a search, of one index, of four
           shards by threads, and of four on Ray
simulate   the time of a search over 5, 50 and 500 shards, which the slowest of them decides
"""

from __future__ import annotations

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
from typing import Any, TypeVar

import numpy as np

import spanwise
from spanwise import ClusterOptions
from spanwise.index.analysis import Analyzer
from spanwise.index.schema import FileState
from spanwise.index.shards import shard_folders
from spanwise.index.store import Store
from spanwise.models import encoder
from spanwise.models import model_files as locate
from spanwise.pipelines.cluster.indexing import split_index
from spanwise.types import Document, Passage

SHARDS, WORKERS, REPLICAS, K = 8, 4, 2, 10
SEARCHES_PER_ASK = 12
TOLERANCE = {"tfidf": 1e-6, "bm25": 1e-6}  # of a score; 1e-3 for vectors
Ranking = list[tuple[str, int, float]]
T = TypeVar("T")


def ranking(library: spanwise.Library, question: str, retriever: str) -> Ranking:
    """The place and score of each hit, by exact search."""
    hits = library.search(question, retriever=retriever, k=K, exact=True)
    return [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]


def differs(found: Ranking, expected: Ranking, tolerance: float) -> bool:
    """Whether passages differ in more than the order of equal scores."""
    scores = {one[:2]: one[2] for one in expected}
    if len(found) != len(expected):
        return True
    return any(
        abs(one[2] - at[2]) > tolerance or abs(one[2] - scores.get(one[:2], expected[-1][2])) > tolerance
        for one, at in zip(found, expected, strict=True)
    )


def questions_of(how: argparse.Namespace, n: int) -> list[str]:
    """The first n questions of the files that have an answer."""
    every = [one for path in how.questions for one in spanwise.evaluation.read_questions(path)]
    return [one.question for one in every if one.answerable][:n]


def equality(how: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Rankings and answers of eight shards beside those of the index that they are made of."""
    shutil.copytree(how.target, root / "shards")
    split_index(root / "shards", SHARDS)
    questions, record = questions_of(how, how.n), dict[str, Any]()
    with (
        spanwise.open_index(how.target, cache=False) as one,
        spanwise.open_index(root / "shards", cache=False) as shards,
    ):
        record["passages"], record["questions"] = one.status()["passages"], len(questions)
        for name in how.retrievers:
            pairs = [(ranking(shards, q, name), ranking(one, q, name)) for q in questions]
            record[f"{name}_differ"] = sum(differs(*pair, TOLERANCE.get(name, 1e-3)) for pair in pairs)
            record[f"{name}_reordered"] = sum([x[:2] for x in a] != [x[:2] for x in b] for a, b in pairs)
        if how.asks:
            asked = questions[:: max(1, len(questions) // how.asks)][: how.asks]
            found, expected = (library.ask_many(asked, exact=True) for library in (shards, one))
            pairs_of = [(a.best, b.best) for a, b in zip(found, expected, strict=True)]
            record["asks"] = len(asked)
            record["other_answers"] = sum((a and a.span) != (b and b.span) for a, b in pairs_of)
            gaps = [abs(a.confidence - b.confidence) for a, b in pairs_of if a and b]
            record["largest_gap_of_confidence"] = max(gaps, default=0.0)
    return record


class Deaths:
    """A head and four workers on this machine; every few seconds a worker is killed and a new one joins."""

    def __init__(self, every_s: float) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray
        from ray.cluster_utils import Cluster

        self._ray, self._every_s, self._draw, self.n = ray, every_s, random.Random(7), 0
        self._cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        self._workers = [self._cluster.add_node(num_cpus=1) for _ in range(WORKERS)]
        self.address = self._cluster.address
        ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)

    def during(self, work: Callable[[], T]) -> T:
        """The result of work in another thread; nodes can be started by the first thread alone."""
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            while not wait([result], self._every_s).done:
                dead = self._workers.pop(self._draw.randrange(WORKERS))
                self._cluster.remove_node(dead, allow_graceful=False)
                self._workers.append(self._cluster.add_node(num_cpus=1))
                self.n += 1
            return result.result()

    def close(self) -> None:
        """End the cluster."""
        self._ray.shutdown()
        self._cluster.shutdown()


def failures(how: argparse.Namespace, root: Path) -> dict[str, Any]:
    """What a caller sees while workers die."""
    shutil.copytree(how.target, root / "shards")
    split_index(root / "shards", SHARDS)
    questions = questions_of(how, 100)
    asked = questions[:4]
    with spanwise.open_index(how.target, cache=False) as one:
        expected = {(q, name): ranking(one, q, name) for q in questions for name in how.retrievers}
        outcomes = {q: one.ask(q, k=3, exact=True).outcome for q in asked}
    cluster, draw = Deaths(how.every), random.Random(7)
    options = ClusterOptions(cluster.address, REPLICAS)
    counts, times = dict.fromkeys(("searches", "asks", "failed", "wrong", "partial"), 0), list[float]()

    def search() -> None:
        ends = time.monotonic() + how.seconds
        while time.monotonic() < ends or counts["searches"] < how.n:
            counts["searches"] += 1
            is_ask = counts["searches"] % SEARCHES_PER_ASK == 0
            question, name = draw.choice(asked if is_ask else questions), draw.choice(how.retrievers)
            try:
                began = time.monotonic()
                found = ranking(library, question, name)
                times.append(time.monotonic() - began)
                is_partial = bool(library.left_out(retriever=name))
                is_wrong = differs(found, expected[question, name], TOLERANCE.get(name, 1e-3))
                if is_ask:
                    counts["asks"] += 1
                    answer = library.ask(question, k=3, exact=True)
                    is_wrong, is_partial = (
                        is_wrong or answer.outcome != outcomes[question],
                        bool(answer.left_out),
                    )
                counts["partial"] += is_partial
                counts["wrong"] += is_wrong and not is_partial
            except spanwise.errors.SpanwiseError:
                counts["failed"] += 1
            time.sleep(how.pause)

    with spanwise.open_index(root / "shards", cache=False, cluster=options) as library:
        cluster.during(search)
    cluster.close()
    times.sort()
    quantiles = {f"p{at}_s": round(times[len(times) * at // 100], 3) for at in (50, 99)}
    return {**counts, "deaths": cluster.n, **quantiles}


def indexing(how: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Shards that are indexed while workers die, beside shards that are not disturbed."""
    kinds = {"shards": SHARDS, "model": "base", "colbert": "none", "cache": False}
    with spanwise.open(how.target, root / "quiet", **kinds) as library:
        library.sync()
    cluster = Deaths(how.every)
    options = ClusterOptions(cluster.address)
    began = time.monotonic()
    with spanwise.open(how.target, root / "dying", cluster=options, **kinds) as library:
        cluster.during(library.sync)
    seconds = round(time.monotonic() - began, 1)
    cluster.close()
    gaps, differ, n_passages, n_vectors = [0.0], 0, 0, 0
    for pair in zip(shard_folders(root / "quiet"), shard_folders(root / "dying"), strict=True):
        with Store.open(pair[0]) as a, Store.open(pair[1]) as b, a.snapshot() as quiet, b.snapshot() as dying:
            n_passages += dying.n_passages
            n_vectors += sum(dying.vector_models().values())
            names = [{e.id for e in one.segments() if e.kind == "postings"} for one in (quiet, dying)]
            places = [one.places(one.passage_ids().tolist()) for one in (quiet, dying)]
            differ += names[0] != names[1] or places[0] != places[1] or quiet.files() != dying.files()
            ids = [one.passage_ids() for one in (quiet, dying)]
            if len(ids[0]) and len(ids[0]) == len(ids[1]):
                rows = [one.stored_vectors(*one.vector_models()) for one in (quiet, dying)]
                vectors = [one.read(one.rows_of(at))["vectors"] for one, at in zip(rows, ids, strict=True)]
                gaps.append(float(np.abs(vectors[0] - vectors[1]).max()))
    return {
        "passages": n_passages,
        "vectors": n_vectors,
        "shards_that_differ": differ,
        "largest_gap": max(gaps),
        "deaths": cluster.n,
        "s": seconds,
    }


class MadeUp:
    """An encoder whose vectors are drawn from a seed."""

    digest, width, device, n_passages = "made up", 384, "cpu", 100

    def vectors(self, n: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(n, 384) unit vectors."""
        found = np.random.default_rng(seed).standard_normal((n, self.width), np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def encode_questions(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(n, 384) unit vectors."""
        return np.concatenate([self.vectors(1, len(text)) for text in texts])


def size(how: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Time, bytes and memory of made-up passages."""
    made, draw = MadeUp(), np.random.default_rng(7)
    made_up_models()
    words = np.array([f"w{number:x}" for number in range(200_000)])
    chances = 1 / np.arange(10, len(words) + 10)
    chances /= chances.sum()
    with spanwise.open(root, root / "one", model="base", colbert="none", cache=False) as library:
        settings = dict(library.store.settings)
    analyzer, record, began = Analyzer.from_settings(settings), dict[str, Any](), time.perf_counter()
    with Store.open(root / "one") as store, store.writer() as writer:
        for at in range(how.passages // made.n_passages):
            texts = [" ".join(one) for one in draw.choice(words, (made.n_passages, how.words), p=chances)]
            name, ends = f"d{at:06}.txt", np.cumsum([len(text) + 2 for text in texts]).tolist()
            document = Document(name, "text/plain", f"{at:064x}", name, "\n\n".join(texts))
            passages = [
                Passage(0, name, end - 2 - len(text), end - 2, text)
                for text, end in zip(texts, ends, strict=True)
            ]
            terms = [analyzer.terms(text) for text in texts]
            ids = writer.put(document, passages, terms, FileState(len(document.text), 0, document.sha256))
            writer.put_vectors(made.digest, ids, made.vectors(len(ids), at))
            if at % 200 == 199:
                writer.commit()
        writer.commit()
    record["build_s"] = round(time.perf_counter() - began)
    shutil.copytree(root / "one", root / "four")
    began = time.perf_counter()
    split_index(root / "four", 4)
    record["split_s"] = round(time.perf_counter() - began)
    record["bytes_a_passage"] = round(
        sum(p.stat().st_size for p in (root / "one").rglob("*.*")) / how.passages
    )
    questions = [
        " ".join(one) for one in draw.choice(words[50:], (how.n, 5), p=chances[50:] / chances[50:].sum())
    ]
    for name, cluster in (("one", None), ("threads", None), ("ray", ClusterOptions("local"))):
        target = root / ("one" if name == "one" else "four")
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            record |= pool.submit(searched, name, target, cluster, questions, how.retrievers).result()
    return record


def made_up_models() -> None:
    """Put the drawn vectors in the place of the encoder of this process."""
    encoder.load_encoder = lambda name: MadeUp()  # type: ignore[assignment]
    locate.model_digest = lambda name, kind="encoder": MadeUp.digest  # type: ignore[assignment]


def searched(
    name: str, index: Path, cluster: ClusterOptions | None, questions: list[str], retrievers: list[str]
) -> dict[str, Any]:
    """The times of searches and the memory of the process that asks, which searches nothing else."""
    made_up_models()
    record: dict[str, Any] = {}
    with spanwise.open_index(index, cache=False, cluster=cluster) as library:
        for retriever in retrievers:
            times = []
            for question in [*questions[:3], *questions]:
                began = time.perf_counter()
                ranking(library, question, retriever)
                times.append((time.perf_counter() - began) * 1000)
            times = sorted(times[3:])
            p99 = times[-1 - len(questions) // 100]
            record[f"{name}_{retriever}_p50_p99_ms"] = round(median(times), 1), round(p99, 1)
        record[f"{name}_MiB"] = resident_mib()
    return record


def simulate(how: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Expected times of a search over many shards, from the median and p99 of one shard, in ms."""
    draw, record = np.random.default_rng(7), dict[str, Any]()
    middle, high = how.shard_ms
    spread = np.log(high / middle) / 2.326  # of a log-normal time
    for shards in (5, 50, 500):
        times = middle * np.exp(spread * draw.standard_normal((2000, shards)))
        network = how.network_ms * (
            1 + draw.exponential(0.5, (2000, shards, 3))
        )  # statistics, ranking, texts
        total = times.max(axis=1) + network.max(axis=1).sum(axis=1) + how.merge_ms * shards
        record[f"{shards}_shards_p50_p99_ms"] = [round(float(np.percentile(total, at)), 1) for at in (50, 99)]
    return record


def resident_mib() -> int:
    """The memory of this process that is no mapped file, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))


def main() -> None:
    """Run one of them and print a JSON record."""
    runs = {one.__name__: one for one in (equality, failures, indexing, size, simulate)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", choices=runs)
    parser.add_argument("target", type=Path, nargs="?", help="an index, or a folder to index")
    parser.add_argument("--questions", type=Path, action="append", default=[])
    parser.add_argument("--retrievers", type=lambda names: names.split(","), default=["bm25"])
    parser.add_argument("--n", type=int, default=300, help="questions, or the least number of searches")
    parser.add_argument("--asks", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two deaths")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two searches")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument(
        "--shard-ms", type=float, nargs=2, default=[40.0, 80.0], help="median and p99 of a shard"
    )
    parser.add_argument("--network-ms", type=float, default=1.0, help="there and back")
    parser.add_argument("--merge-ms", type=float, default=0.05, help="of the rankings, a shard")
    parser.add_argument("--words", type=int, default=40, help="of a made-up passage")
    how = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(runs[how.run](how, Path(folder))))


if __name__ == "__main__":
    main()
