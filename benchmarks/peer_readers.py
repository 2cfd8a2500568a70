"""Has another program's reader answer what `compare_readers.py ask` wrote; needs that program, not spanwise.

    python scripts/peer_readers.py haystack asked.jsonl --model reader-hf --out haystack.jsonl
    python scripts/peer_readers.py txtai asked.jsonl --model reader-hf --out txtai.jsonl

haystack    ExtractiveReader with its defaults and `no_answer`: all passages are read, its best answer counts,
            and it declines where "no answer" scores higher.
txtai       Questions, on the three best passages joined by spaces, as its RAG pipeline joins them by default.
            It returns words without a place: they are looked for in these passages. It knows no null answer
            and fails where the model points at [CLS]; that, and its own threshold, count as declining.

A line of output has "id", "span" ([passage number, start, end] in the passage, or null) and "ms".
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TXTAI_PASSAGES = 3

Place = tuple[int, int, int] | None
Answerer = Callable[[str, Sequence[str]], Place]


def haystack(model: str) -> Answerer:
    """Haystack's reader of passages."""
    from haystack import Document
    from haystack.components.readers import ExtractiveReader
    from haystack.utils import ComponentDevice

    reader = ExtractiveReader(model=model, device=ComponentDevice.from_str("cpu"), top_k=1, no_answer=True)
    reader.warm_up()

    def answer(question: str, passages: Sequence[str]) -> Place:
        documents = [Document(content=text, meta={"number": i}) for i, text in enumerate(passages) if text]
        found = max(reader.run(query=question, documents=documents)["answers"], key=lambda one: one.score)
        if found.data is None or found.document is None or found.document_offset is None:
            return None
        offset = found.document_offset
        return int(found.document.meta["number"]), int(offset.start), int(offset.end)

    return answer


def txtai(model: str) -> Answerer:
    """txtai's extractive questions."""
    from txtai.pipeline.text.questions import Questions

    reader = Questions(model, gpu=False)

    def answer(question: str, passages: Sequence[str]) -> Place:
        joined = " ".join(passages[:TXTAI_PASSAGES])
        try:
            [text] = reader([question], [joined])
        except TypeError:  # the best token is a marker, which has no place in the text
            return None
        places = [
            (i, one.find(text)) for i, one in enumerate(passages[:TXTAI_PASSAGES]) if text and text in one
        ]
        return (places[0][0], places[0][1], places[0][1] + len(text)) if places else None

    return answer


PEERS: dict[str, Callable[[str], Answerer]] = {"haystack": haystack, "txtai": txtai}


def main() -> None:
    """Reads the arguments, asks, writes line by line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("asked", type=Path, help="what `compare_readers.py ask` wrote")
    parser.add_argument("--model", required=True, help="a folder of `export_reader.py`")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    answer = PEERS[arguments.peer](arguments.model)
    with arguments.asked.open(encoding="utf-8") as lines, arguments.out.open("w", encoding="utf-8") as out:
        for line in lines:
            asked: dict[str, Any] = json.loads(line)
            texts = [passage["text"] for passage in asked["passages"]]
            began = time.perf_counter()
            span = answer(asked["question"], texts)
            ms = 1000 * (time.perf_counter() - began)
            out.write(json.dumps({"id": asked["id"], "span": span, "ms": ms}) + "\n")


if __name__ == "__main__":
    main()
