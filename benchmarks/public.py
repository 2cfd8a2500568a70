"""CLAPNQ and LegalBench-RAG: `python -m benchmarks.public [--reader READER] [--retriever NAME]`.

clapnq    one passage a question: the sentences that the reader marks (their logit is above 0) against those
          marked by people, F1 of the sentences; the share of questions without an answer that it declines
legal     for each part of LegalBench-RAG: precision and recall of the characters of the best k passages

Both are read below SPANWISE_DATA.
"""

import argparse
import json
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import spanwise
from spanwise.reader.load import load_span_reader
from spanwise.types import Passage

DATA = Path(os.environ.get("SPANWISE_DATA", "data"))
DEPTHS = (1, 4, 16, 64)
PARTS = ("privacy_qa", "contractnli")


def records(path: str) -> list[Any]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]


def clapnq(reader: str) -> dict[str, float]:
    """The figures of CLAPNQ."""
    model = load_span_reader(reader)
    scores: list[float] = []
    declined: dict[bool, list[bool]] = {True: [], False: []}  # by whether there is an answer
    for asked in records("clapnq/dev-a.jsonl"):
        [text] = asked["passages"]
        places = []
        for sentence in text["sentences"]:
            start = text["text"].find(sentence, places[-1][1] if places else 0)
            places.append((start, start + len(sentence)) if start >= 0 else (0, 0))
        passage = Passage(0, text["title"], 0, len(text["text"]), text["text"], heading=(text["title"],))
        [logits] = model.sentence_scores(asked["input"], [passage], [places])
        marked = {s for s, logit in zip(text["sentences"], logits, strict=True) if logit > 0}
        gold = {s for answer in asked["output"] for s in answer["selected_sentences"]}
        declined[bool(gold)].append(not marked)
        if gold:
            scores.append(2 * len(marked & gold) / (len(marked) + len(gold)))
    return {
        "sentence_f1": fmean(scores),
        "declined": fmean(declined[False]),
        "wrongly_declined": fmean(declined[True]),
    }


def legal(retriever: str) -> dict[str, dict[int, list[float]]]:
    """Precision and recall of each part by depth."""
    figures = {}
    with TemporaryDirectory() as work:
        with tarfile.open(DATA / "legalbench-rag" / "corpus.tar.xz") as archive:
            archive.extractall(work, filter="data")
        for part in PARTS:
            asked = records(f"legalbench-rag/{part}.jsonl")
            with spanwise.open(Path(work) / part, Path(work) / f"{part}.index") as library:
                library.sync()
                options = {"retriever": retriever, "k": max(DEPTHS), "dedupe": False}
                ranked = library.search_many([question["question"] for question in asked], **options)
            pairs = list(zip(ranked, asked, strict=True))
            figures[part] = {
                k: np.mean([shares(hits[:k], each["answers"]) for hits, each in pairs], axis=0).tolist()
                for k in DEPTHS
            }
    return figures


def shares(hits: Sequence[Any], answers: Sequence[Any]) -> tuple[float, float]:
    """Precision and recall of the characters of hits."""
    shown = {(h.passage.document_id, i) for h in hits for i in range(h.passage.start, h.passage.end)}
    gold = {(Path(a["document"]).name, i) for a in answers for i in range(a["start"], a["end"])}
    n_right = len(shown & gold)
    return n_right / max(1, len(shown)), n_right / len(gold)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reader", default="fast")
    parser.add_argument("--retriever", default="colbert")
    options = parser.parse_args()
    print(json.dumps({"clapnq": clapnq(options.reader)}), flush=True)
    print(json.dumps({"legal": legal(options.retriever)}))


if __name__ == "__main__":
    main()
