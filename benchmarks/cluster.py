"""Shards on a Ray cluster whose workers die: `python -m benchmarks.cluster --seconds 180 --every 20`.

A head, which stays, and four workers on this machine search eight shards, two replicas each. Again and again
a worker is killed and a new one joins. Each search is compared with that of one index, each answer with its
outcome. Prints how many failed, were wrong, or came from some of the shards, and the times. Documents are
made up. Times of a search before a death are medians in ms: of one index, of shards by threads, and on Ray.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spanwise
from spanwise.pipelines.cluster.manifest import ClusterOptions

SHARDS, WORKERS, REPLICAS = 8, 4, 2
N_WORDS = 560  # of a document, about four passages
OPTIONS: dict[str, Any] = {"retriever": "bm25"}
SEARCHES_PER_ASK = 12
PAUSE_S = 0.05


def make_documents(folder: Path, n: int, draw: random.Random) -> list[str]:
    """Write n documents; returns questions for them."""
    common, rare = [f"word{number}" for number in range(40)], [f"term{number}" for number in range(3_000)]
    folder.mkdir()
    for number in range(n):
        words = [draw.choice(common if draw.random() < 0.4 else rare) for _ in range(N_WORDS)]
        (folder / f"n{number:05}.md").write_text(f"# Note {number}\n\n{' '.join(words)}.\n", encoding="utf-8")
    return [" ".join(draw.sample(common, 2) + draw.sample(rare, 3)) for _ in range(100)]


def ranking(library: spanwise.Library, question: str) -> list[tuple[str, int, float]]:
    """The place and score of each hit."""
    hits = library.search(question, **OPTIONS)
    return [(hit.passage.document_id, hit.passage.start, hit.score) for hit in hits]


def main() -> None:
    """Run it and print a JSON record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two deaths")
    parser.add_argument("--documents", type=int, default=100)
    how = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(measured(Path(folder), how, random.Random(7))))


def measured(root: Path, how: argparse.Namespace, draw: random.Random) -> dict[str, float]:
    """The figures of one run."""
    questions = make_documents(root / "notes", how.documents, draw)
    with spanwise.open(root / "notes", root / "one", cache=False) as one:
        one.sync(vectors=False)
        expected = {question: ranking(one, question) for question in questions}
        outcomes = {question: one.ask(question, k=3, **OPTIONS).outcome for question in questions[:4]}
        one_ms = timed(one, questions)
    with spanwise.open(root / "notes", root / "shards", cache=False, shards=SHARDS) as shards:
        shards.sync(vectors=False)
        threads_ms = timed(shards, questions)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    workers = [cluster.add_node(num_cpus=1) for _ in range(WORKERS)]
    ray.init(cluster.address, namespace="spanwise", log_to_driver=False, logging_level=logging.ERROR)
    library = spanwise.open_index(
        root / "shards", cache=False, cluster=ClusterOptions(cluster.address, REPLICAS)
    )
    counts = dict.fromkeys(("searches", "asks", "deaths", "failed", "wrong", "partial"), 0)
    ray_ms, times = timed(library, questions), []
    ends, next_death = time.monotonic() + how.seconds, time.monotonic() + how.every
    while time.monotonic() < ends:
        if time.monotonic() >= next_death:
            cluster.remove_node(workers.pop(draw.randrange(WORKERS)), allow_graceful=False)
            workers.append(cluster.add_node(num_cpus=1))
            counts["deaths"] += 1
            next_death = time.monotonic() + how.every
        is_ask = counts["searches"] % SEARCHES_PER_ASK == SEARCHES_PER_ASK - 1
        question = draw.choice(questions[:4] if is_ask else questions)
        try:
            began = time.monotonic()
            is_right = ranking(library, question) == expected[question]
            times.append(time.monotonic() - began)
            is_partial = bool(library.partial)
            if is_ask:
                answer = library.ask(question, k=3, **OPTIONS)
                is_right = is_right and answer.outcome == outcomes[question]
                is_partial = is_partial or bool(answer.partial)
            counts["partial"] += is_partial
            counts["wrong"] += not is_right and not is_partial
            counts["asks"] += is_ask
        except spanwise.errors.SpanwiseError:
            counts["failed"] += 1
        counts["searches"] += 1
        time.sleep(PAUSE_S)
    library.close()
    ray.shutdown()
    cluster.shutdown()
    times.sort()
    quantiles = {f"p{at}_s": round(times[len(times) * at // 100], 3) for at in (50, 99)}
    return counts | quantiles | {"one_ms": one_ms, "threads_ms": threads_ms, "ray_ms": ray_ms}


def timed(library: spanwise.Library, questions: list[str]) -> float:
    """The median time of a search, in ms, after each question was searched once."""
    times = []
    for question in [*questions, *questions]:
        began = time.perf_counter()
        ranking(library, question)
        times.append((time.perf_counter() - began) * 1000)
    return round(sorted(times[len(questions) :])[len(questions) // 2], 2)


if __name__ == "__main__":
    main()
