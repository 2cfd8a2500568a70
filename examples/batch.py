"""A batch job: a file with one question per line becomes JSON lines with answers and citations.

    python examples/batch.py FOLDER questions.txt answers.jsonl

Each answer is written at once. A stopped job resumes: it skips questions that have a complete line, and
removes an incomplete one.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spanwise
from spanwise.types import Answer


def remaining(questions: Path, out: Path) -> Iterator[str]:
    """The questions without an answer, each once, in order; an incomplete line of answers is removed."""
    data = out.read_bytes() if out.exists() else b""
    complete = data[: data.rfind(b"\n") + 1]
    out.write_bytes(complete)
    answered = {json.loads(line)["question"] for line in complete.splitlines()}
    for question in dict.fromkeys(questions.read_text(encoding="utf-8").splitlines()):
        if question.strip() and question.strip() not in answered:
            yield question.strip()


def cited(answer: Answer) -> dict[str, Any]:
    """A line of the result: the answer with its places, or null with the nearest documents."""
    best = answer.best
    places = [best, *best.also_in] if best else []
    return {
        "question": answer.question,
        "answer": best.text if best else None,
        "confidence": answer.confidence,
        "citations": [
            {
                "document": place.span.document_id,
                "start": place.span.start,
                "end": place.span.end,
                "line": place.line,
            }
            for place in places
        ],
        "nearest": [] if best else [hit.passage.document_id for hit in answer.nearest],
    }


def main(folder: str, questions: str, out: str) -> None:
    """Answer the remaining questions."""
    todo = list(remaining(Path(questions), Path(out)))
    with spanwise.open(folder) as library, Path(out).open("a", encoding="utf-8") as lines:
        library.sync()
        for question in todo:
            lines.write(json.dumps(cited(library.ask(question)), ensure_ascii=False) + "\n")
            lines.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
