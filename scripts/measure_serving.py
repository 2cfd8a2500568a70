"""Measures a server: many clients at once, and what computing questions together is worth.

    python scripts/measure_serving.py clients --index DIR --clients 200 --seconds 60
    python scripts/measure_serving.py batching --index DIR --verb search --retriever dense --askers 32
    python scripts/measure_serving.py library --index DIR --verb ask -k 20 --askers 8 --questions 64

`clients` prints the share of each status, the time of an answer and the server's memory before and after.
`batching` asks two servers in turn, one that computes up to 32 questions together and one that computes each
alone; the ratio is the median of those within a round, which is what to read on a busy machine. Questions are
the beginnings of sentences of the index, all different, and nothing is remembered between them. The clients
are one process on the same machine and take their share of it. `library` measures the same without a server:
questions one after another, and in groups. `--out FILE` writes JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from serving_clients import Load, load

from spanwise.pipelines.opening import open_index

WARM_S = 3.0


def questions(index: Path, n: int) -> list[str]:
    """The beginnings of `n` sentences of the index, drawn with a fixed seed, all different."""
    with open_index(index, cache=False) as library:
        sentences = {
            " ".join(words[:10])
            for passage in library.passages()
            for sentence in re.split(r"[.!?\n]", passage.text)
            if len(words := re.findall(r"\w+", sentence)) >= 6
        }
    ordered = sorted(sentences)
    return Random(0).sample(ordered, min(n, len(ordered)))


@contextmanager
def serving(index: Path, *options: str) -> Iterator[int]:
    """The port of a server that remembers nothing."""
    command = [sys.executable, "-m", "spanwise", "serve", "--index", str(index), "--port", "0", "--no-cache"]
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen([*command, *options], stderr=log) as server:
        try:
            yield _port(server, log)
        finally:
            server.terminate()


def _port(server: subprocess.Popen[bytes], log: Any) -> int:
    while server.poll() is None:
        log.seek(0)
        if found := re.search(r" at http://[^/]*:(\d+)/", log.read()):
            return int(found[1])
        time.sleep(0.05)
    log.seek(0)
    raise SystemExit(log.read())


def metric(port: int, name: str) -> float:
    """One figure of the server's own."""
    told = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return next(float(line.split()[1]) for line in told.splitlines() if line.startswith(name + " "))


def measured_clients(given: argparse.Namespace) -> dict[str, Any]:
    """Many clients for a while; memory is taken after a warm-up of the same kind, and at the end."""
    bodies = _bodies(given)
    with serving(given.index, "--in-flight", str(given.in_flight)) as port:
        load(port, f"/api/{given.verb}", bodies, given.clients, max(WARM_S, given.seconds / 4))
        before = metric(port, "process_resident_memory_bytes")
        found = load(port, f"/api/{given.verb}", bodies, given.clients, given.seconds)
        after = metric(port, "process_resident_memory_bytes")
    return {
        "clients": given.clients,
        "seconds": round(found.seconds, 1),
        "statuses": {str(status): n for status, n in sorted(found.statuses.items())},
        "answers_per_second": round(found.per_second, 1),
        "p50_ms": round(found.quantile(0.5) * 1000),
        "p99_ms": round(found.quantile(0.99) * 1000),
        "rss_before_mb": round(before / 1e6, 1),
        "rss_after_mb": round(after / 1e6, 1),
        "rss_growth": round(after / before - 1, 4),
    }


def measured_batching(given: argparse.Namespace) -> dict[str, Any]:
    """Answers a second, computed together and one at a time, round by round."""
    bodies, path = _bodies(given), f"/api/{given.verb}"
    room = ("--in-flight", str(2 * given.askers), "--timeout", "120")
    with (
        serving(given.index, *room, "--batch", str(given.askers)) as together,
        serving(given.index, *room, "--batch", "1") as alone,
    ):
        for port in (together, alone):
            load(port, path, bodies, 4, WARM_S)
        rounds = []
        for number in range(given.rounds):
            ports = [together, alone] if number % 2 == 0 else [alone, together]
            found = {port: load(port, path, bodies, given.askers, given.seconds) for port in ports}
            rounds.append((found[together], found[alone]))
        size = metric(together, "spanwise_batch_questions_sum") / metric(
            together, "spanwise_batch_questions_count"
        )
    return {
        "verb": given.verb,
        "retriever": given.retriever,
        "askers": given.askers,
        "together": _figures([one for one, _ in rounds]),
        "alone": _figures([one for _, one in rounds]),
        "ratio": round(median(one.per_second / other.per_second for one, other in rounds), 2),
        "mean_batch": round(size, 1),
    }


def measured_library(given: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds a question of the library itself, alone and in groups, and their ratio, round by round."""
    asked = questions(given.index, given.questions)
    with open_index(given.index, cache=False) as library:
        many = library.search_many if given.verb == "search" else library.ask_many

        def ms(size: int) -> float:
            began = time.perf_counter()
            for at in range(0, len(asked), size):
                many(asked[at : at + size], k=given.k, retriever=given.retriever)
            return (time.perf_counter() - began) / len(asked) * 1000

        ms(given.askers)  # loads the models
        rounds = [(ms(1), ms(given.askers)) for _ in range(given.rounds)]
    return {
        "verb": given.verb,
        "retriever": given.retriever,
        "together": given.askers,
        "ms_alone": round(median(alone for alone, _ in rounds), 2),
        "ms_together": round(median(together for _, together in rounds), 2),
        "ratio": round(median(alone / together for alone, together in rounds), 2),
    }


def _bodies(given: argparse.Namespace) -> list[dict[str, Any]]:
    asked = {} if given.retriever is None else {"retriever": given.retriever}
    return [{"question": question, "k": given.k, **asked} for question in questions(given.index, 5000)]


def _figures(loads: list[Load]) -> dict[str, Any]:
    return {
        "per_second": round(median(one.per_second for one in loads), 1),
        "p50_ms": round(median(one.quantile(0.5) for one in loads) * 1000),
        "p99_ms": round(median(one.quantile(0.99) for one in loads) * 1000),
        "statuses": sorted({status for one in loads for status in one.statuses}),
    }


MEASURES = {"clients": measured_clients, "batching": measured_batching, "library": measured_library}


def main() -> None:
    """Measures what is named, prints a table and writes it down if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=sorted(MEASURES))
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--verb", choices=("search", "ask"), default="search")
    parser.add_argument("--retriever")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--in-flight", type=int, default=8)
    parser.add_argument("--askers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--questions", type=int, default=280)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = MEASURES[given.what](given)
    for name, value in found.items():
        print(f"| {name} | {value if not isinstance(value, dict) else json.dumps(value)} |")
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
