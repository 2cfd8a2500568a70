"""`eval folder`: how often questions about your own folder are answered right, and absent ones declined.

Figures, by retriever:

questions … rightly_declined    counts of verdicts, see `eval.questions` for what counts as right
right_span                      the count of answers whose span alone is right, without its sentence
right_shown                     the count of questions with a right answer, or declined with a right candidate
absent_shown                    share of the absent questions for which an answer or candidates are shown
answer_recall@k                 share of the answerable questions for which one of the k best passages holds
                                a gold answer in a named document
ms_retrieve, ms                 medians over the questions, in milliseconds: retrieval, and all stages
steps_complete                  share of the questions with a gold list whose steps hold all of it
verdict_shown                   share of the right answers to yes-no questions that say "yes" or "no"
verdict_right                   share of those whose "yes" or "no" is right
passages_read                   the mean over the questions
requests, tokens_in, tokens_out, ms_model
                                the means over the questions, of a model that reads
by_type                         counts of verdicts by the type of question
index_bytes                     the bytes of the index that the retriever reads beside the text
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from spanwise.types import Answer, AnswerSpan, AskOptions, Hit, ProgressCallback, no_progress

from ...corpora.sentences import sentence_spans
from ...eval.questions import (
    SHOWN_WORDS,
    Evidence,
    FolderQuestion,
    QuestionRecord,
    Verdict,
    holds_answer,
    is_complete,
    is_right,
    is_right_shown,
    judge_answer,
    judge_computed,
)
from ..answering.mentions import answered
from ..library.library import Library
from ..library.loaded_models import stages_below
from .results import Figures, ResultFolder, digest

CUTOFFS = (1, 5, 20)
TOP = 3  # answers shown, the best one included
CANDIDATES = 2  # of a declined question that are judged
COUNTED = ("right_span", "right_top3", "right_shown")
SHARES = ("verdict_shown", "verdict_right", "steps_complete")
WORK = ("requests", "tokens_in", "tokens_out")  # of a model
KINDS = {"dense": ("vectors",), "colbert": ("tokens", "codebook")}  # all others: postings


def evaluate_folder(
    library: Library,
    questions: Sequence[FolderQuestion],
    retrievers: Sequence[str] = (),
    out: Path | None = None,
    options: AskOptions | None = None,
    on_progress: ProgressCallback = no_progress,
) -> tuple[Figures, list[dict[str, Any]]]:
    """The figures of each retriever, by default the index's own, and the judged record of each question.

    With a result folder `out`, an interrupted evaluation is resumed; ValueError when it was started with
    other questions, documents or settings.
    """
    options = replace(options or AskOptions(), alternatives=TOP - 1)
    names = list(dict.fromkeys(retrievers)) or [library.default_retriever]
    results = ResultFolder.start(out, "folder", _settings(library, questions, names, options))
    for name in names:
        # Only systems whose name ends in "+rerank" re-rank.
        rerank = (options.rerank or "builtin") if name.endswith("+rerank") else ""
        asker = library.asker(replace(options, retriever=name, rerank=rerank))
        recorded = results.question_ids(name)
        waiting = [question for question in questions if question.id not in recorded]
        for number, question in enumerate(waiting, start=1):
            [trace] = answered([question.question], asker)
            results.add([folder_record(question, trace.answer, trace.hits, options.k, name)])
            on_progress(f"ask {name}", len(recorded) + number, len(questions))
    figures: Figures = {}
    for name in names:
        figures[name] = folder_figures(results.records(name))
        figures[name]["index_bytes"] = index_bytes(library, name)
    results.finish(figures)
    return figures, [printed_record(record) for record in results.records()]


def unindexed_documents(library: Library, questions: Iterable[FolderQuestion]) -> dict[str, int]:
    """The number of questions that name each document that the index lacks."""
    with library.reading() as snapshot:
        indexed = snapshot.files()
    named = Counter(name for question in questions for name in set(question.documents))
    return {name: count for name, count in sorted(named.items()) if name not in indexed}


def index_bytes(library: Library, retriever: str) -> int:
    """The bytes that a retriever reads of the last commit, without the text of the passages."""
    with library.reading() as snapshot:
        sizes = snapshot.sizes()
    kinds = {kind for stage in stages_below([retriever]) for kind in KINDS.get(stage, ("postings",))}
    return sum(sizes.get(kind, 0) for kind in kinds)


def folder_record(
    question: FolderQuestion, answer: Answer, hits: Sequence[Hit], k: int, system: str
) -> QuestionRecord:
    """The record of an answer; `hits` are the passages of the retriever, at most `k`.

    Of several quotes that a model points at, the first right one is judged.

    Its scores are 0 or 1:
    right, right_span: the answer as it is shown, and its span alone.
    right_forced, right_span_forced: the same of the best candidate, shown or declined.
    right_shown: the answer, or a candidate of a declined question.
    handled: a right answer, or an absent question declined.
    declined, nothing_shown: an absent question declined; without candidates.
    """
    if answer.model:
        right = (part for part in answer.parts if _any_right(question, [part]))
        answer = replace(answer, best=next(right, answer.best))
    if answer.computed:
        verdict = judge_computed(question, answer.computed.value)
    else:
        verdict = judge_answer(question, answer.best, sentence_spans)
    best = answer.primary or answer.best_rejected
    scores = {"handled": float(verdict in (Verdict.RIGHT, Verdict.RIGHTLY_DECLINED))}
    if question.answerable:
        scores |= _scores(question, answer, best, is_right=verdict is Verdict.RIGHT)
        if not (answer.computed and answer.computed.is_list):  # for which nothing is retrieved
            holds = [holds_answer(question, hit.passage) for hit in hits]
            scores |= {f"answer_recall@{n}": float(any(holds[:n])) for n in CUTOFFS if n <= k}
    else:
        scores["declined"] = float(answer.no_answer)
        scores["nothing_shown"] = float(answer.outcome == "not found")
    if answer.model:
        use = answer.model.use
        work = (answer.model.requests, use.tokens_in, use.tokens_out)
        scores |= dict(zip(WORK, work, strict=True))
    return QuestionRecord(
        system,
        question.id,
        question.question,
        scores,
        question.answerable,
        question.type,
        question.answers,
        question.documents,
        answer.computed.value if answer.computed else answer.text,
        None if best is None else best.confidence,
        answer.timings_ms,
        _evidence(answer),
        answer.passages_read,
    )


def _scores(
    question: FolderQuestion, answer: Answer, best: AnswerSpan | None, is_right: bool
) -> dict[str, float]:
    """The scores of the answer to an answerable question, without those of the passages."""
    scores = {}
    if question.verdict and answer.best is not None and is_right:
        scores["verdict_shown"] = float(bool(answer.best.verdict))
        if answer.best.verdict:
            scores["verdict_right"] = float(answer.best.verdict == question.verdict)
    if (complete := is_complete(question, answer.steps)) is not None:
        scores["steps_complete"] = float(complete)
    listed = [] if answer.best is None else [answer.best, *answer.alternatives][:TOP]
    shown = answer.candidates[:CANDIDATES] if answer.best is None else [answer.best]
    return scores | {
        "right": float(is_right),
        "right_span": float(is_right if answer.computed else _is_right_span(question, answer.best)),
        "right_top3": float(_any_right(question, listed)),
        "right_shown": float(_any_right(question, shown)),
        "right_forced": float(is_right if answer.computed else _any_right(question, [best] if best else [])),
        "right_span_forced": float(is_right if answer.computed else _is_right_span(question, best)),
    }


def _any_right(question: FolderQuestion, answers: Iterable[AnswerSpan]) -> bool:
    return any(is_right_shown(question, each.span, each.passage, sentence_spans) for each in answers)


def _is_right_span(question: FolderQuestion, answer: AnswerSpan | None) -> bool:
    return answer is not None and is_right(question, answer.span.document_id, answer.text)


def folder_figures(records: Iterable[QuestionRecord]) -> dict[str, Any]:
    """The figures of one system by name, see the module."""
    records = list(records)
    by_type: Mapping[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        by_type[record.type if record.answerable else "absent"][verdict_of(record)] += 1
    counts = sum(by_type.values(), Counter[str]())
    shares = {
        name: [record.scores[name] for record in records if name in record.scores]
        for name in (*(f"answer_recall@{cutoff}" for cutoff in CUTOFFS), *SHARES, *WORK)
    }
    hidden = [record.scores["nothing_shown"] for record in records if "nothing_shown" in record.scores]
    read = [record.passages_read for record in records if record.passages_read is not None]
    model_ms = [record.timings_ms["model"] for record in records if "model" in record.timings_ms]
    return {
        "questions": len(records),
        "right_top1": counts[Verdict.RIGHT],
        **{name: int(sum(record.scores.get(name, 0.0) for record in records)) for name in COUNTED},
        "false_answers": counts[Verdict.FALSE_ANSWER],
        "wrongly_declined": counts[Verdict.WRONGLY_DECLINED],
        "rightly_declined": counts[Verdict.RIGHTLY_DECLINED],
        **{name: fmean(values) for name, values in shares.items() if values},
        **({"absent_shown": 1 - fmean(hidden)} if hidden else {}),
        "ms_retrieve": median([record.timings_ms.get("retrieve", 0.0) for record in records] or [0.0]),
        "ms": median([sum(record.timings_ms.values()) for record in records] or [0.0]),
        "passages_read": fmean(read or [0.0]),
        **({"ms_model": fmean(model_ms)} if model_ms else {}),
        "by_type": {kind: dict(sorted(verdicts.items())) for kind, verdicts in sorted(by_type.items())},
    }


def verdict_of(record: QuestionRecord) -> Verdict:
    """The verdict on a record of `eval folder`."""
    if not record.prediction:
        return Verdict.WRONGLY_DECLINED if record.answerable else Verdict.RIGHTLY_DECLINED
    if not record.answerable:
        return Verdict.FALSE_ANSWER
    return Verdict.RIGHT if record.scores.get("right") == 1 else Verdict.WRONG


def printed_record(record: QuestionRecord) -> dict[str, Any]:
    """The record as `eval folder --json` prints it; `answer` is None for a declined question."""
    printed = asdict(record)
    scores = printed.pop("scores")
    prediction = printed.pop("prediction")
    answer = None
    if prediction:
        answer = {"text": prediction, "confidence": record.confidence}
        best = record.evidence[0] if record.evidence else None
        if best and best.span:
            start, end = best.span
            answer |= {"document": best.document, "start": best.start + start, "end": best.start + end}
    return {
        "id": record.id,
        "verdict": str(verdict_of(record)),
        **{name: bool(scores.get(name, 0)) for name in COUNTED},
        **printed,
        "answer": answer,
    }


def _settings(
    library: Library, questions: Sequence[FolderQuestion], names: Sequence[str], options: AskOptions
) -> dict[str, Any]:
    """The settings that must be equal for results to be resumed: models, documents, questions, options."""
    with library.reading() as snapshot:
        files = {name: state.sha256 for name, state in snapshot.files().items()}
        encoders = sorted(snapshot.vector_models())
        passages = snapshot.n_passages
    return {
        "retrievers": list(names),
        "reader": options.reader,
        "reader_digest": library.answerer(options).reader.digest,
        "shown_words": SHOWN_WORDS,
        **{name: getattr(options, name) for name in ("k", "threshold", "dedupe", "rerank", "rerank_depth")},
        "encoders": encoders,
        "passages": passages,
        "documents_digest": digest(files),
        "questions_digest": digest([asdict(question) for question in questions]),
    }


def _evidence(answer: Answer) -> tuple[Evidence, ...]:
    """The passages of the answers that are shown or declined, then the other nearest passages."""
    best = answer.primary or answer.best_rejected
    shown = [] if best is None else [best, *answer.alternatives]
    seen = {answer_span.passage.id for answer_span in shown}
    nearest = [hit for hit in answer.nearest if hit.passage.id not in seen]
    return (
        *map(Evidence.of_answer, shown),
        *(Evidence.of_passage(hit.passage, hit.score) for hit in nearest),
    )
