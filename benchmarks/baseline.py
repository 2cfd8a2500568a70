"""Baseline figures of all parts: `python -m benchmarks.baseline --data DATA --choose DIR`.

Each part is a command whose figures go to `--out`, with the commit, the date, the machine and the command. A
part that `--out` has for the same commit and command is skipped, and most parts resume after an interruption.
A part whose option is missing is named and left out.

choose                          the built-in reader on the folders of --choose, in plain and everyday wordings
sample                          the sample corpus
squad-v1.1, squad-v2.0          EM and F1 on the gold paragraphs
scifact                         nDCG@10 of bm25, dense, colbert and hybrid
squad-open                      recall of bm25, dense and colbert over all 20,963 paragraphs
rust-book, rust-rfcs, progit2   the questions of eval/questions
speed                           ratios to other programs, see `benchmarks.speed`
precision                       ratios to the checkout --before, see `benchmarks.precision`
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from .precision import FLAGS

HERE = Path(__file__).resolve().parents[1]
OUT = Path("benchmarks") / "baseline.json"
FOLDERS = {"rust-book": "rust-book/src", "rust-rfcs": "rust-rfcs/text", "progit2": "progit2"}
PRECISION_FIGURES = ("encode_ratio", "read_ratio", "share_of_peak")
SPEED_FIGURES = ("name", "peer_name", "threads", "ratio")


@dataclass(frozen=True)
class Part:
    """A command whose figures are recorded.

    command: the words after `python -m`.
    needs: the option without which the part is left out, or "".
    prepare: is called before the command.
    figures: turns the command's output into figures.
    """

    command: list[str]
    needs: str = ""
    prepare: Callable[[], object] = lambda: None
    figures: Callable[[str], Any] = json.loads


def parts_of(options: argparse.Namespace, work: Path) -> dict[str, Part]:
    """All parts by name; indexes and records go to the folder `work`."""
    data = options.data or Path("DATA")
    squad = data / "squad"
    limit = ["--limit", str(options.limit)] if options.limit else []
    suffix = f"-{options.limit}" if options.limit else ""
    first = retriever_options("bm25", "dense", "colbert")
    whole_squad = ["--corpus", str(squad / "train-v1.1.json.gz"), "--read", "0"]
    whole_squad += ["--index", str(work / "squad-open.index")]
    sample = HERE / "corpora" / "sample"
    speed = ["benchmarks.speed", "--only", "encode,maxsim,bm25,dense", "--json"]
    precision = ["benchmarks.precision", "--before", str(options.before)]
    return {
        "choose": choose_part(options, work / "reader"),
        "sample": folder_part(sample / "docs", sample / "questions.json", work / "sample"),
        "squad-v1.1": data_part("squad", squad / "dev-v1.1.json.gz", work / f"squad-v1.1{suffix}", limit),
        "squad-v2.0": data_part("squad", squad / "dev-v2.0.json.gz", work / f"squad-v2.0{suffix}", limit),
        "scifact": data_part(
            "retrieval", data / "scifact", work / "scifact", [*first, *retriever_options("hybrid")]
        ),
        "squad-open": data_part(
            "open",
            squad / "dev-v1.1.json.gz",
            work / f"squad-open{suffix}",
            [*whole_squad, *first, *(limit or ["--limit", "1000"])],
        ),
        **{name: archive_part(name, data / "docs", work) for name in FOLDERS},
        "speed": Part(speed, figures=speed_ratios),
        "precision": Part(precision, "before", figures=precision_ratios),
    }


def choose_part(options: argparse.Namespace, reader: Path) -> Part:
    """`calibrate` of a copy of the built-in reader, which gets the observations."""
    weights = HERE / "models" / "weights" / "reader"
    command = ["spanwise", "calibrate", "--data", str(options.choose), "--out", str(reader)]
    command += ["--every", str(options.every), "--json"]
    return Part(command, "choose", partial(shutil.copytree, weights, reader, dirs_exist_ok=True))


def data_part(verb: str, data: Path, out: Path, options: list[str]) -> Part:
    """A verb of `eval` on public data."""
    return Part(
        ["spanwise", "eval", verb, "--data", str(data), *options, "--out", str(out), "--json"], "data"
    )


def folder_part(folder: Path, questions: Path, out: Path) -> Part:
    """`eval folder` without its records."""
    command = ["spanwise", "eval", "folder", str(folder), "--questions", str(questions)]
    command += ["--index", f"{out}.index", "--out", str(out), "--json"]
    return Part(command, figures=without_records)


def archive_part(name: str, archives: Path, work: Path) -> Part:
    """`eval folder` on an archive, which is unpacked first."""

    def unpack() -> None:
        with tarfile.open(archives / f"{name}.tar.xz") as file:
            file.extractall(work / "docs", filter="data")

    questions = HERE / "eval" / "questions" / f"{name}.jsonl"
    part = folder_part(work / "docs" / FOLDERS[name], questions, work / name)
    return replace(part, needs="data", prepare=unpack)


def retriever_options(*names: str) -> list[str]:
    """The options that name these retrievers."""
    return [word for name in names for word in ("--retriever", name)]


def without_records(printed: str) -> dict[str, Any]:
    """The figures of `eval folder`."""
    return {name: value for name, value in json.loads(printed).items() if name != "records"}


def speed_ratios(printed: str) -> list[dict[str, Any]]:
    """The ratio to each peer."""
    return [{name: row[name] for name in SPEED_FIGURES} for row in json.loads(printed)]


def precision_ratios(printed: str) -> dict[str, dict[str, Any]]:
    """The ratios of each instruction set; the first line has the flags of the processor."""
    rows = [json.loads(line) for line in printed.splitlines()[1:]]
    sets = {name: figures for row in rows for name, figures in row.items()}
    return {
        name: {key: figures[key] for key in PRECISION_FIGURES} | {"precision": figures["precision"]}
        for name, figures in sets.items()
    }


def git(*words: str) -> str:
    """What git prints about this checkout, the file of figures left out."""
    command = ["git", *words, "--", ".", f":!{OUT}"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


def commit() -> str:
    """The last commit, the file of figures left out, with a digest of uncommitted changes."""
    changes = git("diff", "HEAD")
    digest = hashlib.sha256(changes.encode()).hexdigest()[:8]
    return git("log", "-1", "--format=%H") + (f"+{digest}" if changes else "")


def machine() -> dict[str, Any]:
    """The processor, its instruction sets for matrix products, and the cores of this process."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    words = set(text.split())
    return {
        "processor": names[0] if names else "",
        "flags": [flag for flag in FLAGS if flag in words],
        "cores": len(os.sched_getaffinity(0)),
    }


def run(part: Part, command: str, label: str) -> dict[str, Any]:
    """The record of a part; `command` is shown for it."""
    began = time.monotonic()
    part.prepare()
    words = [sys.executable, "-m", *part.command]
    printed = subprocess.run(words, cwd=HERE, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {
        "commit": label,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "command": command,
        "seconds": round(time.monotonic() - began),
        "figures": part.figures(printed),
    }


def main() -> None:
    """Run the parts that have no record yet, and write after each."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.baseline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="the folder of public data sets")
    parser.add_argument("--choose", type=Path, help="folders with questions, as for `calibrate --data`")
    parser.add_argument("--before", type=Path, help="an older checkout, for precision")
    parser.add_argument("--out", type=Path, default=HERE / OUT)
    parser.add_argument("--work", type=Path, default=HERE / "runs" / "baseline", help="indexes and records")
    parser.add_argument("--only", help="parts, divided by commas")
    parser.add_argument("--limit", type=int, help="questions of SQuAD; default: all, 1000 for squad-open")
    parser.add_argument("--every", type=int, default=1, help="every Nth question of --choose")
    options = parser.parse_args()
    label = commit()
    work = options.work.resolve() / label
    work.mkdir(parents=True, exist_ok=True)
    parts = parts_of(options, work)
    names = options.only.split(",") if options.only else list(parts)
    unknown = [name for name in names if name not in parts]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; expected some of {', '.join(parts)}")
    records = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    places = {"WORK": work, "DATA": options.data, "CHOOSE": options.choose, "TREE": options.before, ".": HERE}
    for name in names:
        part = parts[name]
        command = " ".join(part.command)
        for short, place in places.items():
            command = command.replace(str(place), short) if place else command
        record = records.get(name, {})
        if part.needs and getattr(options, part.needs) is None:
            print(f"{name} is left out: give --{part.needs}", file=sys.stderr)
        elif record.get("commit") == label and record.get("command") == command:
            print(f"{name} is up to date", file=sys.stderr)
        else:
            print(f"{name}: {command}", file=sys.stderr)
            records[name] = run(part, command, label)
            unfinished = options.out.with_suffix(".part")
            unfinished.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
            unfinished.replace(options.out)


if __name__ == "__main__":
    main()
