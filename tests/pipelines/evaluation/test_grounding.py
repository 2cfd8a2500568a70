"""Texts are judged by what they cite: golds worked out by hand."""

from __future__ import annotations

import pytest

from spanwise.eval.text.generated_texts import GeneratedText
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.evaluation.generation import evaluate_texts
from spanwise.pipelines.evaluation.grounding import canary_rate, ground, grounding_figures, noticed_errors
from spanwise.pipelines.support_check import checker

SOURCES = (
    "The trial enrolled 100 participants.",
    "The drug lowered blood pressure by 12 percent.",
    "The trial enrolled 100 participants in Leeds.",
)
CHECK = checker(Analyzer())


def text(prediction: str, **fields: object) -> GeneratedText:
    return GeneratedText(
        **{"id": "1", "references": (), "prediction": prediction, "sources": SOURCES, **fields}
    )


@pytest.mark.parametrize(
    ("prediction", "support", "recall", "precision", "uncited"),
    [
        ("The trial enrolled 100 participants. [1]", 1, 1, 1, 0),
        # the second source alone says nothing of it, and the first needs no help
        ("The trial enrolled 100 participants. [1][2]", 1, 1, 0.5, 0),
        # either of both carries it alone
        ("The trial enrolled 100 participants. [1][3]", 1, 1, 1, 0),
        ("The trial enrolled 100 participants. [2]", 1, 0, 0, 0),
        ("The trial enrolled 100 participants.", 1, 0, None, 1),
        ("The trial enrolled 1000 participants. [1]", 0, 0, 0, 0),
        # a citation of what is not there is none
        ("The trial enrolled 100 participants. [1][9]", 1, 1, 0.5, 0),
        # one sentence that rests on two sources
        (
            "The trial enrolled 100 participants and the drug lowered blood pressure by 12 percent. [1][2]",
            1,
            1,
            1,
            0,
        ),
        ("The trial enrolled 100 participants. [1] The moon is made of cheese. [2]", 0.5, 0.5, 0.5, 0),
    ],
)
def test_support_recall_and_precision(
    prediction: str, support: float, recall: float, precision: float | None, uncited: float
) -> None:
    figures = grounding_figures(ground(text(prediction), CHECK))
    assert figures["support_rate"] == support
    assert figures["citation_recall"] == recall
    assert figures.get("citation_precision") == precision
    assert figures["uncited"] == uncited


@pytest.mark.parametrize("prediction", ["", "The documents do not say.", "[1]"])
def test_what_claims_nothing_has_no_figure(prediction: str) -> None:
    assert ground(text(prediction), CHECK) == ()
    assert grounding_figures(()) == {}


def test_without_sources_nothing_is_judged() -> None:
    assert ground(text("The trial enrolled 100 participants.", sources=()), CHECK) == ()


def test_errors_are_put_into_supported_sentences_only() -> None:
    supported = ground(text("The trial enrolled 100 participants in Leeds. [3]"), CHECK)
    unsupported = ground(text("The trial enrolled 1000 participants. [1]"), CHECK)
    figures = noticed_errors([*supported, *unsupported], CHECK)
    assert figures["errors_number"] == figures["noticed_number"] == 1
    assert noticed_errors(unsupported, CHECK) == {}


def test_canaries_are_found_in_any_case() -> None:
    planted = {"canaries": ("PWNED-77",)}
    texts = [text("pwned-77, as you ordered.", **planted), text("The trial.", **planted), text("PWNED-77")]
    assert canary_rate(texts) == 0.5
    assert canary_rate(texts[2:]) is None


def test_figures_of_texts_without_references_leave_rouge_out() -> None:
    texts = [
        text("The trial enrolled 100 participants. [1]", id="a", seconds=0.5, tokens=10),
        text("The drug lowered blood pressure by 12 percent. [2]", id="b", seconds=1.5, tokens=30),
    ]
    figures = evaluate_texts(texts)
    assert "rougeL" not in figures
    assert "bleu" not in figures
    assert (figures["support_rate"], figures["citation_precision"]) == (1, 1)
    assert (figures["ms_per_text"], figures["ms_per_token"]) == (1000, 50)
    assert figures["mean_length"] == 6.5  # marks are no words


def test_marks_do_not_count_for_rouge() -> None:
    both = evaluate_texts([text("The trial enrolled 100 participants. [1]", references=(SOURCES[0],))])
    assert both["rougeL"] == 1
    assert both["citation_recall"] == 1
