"""A batch job: a file with one question a line becomes JSON lines with answers and citations.

    python examples/batch.py FOLDER questions.txt answers.jsonl

Each answer is written at once. A stopped job resumes: it skips questions that have a complete line, and
removes an incomplete one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spanwise
from spanwise.types import Answer


def answered(out: Path) -> set[str]:
    """The questions with a complete line; an incomplete line is removed."""
    data = out.read_bytes() if out.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        out.write_bytes(whole)
    return {json.loads(line)["question"] for line in whole.splitlines()}


def waiting(questions: Path, done: set[str]) -> Iterator[str]:
    """The questions without an answer, each once, in order."""
    for line in questions.read_text(encoding="utf-8").splitlines():
        question = line.strip()
        if question and question not in done:
            done.add(question)
            yield question


def cited(answer: Answer) -> dict[str, Any]:
    """A line of the result: the answer with its places, or null with the nearest documents."""
    best = answer.best
    return {
        "question": answer.question,
        "answer": best.text if best else None,
        "confidence": answer.confidence,
        "citations": [
            {"document": one.span.document_id, "start": one.span.start, "end": one.span.end, "line": one.line}
            for one in ((best, *best.agreeing) if best else ())
        ],
        "nearest": [] if best else [hit.passage.document_id for hit in answer.nearest],
    }


def main(folder: str, questions: str, out: str) -> None:
    """Answer the remaining questions."""
    place = Path(out)
    todo = waiting(Path(questions), answered(place))
    with spanwise.open(folder) as library, place.open("a", encoding="utf-8") as lines:
        library.sync()
        for number, answer in enumerate(map(library.ask, todo), start=1):
            lines.write(json.dumps(cited(answer), ensure_ascii=False) + "\n")
            lines.flush()
            print(f"{number}: {answer.question}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
