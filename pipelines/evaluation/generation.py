"""Judging generated texts: by references (ROUGE, BLEU), by their sources (support, citations), by wording.

A text that is missing is scored as an empty one, so that leaving out hard questions raises no figure. Figures
do not depend on the order of the texts, but for `noticed_…`, whose errors are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from spanwise.errors import DataMalformed
from spanwise.types import ProgressCallback, no_progress

from ...eval.predictions import read_predictions
from ...eval.question_record import QuestionRecord
from ...eval.text.bleu import BleuCounts, bleu, bleu_counts, corpus_counts
from ...eval.text.distinct import distinct_n, repetition_n, words
from ...eval.text.generated_texts import GeneratedText, read_generated_texts
from ...eval.text.rouge import Rouge, rouge
from ...index.analysis import Analyzer
from ...models.locate import file_sha256
from ..summarizing.marks import without_marks
from ..support_check import checker
from .grounding import Grounded, canary_rate, ground, grounding_figures, noticed_errors
from .result_folder import ResultFolder

COMMAND = "generation"
TEXTS_AT_ONCE = 64  # scored again at most when the evaluation was stopped between two writes
PER_TEXT = ("rouge1", "rouge2", "rougeL")
GROUNDING = ("support_rate", "citation_recall", "citation_precision")
NS = (1, 2, 3)

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TextScores:
    """What the figures of a collection need of one text; `rouge` and `counts` are None without references."""

    rouge: dict[str, Rouge] | None
    counts: BleuCounts | None
    grounded: tuple[Grounded, ...]

    @property
    def by_measure(self) -> dict[str, float]:
        """ROUGE F1, 0..1, the BLEU of the text alone, 0..100, over the orders it has n-grams of, and support.

        What a text has neither references nor sources for is left out.
        """
        found: dict[str, float] = {}
        if self.rouge is not None and self.counts is not None:
            found |= {name: self.rouge[name].f1 for name in PER_TEXT}
            found["bleu"] = bleu(self.counts, effective_order=True).score
        grounding = grounding_figures(self.grounded)
        return found | {name: grounding[name] for name in GROUNDING if name in grounding}


def evaluate_texts(texts: Sequence[GeneratedText], stem: bool = False) -> dict[str, float]:
    """The figures of these texts, see `text_figures`; ValueError when there are none."""
    return text_figures(texts, [score_text(text, stem) for text in texts])


def score_text(text: GeneratedText, stem: bool = False) -> TextScores:
    """The scores of one text; `stem` is for ROUGE, as in published figures of summaries."""
    given, grounded = _plain(text), ground(text, checker(Analyzer()))
    if not any(reference.strip() for reference in text.references):
        return TextScores(None, None, grounded)
    return TextScores(rouge(text.references, given, stem), bleu_counts(text.references, given), grounded)


def text_figures(texts: Sequence[GeneratedText], scores: Sequence[TextScores]) -> dict[str, float]:
    """The figures by name of the measure; what there is nothing of is left out.

    `rouge1` and its like are means of the texts' F1, 0..1, followed by those of precision and recall; `bleu`
    is that of the corpus, 0..100, as are `bleu1` to `bleu3`; `distinct-n` is over all texts together,
    `repetition-n` within each; `mean_length` is in words. For support, citations and errors see `grounding`.
    """
    if not texts:
        raise ValueError("no texts to score; expected at least one")
    figures: dict[str, float] = {"texts": len(texts), "missing": len(_missing(texts))}
    figures |= _reference_figures(scores)
    given = [words(_plain(text)) for text in texts]
    figures.update({f"distinct-{n}": distinct_n(given, n) for n in NS})
    figures.update({f"repetition-{n}": repetition_n(given, n) for n in NS})
    figures["mean_length"] = fmean(map(len, given))
    grounded = [one for score in scores for one in score.grounded]
    figures |= grounding_figures(grounded) | noticed_errors(grounded, checker(Analyzer()))
    canaries = canary_rate(texts)
    return figures | ({} if canaries is None else {"canary_rate": canaries}) | _times(texts)


def _reference_figures(scores: Sequence[TextScores]) -> dict[str, float]:
    """ROUGE and BLEU of the texts that have references."""
    rouges = [one.rouge for one in scores if one.rouge is not None]
    if not rouges:
        return {}
    figures: dict[str, float] = {}
    for name in rouges[0]:
        found = [one[name] for one in rouges]
        figures[name] = fmean(one.f1 for one in found)
        figures[f"{name}_precision"] = fmean(one.precision for one in found)
        figures[f"{name}_recall"] = fmean(one.recall for one in found)
    counts = corpus_counts(one.counts for one in scores if one.counts is not None)
    figures["bleu"] = bleu(counts).score
    figures.update({f"bleu{n}": bleu(counts, n).score for n in NS})
    return {**figures, "brevity_penalty": bleu(counts).brevity_penalty}


def _times(texts: Sequence[GeneratedText]) -> dict[str, float]:
    """The mean time of a text, and the time of all texts whose tokens are known by these; milliseconds."""
    took = [text.seconds for text in texts if text.seconds is not None]
    pairs = [(text.seconds, text.tokens) for text in texts if text.seconds is not None and text.tokens]
    figures = {"ms_per_text": fmean(took) * 1000} if took else {}
    if pairs:
        seconds, tokens = (math.fsum(column) for column in zip(*pairs, strict=True))
        figures["ms_per_token"] = seconds / tokens * 1000
    return figures


def _plain(text: GeneratedText) -> str:
    """The prediction in words: without marks of citations, where there is something to cite."""
    given = text.prediction or ""
    return without_marks(given) if text.sources else given


def evaluate_generation(
    data: Path,
    out: Path,
    predictions: Path | None = None,
    stem: bool = False,
    report: ProgressCallback = no_progress,
    tell: Tell = print,
) -> dict[str, float]:
    """The figures of a file of texts, whose records and figures are kept in the folder `out`.

    With `predictions`, an object from id to text, the texts come from there. `tell` hears, counted, of texts
    that are missing and of predictions for unknown ids. DataMalformed: a file is not of its form, or no id
    has a text. Scoring is cheap: an evaluation that goes on scores all again and writes what is not there.
    """
    texts = read_texts(data, predictions, tell)
    system = _system_name(predictions or data)
    scores: list[TextScores] = []
    with ResultFolder.start(out, COMMAND, _settings(data, predictions, stem)) as results:
        done = results.done(system)
        for at in range(0, len(texts), TEXTS_AT_ONCE):
            batch = texts[at : at + TEXTS_AT_ONCE]
            new = [score_text(text, stem) for text in batch]
            pairs = zip(batch, new, strict=True)
            results.add(_record(system, *pair) for pair in pairs if pair[0].id not in done)
            scores += new
            report("texts", len(scores), len(texts))
        figures = text_figures(texts, scores)
        results.finish({system: figures})
    return figures


def read_texts(data: Path, predictions: Path | None = None, tell: Tell = print) -> tuple[GeneratedText, ...]:
    """The texts of a file with their predictions, see `evaluate_generation`."""
    texts = read_generated_texts(data)
    if predictions is not None:
        given = read_predictions(predictions)
        texts = tuple(replace(text, prediction=given.get(text.id)) for text in texts)
        if unknown := sorted(set(given) - {text.id for text in texts}):
            tell(f"{len(unknown)} predictions are for ids not in {data}, such as {unknown[0]!r:.80}")
    source = predictions or data
    missing = _missing(texts)
    if len(missing) == len(texts):
        raise DataMalformed(f"{source}: no prediction for any of the {len(texts)} texts of {data}")
    if missing:
        counted = f"{len(missing)} of {len(texts)} texts have no prediction in {source}"
        tell(f"{counted}, such as {missing[0]!r:.80}: they are scored as empty")
    return texts


def _missing(texts: Sequence[GeneratedText]) -> list[str]:
    return [text.id for text in texts if text.prediction is None]


def _record(system: str, text: GeneratedText, scores: TextScores) -> QuestionRecord:
    return QuestionRecord(
        system=system,
        id=text.id,
        question=text.question,
        scores=scores.by_measure,
        golds=text.references,
        prediction=text.prediction or "",
        confidence=text.confidence,
    )


def _settings(data: Path, predictions: Path | None, stem: bool) -> dict[str, object]:
    return {
        "data": data.name,
        "data_sha256": file_sha256(data),
        "predictions": None if predictions is None else predictions.name,
        "predictions_sha256": None if predictions is None else file_sha256(predictions),
        "stem": stem,
    }


def _system_name(path: Path) -> str:
    """The name under which the texts of a file are compared: its own, without its ending."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json") or path.name
