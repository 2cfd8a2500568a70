"""Speed of encoding and reading by instruction set: `python -m benchmarks.precision`.

Encodes passages and reads twenty of them for a question, in a process with one thread for each set. Variables
of oneDNN, ATen and MKL restrict it to the set. By default bf16 is used with AMX alone, which "all" may have.
Times are processor times, so that other programs disturb them little.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
SETS = {
    "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"} | AVX2,
    "AVX2 VNNI": {"ONEDNN_MAX_CPU_ISA": "AVX2_VNNI"} | AVX2,
    "AVX512": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "AVX512 VNNI": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"},
    "AVX512 bf16": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", "SPANWISE_PRECISION": "bf16"},
    "all": {},
}
CHILD = """
import json, sys, time
from pathlib import Path
import torch
if sys.argv[1] != "all":
    torch.cpu._is_amx_tile_supported = lambda: False
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
reader = load_reader("builtin")
encode = seconds(lambda: encoder.encode_passages(texts), 3)
read = seconds(lambda: reader.read([question], [passages], 1), 3)
print(json.dumps({"passages_per_s": len(texts) / encode, "read_ms": 1000 * read}))
"""


def figures(name: str) -> dict[str, float]:
    """The figures that a process restricted to an instruction set prints."""
    run = [sys.executable, "-W", "ignore", "-c", CHILD, name]
    env = os.environ | SETS[name] | {"PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1"}
    printed = subprocess.run(run, cwd=HERE, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    measured: dict[str, float] = json.loads(printed.splitlines()[-1])
    return measured


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS), help="instruction sets")
    options = parser.parse_args()
    for name in options.only:
        rounds = [figures(name) for _ in range(options.rounds)]
        print(name, {key: round(median(row[key] for row in rounds), 1) for key in rounds[0]}, flush=True)


if __name__ == "__main__":
    main()
