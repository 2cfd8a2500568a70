"""Makes the golden index of today's format.

    PYTHONPATH=. python tests/golden/make.py     # writes vN/ and vN.json beside it

Run it once when a format is released. Golden directories are never written anew: they are what older
versions left on people's disks.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.index import FileState, Refusal, Snapshot, Store, Writer, indexed_text
from spanwise.index.analysis import Analyzer
from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.schema import FORMAT
from spanwise.types import Document, Heading, Label, Passage

HERE = Path(__file__).parent
PLAIN = Analyzer(stem=False, stop_words=False)
MODELS = ("golden-a", "golden-b")
LATE = "golden-t"  # the model of tokens
WIDTH = 8
QUESTIONS = ["mill", "river bridge", "café", "owl owl mill"]
COMMITS: list[dict[str, list[str] | None]] = [  # None removes the document
    {
        "mill.md": ["The mill stands at the river.", "An owl lives in the mill."],
        "bridge.txt": ["The bridge crosses the river.", "It was built in 1887.", "The mill paid for it."],
        "café.html": ["Le café ouvre à huit heures. 🙂", "Un hibou regarde la rivière."],
        "empty.txt": [],
        "owls.pdf": ["owl owl owl", "The owl of the mill.", "No bird at all."],
    },
    {"ferry.txt": ["Before the bridge there was a ferry.", "The river was wide."], "café.html": None},
    {"mill.md": ["The mill stands at the river.", "The owl has gone."], "notes/a b.txt": ["mill"]},
]


def write(path: Path) -> None:
    """An index in today's format: three commits of words, all but the last followed by one of vectors and
    tokens; one of a refusal.
    """
    with Store.create(path, PLAIN.settings() | {"made by": "tests/golden/make.py"}) as store:
        for number, changes in enumerate(COMMITS):
            with store.writer() as writer:
                for document_id, texts in changes.items():
                    if texts is None:
                        writer.remove(document_id)
                    else:
                        put(writer, document_id, texts)
                writer.commit()
            if number + 1 < len(COMMITS):
                encode(store)
        with store.writer() as writer:
            writer.refuse(
                "broken.pdf", Refusal(10, 1_700_000_000_000_000_000, "rejected", "it is broken", "1")
            )
            writer.commit()
    (path / "write.lock").unlink()


def put(writer: Writer, document_id: str, texts: list[str]) -> list[int]:
    """Store a document with one passage a text, all with headings, and pages for a PDF."""
    text = "\n".join(texts)
    starts = np.cumsum([0, *(len(part) + 1 for part in texts)]).tolist()[: len(texts)]
    paged = document_id.endswith(".pdf")
    document = Document(
        id=document_id,
        media_type="application/pdf" if paged else "text/plain",
        sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
        title=f"Title of {document_id}",
        text=text,
        page_starts=tuple(starts) if paged else (),
        headings=(Heading(0, 1, "Top"),) if texts else (),
        labels=tuple(Label(at, f"part {at}") for at in starts),
        metadata={"author": "nobody", "words": str(len(text.split()))},
    )
    passages = [
        Passage(
            id=0,
            document_id=document_id,
            start=at,
            end=at + len(part),
            text=part,
            page=number if paged else None,
            line=number,
            heading=("Top",),
            label=f"part {at}",
        )
        for number, (at, part) in enumerate(zip(starts, texts, strict=True), start=1)
    ]
    state = FileState(len(text.encode("utf-8")), 1_700_000_000_000_000_000, document.sha256)
    return writer.put(document, passages, [PLAIN.terms(part) for part in texts], state)


def encode(store: Store) -> None:
    """Give every passage that lacks them a vector of each model, and tokens."""
    with store.writer() as writer, store.snapshot() as snapshot:
        for model in MODELS:
            ids = snapshot.without_vectors(model).tolist()
            if ids:
                passages = snapshot.passages(ids)
                rows = np.stack([vector(model, passage.text) for passage in passages])
                writer.put_vectors(model, ids, rows, [len(indexed_text(passage)) for passage in passages])
        if writer.codebook(LATE) is None:
            writer.put_codebook(LATE, codebook())
        passages = snapshot.passages(snapshot.without_tokens(LATE).tolist())
        tokens = [tokens_of(passage.text) for passage in passages]
        rows = np.concatenate([np.empty((0, WIDTH), np.float32), *tokens])
        covered = [len(indexed_text(passage)) for passage in passages]
        writer.put_tokens(LATE, [passage.id for passage in passages], rows, list(map(len, tokens)), covered)
        writer.commit()


def tokens_of(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A unit vector for each word."""
    return np.stack([vector(LATE, word) for word in text.split()])


def codebook() -> Codebook:
    """A codebook that no training made, and that a collection of more than 32 tokens outgrows."""
    centroids = np.stack([vector("centroid", str(number)) for number in range(4)])
    return Codebook(4, centroids, np.linspace(-2, 2, 16, dtype=np.float32), distance=2.0, n_tokens=8)


def vector(model: str, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A unit vector that depends on nothing but model and text, the same on every machine."""
    numbers = hashlib.sha256(f"{model}\0{text}".encode()).digest()[:WIDTH]
    wide = np.frombuffer(numbers, np.uint8).astype(np.float64) - 127.5
    return np.asarray(wide / np.sqrt((wide * wide).sum()), np.float32)


def answers(store: Store) -> dict[str, Any]:
    """Everything the index can be asked, as JSON has it."""
    with store.snapshot() as snapshot:
        postings = snapshot.postings()
        found = {term: postings.find(term) for question in QUESTIONS for term in PLAIN.terms(question)}
        return {
            "generation": snapshot.generation,
            "settings": dict(snapshot.settings),
            "files": {name: [s.size, s.mtime_ns, s.sha256] for name, s in snapshot.files().items()},
            "documents": [_document(snapshot, name) for name in snapshot.files()],
            "passages": [_passage(passage) for passage in snapshot.all_passages()],
            "terms": dict(sorted(postings.all_statistics.df.items())),
            "postings": {
                term: sorted(zip(postings.passage_ids[rows].tolist(), counts.tolist(), strict=True))
                for term, (rows, counts) in found.items()
            },
            "vectors": {model: _dense(snapshot, model) for model in MODELS},
            "lacking": {model: snapshot.without_vectors(model).tolist() for model in MODELS},
            "labels": {
                name: [[label.start, label.text] for label in snapshot.document(name).labels]
                for name in snapshot.files()
            },
            "labels of passages": [passage.label for passage in snapshot.all_passages()],
            "refusals": {
                name: [refusal.size, refusal.mtime_ns, refusal.kind, refusal.reason, refusal.reader]
                for name, refusal in snapshot.refusals().items()
            },
            "tokens": _late(snapshot) if snapshot.token_models() else {},
            "lacking tokens": snapshot.without_tokens(LATE).tolist(),
            "covered": {model: snapshot.coverage(model).covered.tolist() for model in MODELS},
        }


def _document(snapshot: Snapshot, document_id: str) -> list[Any]:
    document = snapshot.document(document_id)
    headings = [[heading.start, heading.level, heading.text] for heading in document.headings]
    pages, metadata = list(document.page_starts), dict(document.metadata)
    return [document.id, document.media_type, document.title, document.text, pages, headings, metadata]


def _passage(passage: Passage) -> list[Any]:
    place = [passage.id, passage.document_id, passage.start, passage.end, passage.text]
    return [*place, passage.page, passage.line, list(passage.heading)]


def _late(snapshot: Snapshot) -> dict[str, Any]:
    """What is stored of each passage, and the ranking of all for each question; scores to 0.01."""
    stored, coverage = snapshot.stored_tokens(LATE), snapshot.coverage(LATE)
    codes = [stored.read(np.array([row])) for row in range(len(stored))]
    digests = [
        hashlib.sha256(each.centroids.tobytes() + each.values.tobytes() + each.scales.tobytes()).hexdigest()
        for each in codes
    ]
    rankings = snapshot.maxsim(LATE, exact=True).search([tokens_of(question) for question in QUESTIONS], 100)
    return {
        "codes": sorted(zip(stored.passage_ids.tolist(), digests, strict=True)),
        "covered": list(zip(coverage.passage_ids.tolist(), coverage.covered.tolist(), strict=True)),
        "centroids": len(stored.codebook.centroids),
        "rankings": [
            [ranking.passage_ids.tolist(), [f"{score:.2f}" for score in ranking.scores.tolist()]]
            for ranking in rankings
        ],
    }


def _dense(snapshot: Snapshot, model: str) -> list[list[Any]]:
    """The ranking of all passages for each question; scores to the last bit, as hexadecimal numbers."""
    questions = np.stack([vector(model, question) for question in QUESTIONS])
    rankings = snapshot.vectors(model).search(questions, 100)
    return [
        [ranking.passage_ids.tolist(), [score.hex() for score in ranking.scores.tolist()]]
        for ranking in rankings
    ]


if __name__ == "__main__":
    golden = HERE / f"v{FORMAT}"
    write(golden)
    with Store.open(golden) as made:
        text = json.dumps(answers(made), ensure_ascii=False, indent=1, sort_keys=True)
    golden.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
