"""Measures what setting orders to the reader aside costs where nobody gives any.

    python scripts/measure_orders.py files rust-book progit2
    python scripts/measure_orders.py answers squad/dev-v1.1.json.gz

`files` counts the sentences of text files in folders that are taken for orders, and shows them. `answers`
says how many gold answers of a SQuAD-format file stand in a sentence that belongs neither to the question nor
to its paragraph, so that no written sentence may rest on it, and how many of these speak of texts besides, so
that they are not quoted as an answer either.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import read_squad
from spanwise.errors import SpanwiseError
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.support_check import checker
from spanwise.reader.support.orders import orders
from spanwise.reader.support.topic import on_topic, speaks_of_texts

ENDINGS = frozenset((".md", ".asc", ".txt", ".adoc", ".rst"))
SHOWN = 100  # characters of a sentence


def files(folders: Sequence[Path]) -> Iterator[str]:
    """Lines of Markdown, one a folder, then the sentences that were taken for orders."""
    yield "| folder | sentences | taken for orders | share |"
    yield "|---|---|---|---|"
    told: list[str] = []
    for folder in folders:
        n_sentences = n_orders = 0
        for file in sorted(folder.rglob("*")):
            if file.suffix not in ENDINGS or not file.is_file():
                continue
            text = file.read_text("utf-8", errors="replace")
            spans = sentence_spans(text)
            given = orders(text, spans)
            n_sentences, n_orders = n_sentences + len(spans), n_orders + len(given)
            told += [f"{file.name}: {_shown(text[slice(*spans[at])])}" for at in sorted(given)]
        yield f"| {folder.name} | {n_sentences:,} | {n_orders} | {n_orders / max(1, n_sentences):.4%} |"
    yield from ["", *told]


def answers(file: Path) -> Iterator[str]:
    """Lines of Markdown: the gold answers, those in sentences that carry nothing, those not quoted."""
    content = checker(Analyzer()).content
    n_answers = alone = unquoted = n_sentences = n_orders = 0
    for paragraph in (one for article in read_squad(file).articles for one in article.paragraphs):
        spans = sentence_spans(paragraph.context)
        texts = [paragraph.context[start:end] for start, end in spans]
        n_sentences, n_orders = n_sentences + len(spans), n_orders + len(orders(paragraph.context, spans))
        for question in (one for one in paragraph.questions if one.answers):
            start = question.answers[0].start
            at = next(number for number, span in enumerate(spans) if span[0] <= start < span[1])
            belongs = on_topic(texts, frozenset(content(question.text)), True, content)[at]
            n_answers += 1
            alone += not belongs
            unquoted += not belongs and speaks_of_texts(texts[at])
    yield "| sentences | taken for orders | answers | in one that carries nothing | not quoted either |"
    yield "|---|---|---|---|---|"
    shares = " | ".join(f"{count} ({count / max(1, n_answers):.2%})" for count in (alone, unquoted))
    yield f"| {n_sentences:,} | {n_orders} | {n_answers:,} | {shares} |"


def _shown(sentence: str) -> str:
    return " ".join(sentence.split())[:SHOWN]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("files", "answers"))
    parser.add_argument("paths", type=Path, nargs="+", help="folders, or one SQuAD-format file")
    given = parser.parse_args(arguments)
    if given.what == "answers" and len(given.paths) > 1:
        parser.error("answers takes one file")
    try:
        for line in files(given.paths) if given.what == "files" else answers(given.paths[0]):
            print(line, flush=True)
    except (SpanwiseError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
