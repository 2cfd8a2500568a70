"""Speed of 8 bits beside an older checkout: `python -m benchmarks.precision --before ../before`.

Both encode passages and read twenty passages for a question, in turns, in separate processes with one thread.
Variables of oneDNN, ATen and MKL restrict them to an instruction set, and bf16 is off. Times are processor
times, so that other programs disturb them little. A ratio above 1 means that this checkout is faster.

Prints the flags of the processor and, for each instruction set: passages per
second and ms per question, before and now, with the medians of their ratios; the GFLOP/s of a large product
in each precision; and the share of it that the encoder reaches. A text counts 2 operations per weight and
token, and 4 L H per token and layer for attention over L tokens of width H.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parents[1]
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
SETS = {
    "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"} | AVX2,
    "AVX2 VNNI": {"ONEDNN_MAX_CPU_ISA": "AVX2_VNNI"} | AVX2,
    "AVX512": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "AVX512 VNNI": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"},
    "all": {},
}
FLAGS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
CHILD = """
import json, sys, time
from pathlib import Path
import torch
if sys.argv[1] != "all":
    torch.cpu._is_avx512_bf16_supported = lambda: False
from spanwise.corpora.datasets.squad import read_squad
from spanwise.models.encoder import load_encoder
from spanwise.reader.load import load_reader
from spanwise.types import Passage
def seconds(work, n):
    times = []
    for _ in range(n + 1):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return sorted(times[1:])[n // 2]
paragraphs = [p for a in read_squad(Path("corpora/sample/questions.json")).articles for p in a.paragraphs]
texts = [p.context for p in paragraphs][:96]
passages = [Passage(n, str(n), 0, len(t), t) for n, t in enumerate(texts[:20])]
question = paragraphs[0].questions[0].text
encoder = load_encoder("base")
if sys.argv[2] == "speed":
    reader = load_reader("builtin")
    encode = seconds(lambda: encoder.encode_passages(texts), 3)
    read = seconds(lambda: reader.read([question], [passages], 1), 3)
    print(json.dumps({"passages_per_s": len(texts) / encode, "read_ms": 1000 * read}))
if sys.argv[2] == "peak":
    from spanwise.models import precision
    cpu, n = torch.device("cpu"), 1536
    weight, bias, x = torch.randn(n, n), torch.zeros(n), torch.randn(n, n)
    float32, eight = precision.PrepackedLinear(weight, bias), precision.Int8Linear(weight, bias)
    x8 = eight._signed_bytes(x)
    work = {"float32": lambda: float32(x), "int8": lambda: eight._sums(x8)}
    if used_bf16 := precision.has_bf16(cpu):
        bf16, half = precision.PrepackedLinear(weight.bfloat16(), bias.bfloat16()), x.bfloat16()
        work["bf16"] = lambda: bf16(half)
    lengths = [len(row) for row in encoder.tokenizer(texts)["input_ids"]]
    layers, width = len(encoder.model.encoder.layer), encoder.width
    weights = sum(p.numel() for p in encoder.model.encoder.parameters() if p.dim() == 2)
    flop = sum(2 * weights * n + 4 * layers * width * n * n for n in lengths)
    with torch.inference_mode():
        peak = {name: 2e-9 * n**3 / seconds(one, 5) for name, one in work.items()}
    used = "bf16" if used_bf16 else "int8" if precision.has_int8(cpu) else "float32"
    print(json.dumps({"precision": used, "gflop": flop / len(texts) / 1e9, "peak": peak}))
"""


def child(tree: Path, name: str, task: str) -> dict[str, Any]:
    """The figures that a process of a checkout prints."""
    run = [sys.executable, "-W", "ignore", "-c", CHILD, name, task]
    env = os.environ | SETS[name] | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    printed = subprocess.run(run, cwd=tree, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    figures: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return figures


def figures(name: str, before: Path, rounds: int) -> dict[str, Any]:
    """All figures of an instruction set."""
    trees = (before, HERE)
    pairs = [[child(tree, name, "speed") for tree in trees] for _ in range(rounds)]
    machine = child(HERE, name, "peak")
    rates, ms = ([[run[key] for run in pair] for pair in pairs] for key in ("passages_per_s", "read_ms"))
    reached = median(now for _, now in rates) * machine["gflop"]
    return {
        "precision": machine["precision"],
        "passages_per_s": [round(median(side), 1) for side in zip(*rates, strict=True)],
        "encode_ratio": round(median(now / old for old, now in rates), 2),
        "read_ms": [round(median(side)) for side in zip(*ms, strict=True)],
        "read_ratio": round(median(old / now for old, now in ms), 2),
        "peak_gflop_per_s": {kind: round(value) for kind, value in machine["peak"].items()},
        "gflop_per_s": round(reached),
        "share_of_peak": round(reached / machine["peak"][machine["precision"]], 2),
    }


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, help="the older checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS), help="instruction sets")
    options = parser.parse_args()
    info = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    print(json.dumps({"flags": [flag for flag in FLAGS if flag in info]}))
    for name in options.only:
        print(json.dumps({name: figures(name, options.before.resolve(), options.rounds)}), flush=True)


if __name__ == "__main__":
    main()
