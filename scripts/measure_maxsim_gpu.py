"""Measures exact MaxSim on a GPU over made-up passages, beside the memory bandwidth of the same run.

    python scripts/measure_maxsim_gpu.py --passages 1000000
    python scripts/measure_maxsim_gpu.py --passages 2000 --device cpu       # a check that it runs

Token vectors are drawn on the device from a seed, unit and in float16: 1,000,000 passages of about 80 tokens
of 128 numbers take 20 GB. What is timed is the scan that proposes the candidates of a search, from questions
in the memory of the host to the best K in the memory of the host; the exact scores of those candidates follow
in a search, and cost the same for any size of the collection. The first rows of a question are tokens of a
passage of its own, so that its best passage is known, and checked.

The bandwidth is that of copying a large tensor on the device, bytes read and written. A scan reads each token
vector once a batch; what it reads and writes besides is not counted: a kernel that nothing but memory holds
up would have a share of one. Times are medians of synchronised runs after one to warm up.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.index.maxsim.token_buckets import Bucket, TokenBuckets, filled_lengths
from spanwise.index.maxsim.torch_maxsim import TorchMaxSim, question_batches

K = 100
WIDTH = 128
_DRAWN = 1 << 16  # passages drawn at once
Question = NDArray[np.float32]


def made_up(n: int, mean: int, device: str, dtype: torch.dtype, seed: int) -> tuple[TokenBuckets, int]:
    """Passages of about `mean` tokens with random directions, and how many tokens they have."""
    spread = np.random.default_rng(seed).normal(mean, mean / 4, n)
    lengths = spread.round().astype(np.int64).clip(4, 4 * mean)
    filled = filled_lengths(lengths)
    sizes, counts = np.unique(filled, return_counts=True)
    draw = torch.Generator(device).manual_seed(seed)
    first = 0
    buckets = []
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        vectors = torch.empty(count, size, WIDTH, dtype=dtype, device=device)
        for at in range(0, count, _DRAWN):
            part = vectors[at : at + _DRAWN]
            numbers = torch.randn(part.shape, generator=draw, device=device)
            part.copy_(torch.nn.functional.normalize(numbers, dim=2))
        buckets.append(Bucket(first, vectors))
        first += count
    return TokenBuckets(tuple(buckets), np.argsort(filled, kind="stable"), 1.001, 0.0), int(lengths.sum())


class MadeUp:
    """What a scan asks of the tokens that are stored: these lie on the device and nowhere else."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        """Passages."""
        return self.n


def questions_about(part: TokenBuckets, n: int, n_rows: int, seed: int) -> tuple[list[Question], list[int]]:
    """Questions of `n_rows` unit rows, the first half from a passage each, and the rows of those passages."""
    draw = np.random.default_rng(seed)
    questions, golds = [], []
    for slot in draw.integers(0, len(part), n).tolist():
        bucket = next(each for each in reversed(part.buckets) if each.first <= slot)
        tokens = bucket.vectors[slot - bucket.first, : n_rows // 2].float().cpu().numpy()
        others = draw.standard_normal((n_rows - len(tokens), WIDTH)).astype(np.float32)
        rows = np.concatenate([tokens, others])
        questions.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
        golds.append(int(part.rows[slot]))
    return questions, golds


def seconds(work: Callable[[], object], device: str, rounds: int) -> float:
    """The median wall time of one call."""
    times = []
    for _ in range(rounds + 1):
        started = perf_counter()
        work()
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize(device)
        times.append(perf_counter() - started)
    return median(times[1:])


def copy_bandwidth(device: str, n_bytes: int) -> float:
    """Bytes a second read and written by a copy of a tensor."""
    source = torch.ones(n_bytes // 4, device=device)
    target = torch.empty_like(source)
    return 2 * n_bytes / seconds(lambda: target.copy_(source), device, 10)


def check(scan: TorchMaxSim, questions: Sequence[Question], golds: Sequence[int]) -> None:
    """Stop unless each question finds the passage that it was made of."""
    best = scan.nearest(questions, K).rows[:, 0].tolist()
    if best != list(golds):
        wrong = sum(found != gold for found, gold in zip(best, golds, strict=True))
        raise SystemExit(f"{wrong} of {len(golds)} questions did not find their own passage first")


def measure(given: argparse.Namespace) -> None:
    """Make the collection, check the scan, time it, print a table."""
    device = given.device
    dtype = torch.float32 if torch.device(device).type == "cpu" else torch.float16
    part, n_tokens = made_up(given.passages, given.tokens, device, dtype, given.seed)
    held = sum(bucket.vectors.numel() * bucket.vectors.element_size() for bucket in part.buckets)
    scan = TorchMaxSim(MadeUp(given.passages), device, dtype, part, held)  # type: ignore[arg-type]
    questions, golds = questions_about(part, max(given.batches), given.rows, given.seed + 1)
    check(scan, questions, golds)
    name = torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else device
    print(f"{name}, torch {torch.__version__}, {dtype}")
    print(
        f"{given.passages:,} passages, {n_tokens:,} tokens, {held / 1e9:.2f} GB; {given.rows} rows a question"
    )
    bandwidth = copy_bandwidth(device, min(held, 4 << 30))
    print(f"copying reads and writes {bandwidth / 1e9:,.0f} GB/s\n")
    print("| questions at once | ms | questions/s | passages/s | share of bandwidth | TFLOP/s |")
    print("|---|---|---|---|---|---|")
    for n in given.batches:
        taken = seconds(lambda n=n: scan.nearest(questions[:n], K), device, given.rounds)
        n_reads = len(list(question_batches([given.rows] * n, given.passages)))
        cells = [f"{n}", f"{1000 * taken:.2f}", f"{n / taken:,.1f}", f"{n * given.passages / taken:,.0f}"]
        cells += [f"{n_reads * held / taken / bandwidth:.2f}"]
        cells += [f"{2 * WIDTH * n * given.rows * n_tokens / taken / 1e12:.2f}"]
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    """Reads the arguments and measures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=80, help="of a passage, on average")
    parser.add_argument("--rows", type=int, default=16, help="of a question")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seed", type=int, default=0)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
