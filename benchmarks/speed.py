"""Speed beside other programs: `python -m benchmarks.speed --only encode,maxsim,bm25,dense --json`.

Each engine runs in a process of its own, on the same processor and threads. Engines take turns for several
rounds; figures are medians, and a ratio above 1 means that spanwise is faster. `overlap` is the mean share
of our ten best passages that the peer finds, too. Needs `pip install -e '.[bench]'`; an engine that is not
installed is named and left out. Texts are the SQuAD files below SPANWISE_DATA, or the sample corpus.

"the machine's peak" reads the same bytes (bm25, dense) or multiplies as often (maxsim) and finds nothing: its
ratio is the share of the machine's speed that we reach. `benchmarks.precision` prints that of encode.

encode   passages a second, from text to vector
maxsim   ms a question, from its token vectors to passages
bm25     ms a question, from its text to ids and scores; on more than one thread all questions at once
dense    ms a question, from its vector to passages, over --vectors random unit vectors
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spanwise.corpora.datasets.squad import read_squad

from .engines import ENGINES, Corpus

NAMES = {"encode": "dense-encode", "maxsim": "maxsim-kernel", "bm25": "bm25-search", "dense": "dense-kernel"}
THREAD_VARIABLES = (
    "OMP MKL OPENBLAS BLIS VECLIB NUMEXPR NUMBA RAYON".replace(" ", "_NUM_THREADS ") + "_NUM_THREADS"
).split()
WIDTH, K = 384, 10
OURS = "spanwise"
ENCODED = 64  # passages that the encoders are measured on
TOKENS_OF = 2048  # passages of maxsim


def texts(seed: int) -> tuple[list[str], list[str]]:
    """Distinct paragraphs in random order, and their questions."""
    data = Path(os.environ.get("SPANWISE_DATA", "/nonexistent")) / "squad"
    sample = Path(__file__).parents[1] / "corpora" / "sample" / "questions.json"
    files = sorted(data.glob("*-v1.1.json.gz")) or [sample]
    asked: dict[str, list[str]] = {}
    for path in files:
        for article in read_squad(path).articles:
            for paragraph in article.paragraphs:
                found = asked.setdefault(paragraph.context, [])
                found += [question.text for question in paragraph.questions if question.answers]
    passages = sorted(asked)
    random.Random(seed).shuffle(passages)
    return passages, [question for passage in passages for question in asked[passage][:1]]


def made(passages: list[str], n: int, seed: int) -> list[str]:
    """n texts of sentences drawn from these passages, each of as many sentences as one of them has."""
    draw = random.Random(seed)
    sentences = [re.split(r"(?<=[.!?]) +", passage) for passage in passages]
    every = list(chain.from_iterable(sentences))
    return [" ".join(draw.choices(every, k=len(draw.choice(sentences)))) for _ in range(n)]


def corpus_of(comparison: str, folder: Path, how: argparse.Namespace) -> None:
    """Saves the corpus of a comparison with its vectors in a folder."""
    passages, questions = texts(how.seed)
    if comparison == "bm25" and how.passages:
        passages = passages[: how.passages] + made(passages, how.passages - len(passages), how.seed)
    limit = {"encode": ENCODED, "maxsim": how.passages or TOKENS_OF, "dense": how.vectors}.get(
        comparison, len(passages)
    )
    if comparison == "dense":
        passages = [f"passage {number}" for number in range(how.vectors)]
    few = 10 if comparison in ("maxsim", "encode") else how.questions
    corpus = Corpus(folder, passages[:limit], questions[:few])
    matrices: dict[str, Any] = {}
    if comparison == "dense":
        rows = np.random.default_rng(how.seed).standard_normal((limit + few, WIDTH), np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        matrices = {"vectors": rows[:limit], "question_vectors": rows[limit:]}
    if comparison == "maxsim":
        from spanwise.models.encoder import load_token_encoder

        encoder = load_token_encoder()
        matrices["tokens"], matrices["lengths"] = encoder.encode_passages(corpus.passages)
        asked = encoder.encode_questions(corpus.questions)
        matrices["question_tokens"] = np.concatenate(asked)
        matrices["question_lengths"] = np.array([len(rows) for rows in asked])
    corpus.save(**matrices)


class Process:
    """A running engine."""

    def __init__(self, comparison: str, engine: str, folder: Path, threads: int) -> None:
        own = dict.fromkeys(THREAD_VARIABLES, str(threads))
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        cpus = ",".join(map(str, usable[-threads:]))
        root = str(Path(__file__).parents[1])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.engines", comparison, engine, str(folder), cpus],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, **own, "PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false"},
        )

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def answer(self) -> Any:
        """The next answer; RuntimeError with the last line of its error output when the engine failed."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        if line:
            return json.loads(line)
        errors = self._process.communicate()[1].strip().splitlines()
        raise RuntimeError(errors[-1] if errors else f"exit code {self._process.returncode}")

    def ask(self, what: str) -> Any:
        """The answer to one request, see `engines.main`."""
        if self._process.stdin:
            self._process.stdin.write(json.dumps([what, K]) + "\n")
            self._process.stdin.flush()
        return self.answer()


def compare(comparison: str, how: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each number of threads and peer; engines that fail are named on stderr."""
    with TemporaryDirectory(prefix="spanwise-speed-") as scratch:
        corpus_of(comparison, Path(scratch), how)
        numbers = map(int, how.threads.split(","))
        return [row for threads in numbers for row in _rows(comparison, Path(scratch), threads, how)]


def _rows(comparison: str, folder: Path, threads: int, how: argparse.Namespace) -> list[dict[str, Any]]:
    running: dict[str, Process] = {}
    for engine in [OURS, *how.peers.split(";")] if how.peers else ENGINES[comparison]:
        process = Process(comparison, engine, folder, threads)
        try:
            process.answer()
            process.ask("round")
            running[engine] = process
        except RuntimeError as error:
            process.end()
            print(f"{comparison}: {engine} is left out: {error}", file=sys.stderr)
    try:
        seconds: dict[str, list[float]] = {name: [] for name in running}
        for _ in range(how.rounds):
            for name, process in running.items():
                seconds[name].append(process.ask("round"))
        found = {name: process.ask("find") for name, process in running.items()}
    finally:
        for process in running.values():
            process.end()
    if OURS not in running:
        raise SystemExit(f"{comparison}: spanwise failed, there is nothing to compare with")
    rows = [_row(comparison, name, seconds, found) for name in running if name != OURS]
    return [{"threads": threads, **row} for row in rows]


def _row(
    comparison: str, peer: str, seconds: dict[str, list[float]], found: dict[str, list[list[int]]]
) -> dict[str, Any]:
    ours, other = median(seconds[OURS]), median(seconds[peer])
    ratios = [b / a for a, b in zip(seconds[OURS], seconds[peer], strict=True)]
    both = zip(found[OURS], found[peer], strict=True)
    shares = [len({*a} & {*b}) / max(1, len(a)) for a, b in both]
    per_second = comparison == "encode"
    figures = {
        "ours": 1 / ours if per_second else 1000 * ours,
        "peer": 1 / other if per_second else 1000 * other,
        "ratio": other / ours,
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "overlap": sum(shares) / len(shares),
    }
    unit = "passages/s" if per_second else "ms/question"
    rounded = {name: float(f"{value:.4g}") for name, value in figures.items()}
    return {"name": NAMES[comparison], "peer_name": peer, "unit": unit, **rounded}


def main() -> None:
    """Read the arguments, compare, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(ENGINES), help="comparisons, divided by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1", help="numbers of threads, divided by commas")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument(
        "--passages", type=int, help="passages of maxsim and bm25; made of sentences of SQuAD if it has fewer"
    )
    parser.add_argument("--peers", help="engines of the comparison, divided by semicolons; default: all")
    parser.add_argument("--vectors", type=int, default=100_000, help="vectors of dense")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    how = parser.parse_args()
    wanted = how.only.split(",")
    if unknown := [name for name in wanted if name not in ENGINES]:
        parser.error(f"there is no comparison {unknown[0]!r}; expected some of {', '.join(ENGINES)}")
    rows = [row for name in wanted for row in compare(name, how)]
    if how.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['name']:15} {row['threads']} {row['ours']:>9} {row['peer']:>9} {row['unit']:11} "
            f"x{row['ratio']:<7} ({row['ratio_min']}-{row['ratio_max']})  {row['peer_name']}"
        )


if __name__ == "__main__":
    main()
