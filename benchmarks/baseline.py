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

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spanwise.pipelines.evaluation.results import write_whole

from .precision import FLAGS

HERE = Path(__file__).resolve().parents[1]
OUT = Path("benchmarks") / "baseline.json"
PLACES = {"DATA": "data", "CHOOSE": "choose", "TREE": "before"}  # the option of each placeholder in a command
FOLDERS = {"rust-book": "rust-book/src", "rust-rfcs": "rust-rfcs/text", "progit2": "progit2"}
PRECISION_FIGURES = ("encode_ratio", "read_ratio", "share_of_peak", "precision")
SPEED_FIGURES = ("name", "peer_name", "threads", "ratio")
Record = dict[str, Any]


def commands_of(options: argparse.Namespace) -> dict[str, str]:
    """The words after `python -m` by part; WORK is the folder of indexes and records, see also PLACES."""
    limit = f" --limit {options.limit}" if options.limit else ""
    suffix = f"-{options.limit}" if options.limit else ""
    first = "--retriever bm25 --retriever dense --retriever colbert"
    squad = {
        f"squad-{version}": f"spanwise eval squad --data DATA/squad/dev-{version}.json.gz{limit} "
        f"--out WORK/squad-{version}{suffix} --json"
        for version in ("v1.1", "v2.0")
    }
    whole_squad = "--corpus DATA/squad/train-v1.1.json.gz --read 0 --index WORK/squad-open.index"
    folders = {
        name: folder_command(name, f"WORK/docs/{folder}", f"./eval/questions/{name}.jsonl")
        for name, folder in FOLDERS.items()
    }
    return {
        "choose": f"spanwise calibrate --data CHOOSE --out WORK/reader --every {options.every} --json",
        "sample": folder_command("sample", "./corpora/sample/docs", "./corpora/sample/questions.json"),
        **squad,
        "scifact": f"spanwise eval retrieval --data DATA/scifact {first} --retriever hybrid "
        "--out WORK/scifact --json",
        "squad-open": f"spanwise eval open --data DATA/squad/dev-v1.1.json.gz {whole_squad} {first}"
        f"{limit or ' --limit 1000'} --out WORK/squad-open{suffix} --json",
        **folders,
        "speed": "benchmarks.speed --only encode,maxsim,bm25,dense --json",
        "precision": "benchmarks.precision --before TREE",
    }


def folder_command(name: str, folder: str, questions: str) -> str:
    """`eval folder` for a part."""
    index = f"--index WORK/{name}.index --out WORK/{name}"
    return f"spanwise eval folder {folder} --questions {questions} {index} --json"


def missing_option(name: str, command: str, options: argparse.Namespace) -> str:
    """The option that a part lacks, or ""."""
    needed = [option for place, option in PLACES.items() if place in command]
    needed += ["data"] if name in FOLDERS else []
    return next((option for option in needed if getattr(options, option) is None), "")


def prepare(name: str, options: argparse.Namespace, work: Path) -> None:
    """Unpack the archive of a folder; copy the built-in reader, which gets observations, for `choose`."""
    if name in FOLDERS:
        with tarfile.open(options.data / "docs" / f"{name}.tar.xz") as file:
            file.extractall(work / "docs", filter="data")
    elif name == "choose":
        shutil.copytree(HERE / "models" / "weights" / "reader", work / "reader", dirs_exist_ok=True)


def figures_of(name: str, printed: str) -> Any:
    """The figures in the output of a part's command: ratios, or figures without the records of questions."""
    if name == "speed":
        return [{key: row[key] for key in SPEED_FIGURES} for row in json.loads(printed)]
    if name == "precision":  # the first line has the flags of the processor
        rows = [json.loads(line) for line in printed.splitlines()[1:]]
        sets = {kind: figures for row in rows for kind, figures in row.items()}
        return {kind: {key: figures[key] for key in PRECISION_FIGURES} for kind, figures in sets.items()}
    figures = json.loads(printed)
    figures.pop("records", None)
    return figures


def git(*words: str) -> str:
    """What git prints about this checkout, the file of figures left out."""
    command = ["git", *words, "--", ".", f":!{OUT}"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


def commit() -> str:
    """The last commit, the file of figures left out, with a digest of uncommitted changes."""
    changes = git("diff", "HEAD")
    digest = hashlib.sha256(changes.encode()).hexdigest()[:8]
    return git("log", "-1", "--format=%H") + (f"+{digest}" if changes else "")


def machine() -> Record:
    """The processor, its instruction sets for matrix products, and the cores of this process."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    words = set(text.split())
    return {
        "processor": names[0] if names else "",
        "flags": [flag for flag in FLAGS if flag in words],
        "cores": len(os.sched_getaffinity(0)),
    }


def run(name: str, command: str, options: argparse.Namespace, work: Path, label: str) -> Record:
    """The record of a part."""
    began = time.monotonic()
    prepare(name, options, work)
    places = {"WORK": work, **{place: getattr(options, option) for place, option in PLACES.items()}}
    words = [sys.executable, "-m"]
    for word in command.split():
        first, slash, rest = word.partition("/")
        words.append(f"{places.get(first, first)}{slash}{rest}")
    printed = subprocess.run(words, cwd=HERE, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {
        "commit": label,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "command": command,
        "seconds": round(time.monotonic() - began),
        "figures": figures_of(name, printed),
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
    commands = commands_of(options)
    names = options.only.split(",") if options.only else list(commands)
    unknown = [name for name in names if name not in commands]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; expected some of {', '.join(commands)}")
    records = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    for name in names:
        command = commands[name]
        record = records.get(name, {})
        if option := missing_option(name, command, options):
            print(f"{name} is left out: give --{option}", file=sys.stderr)
        elif record.get("commit") == label and record.get("command") == command:
            print(f"{name} is up to date", file=sys.stderr)
        else:
            print(f"{name}: {command}", file=sys.stderr)
            records[name] = run(name, command, options, work, label)
            write_whole(options.out, json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
