"""Where the corpus of a speed measurement comes from: SQuAD-format files, or the bundled sample."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from ....corpora.squad import Article, read_squad

SQUAD_FILES = "*-v1.1.json.gz"


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Distinct paragraphs with the questions on each, in an order drawn by the seed, and their source."""

    source: str
    asked: tuple[tuple[str, tuple[str, ...]], ...]


def read_paragraphs(data: Sequence[Path], seed: int) -> Paragraphs:
    """The paragraphs of these SQuAD-format files; by default those below SPANWISE_DATA, or the sample's."""
    found = list(data) or _squad_files()
    if found:
        articles = [article for path in found for article in read_squad(path).articles]
        return _shuffled(", ".join(path.name for path in found), articles, seed)
    with as_file(files("spanwise.corpora") / "sample" / "questions.json") as sample:
        return _shuffled("the bundled sample", read_squad(sample).articles, seed)


def _squad_files() -> list[Path]:
    folder = os.environ.get("SPANWISE_DATA")
    return sorted((Path(folder) / "squad").glob(SQUAD_FILES)) if folder else []


def _shuffled(source: str, articles: Sequence[Article], seed: int) -> Paragraphs:
    """Without the order of the articles, the first thousand paragraphs are as mixed as all of them."""
    asked: dict[str, list[str]] = {}
    for article in articles:
        for paragraph in article.paragraphs:
            answerable = (q.text for q in paragraph.questions if q.answers)
            asked.setdefault(paragraph.context, []).extend(answerable)
    if not any(asked.values()):
        raise ValueError(f"{source}: no question with an answer, so nothing can be searched for")
    pairs = [(paragraph, tuple(questions)) for paragraph, questions in asked.items()]
    random.Random(seed).shuffle(pairs)
    return Paragraphs(source, tuple(pairs))
