"""Coverage-guided fuzzing of one reader: `make fuzz TARGET=md SECONDS=600`; `TARGET=list` gives the names.

libFuzzer keeps interesting inputs in the corpus folder, where a later run continues. An input that fails,
takes more than ten seconds or more than 2 GB is written beside that folder, and the run ends with an error.
Reduce the input, and make it a test.
"""

import sys
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1]), str(Path(__file__).parent)]

with atheris.instrument_imports(include=["spanwise.corpora"]):
    from targets import targets

LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1")


def main(name: str, seconds: str, corpus: str) -> None:
    """Fuzz a target for a number of seconds, with its seeds and the inputs of earlier runs in `corpus`."""
    by_name = targets()
    if name not in by_name:
        sys.exit(f"no target {name!r}. Choose one of: {', '.join(sorted(by_name))}")
    target = by_name[name]
    folder = Path(corpus) / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (folder / f"seed-{number}").write_bytes(seed)
        target.run(seed)  # imports must not count for the time of an input
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={corpus}/{name}-", *LIMITS]
    atheris.Setup([sys.argv[0], *options, str(folder)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:4])
