"""Measures MaxSim search: exact and approximate, against torch in float32, and prints Markdown.

Token vectors come from files: the rows of all passages one after another, and how many each passage has; the
same for questions; and, if known, the row of the passage that answers each question.

    python scripts/measure_maxsim.py --tokens d.npy --lengths dl.npy --questions q.npy \\
        --question-lengths ql.npy --gold gold.npy --bits 8 --n-questions 100

Without files they are made by the built-in token encoder from SQuAD dev in SPANWISE_DATA. Threads are those
of OMP_NUM_THREADS; set it to 1 for the latency of a single question. Engines take turns within a round, and
each question's latency is its median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.maxsim_index import MaxSimIndex
from spanwise.index.maxsim.stored_tokens import StoredTokens
from spanwise.index.maxsim.token_codes import TokenCodes
from spanwise.index.maxsim.tokens import TokenSegment

SAMPLE = 100_000  # tokens that the codebook is trained on
BLOCK = 1 << 16
DEEPEST = 100
Engine = Callable[[NDArray[np.float32]], NDArray[np.int64]]


def encoded(tokens: NDArray[Any], lengths: NDArray[np.int64], bits: int) -> StoredTokens:
    """The passages as the index holds them, in memory."""
    random = np.random.default_rng(0)
    sample = np.sort(random.choice(len(tokens), min(SAMPLE, len(tokens)), replace=False))
    codebook = Codebook.train(np.asarray(tokens[sample], np.float32), len(tokens), bits)
    blocks = [
        codebook.encode(np.asarray(tokens[at : at + BLOCK], np.float32))
        for at in range(0, len(tokens), BLOCK)
    ]
    codes = TokenCodes(
        *(np.concatenate([getattr(b, name) for b in blocks]) for name in ("centroids", "values", "scales"))
    )
    columns = {
        "passage_ids": np.arange(len(lengths)),
        "ends": np.cumsum(lengths),
        "centroids": codes.centroids,
        "values": codes.values,
        "scales": codes.scales,
        "sums": np.zeros(len(lengths), np.uint32),
    }
    segment: Any = SimpleNamespace(columns=columns, model="", path=Path(), check=lambda *_: None)
    stored = StoredTokens([TokenSegment(segment)], np.empty(0, np.int64), codebook)
    stored._trusted[:] = True  # they never lay on a disk
    return stored


def torch_engine(tokens: NDArray[Any], lengths: NDArray[np.int64]) -> Engine:
    """All tokens as float32, one product, the maximum of each passage."""
    import torch

    matrix = torch.from_numpy(np.asarray(tokens, np.float32))
    counts = torch.from_numpy(lengths)

    def search(question: NDArray[np.float32]) -> NDArray[np.int64]:
        products = matrix @ torch.from_numpy(question).T
        scores = torch.segment_reduce(products, "max", lengths=counts).sum(dim=1)
        return scores.topk(min(DEEPEST, len(scores))).indices.numpy()

    return search


def own_engine(stored: StoredTokens, k: int, exact: bool, candidates: int | None = None) -> Engine:
    """Our index for one question at a time."""
    index = MaxSimIndex(
        stored, stored.codebook, lambda ids: [("", one, one) for one in ids], exact, candidates
    )
    return lambda question: index.search([question], k)[0].passage_ids


def timed(
    engines: dict[str, Engine], questions: Sequence[NDArray[np.float32]], rounds: int
) -> tuple[dict[str, NDArray[np.float64]], dict[str, list[NDArray[np.int64]]]]:
    """For each engine the latency (questions,) in ms, and its rankings."""
    for engine in engines.values():
        engine(questions[0])  # compiled, and in memory
    times = {name: np.empty((rounds, len(questions))) for name in engines}
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in engines}
    for turn in range(rounds):
        for number, question in enumerate(questions):
            for name, engine in engines.items():
                start = time.perf_counter()
                ranking = engine(question)
                times[name][turn, number] = (time.perf_counter() - start) * 1000
                if turn == 0:
                    found[name].append(ranking)
    return {name: np.median(each, axis=0) for name, each in times.items()}, found


def overlap(one: Sequence[NDArray[np.int64]], other: Sequence[NDArray[np.int64]], k: int) -> float:
    """The mean share of the first k of one ranking that is among the first k of the other."""
    return float(np.mean([np.isin(a[:k], b[:k]).mean() for a, b in zip(one, other, strict=True)]))


def from_squad() -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[np.float32]], NDArray[np.int64]]:
    """Token vectors of SQuAD dev by the built-in encoder: passages, lengths, questions, gold rows."""
    from spanwise.models import load_token_encoder  # type: ignore[attr-defined]

    path = next(Path(os.environ["SPANWISE_DATA"]).glob("squad/dev-v1.1.json*"))
    if path.suffix == ".gz":
        import gzip

        articles = json.loads(gzip.decompress(path.read_bytes()))["data"]
    else:
        articles = json.loads(path.read_bytes())["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    pairs = [(qa["question"], row) for row, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
    chosen = np.random.default_rng(0).permutation(len(pairs))[:1000]
    encoder = load_token_encoder()
    tokens, lengths = encoder.encode_passages([paragraph["context"] for paragraph in paragraphs])
    questions = encoder.encode_questions([pairs[row][0] for row in chosen])
    return tokens, lengths, questions, np.array([pairs[row][1] for row in chosen])


def loaded(
    args: argparse.Namespace,
) -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[np.float32]], NDArray[np.int64] | None]:
    """What the arguments name: passages, lengths, questions, gold rows."""
    if args.tokens is None:
        return from_squad()
    tokens, lengths = np.load(args.tokens, mmap_mode="r"), np.load(args.lengths).astype(np.int64)
    if args.n_passages:
        lengths = lengths[: args.n_passages]
        tokens = tokens[: int(lengths.sum())]
    ends = np.cumsum(np.load(args.question_lengths))
    questions = np.split(np.load(args.questions).astype(np.float32), ends[:-1])
    return tokens, lengths, questions, np.load(args.gold) if args.gold else None


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--tokens", "--lengths", "--questions", "--question-lengths", "--gold"):
        parser.add_argument(name, type=Path, help="a .npy file")
    parser.add_argument("--bits", type=int, default=8, choices=(2, 4, 8))
    parser.add_argument("--candidates", type=int, nargs="*", default=[128, 256, 512, 1024, 2048])
    parser.add_argument("--n-questions", type=int, default=100)
    parser.add_argument("--n-passages", type=int, default=0, help="only the first so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-torch", action="store_true", help="float32 of all tokens does not fit")
    args = parser.parse_args()
    tokens, lengths, questions, gold = loaded(args)
    questions = questions[: args.n_questions]
    start = time.perf_counter()
    stored = encoded(tokens, lengths, args.bits)
    seconds = time.perf_counter() - start
    exact, deep, default = "exact", "exact, k 100", "approximate"
    engines = {
        exact: own_engine(stored, 10, True),
        deep: own_engine(stored, DEEPEST, True),
        default: own_engine(stored, 10, False),
        f"{default}, k 100": own_engine(stored, DEEPEST, False),
    }
    engines |= {f"{n:,} candidates": own_engine(stored, DEEPEST, False, n) for n in args.candidates}
    reference = deep
    if not args.no_torch:
        reference = "torch float32"
        engines[reference] = torch_engine(tokens, lengths)
    times, found = timed(engines, questions, args.rounds)
    n_bytes = stored.codebook.width * args.bits // 8 + 4
    print(f"{len(lengths):,} passages, {len(tokens):,} tokens, {args.bits} bits ({n_bytes} bytes a token), ")
    print(f"{len(stored.codebook.centroids):,} centroids, encoded in {seconds:.0f} s\n")
    head = ["search", "p50 ms", "p99 ms", "faster than exact", "@10 of exact", "@100 of exact"]
    head += [f"@10 of {reference}", "gold R@1", "gold R@10"]
    print(f"| {' | '.join(head)} |\n| --- |{' ---: |' * (len(head) - 1)}")
    for name, each in times.items():
        p50, p99 = np.percentile(each, [50, 99])
        cells = [name, f"{p50:.2f}", f"{p99:.2f}", f"{np.median(times[exact]) / p50:.1f}"]
        cells.append(f"{overlap(found[exact], found[name], 10):.3f}")
        is_deep = len(found[name][0]) > 10
        cells.append(f"{overlap(found[deep], found[name], DEEPEST):.3f}" if is_deep else "")
        cells.append(f"{overlap(found[reference], found[name], 10):.3f}")
        for k in (1, 10):
            pairs = [] if gold is None else list(zip(gold, found[name], strict=False))
            cells.append(f"{np.mean([one in ranking[:k] for one, ranking in pairs]):.3f}" if pairs else "")
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
