"""The engines that are compared, each in its own process, pinned to the same threads.

An engine is a function that prepares itself for a corpus and returns the function to measure: a search, from
a question and k to the numbers of passages, or an encoder of texts. Engines of BM25 take a list of questions.
All engines of a comparison get the same passages, questions and vectors.
"""

from __future__ import annotations

import gc
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.pipelines.evaluation.corpus import document_id_of, document_library, paragraph_documents
from spanwise.pipelines.library.library import Library
from spanwise.retrieval.bm25 import bm25_retriever

Matrix = NDArray[np.float32]
Search = Callable[[str, int], Any]  # from a question and k to the numbers of passages, best first
SearchMany = Callable[[list[str], int], Any]  # the same for a list of questions
Encode = Callable[[list[str]], Any]  # from texts to (n, width) float32, rows unit-norm

DIGEST = "given"  # of the vectors that the benchmark makes
K = 10
MIN_ROUND_S = 0.2
THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))
WORD = re.compile(r"\b\w\w+\b")
STOP_WORDS = frozenset(
    "a an and are as at be by for from has he in is it its of on that the to was were will with".split()
)


@dataclass(frozen=True)
class Corpus:
    """Passages and questions, with their vectors in a folder: see `speed.corpus_of`."""

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
        return np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    @cached_property
    def question_vectors(self) -> dict[str, Matrix]:
        """The vector of each question, (1, width)."""
        rows = np.array(self.matrix("question_vectors"))
        return dict(zip(self.questions, rows[:, np.newaxis], strict=True))

    @cached_property
    def passage_tokens(self) -> list[Matrix]:
        """The token vectors of each passage."""
        return self._parts("tokens", "lengths")

    @cached_property
    def question_tokens(self) -> dict[str, Matrix]:
        """The token vectors of each question."""
        return dict(zip(self.questions, self._parts("question_tokens", "question_lengths"), strict=True))

    def _parts(self, rows: str, lengths: str) -> list[Matrix]:
        return np.split(np.array(self.matrix(rows)), np.cumsum(self.matrix(lengths))[:-1])


def spanwise_library(corpus: Corpus) -> tuple[Library, dict[int, int]]:
    """Our index of the passages, and the number of each by its id in the index."""
    documents = paragraph_documents(corpus.passages)
    numbers = {document_id_of(text): number for number, text in enumerate(corpus.passages)}
    library = document_library(documents, corpus.folder / "index", "whole")
    with library.reading() as snapshot:
        ids = snapshot.passage_ids().tolist()
        places = zip(ids, snapshot.places(ids), strict=True)
        return library, {passage_id: numbers[place[0]] for passage_id, place in places}


def bm25(corpus: Corpus, hits: bool) -> SearchMany:
    """From questions to ids and scores, or to hits with text and place."""
    library, by_passage = spanwise_library(corpus)
    snapshot = library.store.snapshot()
    retriever = bm25_retriever(snapshot, library.analyzer)
    if hits:
        return lambda questions, k: [
            [by_passage[hit.passage.id] for hit in ranking] for ranking in retriever.search(questions, k)
        ]
    numbered = np.zeros(max(by_passage) + 1, np.int64)
    numbered[list(by_passage)] = list(by_passage.values())
    return lambda questions, k: [numbered[ranking.passage_ids] for ranking in retriever.rank(questions, k)]


def bm25s(corpus: Corpus) -> SearchMany:
    """bm25s on numba as its manual says, with stop words and a stemmer."""
    library: Any = import_module("bm25s")
    stemmer = import_module("Stemmer").Stemmer("english")

    def tokenized(texts: list[str]) -> Any:
        return library.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = library.BM25(k1=1.2, b=0.75, backend="numba")
    index.index(tokenized(corpus.passages), show_progress=False)
    options = {"show_progress": False, "n_threads": THREADS if THREADS > 1 else 0}
    return lambda questions, k: index.retrieve(tokenized(questions), k=k, **options).documents


def rank_bm25_rs(corpus: Corpus) -> SearchMany:
    """The port of rank_bm25 to Rust: its scores on all threads, the best by numpy, faster than get_top_n."""
    stem = import_module("Stemmer").Stemmer("english").stemWords

    def words(text: str) -> list[str]:
        return list(stem([word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]))

    index = import_module("rank_bm25_rs").BM25Okapi(list(map(words, corpus.passages)), k1=1.2, b=0.75)

    def best(scores: Any, k: int) -> Any:
        top = np.argpartition(scores, len(scores) - k)[-k:]
        return top[np.argsort(-scores[top])]

    def search(questions: list[str], k: int) -> Any:
        parts = (questions[first : first + THREADS] for first in range(0, len(questions), THREADS))
        return [best(row, k) for part in parts for row in index.get_scores_many(list(map(words, part)))]

    return search


def tantivy(corpus: Corpus) -> SearchMany:
    """An index on disk, merged and committed, searched by a pool of threads."""
    library: Any = import_module("tantivy")
    schema = library.SchemaBuilder()
    schema.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
    schema.add_integer_field("number", fast=True)
    folder = corpus.folder / f"tantivy-{THREADS}"
    folder.mkdir()
    index = library.Index(schema.build(), path=str(folder))
    writer = index.writer(256_000_000, 1)
    for number, text in enumerate(corpus.passages):
        writer.add_document(library.Document(body=text, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str, k: int) -> Any:
        query = index.parse_query(re.sub(r"[^\w\s]", " ", question), ["body"])
        hits = searcher.search(query, limit=k, count=False).hits
        return searcher.fast_field_values("number", [address for _, address in hits])

    run = ThreadPoolExecutor(THREADS).map if THREADS > 1 else map
    return lambda questions, k: list(run(partial(search, k=k), questions))


def dense(corpus: Corpus) -> Search:
    """Our vector index: a vector in, ids of passages out."""
    library, by_passage = spanwise_library(corpus)
    with library.store.writer() as writer:
        writer.put_vectors(DIGEST, list(by_passage), corpus.matrix("vectors")[list(by_passage.values())])
        writer.commit()
    index = library.store.snapshot().vectors(DIGEST, exact=True)
    return _numbered(index, corpus.question_vectors, by_passage)


def faiss_flat(corpus: Corpus) -> Search:
    """FAISS's exact inner product in float32."""
    vectors = np.array(corpus.matrix("vectors"))
    index: Any = import_module("faiss").IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda question, k: index.search(corpus.question_vectors[question], k)[1][0]


class StoredTokens:
    """A token encoder of passages that returns the saved vectors of the corpus."""

    digest = DIGEST

    def __init__(self, corpus: Corpus) -> None:
        texts = [text.strip() for text in corpus.passages]  # as they are indexed
        self._passages = dict(zip(texts, corpus.passage_tokens, strict=True))

    def encode_passages(self, texts: Sequence[str], on_progress: Any) -> tuple[Matrix, NDArray[np.int64]]:
        """The vectors of all, and the number of each."""
        rows = [self._passages[text] for text in texts]
        return np.concatenate(rows), np.array([len(row) for row in rows])


def maxsim(corpus: Corpus) -> Search:
    """Our index of token vectors in 4 bits: the vectors of a question in, ids of passages out."""
    from spanwise.pipelines.parsing.sync import sync_tokens

    library, by_passage = spanwise_library(corpus)
    encoder: Any = StoredTokens(corpus)
    sync_tokens(library.store, encoder)
    index = library.store.snapshot().maxsim(DIGEST)
    questions = {question: [rows] for question, rows in corpus.question_tokens.items()}
    return _numbered(index, questions, by_passage)


def maxsim_cpu(corpus: Corpus) -> Search:
    """Scores of all passages from compiled code."""
    library: Any = import_module("maxsim_cpu")
    passages = [np.array(rows) for rows in corpus.passage_tokens]

    def search(question: str, k: int) -> Any:
        scores = np.asarray(library.maxsim_scores_variable(corpus.question_tokens[question], passages))
        return np.argsort(-scores)[:k]

    return search


def torch_maxsim(corpus: Corpus) -> Search:
    """One float32 product with all token vectors, then the maximum of each passage."""
    torch: Any = import_module("torch")
    rows, lengths = (torch.tensor(np.array(corpus.matrix(name))) for name in ("tokens", "lengths"))

    def search(question: str, k: int) -> Any:
        similarities = rows @ torch.tensor(corpus.question_tokens[question]).T
        best = torch.segment_reduce(similarities, "max", lengths=lengths, unsafe=True)
        return torch.topk(best.sum(dim=1), k).indices

    return search


def encoder(corpus: Corpus) -> Encode:
    """Our encoder of passages, warmed up on a few."""
    from spanwise.models.encoder import load_encoder

    model = load_encoder()
    model.encode_passages(corpus.passages[:16])
    return model.encode_passages


def sentence_transformers(corpus: Corpus, bf16: bool) -> Encode:
    """sentence-transformers on the same model, in its default precision or under autocast."""
    from spanwise.models.model_files import find_model

    library: Any = import_module("sentence_transformers")
    torch: Any = import_module("torch")
    model = library.SentenceTransformer(str(find_model("base")))
    model.max_seq_length = 512

    def encode(texts: list[str]) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            return model.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    encode(corpus.passages[:16])
    return encode


ENGINES: dict[str, dict[str, Callable[[Corpus], Any]]] = {
    "encode": {
        "spanwise": encoder,
        "sentence-transformers": partial(sentence_transformers, bf16=False),
        "sentence-transformers bf16": partial(sentence_transformers, bf16=True),
    },
    "maxsim": {
        "spanwise": maxsim,
        "maxsim-cpu": maxsim_cpu,
        "torch float32": torch_maxsim,
    },
    "bm25": {
        "spanwise": partial(bm25, hits=False),
        "spanwise, text and place": partial(bm25, hits=True),
        "bm25s (numba)": bm25s,
        "rank-bm25-rs": rank_bm25_rs,
        "tantivy": tantivy,
    },
    "dense": {"spanwise": dense, "FAISS IndexFlatIP": faiss_flat},
}
"""The engines of each comparison, by name."""


def confine(cpus: list[int]) -> None:
    """Keep this process on some processors, and the output of libraries apart from figures."""
    os.dup2(2, 1)
    if cpus:
        os.sched_setaffinity(0, cpus)


@cache
def prepared(comparison: str, name: str, folder: Path) -> tuple[Corpus, Any, SearchMany]:
    """The corpus, the engine over it, and its search of several questions; once in each process."""
    corpus = Corpus.load(folder)
    run = ENGINES[comparison][name](corpus)
    if comparison == "encode":
        return corpus, run, partial(_each, _nearest(run, corpus))
    corpus.passages.clear()
    return corpus, run, run if comparison == "bm25" else partial(_each, run)


def round_s(comparison: str, name: str, folder: Path) -> float:
    """Seconds per passage that an encoder encodes, or per question."""
    corpus, run, search = prepared(comparison, name, folder)
    gc.collect()
    return encoding_s(run, corpus) if comparison == "encode" else search_s(search, corpus)


def best_passages(comparison: str, name: str, folder: Path) -> list[list[int]]:
    """The numbers of the best K passages of each question."""
    corpus, _, search = prepared(comparison, name, folder)
    return [[int(number) for number in numbers] for numbers in search(corpus.questions, K)]


def encoding_s(encode: Encode, corpus: Corpus) -> float:
    """Seconds per passage."""
    began = time.perf_counter()
    encode(corpus.passages)
    return (time.perf_counter() - began) / len(corpus.passages)


def search_s(search: SearchMany, corpus: Corpus) -> float:
    """Seconds per question, one at a time or all at once on several threads, repeated for at least 0.2 s."""
    batches = [corpus.questions] if THREADS > 1 else [[question] for question in corpus.questions]
    began = time.perf_counter()
    passes = 0
    while passes == 0 or time.perf_counter() - began < MIN_ROUND_S:
        for questions in batches:
            search(questions, K)
        passes += 1
    return (time.perf_counter() - began) / passes / len(corpus.questions)


def _numbered(index: Any, questions: Mapping[str, Any], by_passage: Mapping[int, int]) -> Search:
    """From a question to the numbers of its passages, by an index of vectors."""

    def search(question: str, k: int) -> list[int]:
        ranking = index.search(questions[question], k)[0]
        return [by_passage[passage_id] for passage_id in ranking.passage_ids.tolist()]

    return search


def _each(search: Search, questions: list[str], k: int) -> Any:
    return [search(question, k) for question in questions]


def _nearest(encode: Encode, corpus: Corpus) -> Search:
    return lambda question, k: np.argsort(-(encode(corpus.passages) @ encode([question])[0]))[:k]
