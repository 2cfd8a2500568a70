"""An open-domain evaluation from its files to a folder of results, which the same call completes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import ProgressCallback, no_progress

from ...corpora.squad import SquadDataset, read_squad
from ..paragraph_index import contexts_of
from ..reranking import AS_USUAL, Reranking, stages_below
from .open_corpus import OpenCorpus
from .open_domain import evaluate_open, questions_to_ask
from .result_folder import ResultFolder
from .squad import GoldQuestion


def run_open(
    data: Sequence[Path],
    out: Path,
    retrievers: Sequence[str],
    corpus: Sequence[Path] = (),
    index: Path | None = None,
    model: str | None = None,
    reader: str = "builtin",
    k: int = 20,
    limit: int | None = None,
    read_limit: int = 1000,
    seed: int = 0,
    report: ProgressCallback = no_progress,
    colbert: str = "builtin",
    reranking: Reranking = AS_USUAL,
) -> dict[str, dict[str, Any]]:
    """The figures of each retriever on the questions of `data`, with all that was found in the folder `out`.

    The paragraphs of `data` and `corpus` are searched, in the index at `index` or else in `out`; it is made
    where there is none. A folder of the same settings is gone on with, also for more retrievers.
    """
    names = list(dict.fromkeys(retrievers))
    stages = stages_below(names)
    dataset = read_together(data)
    contexts = contexts_of(dataset.articles)
    for path in corpus:
        contexts += contexts_of(read_squad(path).articles)
    questions, read = questions_to_ask(dataset, limit, read_limit, seed)
    if not questions:
        raise DataMalformed(f"{', '.join(map(str, data))}: no question to ask; unanswerable ones need --read")
    planned = OpenCorpus.plan(index or out / "index", contexts, model)
    settings = {
        **_searched(data, corpus, planned, questions),
        "colbert": colbert,
        "rerank": reranking.model,
        "rerank_depth": reranking.depth,
        **(_reader_settings(reader) if read else {}),
        "k": k,
        "limit": limit,
        "read": len(read),
        "seed": seed,
    }
    with ResultFolder.start(out, "open", settings) as results, planned.open() as library:
        library.retriever("bm25")  # an index of another analyzer is refused before anything is encoded
        library.encode_for(stages, colbert, report)
        return evaluate_open(library, questions, read, names, results, reader, k, report, reranking)


def read_together(paths: Sequence[Path]) -> SquadDataset:
    """The articles of several files as one data set.

    DataMalformed: two of them share a question's id, or there is nothing to search for in a question.
    """
    sets = [read_squad(path) for path in paths]
    seen: set[str] = set()
    for path, one in zip(paths, sets, strict=True):
        asked = {q.id: q.text for article in one.articles for p in article.paragraphs for q in p.questions}
        if shared := seen & asked.keys():
            raise DataMalformed(f"{path}: the question {min(shared)!r} is in another of the files, too")
        if blank := [name for name, text in asked.items() if not text.strip()]:
            raise DataMalformed(f"{path}: the question {blank[0]!r} is empty")
        seen |= asked.keys()
    return SquadDataset(
        max(one.version for one in sets),
        tuple(article for one in sets for article in one.articles),
        tuple(question for one in sets for question in one.relocated),
    )


def _searched(
    data: Sequence[Path], corpus: Sequence[Path], planned: OpenCorpus, questions: Sequence[GoldQuestion]
) -> dict[str, Any]:
    """Of the settings, what is asked and what is searched."""
    return {
        "data": [path.name for path in data],
        "corpus": [path.name for path in corpus],
        "questions": len(questions),
        "questions_sha256": _digest(_identity(question) for question in questions),
        "documents": len(planned.document_ids),
        "documents_sha256": _digest(planned.document_ids),
        "model": planned.model,
    }


def _identity(question: GoldQuestion) -> str:
    return json.dumps([question.id, question.text, question.context, question.answers])


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\n")
    return digest.hexdigest()


def _reader_settings(reader: str) -> dict[str, Any]:
    from ...reader.load import calibration_sha256, load_calibration, load_reader

    digest = load_reader(reader).digest
    calibration = load_calibration(reader, digest)
    threshold = None if calibration is None else calibration.threshold
    calibration_digest = calibration_sha256(reader)
    return {
        "reader": reader,
        "reader_digest": digest,
        "threshold": threshold,
        "calibration": calibration_digest,
    }
