"""Which retriever a folder should be asked through: quality, time, bytes and minutes, side by side.

    python scripts/measure_choice.py --out runs/choice                  every folder, every retriever
    python scripts/measure_choice.py --out runs/one --folder sample --retriever bm25 --retriever bm25+rerank

The folders are the sample corpus and, unpacked below `--out` from `$SPANWISE_DATA/docs`, those of
`eval/questions`. Each is indexed once in a fresh place, part by part (words, vectors, token vectors), which
gives the minutes for 1,000 files; then its questions are asked through every retriever. Stopped, the same
command goes on: what was indexed and asked is not done again. With other models name another `--out`.
Prints Markdown, or with `--json` one value.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import spanwise
from spanwise.errors import SpanwiseError
from spanwise.pipelines.evaluation.folder import evaluate_retrievers
from spanwise.pipelines.question_files import read_questions
from spanwise.pipelines.reranking import Reranking, stages_below

ROOT = Path(__file__).resolve().parent.parent
ALONE = ("bm25", "hybrid", "colbert", "bm25+colbert", "bm25+dense+colbert")
RETRIEVERS = tuple(name + rerank for name in ALONE for rerank in ("", "+rerank"))
PARTS = {"dense": "vectors", "colbert": "tokens"}  # what each stage needs beside the words
INDEXING = "indexing.json"
HEAD = (
    "retriever",
    "right",
    "right in the first 3",
    "false answers",
    "wrongly declined",
    "rightly declined",
    "right passage in 1 / 5 / 20",
    "ms to find / in all",
    "MB",
    "minutes for 1,000 files",
    "handled right: difference, p",
)


@dataclass(frozen=True, slots=True)
class Task:
    """A folder, in an archive or in the repository, and the file of its questions."""

    folder: str
    questions: str
    archive: str = ""


TASKS = {
    "sample": Task("corpora/sample/docs", "corpora/sample/questions.json"),
    "rust-book": Task("rust-book/src", "eval/questions/rust-book.jsonl", "rust-book.tar.xz"),
    "rust-rfcs": Task("rust-rfcs/text", "eval/questions/rust-rfcs.jsonl", "rust-rfcs.tar.xz"),
    "progit2": Task("progit2", "eval/questions/progit2.jsonl", "progit2.tar.xz"),
    "eips": Task("eips/EIPS", "eval/questions/eips.jsonl", "eips.tar.xz"),
}


def folder_of(task: Task, out: Path) -> Path:
    """The folder of a task; an archive is unpacked once."""
    if not task.archive:
        return ROOT / task.folder
    if "SPANWISE_DATA" not in os.environ:
        sys.exit(f"SPANWISE_DATA is not set: it names the folder that holds docs/{task.archive}")
    unpacked = out / "folders"
    if not (unpacked / task.folder).is_dir():
        with tarfile.open(Path(os.environ["SPANWISE_DATA"]) / "docs" / task.archive) as tar:
            tar.extractall(unpacked, filter="data")
    return unpacked / task.folder


def indexed(library: spanwise.Library, stages: set[str], record: Path) -> dict[str, float]:
    """Seconds by part of an index made from nothing, and its files; kept, as it is made only once."""
    if record.is_file():
        kept: dict[str, float] = json.loads(record.read_text(encoding="utf-8"))
        return kept
    if library.snapshot.n_documents:
        sys.exit(f"{library.store.path} was not indexed to its end: delete it to measure it anew")
    load_models(library, stages)
    began = time.monotonic()
    found = {"files": library.sync(vectors=False).found, "words": time.monotonic() - began}
    if "dense" in stages:
        found["vectors"] = timed(library, None)
    if "colbert" in stages:
        found["tokens"] = timed(library, "builtin")
    record.write_text(json.dumps(found), encoding="utf-8")
    return found


def load_models(library: spanwise.Library, stages: set[str]) -> None:
    """Loads them before the clock starts: that is no part of indexing 1,000 files."""
    from spanwise.models.token_encoder import load_token_encoder

    if "dense" in stages:
        library.encoder.encode_passages(["warm"])
    if "colbert" in stages:
        load_token_encoder("builtin").encode_passages(["warm"])


def timed(library: spanwise.Library, colbert: str | None) -> float:
    """The seconds of making the vectors, those of tokens as well when a model is named for them."""
    library.use_colbert(colbert)
    began = time.monotonic()
    library.sync()
    return time.monotonic() - began


def minutes_per_1000_files(indexing: Mapping[str, float], retriever: str) -> float:
    """Of the parts that the retriever needs.

    >>> minutes_per_1000_files({"files": 100, "words": 6.0, "vectors": 12.0, "tokens": 60.0}, "bm25+dense")
    3.0
    """
    parts = {"words"} | {PARTS[stage] for stage in stages_below([retriever]) if stage in PARTS}
    return sum(indexing[part] for part in parts) / 60 / max(indexing["files"], 1) * 1000


def measure(name: str, out: Path, retrievers: Sequence[str], reranking: Reranking) -> dict[str, Any]:
    """The figures of each retriever on one folder, and what the folder holds."""
    task = TASKS[name]
    folder, place = folder_of(task, out), out / name
    place.mkdir(parents=True, exist_ok=True)
    questions = read_questions(ROOT / task.questions)
    stages = stages_below(retrievers)
    with spanwise.open(folder, place / "index", cache=False, colbert="none") as library:
        indexing = indexed(library, stages, place / INDEXING)
        figures = evaluate_retrievers(library, questions, place / "asked", retrievers, reranking=reranking)
        passages = library.snapshot.n_passages
    for retriever, found in figures.items():
        found["minutes_per_1000_files"] = minutes_per_1000_files(indexing, retriever)
    answerable = sum(question.answerable for question in questions)
    counts = {"answerable": answerable, "absent": len(questions) - answerable, "passages": passages}
    return {**asdict(task), **counts, "files": indexing["files"], "retrievers": figures}


def markdown(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    """The table of one folder; the last column compares what was handled right with the first row."""
    yield f"**{name}**: {found['files']:,} files, {found['passages']:,} passages,"
    yield f"{found['answerable']} questions with an answer, {found['absent']} without.\n"
    yield f"| {' | '.join(HEAD)} |"
    yield "|---" * len(HEAD) + "|"
    yield from (f"| {' | '.join(cells(one, each))} |" for one, each in found["retrievers"].items())
    yield ""


def cells(retriever: str, found: Mapping[str, Any]) -> list[str]:
    """One row of the table."""
    counts = ("right_top1", "right_top3", "false_answers", "wrongly_declined", "rightly_declined")
    apart = next((value["handled"] for key, value in found.items() if key.startswith("against_")), None)
    return [
        f"`{retriever}`",
        *(str(found[name]) for name in counts),
        " / ".join(f"{found[f'answer_recall@{cutoff}']:.2f}" for cutoff in (1, 5, 20)),
        f"{found['ms_retrieve']:.0f} / {found['ms']:.0f}",
        f"{found.get('index_bytes', 0) / 1e6:.1f}",
        f"{found['minutes_per_1000_files']:.1f}",
        f"{apart['difference']:+.3f}, {apart['p']:.3f}" if apart else "",
    ]


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="indexes, records and figures are kept there")
    parser.add_argument("--folder", action="append", choices=TASKS, help="by default all")
    parser.add_argument("--retriever", action="append", help="by default all; the first is compared with")
    parser.add_argument("--rerank-model", default="builtin", help="the cross-encoder of +rerank")
    parser.add_argument("--rerank-depth", type=int, default=Reranking().depth)
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    given = parser.parse_args()
    reranking = Reranking(given.rerank_model, given.rerank_depth)
    found = {}
    try:
        for name in given.folder or TASKS:
            found[name] = measure(name, given.out, given.retriever or RETRIEVERS, reranking)
            if not given.json:
                print("\n".join(markdown(name, found[name])), flush=True)
    except (SpanwiseError, ValueError) as error:
        sys.exit(f"{error}")
    if given.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
