"""The engines that are compared, each run in a process of its own, pinned to the same threads.

An engine has `build(corpus)`, `search(question, k)` and, where encoding is measured, `encode(texts)`. All
engines of a comparison get the same passages, questions and vectors.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spanwise.pipelines.evaluation.corpus import document_id_of, document_library, paragraph_documents

Matrix = NDArray[np.float32]
Rows = Any  # the numbers of passages, best first

GIVEN = "given"  # the digest of the vectors that the benchmark makes
MIN_ROUND_S = 0.2
WORD = re.compile(r"\b\w\w+\b")
STOP_WORDS = frozenset(
    "a an and are as at be by for from has he in is it its of on that the to was were will with".split()
)


@dataclass(frozen=True)
class Corpus:
    """Passages and questions, and in a folder the vectors of both: see `speed.corpus_of`."""

    folder: Path
    passages: list[str]
    questions: list[str]

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """The corpus that was saved in a folder."""
        return cls(folder, **json.loads((folder / "corpus.json").read_text(encoding="utf-8")))

    def save(self, **matrices: NDArray[Any]) -> None:
        """Write the texts, and matrices by name."""
        record = {"passages": self.passages, "questions": self.questions}
        (self.folder / "corpus.json").write_text(json.dumps(record), encoding="utf-8")
        for name, matrix in matrices.items():
            np.save(self.folder / f"{name}.npy", matrix, allow_pickle=False)

    def matrix(self, name: str) -> Matrix:
        """A saved matrix, mapped into memory."""
        found: Matrix = np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return found

    @cached_property
    def question_vectors(self) -> dict[str, Matrix]:
        """The vector of each question, (1, width)."""
        rows = np.array(self.matrix("question_vectors"))
        return dict(zip(self.questions, rows[:, np.newaxis], strict=True))

    @cached_property
    def passage_tokens(self) -> list[Matrix]:
        """The token vectors of each passage."""
        return np.split(np.array(self.matrix("tokens")), np.cumsum(self.matrix("lengths"))[:-1])

    @cached_property
    def question_tokens(self) -> dict[str, Matrix]:
        """The token vectors of each question."""
        rows = np.array(self.matrix("question_tokens"))
        parts = np.split(rows, np.cumsum(self.matrix("question_lengths"))[:-1])
        return dict(zip(self.questions, parts, strict=True))


class Peer:
    """Another program, imported by the name of its module."""

    name: ClassVar[str]
    module: ClassVar[str]

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.library: Any = import_module(self.module)


class Bm25:
    """`spanwise`: from a question to hits with text and place."""

    name: ClassVar[str] = "spanwise"

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        documents = paragraph_documents([("", text) for text in corpus.passages])
        self.numbers = {document_id_of(text): number for number, text in enumerate(corpus.passages)}
        self.library = document_library(documents, corpus.folder / f"index-{type(self).__name__}", "whole")

    def build(self) -> None:
        """Open the retriever."""
        self.retriever = self.library.retriever("bm25")

    def search(self, question: str, k: int) -> Rows:
        """The numbers of the best k passages."""
        return [self.numbers[hit.passage.document_id] for hit in self.retriever.search([question], k)[0]]

    def _numbers_by_id(self) -> dict[int, int]:
        with self.library.reading() as snapshot:
            ids = snapshot.passage_ids().tolist()
            return {one: self.numbers[place[0]] for one, place in zip(ids, snapshot.places(ids), strict=True)}


class Bm25s(Peer):
    """bm25s as its manual says, with stop words and a stemmer."""

    name, module = "bm25s (numba)", "bm25s"
    backend: ClassVar[str] = "numba"

    def build(self) -> None:
        """Tokenize and index in memory."""
        self.stemmer = import_module("Stemmer").Stemmer("english")
        self.index = self.library.BM25(k1=1.2, b=0.75, backend=self.backend)
        self.index.index(self._tokenized(self.corpus.passages), show_progress=False)

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        return self.index.retrieve(self._tokenized([question]), k=k, show_progress=False).documents[0]

    def _tokenized(self, texts: list[str]) -> Any:
        return self.library.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)


class Bm25sNumpy(Bm25s):
    """Its default backend."""

    name = "bm25s (numpy)"
    backend = "numpy"


class RankBm25(Peer):
    """rank_bm25: scores every passage in Python and numpy."""

    name = module = "rank_bm25"

    def build(self) -> None:
        """Tokenize and count in memory."""
        self.stemmer = import_module("Stemmer").Stemmer("english")
        self.rows = list(range(len(self.corpus.passages)))
        self.index = self.library.BM25Okapi(list(map(self._words, self.corpus.passages)), k1=1.2, b=0.75)

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        return self.index.get_top_n(self._words(question), self.rows, n=k)

    def _words(self, text: str) -> list[str]:
        words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
        return list(self.stemmer.stemWords(words))


class RankBm25Rust(RankBm25):
    """Its port to Rust."""

    name, module = "rank-bm25-rs", "rank_bm25_rs"


class Tantivy(Peer):
    """tantivy: an index on disk, merged and committed."""

    name = module = "tantivy"

    def build(self) -> None:
        """Write all passages and commit."""
        schema = self.library.SchemaBuilder()
        schema.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
        schema.add_integer_field("number", fast=True)
        folder = self.corpus.folder / "tantivy"
        folder.mkdir()
        self.index = self.library.Index(schema.build(), path=str(folder))
        writer = self.index.writer(256_000_000, 1)
        for number, text in enumerate(self.corpus.passages):
            writer.add_document(self.library.Document(body=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, question: str, k: int) -> Rows:
        """The numbers of the best k."""
        query = self.index.parse_query(re.sub(r"[^\w\s]", " ", question), ["body"])
        hits = self.searcher.search(query, limit=k, count=False).hits
        return self.searcher.fast_field_values("number", [address for _, address in hits])


class Fts5(Peer):
    """SQLite's full-text index, in memory."""

    name, module = "SQLite FTS5", "sqlite3"

    def build(self) -> None:
        """Insert all passages."""
        self.db = self.library.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='porter unicode61')")
        self.db.executemany("INSERT INTO t(rowid, body) VALUES (?, ?)", enumerate(self.corpus.passages))
        self.db.execute("INSERT INTO t(t) VALUES ('optimize')")

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        words = " OR ".join(f'"{word}"' for word in WORD.findall(question))
        found = self.db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (words, k))
        return (row for [row] in found)


class Dense(Bm25):
    """Our vector index: a vector in, ids of passages out."""

    def build(self) -> None:
        """Store the given vectors and open the index."""
        self.numbers_by_id = self._numbers_by_id()
        rows = self.corpus.matrix("vectors")[list(self.numbers_by_id.values())]
        with self.library.store.writer() as writer:
            writer.put_vectors(GIVEN, list(self.numbers_by_id), rows)
            writer.commit()
        self.index = self.library.store.snapshot().vectors(GIVEN, exact=True)

    def search(self, question: str, k: int) -> Rows:
        """The numbers of the best k passages."""
        found = self.index.search(self.corpus.question_vectors[question], k)[0]
        return [self.numbers_by_id[one] for one in found.passage_ids.tolist()]


class FaissFlat(Peer):
    """FAISS's exact inner product in float32."""

    name, module = "FAISS IndexFlatIP", "faiss"

    def build(self) -> None:
        """Add the given vectors."""
        vectors = np.array(self.corpus.matrix("vectors"))
        self.index = self.library.IndexFlatIP(vectors.shape[1])
        self.index.add(vectors)

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        return self.index.search(self.corpus.question_vectors[question], k)[1][0]


class GivenTokens:
    """A token encoder that returns the saved vectors of the corpus."""

    digest, device = GIVEN, "cpu"

    def __init__(self, corpus: Corpus) -> None:
        self.width = corpus.matrix("tokens").shape[1]
        self._passages = dict(zip(corpus.passages, corpus.passage_tokens, strict=True))
        self._questions = corpus.question_tokens

    def encode_questions(self, texts: Sequence[str]) -> list[Matrix]:
        """The vectors of each."""
        return [self._questions[text] for text in texts]

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """The vectors of all, and the number of each."""
        rows = [self._passages[text] for text in texts]
        return np.concatenate(rows), np.array([len(each) for each in rows])

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """All of each text."""
        return np.array([len(text) for text in texts], np.int32)


class MaxSim(Bm25):
    """Our index of token vectors in 4 bits: the vectors of a question in, ids of passages out."""

    def build(self) -> None:
        """Store the given token vectors and open the index."""
        from spanwise.pipelines.sync import sync_tokens

        sync_tokens(self.library.store, GivenTokens(self.corpus))
        self.numbers_by_id = self._numbers_by_id()
        self.index = self.library.store.snapshot().maxsim(GIVEN)

    def search(self, question: str, k: int) -> Rows:
        """The numbers of the best k passages."""
        found = self.index.search([self.corpus.question_tokens[question]], k)[0]
        return [self.numbers_by_id[one] for one in found.passage_ids.tolist()]


class MaxSimCpu(Peer):
    """maxsim-cpu: scores of all passages from compiled code."""

    name, module = "maxsim-cpu", "maxsim_cpu"

    def build(self) -> None:
        """Copy the vectors into memory."""
        self.passages = [np.array(rows) for rows in self.corpus.passage_tokens]

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        rows = self.corpus.question_tokens[question]
        scores = np.asarray(self.library.maxsim_scores_variable(rows, self.passages))
        return np.argsort(-scores)[:k]


class TorchMaxSim(Peer):
    """One float32 product with all token vectors, then the maximum of each passage."""

    name, module = "torch float32", "torch"

    def build(self) -> None:
        """Copy the vectors into memory."""
        self.rows = self.library.tensor(np.array(self.corpus.matrix("tokens")))
        self.lengths = self.library.tensor(np.array(self.corpus.matrix("lengths")))

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k."""
        similarities = self.rows @ self.library.tensor(self.corpus.question_tokens[question]).T
        best = self.library.segment_reduce(similarities, "max", lengths=self.lengths, unsafe=True)
        return self.library.topk(best.sum(dim=1), k).indices


class Encode:
    """Our encoder of passages."""

    name: ClassVar[str] = "spanwise"

    def __init__(self, corpus: Corpus) -> None:
        from spanwise.models.encoder import load_encoder

        self.corpus, self.model = corpus, load_encoder()

    def build(self) -> None:
        """Encode a few passages, so that nothing is loaded later."""
        self.encode(self.corpus.passages[:16])

    def encode(self, texts: list[str]) -> Any:
        """(n, width) float32, rows unit-norm."""
        return self.model.encode_passages(texts)

    def search(self, question: str, k: int) -> Rows:
        """The rows of the best k, for the comparison of results."""
        scores = self.encode(self.corpus.passages) @ self.encode([question])[0]
        return np.argsort(-scores)[:k]


class SentenceTransformers(Encode):
    """sentence-transformers on the same model, in its default precision."""

    name = "sentence-transformers"
    bf16: ClassVar[bool] = False

    def __init__(self, corpus: Corpus) -> None:
        from spanwise.models.locate import find_model

        library: Any = import_module("sentence_transformers")
        self.corpus, self.model = corpus, library.SentenceTransformer(str(find_model("base")))
        self.model.max_seq_length = 512

    def encode(self, texts: list[str]) -> Any:
        """(n, width) float32, rows unit-norm."""
        torch: Any = import_module("torch")
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            return self.model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


class SentenceTransformersBf16(SentenceTransformers):
    """The same under autocast."""

    name = "sentence-transformers bf16"
    bf16 = True


ENGINES: dict[str, tuple[type[Any], ...]] = {
    "encode": (Encode, SentenceTransformers, SentenceTransformersBf16),
    "maxsim": (MaxSim, MaxSimCpu, TorchMaxSim),
    "bm25": (Bm25, Bm25s, Bm25sNumpy, RankBm25, RankBm25Rust, Fts5, Tantivy),
    "dense": (Dense, FaissFlat),
}
"""The engines of each comparison, ours first."""


def main(comparison: str, class_name: str, folder: str, cpus: str) -> None:
    """Run one engine: prepare, then answer `["round", k]` with seconds and `["find", k]` with rows."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of libraries does not mix with answers
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    corpus = Corpus.load(Path(folder))
    engine = next(one for one in ENGINES[comparison] if one.__name__ == class_name)(corpus)
    engine.build()
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        what, k = json.loads(line)
        if what == "find":
            found: Any = [[int(row) for row in engine.search(q, k)] for q in corpus.questions]
        else:
            found = _round(engine, comparison, corpus, k)
        print(json.dumps(found), file=answers, flush=True)


def _round(engine: Any, comparison: str, corpus: Corpus, k: int) -> float:
    """Seconds a question, or a passage when encoding; questions are repeated for at least 0.2 s."""
    gc.collect()
    began = time.perf_counter()
    if comparison == "encode":
        engine.encode(corpus.passages)
        return (time.perf_counter() - began) / len(corpus.passages)
    passes = 0
    while passes == 0 or time.perf_counter() - began < MIN_ROUND_S:
        for question in corpus.questions:
            engine.search(question, k)
        passes += 1
    return (time.perf_counter() - began) / passes / len(corpus.questions)


if __name__ == "__main__":
    main(*sys.argv[1:])
