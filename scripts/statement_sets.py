"""What `measure_statements` reads: questions with short answers, their sentences, and what people wrote.

own        eval/questions/statements.jsonl: questions of this project with statements written by hand
fetaqa     FeTaQA dev (Nan et al. 2022): questions on tables, answered by people in a sentence
squad      questions of SQuAD train's validation articles; without statements
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import Article, read_squad
from spanwise.pipelines.summarizing.stated import evidence_of
from spanwise.pipelines.validation_split import split_articles

OWN = Path(__file__).parent.parent / "eval" / "questions" / "statements.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the words that answer it, their sentence, what they are checked against, and references."""

    id: str
    question: str
    answer: str
    sentence: str
    evidence: tuple[str, ...]
    references: tuple[str, ...] = ()


def own(path: Path = OWN) -> list[Case]:
    """The project's own questions; the evidence is the sentence alone."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        Case(
            row["id"],
            row["question"],
            row["answer"],
            row["sentence"],
            (row["sentence"],),
            tuple(row["references"]),
        )
        for row in rows
    ]


def fetaqa(data: Path) -> tuple[list[Case], int]:
    """The questions with exactly one highlighted cell that they do not hold; how many questions there are.

    The sentence is the rows of the highlighted cells, "column: cell; column: cell"; the evidence has the
    titles of the page and the section, too.
    """
    found, n = [], 0
    with gzip.open(data / "fetaqa-dev" / "fetaQA-v1_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            n += 1
            row = json.loads(line)
            table = row["table_array"]
            cells = [(at, table[at][column].strip()) for at, column in row["highlighted_cell_ids"]]
            asked = row["question"].casefold()
            answers = [cell for at, cell in cells if at > 0 and cell and cell.casefold() not in asked]
            if len(answers) != 1:
                continue
            sentence = "\n".join(
                _row(table[0], table[at]) for at in sorted({at for at, _ in cells if at > 0})
            )
            titles = row["table_page_title"], row["table_section_title"]
            case = Case(
                str(row["feta_id"]),
                row["question"],
                answers[0],
                sentence,
                (sentence, *titles),
                (row["answer"],),
            )
            found.append(case)
    return found, n


def _row(header: list[str], row: list[str]) -> str:
    return "; ".join(f"{name}: {cell}" for name, cell in zip(header, row, strict=False) if cell.strip())


def squad(data: Path, n: int) -> list[Case]:
    """So many questions of the validation articles, drawn by a seed, with their paragraphs and titles."""
    dataset = read_squad(data / "squad" / "train-v1.1.json.gz")
    cases = list(_of_articles(split_articles(dataset.articles)[1]))
    return random.Random(0).sample(cases, min(n, len(cases)))


def _of_articles(articles: Iterable[Article]) -> Iterator[Case]:
    for article in articles:
        for paragraph in article.paragraphs:
            evidence = tuple(evidence_of(paragraph.context, [article.title.replace("_", " ")]))
            spans = sentence_spans(paragraph.context)
            for question in paragraph.questions:
                answer = question.answers[0]
                held = (span for span in spans if span[0] <= answer.start < span[1])
                start, end = next(held, (0, len(paragraph.context)))
                yield Case(question.id, question.text, answer.text, paragraph.context[start:end], evidence)
