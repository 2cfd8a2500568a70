"""How often a model ranks a right passage first: readers and encoders, in plain and in everyday wordings.

    python -m benchmarks.teachers --choose DIR --work WORK --reader builtin --reader TEACHER --encoder BASE

`DIR/DOMAIN.jsonl` has questions about the folder `DIR/DOMAIN`. The default retriever finds `-k` passages for
each question; a question is left out if none of them holds the answer. A figure is the share of the other
questions for which the passage that is ranked first holds it:

found            questions with the answer among the passages, and all with an answer
rank             the order of the retriever
NAME             the relevance that a reader gives; the cosine of mean states of an encoder
rank + A + B     a listwise fit on the other folders

`spanwise calibrate` measures the answers of a reader. An encoder is the folder of a BERT or an MPNet, or of a
reader over an MPNet, whose head is left out.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanwise.corpora.datasets.folder_questions import domains_of, everyday_wordings
from spanwise.corpora.sentences import sentence_spans
from spanwise.eval.calibration import fit_listwise
from spanwise.eval.questions import holds_answer
from spanwise.index.schema import indexed_text
from spanwise.models.bert import bert_backbone
from spanwise.models.encoder import TextEncoder
from spanwise.models.load import read_checkpoint
from spanwise.models.model_files import find_model
from spanwise.models.tokenizer import load_tokenizer
from spanwise.pipelines.cli.show import progress
from spanwise.pipelines.evaluation.asked_folders import wordings_of
from spanwise.pipelines.evaluation.corpus import read_questions
from spanwise.pipelines.library.loaded_models import DEFAULT_RETRIEVER
from spanwise.pipelines.open import open_encoded
from spanwise.reader.labels import LabelStore, label_pairs
from spanwise.reader.load import load_reader
from spanwise.reader.reader_pair import ReaderPair
from spanwise.reader.span_reader import pair_of
from spanwise.types import Passage

SCALE = 20  # of cosines beside logits


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with an answer, and the n passages of the retriever.

    domain: the folder that it is about.
    question: its text.
    everyday: true for an everyday wording.
    passages: best first.
    right: (n,) true for passages that hold the answer.
    scores: (n,) by the name of the model.
    """

    domain: str
    question: str
    everyday: bool
    passages: Sequence[Passage]
    right: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)


def ranked_questions(choose: Path, work: Path, k: int, every: int) -> list[RankedQuestion]:
    """All questions with an answer, in all wordings, with the passages of the default retriever."""
    questions = []
    for domain, path in domains_of(choose).items():
        wordings = wordings_of(read_questions(path)[::every], everyday_wordings())
        wordings = [wording for wording in wordings if wording.question.answerable]
        with open_encoded(choose / domain, work / f"index-{domain}", [DEFAULT_RETRIEVER]) as library:
            texts = [wording.question.question for wording in wordings]
            rankings = library.search_many(texts, k=k, dedupe=False, retriever=DEFAULT_RETRIEVER)
        for wording, hits in zip(wordings, rankings, strict=True):
            passages = [hit.passage for hit in hits]
            right = np.array([holds_answer(wording.question, passage) for passage in passages], dtype=bool)
            question = RankedQuestion(domain, wording.question.question, wording.everyday, passages, right)
            question.scores["rank"] = -np.log(np.arange(1, len(passages) + 1))
            questions.append(question)
    return questions


def add_relevance(questions: Sequence[RankedQuestion], name: str, label: str, work: Path) -> None:
    """Adds the relevance of each passage by a reader; labels are cached in `work`.

    ValueError for a reader that gives none.
    """
    reader = load_reader(name)
    if isinstance(reader, ReaderPair):  # what it gives a passage depends on the others
        for ranked in questions:
            [read] = reader.read([ranked.question], [ranked.passages])
            relevance = [max((span.relevance for span in spans), default=math.nan) for spans in read]
            ranked.scores[label] = np.array(relevance)
        return
    store = LabelStore.open(work / f"labels-{reader.digest[:12]}", reader.digest)
    pairs = [pair_of(ranked.question, passage) for ranked in questions for passage in ranked.passages]
    with progress() as report:
        label_pairs(reader, store, pairs, sentence_spans, report)
    for ranked in questions:
        labels = [store.get(*pair_of(ranked.question, passage)) for passage in ranked.passages]
        ranked.scores[label] = np.array([each.relevance if each else math.nan for each in labels])
    if all(np.isnan(ranked.scores[label]).all() for ranked in questions):
        raise ValueError(f"{name} gives no relevance: train it with passages of folders")


def add_similarity(questions: Sequence[RankedQuestion], name: str, label: str) -> None:
    """Adds the cosine of each passage with its question by an encoder, times SCALE."""
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


def left_out_fit(questions: Sequence[RankedQuestion], names: Sequence[str]) -> list[bool]:
    """For each question whether a fit of these scores on the other folders ranks a right passage first."""
    rows = [np.stack([ranked.scores[name] for name in names], axis=1) for ranked in questions]
    first = []
    for number, ranked in enumerate(questions):
        if number == 0 or questions[number - 1].domain != ranked.domain:
            others = [i for i, other in enumerate(questions) if other.domain != ranked.domain]
            weights = fit_listwise([rows[i] for i in others], [questions[i].right for i in others])
        first.append(bool(ranked.right[int(np.argmax(rows[number] @ weights))]))
    return first


def figures(
    questions: Sequence[RankedQuestion], readers: Sequence[str], encoders: Sequence[str]
) -> dict[str, object]:
    """The figures of the module's docstring, by wording."""
    with_answer = [ranked for ranked in questions if ranked.right.any()]
    ways = [["rank"], *([name] for name in (*readers, *encoders))]
    ways += [["rank", name] for name in (*readers, *encoders)]
    ways += [["rank", reader, encoder] for reader in readers for encoder in encoders]
    table: dict[str, object] = {}
    is_first = {
        " + ".join(way): left_out_fit(with_answer, way)
        if len(way) > 1
        else [bool(ranked.right[int(np.argmax(ranked.scores[way[0]]))]) for ranked in with_answer]
        for way in ways
    }
    for kind, everyday in (("plain", False), ("everyday", True)):
        rows = [i for i, ranked in enumerate(with_answer) if ranked.everyday is everyday]
        n_questions = sum(ranked.everyday is everyday for ranked in questions)
        shares = {way: sum(firsts[i] for i in rows) / max(1, len(rows)) for way, firsts in is_first.items()}
        table[kind] = {"questions": n_questions, "found": len(rows), **shares}
    return table


def main() -> None:
    """Prints JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--choose", type=Path, required=True, help="folders with questions")
    parser.add_argument("--work", type=Path, required=True, help="indexes and scores")
    parser.add_argument("--reader", action="append", default=[], help="builtin or a folder; repeatable")
    parser.add_argument("--encoder", action="append", default=[], help="a folder; repeatable")
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--every", type=int, default=1, help="every Nth question")
    options = parser.parse_args()
    questions = ranked_questions(options.choose, options.work, options.k, options.every)
    readers = [f"{Path(name).name} relevance" for name in options.reader]
    encoders = [f"{Path(name).name} similarity" for name in options.encoder]
    for name, label in zip(options.reader, readers, strict=True):
        add_relevance(questions, name, label, options.work)
    for name, label in zip(options.encoder, encoders, strict=True):
        add_similarity(questions, name, label)
    print(json.dumps(figures(questions, readers, encoders), indent=1))


if __name__ == "__main__":
    main()
