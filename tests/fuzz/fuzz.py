"""Coverage-guided fuzzing of one parser: `make fuzz TARGET=md SECONDS=600`, or with `list` for the names.

libFuzzer keeps what it found interesting in the corpus folder, so a later run goes on from there. An input
that fails, takes longer than ten seconds or more than 2 GB is written beside it, and the run ends with an
error; a small form of the input becomes a test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1]), str(Path(__file__).parent)]

with atheris.instrument_imports(include=["spanwise.corpora"]):
    from targets import targets

LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1")


def main(name: str, seconds: str, corpus: str) -> None:
    """Fuzz one target for so many seconds, from the seeds and what earlier runs left in `corpus`."""
    if name not in (known := targets()):
        sys.exit(f"no target {name!r}; there are: {', '.join(sorted(known))}")
    folder = Path(corpus) / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(known[name].seeds):
        (folder / f"seed-{number}").write_bytes(seed)
        known[name].run(seed)  # what is loaded once counts for no input's time
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={corpus}/{name}-", *LIMITS]
    atheris.Setup([sys.argv[0], *options, str(folder)], known[name].run)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:4])
