"""Judging what is written about a folder of one's own: are its questions answered, do the sentences stand?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from spanwise.types import ProgressCallback, no_progress

from ...eval.answer_match import contains_tokens
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.question_set import FolderQuestion
from ...eval.squad_normalize import answer_tokens
from ...eval.text.distinct import distinct_n, repetition_n, words
from ...eval.text.generated_texts import GeneratedText
from ...index.analysis import Analyzer
from ..summarizing.marks import without_marks
from ..summarizing.summary import cited
from ..support_check import checker
from .folder import documents_and_questions
from .grounding import ground, grounding_figures, noticed_errors
from .result_folder import ResultFolder

if TYPE_CHECKING:
    from ..library import Library
    from ..summarizing.summary import Citation, Summary
    from ..summarizing.writing import Writing

COMMAND = "generation"
PER_TOKEN = "per_token"  # the time of a token, in a record
DROPPED = "dropped"


def evaluate_written(
    library: Library,
    questions: Sequence[FolderQuestion],
    out: Path,
    length: str = "short",
    writing: Writing | None = None,
    strict: bool = False,
    k: int = 20,
    retriever: str | None = None,
    report: ProgressCallback = no_progress,
) -> dict[str, Any]:
    """The figures of summaries for questions, see `written_figures`; records are kept in the folder `out`.

    Without `writing` sentences are quoted. A folder that was begun goes on, and nothing is written twice;
    ValueError when it was begun with other questions, documents, or settings.
    """
    name = retriever or library.default_retriever
    system = writing.generator.name if writing else "extractive"
    settings: dict[str, Any] = {
        **documents_and_questions(library.snapshot, questions),
        "generator_digest": writing.generator.digest if writing else "",
        "decoding": asdict(writing.decoding) if writing else {},
        "samples": writing.samples if writing else 1,
        **{"retriever": name, "length": length, "strict": strict, "k": k},
    }
    with ResultFolder.start(out, COMMAND, settings) as results:
        done = results.done(system)
        waiting = [question for question in questions if question.id not in done]
        for at, question in enumerate(waiting, start=len(done)):
            report("questions", at, len(questions))
            asked = question.question
            summary = library.summarize(asked, None, length, writing, strict, k, name)
            results.add([written_record(question, summary, system)])
        report("questions", len(questions), len(questions))
        figures = written_figures(list(results.records(system)))
        results.finish({system: figures})
    return figures


def written_record(question: FolderQuestion, summary: Summary, system: str) -> QuestionRecord:
    """What was written for a question, a sentence a line; `evidence` are the cited spans by number.

    Of an answerable question `right` is 1 where a sentence holds a gold answer and cites a named document,
    of another one `declined` is 1 where nothing was said. `said` is the share of sentences not dropped.
    """
    took = dict(summary.timings_ms)
    if summary.tokens:
        took[PER_TOKEN] = took["write"] / summary.tokens
    made = len(summary.sentences) + len(summary.dropped)
    scores = {"said": len(summary.sentences) / made} if made else {}
    if question.answerable:
        scores["right"] = float(_says(question, summary))
    else:
        scores["declined"] = float(summary.is_refusal)
    return QuestionRecord(
        system,
        question.id,
        question.question,
        scores,
        question.answerable,
        question.type,
        question.answers,
        question.documents,
        "\n".join(map(cited, summary.sentences)),
        timings_ms=took,
        evidence=tuple(map(_evidence, summary.citations)),
    )


def written_figures(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The figures of records by name; what there is nothing of is left out.

    questions, answerable, right, refused, rightly_declined    counts, see `written_record`
    said                         the share of written sentences that were not dropped, a mean over texts
    support_rate … noticed_KIND  see `grounding`; the sources of a text are the spans that it cites
    distinct-2, repetition-3     of all texts together, and within each
    mean_length                  words of a text that is no refusal
    ms, ms_per_token             medians in milliseconds: of all of a text, of writing a token
    """
    check = checker(Analyzer())
    said = [record for record in records if record.prediction]
    grounded = [one for record in said for one in ground(_text(record), check)]
    given = [words(without_marks(record.prediction or "")) for record in said]
    answerable = [record for record in records if record.answerable]
    figures: dict[str, Any] = {
        "questions": len(records),
        "answerable": len(answerable),
        "right": sum(int(record.scores["right"]) for record in answerable),
        "refused": sum(not record.prediction for record in answerable),
        "rightly_declined": sum(not record.prediction for record in records if not record.answerable),
    }
    if kept := [record.scores["said"] for record in records if "said" in record.scores]:
        figures["said"] = fmean(kept)
    figures |= grounding_figures(grounded) | noticed_errors(grounded, check)
    if said:
        figures |= {"distinct-2": distinct_n(given, 2), "repetition-3": repetition_n(given, 3)}
        figures["mean_length"] = fmean(map(len, given))
    return figures | _times(records)


def _times(records: Sequence[QuestionRecord]) -> dict[str, float]:
    whole = [
        sum(value for stage, value in record.timings_ms.items() if stage != PER_TOKEN) for record in records
    ]
    tokens = [record.timings_ms[PER_TOKEN] for record in records if PER_TOKEN in record.timings_ms]
    return {name: median(times) for name, times in (("ms", whole), ("ms_per_token", tokens)) if times}


def _says(question: FolderQuestion, summary: Summary) -> bool:
    """Whether a sentence holds the words of a gold answer and cites a document that has it."""
    golds = [answer_tokens(gold) for gold in question.answers]
    return any(
        any(contains_tokens(answer_tokens(sentence.text), gold) for gold in golds)
        and any(one.span.document_id in question.documents for one in sentence.citations)
        for sentence in summary.sentences
    )


def _evidence(citation: Citation) -> Evidence:
    span = citation.span
    return Evidence(span.document_id, span.start, span.end, span.text, 1.0)


def _text(record: QuestionRecord) -> GeneratedText:
    """The text of a record, with what it cites for its sources."""
    return GeneratedText(record.id, (), record.prediction, sources=tuple(one.text for one in record.evidence))
