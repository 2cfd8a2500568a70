"""Which passage a model prefers: readers and encoders on the same passages, in plain and in everyday words.

    python -m benchmarks.teachers --choose DIR --work WORK --reader builtin --reader TEACHER --encoder BASE

`DIR/DOMAIN.jsonl` has questions about the folder `DIR/DOMAIN`. The default retriever finds `-k` passages for
each; those of which none holds the answer are left out. A figure is the share of the others for which the
passage that is ranked first holds it:

found            questions with the answer among the passages, and all with an answer
rank             the order of the retriever
NAME             the relevance that a reader gives; the cosine of mean states of an encoder
rank + A + B     a listwise fit on the other folders

`spanwise calibrate` measures the answers of a reader. An encoder is the folder of a BERT or an MPNet, or of a
reader over an MPNet, whose head is left out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanwise.corpora.datasets.folder_questions import domains_of
from spanwise.corpora.sentences import sentence_spans
from spanwise.eval.calibration import fit_listwise
from spanwise.eval.questions import holds_answer
from spanwise.index.schema import indexed_text
from spanwise.models.bert import bert_backbone
from spanwise.models.encoder import TextEncoder
from spanwise.models.load import read_checkpoint
from spanwise.models.model_files import find_model
from spanwise.models.tokenizer import load_tokenizer
from spanwise.pipelines.evaluation.corpus import read_questions
from spanwise.pipelines.library.loaded_models import DEFAULT_RETRIEVER, stages_below
from spanwise.pipelines.open import open as open_library
from spanwise.pipelines.training.candidate_observations import everyday_wordings, wordings_of
from spanwise.reader.labels import LabelStore, label_pairs
from spanwise.reader.load import load_reader
from spanwise.reader.span_reader import pair_of
from spanwise.types import Passage

SCALE = 20  # of cosines beside logits


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question with an answer, the passages found for it, and which of these hold the answer (n,).

    `scores` has those of each model, (n,).
    """

    domain: str
    question: str
    everyday: bool
    passages: Sequence[Passage]
    right: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)


def ranked_questions(choose: Path, work: Path, k: int, every: int) -> list[Ranked]:
    """All questions with an answer, in both wordings, with what the default retriever finds."""
    questions = []
    for domain, path in domains_of(choose).items():
        asked = wordings_of(read_questions(path)[::every], everyday_wordings())
        asked = [wording for wording in asked if wording.question.answerable]
        with open_library(choose / domain, work / f"index-{domain}", cache=False) as library:
            library.sync()
            library.encode_for(stages_below([DEFAULT_RETRIEVER]), "builtin")
            texts = [wording.question.question for wording in asked]
            found = library.search_many(texts, k=k, dedupe=False, retriever=DEFAULT_RETRIEVER)
        for wording, hits in zip(asked, found, strict=True):
            passages = [hit.passage for hit in hits]
            right = np.array([holds_answer(wording.question, passage) for passage in passages], dtype=bool)
            question = Ranked(domain, wording.question.question, wording.everyday, passages, right)
            question.scores["rank"] = -np.log(np.arange(1, len(passages) + 1))
            questions.append(question)
    return questions


def add_relevance(questions: Sequence[Ranked], name: str, label: str, work: Path) -> None:
    """The relevance of each passage by a reader; what it gave is kept in `work`."""
    reader = load_reader(name)
    store = LabelStore.open(work / f"labels-{reader.digest[:12]}", reader.digest)
    pairs = [pair_of(ranked.question, passage) for ranked in questions for passage in ranked.passages]
    label_pairs(reader, store, pairs, sentence_spans, show_progress)
    for ranked in questions:
        labels = [store.get(*pair_of(ranked.question, passage)) for passage in ranked.passages]
        ranked.scores[label] = np.array([math.nan if found is None else found.relevance for found in labels])


def add_similarity(questions: Sequence[Ranked], name: str, label: str) -> None:
    """The cosine of each passage with its question by an encoder, times SCALE."""
    folder = find_model(name)
    backbone = bert_backbone(read_checkpoint(folder))
    if backbone is None:
        raise SystemExit(f"{folder} is neither a BERT nor an MPNet")
    encoder = TextEncoder(backbone, load_tokenizer(folder), label)
    texts = list(dict.fromkeys(indexed_text(p) for ranked in questions for p in ranked.passages))
    rows = dict(zip(texts, encoder.encode_passages(texts), strict=True))
    of_questions = encoder.encode_questions([ranked.question for ranked in questions])
    for ranked, vector in zip(questions, of_questions, strict=True):
        vectors = np.array([rows[indexed_text(passage)] for passage in ranked.passages])
        ranked.scores[label] = SCALE * (vectors @ vector).astype(np.float64)


def show_progress(what: str, done: int, total: int) -> None:
    """One line on stderr that is written over."""
    print(f"\r{what} {done} of {total}", end="", file=sys.stderr)


def left_out_fit(questions: Sequence[Ranked], names: Sequence[str]) -> list[bool]:
    """Whether the first passage of each question is right by a fit of these scores on the other folders."""
    rows = [np.stack([ranked.scores[name] for name in names], axis=1) for ranked in questions]
    first = []
    for number, ranked in enumerate(questions):
        others = [at for at, other in enumerate(questions) if other.domain != ranked.domain]
        if number == 0 or questions[number - 1].domain != ranked.domain:
            weights = fit_listwise([rows[at] for at in others], [questions[at].right for at in others])
        first.append(bool(ranked.right[int(np.argmax(rows[number] @ weights))]))
    return first


def figures(
    questions: Sequence[Ranked], readers: Sequence[str], encoders: Sequence[str]
) -> dict[str, object]:
    """The shares of the module, by the wording."""
    found = [ranked for ranked in questions if ranked.right.any()]
    ways = [["rank"], *([name] for name in (*readers, *encoders))]
    ways += [["rank", name] for name in (*readers, *encoders)]
    ways += [["rank", reader, encoder] for reader in readers for encoder in encoders]
    table: dict[str, object] = {}
    is_first = {
        " + ".join(way): left_out_fit(found, way)
        if len(way) > 1
        else [prefers_right(ranked, way[0]) for ranked in found]
        for way in ways
    }
    for kind, everyday in (("plain", False), ("everyday", True)):
        here = [at for at, ranked in enumerate(found) if ranked.everyday is everyday]
        asked = sum(ranked.everyday is everyday for ranked in questions)
        shares = {way: sum(firsts[at] for at in here) / max(1, len(here)) for way, firsts in is_first.items()}
        table[kind] = {"questions": asked, "found": len(here), **shares}
    return table


def prefers_right(ranked: Ranked, name: str) -> bool:
    """True if the passage with the highest score holds the answer."""
    return bool(ranked.right[int(np.argmax(ranked.scores[name]))])


def main() -> None:
    """Prints a table, or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--choose", type=Path, required=True, help="folders with questions")
    parser.add_argument("--work", type=Path, required=True, help="indexes and scores")
    parser.add_argument("--reader", action="append", default=[], help="builtin or a folder; repeatable")
    parser.add_argument("--encoder", action="append", default=[], help="a folder; repeatable")
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--every", type=int, default=1, help="every Nth question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = ranked_questions(options.choose, options.work, options.k, options.every)
    readers = [f"{Path(name).name} relevance" for name in options.reader]
    encoders = [f"{Path(name).name} similarity" for name in options.encoder]
    for name, label in zip(options.reader, readers, strict=True):
        add_relevance(questions, name, label, options.work)
    for name, label in zip(options.encoder, encoders, strict=True):
        add_similarity(questions, name, label)
    table = figures(questions, readers, encoders)
    if options.json:
        print(json.dumps(table, indent=1))
        return
    print(f"\n{'':60}{'plain':>10}{'everyday':>10}")
    for name in table["plain"]:  # type: ignore[attr-defined]
        values = [table[kind][name] for kind in ("plain", "everyday")]  # type: ignore[index]
        print(f"{name:60}" + "".join(f"{v:>10}" if isinstance(v, int) else f"{v:>10.1%}" for v in values))


if __name__ == "__main__":
    main()
