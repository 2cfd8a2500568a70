"""Measures encoding: sentence-transformers in float32 and under bf16 autocast, and the encoder of spanwise.

    python scripts/measure_encoder.py --data dev-v1.1.json.gz            this processor
    python scripts/measure_encoder.py --data dev-v1.1.json.gz --avx2     and as if it had AVX2 at most

All encode the same paragraphs with the base model, tokenizing included, in interleaved rounds; the order
turns from round to round. The time is the median of the rounds; ratios are medians of the ratios within a
round, which is what to read on a busy machine. `--clock cpu` counts the processor time of one thread instead,
which neighbours disturb less. The peak is that of a product of 2048-square matrices in our precision,
between the rounds. ONNX Runtime and OpenVINO join in where they and onnxscript are installed. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from exported_encoders import exported_encoders
from numpy.typing import NDArray

from spanwise.corpora.squad import read_squad
from spanwise.models.encoder import TextEncoder
from spanwise.models.locate import find_base
from spanwise.models.precision import compute_dtype, has_bf16

Encode = Callable[[list[str]], NDArray[np.float32]]
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
REFERENCE, AUTOCAST, OURS = (
    "sentence-transformers, float32",
    "sentence-transformers, bf16 autocast",
    "spanwise",
)
SQUARE = 2048


def paragraphs(data: Path, n: int) -> list[str]:
    """`n` paragraphs of a SQuAD file, drawn without replacement by a fixed seed."""
    found = [one.context for article in read_squad(data).articles for one in article.paragraphs]
    drawn = np.random.default_rng(0).permutation(len(found))[:n]
    return [found[i] for i in drawn]


def engines(encoder: TextEncoder, use_exported: bool) -> dict[str, Encode]:
    """What is compared, by name; all cut texts at the same length."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_base()), device=str(encoder.device))
    model.max_seq_length = encoder.max_length

    def sentence_transformers(bf16: bool) -> Encode:
        def encode(texts: list[str]) -> NDArray[np.float32]:
            with torch.autocast(encoder.device.type, dtype=torch.bfloat16) if bf16 else nullcontext():
                found: NDArray[np.float32] = model.encode(
                    texts, normalize_embeddings=True, show_progress_bar=False
                )
            return found

        return encode

    found: dict[str, Encode] = {REFERENCE: sentence_transformers(False)}
    if has_bf16(encoder.device):
        found[AUTOCAST] = sentence_transformers(True)
    found["spanwise"] = encoder.encode
    return found | (exported_encoders(encoder) if use_exported else {})


def peak(clock: Callable[[], float], device: torch.device) -> float:
    """FLOP/s of a product in the precision that we compute in."""
    left = torch.randn(SQUARE, SQUARE, device=device).to(compute_dtype(device))
    out = torch.empty_like(left)
    times = []
    for _ in range(5):
        started = clock()
        torch.mm(left, left, out=out)
        out[0, 0].item()  # waits for a GPU
        times.append(clock() - started)
    return 2 * SQUARE**3 / min(times)


def flops(encoder: TextEncoder, lengths: list[int]) -> float:
    """What the layers multiply and add for sequences of these lengths."""
    config: Any = encoder.model.config
    h, inner, n_layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    return float(sum(n_layers * (2 * n * (4 * h * h + 2 * h * inner) + 4 * n * n * h) for n in lengths))


def measure(
    encoder: TextEncoder, texts: list[str], rounds: int, clock: Callable[[], float], exported: bool
) -> None:
    """Prints the table."""
    lengths = [len(row) for row in encoder._token_ids(texts)]
    compared = engines(encoder, exported)
    vectors = {name: encode(texts) for name, encode in compared.items()}  # warms up, too
    times: dict[str, list[float]] = {name: [] for name in compared}
    peaks = []
    for turn in range(rounds):
        names = list(compared)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            started = clock()
            compared[name](texts)
            times[name].append(clock() - started)
        peaks.append(peak(clock, encoder.device))
    size = f"{len(texts)} paragraphs, {sum(lengths):,} tokens, {rounds} rounds"
    processor = (
        f"{torch.get_num_threads()} threads, {encoder.device} {torch.backends.cpu.get_cpu_capability()}"
    )
    print(f"{size}, {processor}; square product {max(peaks) / 1e9:,.0f} GFLOP/s\n")
    print("| | passages/s | tokens/s | times float32 | times autocast | share of peak | least cosine |")
    print("|---|---|---|---|---|---|---|")
    for name, taken in times.items():
        seconds = median(taken)
        over = [ratio(times[other], taken) if other in times else "" for other in (REFERENCE, AUTOCAST)]
        share = flops(encoder, lengths) / seconds / max(peaks)
        cosine = np.sum(vectors[name] * vectors[REFERENCE], axis=1).min()
        print(
            f"| {name} | {len(texts) / seconds:.1f} | {sum(lengths) / seconds:,.0f} | {' | '.join(over)} "
            f"| {100 * share:.0f} % | {cosine:.5f} |"
        )


def ratio(slow: list[float], fast: list[float]) -> str:
    """How many times as fast, as the median over rounds."""
    return f"{median(a / b for a, b in zip(slow, fast, strict=True)):.2f}"


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a SQuAD file")
    parser.add_argument("--passages", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="default: all cores")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--avx2", action="store_true", help="measure again without AVX-512 and AMX")
    parser.add_argument("--no-exported", action="store_true", help="without ONNX Runtime and OpenVINO")
    arguments = parser.parse_args()
    if arguments.clock == "cpu":
        arguments.threads = 1
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    clock = time.process_time if arguments.clock == "cpu" else time.perf_counter
    texts = paragraphs(arguments.data, arguments.passages)
    encoder = TextEncoder.load(device=arguments.device)
    measure(encoder, texts, arguments.rounds, clock, not arguments.no_exported)
    if arguments.avx2:
        print("\nWithout AVX-512 and AMX:\n", flush=True)
        command = [sys.executable, *(word for word in sys.argv if word != "--avx2")]
        subprocess.run(command, env=os.environ | AVX2, check=True)


if __name__ == "__main__":
    main()
