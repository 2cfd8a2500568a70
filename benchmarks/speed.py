"""Speed beside other programs: `python -m benchmarks.speed --only encode,maxsim,bm25,dense --json`.

Each engine runs in a separate process, on the same processor and threads. Engines take turns for several
rounds; figures are medians, and a ratio above 1 means that spanwise is faster. `overlap` is the mean share
of our ten best passages that the peer also finds. Needs `pip install -e '.[bench]'`; an engine that is not
installed is named and left out. Texts are the SQuAD files below SPANWISE_DATA, or the sample corpus.

encode   passages per second, from text to vector
maxsim   ms per question, from its token vectors to passages
bm25     ms per question, from its text to ids and scores; on more than one thread all questions at once
dense    ms per question, from its vector to passages, over --vectors random unit vectors
"""

import argparse
import json
import os
import random
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spanwise.corpora.datasets.squad import read_squad

from .engines import ENGINES, Corpus, best_passages, confine, round_s

THREAD_VARIABLES = (
    "OMP MKL OPENBLAS BLIS VECLIB NUMEXPR NUMBA RAYON".replace(" ", "_NUM_THREADS ") + "_NUM_THREADS"
).split()
WIDTH = 384
SEED = 0
OURS = "spanwise"
ENCODED = 64  # passages that the encoders are measured on
TOKENS_OF = 2048  # passages of maxsim
Row = dict[str, Any]


def texts() -> tuple[list[str], list[str]]:
    """Distinct paragraphs in random order, and their questions."""
    data = Path(os.environ.get("SPANWISE_DATA", "/nonexistent")) / "squad"
    sample = Path(__file__).parents[1] / "corpora" / "sample" / "questions.json"
    files = sorted(data.glob("*-v1.1.json.gz")) or [sample]
    asked: dict[str, list[str]] = {}
    for path in files:
        for article in read_squad(path).articles:
            for paragraph in article.paragraphs:
                questions = asked.setdefault(paragraph.context, [])
                questions += [question.text for question in paragraph.questions if question.answers]
    passages = sorted(asked)
    random.Random(SEED).shuffle(passages)
    return passages, [question for passage in passages for question in asked[passage][:1]]


def synthetic(passages: list[str], n: int) -> list[str]:
    """n texts of sentences drawn from these passages, each as long as one of them."""
    draw = random.Random(SEED)
    sentences = [re.split(r"(?<=[.!?]) +", passage) for passage in passages]
    pool = list(chain.from_iterable(sentences))
    return [" ".join(draw.choices(pool, k=len(draw.choice(sentences)))) for _ in range(n)]


def corpus_of(comparison: str, folder: Path, options: argparse.Namespace) -> None:
    """Saves the corpus of a comparison with its vectors in a folder."""
    passages, questions = texts()
    if comparison == "bm25" and options.passages:
        passages = passages[: options.passages] + synthetic(passages, options.passages - len(passages))
    limit = {"encode": ENCODED, "maxsim": options.passages or TOKENS_OF, "dense": options.vectors}.get(
        comparison, len(passages)
    )
    if comparison == "dense":
        passages = [f"passage {number}" for number in range(options.vectors)]
    n_questions = 10 if comparison in ("maxsim", "encode") else options.questions
    corpus = Corpus(folder, passages[:limit], questions[:n_questions])
    matrices: Row = {}
    if comparison == "dense":
        shape = (limit + len(corpus.questions), WIDTH)
        rows = np.random.default_rng(SEED).standard_normal(shape, np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        matrices = {"vectors": rows[:limit], "question_vectors": rows[limit:]}
    if comparison == "maxsim":
        from spanwise.models.encoder import load_token_encoder

        encoder = load_token_encoder()
        matrices["tokens"], matrices["lengths"] = encoder.encode_passages(corpus.passages)
        question_tokens = encoder.encode_questions(corpus.questions)
        matrices["question_tokens"] = np.concatenate(question_tokens)
        matrices["question_lengths"] = np.array([len(rows) for rows in question_tokens])
    corpus.save(**matrices)


def compare(comparison: str, options: argparse.Namespace) -> list[Row]:
    """A row for each number of threads and peer; engines that fail are named on stderr."""
    with TemporaryDirectory(prefix="spanwise-speed-") as scratch:
        corpus_of(comparison, Path(scratch), options)
        numbers = map(int, options.threads.split(","))
        return [row for threads in numbers for row in _rows(comparison, Path(scratch), threads, options)]


def _rows(comparison: str, folder: Path, threads: int, options: argparse.Namespace) -> list[Row]:
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)), TOKENIZERS_PARALLELISM="false")
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    running: dict[str, ProcessPoolExecutor] = {}
    with ExitStack() as pools:
        for engine in [OURS, *options.peers.split(";")] if options.peers else ENGINES[comparison]:
            process = ProcessPoolExecutor(1, get_context("spawn"), confine, (usable[-threads:],))
            pools.enter_context(process)
            try:
                process.submit(round_s, comparison, engine, folder).result()
                running[engine] = process
            except Exception as error:
                print(f"{comparison}: {engine} is left out: {error!r}", file=sys.stderr)
        seconds: dict[str, list[float]] = {name: [] for name in running}
        for _ in range(options.rounds):
            for name, process in running.items():
                seconds[name].append(process.submit(round_s, comparison, name, folder).result())
        rankings = {
            name: process.submit(best_passages, comparison, name, folder).result()
            for name, process in running.items()
        }
    if OURS not in running:
        raise SystemExit(f"{comparison}: spanwise failed, there is nothing to compare with")
    peers = [name for name in running if name != OURS]
    return [{"threads": threads, **_row(comparison, name, seconds, rankings)} for name in peers]


def _row(
    comparison: str, peer: str, seconds: dict[str, list[float]], rankings: dict[str, list[list[int]]]
) -> Row:
    ours = median(seconds[OURS])
    other = median(seconds[peer])
    ratios = [b / a for a, b in zip(seconds[OURS], seconds[peer], strict=True)]
    both = zip(rankings[OURS], rankings[peer], strict=True)
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
    return {"name": comparison, "peer_name": peer, "unit": unit, **rounded}


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
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    options = parser.parse_args()
    comparisons = options.only.split(",")
    unknown = [name for name in comparisons if name not in ENGINES]
    if unknown:
        parser.error(f"there is no comparison {unknown[0]!r}; expected some of {', '.join(ENGINES)}")
    rows = [row for name in comparisons for row in compare(name, options)]
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['name']:15} {row['threads']} {row['ours']:>9} {row['peer']:>9} {row['unit']:11} "
            f"x{row['ratio']:<7} ({row['ratio_min']}-{row['ratio_max']})  {row['peer_name']}"
        )


if __name__ == "__main__":
    main()
