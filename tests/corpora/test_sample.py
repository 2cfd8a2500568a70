"""The sample corpus: its counts, its formats, and that every gold answer stands where its question says."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from spanwise.corpora.sample import make

SAMPLE = Path(__file__).parents[2] / "corpora" / "sample"
DOCS = SAMPLE / "docs"
ANSWERABLE = 60
REWORDED = 30


@dataclass(frozen=True)
class QuestionSet:
    """One file of questions, flattened for the checks."""

    articles: list[dict[str, Any]]

    @classmethod
    def read(cls, name: str) -> QuestionSet:
        return cls(json.loads((SAMPLE / name).read_text(encoding="utf-8"))["data"])

    @property
    def paragraphs(self) -> list[tuple[str, dict[str, Any]]]:
        return [
            (article["title"], paragraph) for article in self.articles for paragraph in article["paragraphs"]
        ]

    @property
    def questions(self) -> list[tuple[str, dict[str, Any]]]:
        return [(paragraph["context"], qa) for _, paragraph in self.paragraphs for qa in paragraph["qas"]]

    @property
    def answers(self) -> list[tuple[str, str, dict[str, Any]]]:
        return [(context, qa["id"], answer) for context, qa in self.questions for answer in qa["answers"]]


MIXED = QuestionSet.read("questions.json")
PARAPHRASED = QuestionSet.read("questions-paraphrased.json")
both_sets = pytest.mark.parametrize("asked", [MIXED, PARAPHRASED], ids=["mixed", "paraphrased"])


def documents() -> list[Path]:
    """All of them; an index beside them, as the demo's may be, is none."""
    return sorted(path for path in DOCS.rglob("[!.]*") if path.is_file() and ".spanwise" not in path.parts)


@cache
def plain_text(path: Path) -> str:
    """The text of a document, read without the project's own readers."""
    match path.suffix:
        case ".pdf":
            return "\n".join(page.extract_text() for page in PdfReader(path).pages)
        case ".docx":
            document = docx.Document(str(path))
            cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
            return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)
        case ".html":
            soup = BeautifulSoup(path.read_bytes(), "html.parser")
            for noise in soup(["script", "style", "head"]):
                noise.decompose()
            return soup.get_text()
        case _:
            return path.read_text(encoding="utf-8")


@cache
def one_line(title: str) -> str:
    return " ".join(plain_text(DOCS / title).split())


def test_forty_four_documents_in_five_formats() -> None:
    formats = Counter(path.suffix for path in documents())
    assert formats == {".md": 11, ".txt": 10, ".html": 9, ".pdf": 7, ".docx": 7}


def test_the_folder_is_under_one_megabyte() -> None:
    assert sum(path.stat().st_size for path in documents()) < 1_000_000


def test_every_document_has_250_to_900_words() -> None:
    words = {str(path.relative_to(DOCS)): len(plain_text(path).split()) for path in documents()}
    assert {title: n for title, n in words.items() if not 250 <= n <= 900} == {}


def test_pdfs_have_two_to_four_pages_and_all_hold_text() -> None:
    for path in DOCS.rglob("*.pdf"):
        pages = [page.extract_text() for page in PdfReader(path).pages]
        assert 2 <= len(pages) <= 4, path
        assert all(len(page) > 300 for page in pages), path


def test_no_document_holds_a_replacement_character() -> None:
    assert [path for path in documents() if "\N{REPLACEMENT CHARACTER}" in plain_text(path)] == []


@both_sets
def test_sixty_questions_are_answerable_and_twenty_are_not(asked: QuestionSet) -> None:
    types = Counter(qa["type"] for _, qa in asked.questions)
    assert types["factoid"] == 40
    assert types["why"] + types["how"] + types["list"] == 20
    assert types["absent"] == 20
    assert types.total() == 80


@both_sets
def test_ids_are_unique(asked: QuestionSet) -> None:
    assert len({qa["id"] for _, qa in asked.questions}) == len(asked.questions)


@both_sets
def test_questions_are_unique_and_end_with_a_mark(asked: QuestionSet) -> None:
    texts = [qa["question"] for _, qa in asked.questions]
    assert len(set(texts)) == len(texts)
    assert all(text.endswith("?") for text in texts)


@both_sets
def test_absent_questions_alone_have_no_answers(asked: QuestionSet) -> None:
    for _, qa in asked.questions:
        assert qa["is_impossible"] == (qa["type"] == "absent") == (qa["answers"] == []), qa["id"]
        assert len(qa["answers"]) <= 4, qa["id"]
        assert len({answer["text"] for answer in qa["answers"]}) == len(qa["answers"]), qa["id"]


@both_sets
def test_every_answer_stands_at_its_offset(asked: QuestionSet) -> None:
    for context, qid, answer in asked.answers:
        start = answer["answer_start"]
        assert context[start : start + len(answer["text"])] == answer["text"], qid


@both_sets
def test_answers_neither_start_nor_end_with_space(asked: QuestionSet) -> None:
    assert [qid for _, qid, answer in asked.answers if answer["text"] != answer["text"].strip()] == []


def test_the_two_sets_differ_in_the_wording_of_the_thirty_questions_drawn() -> None:
    ids = sorted(qa["id"] for _, qa in MIXED.questions if not qa["is_impossible"])
    assert len(ids) == ANSWERABLE
    hard = {qa["id"]: qa["question"] for _, qa in PARAPHRASED.questions}
    reworded = {qa["id"] for _, qa in MIXED.questions if qa["question"] != hard[qa["id"]]}
    assert reworded == set(random.Random(0).sample(ids, REWORDED))


def test_the_two_sets_have_the_same_contexts_types_and_answers() -> None:
    mixed, hard = (
        [(context, {**qa, "question": ""}) for context, qa in asked.questions]
        for asked in (MIXED, PARAPHRASED)
    )
    assert mixed == hard


@both_sets
def test_every_document_has_one_article(asked: QuestionSet) -> None:
    titles = [article["title"] for article in asked.articles]
    assert sorted(titles) == sorted(path.relative_to(DOCS).as_posix() for path in documents())


@both_sets
def test_every_context_occurs_once_in_its_document(asked: QuestionSet) -> None:
    assert [p["context"] for title, p in asked.paragraphs if one_line(title).count(p["context"]) != 1] == []


def test_every_pdf_and_word_file_has_a_source() -> None:
    sources = {path.relative_to(SAMPLE / "source").with_suffix("") for path in SAMPLE.glob("source/*/*.md")}
    assert {path.relative_to(DOCS) for path in documents() if path.suffix in (".pdf", ".docx")} == sources


def test_made_documents_say_all_that_their_sources_say() -> None:
    for source in SAMPLE.glob("source/*/*.md"):
        title = source.relative_to(SAMPLE / "source").with_suffix("").as_posix()
        rows = [row for block in make.blocks(source.read_text(encoding="utf-8")) for row in block.rows]
        assert [cell for row in rows for cell in row if cell not in one_line(title)] == [], title


@pytest.mark.parametrize("name", ["reports/ferry-2023.docx", "reports/hospital-2022.pdf"])
def test_two_runs_give_the_same_bytes(name: str) -> None:
    source = (SAMPLE / "source" / f"{name}.md").read_text(encoding="utf-8")
    write = make.WRITERS[Path(name).suffix]
    assert write(source) == write(source)


def test_blocks_of_a_source() -> None:
    found = list(
        make.blocks("## Ice\n\nCold\nwater.\n\n1. look\n2. wait\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---")
    )
    assert [block.kind for block in found] == ["heading", "paragraph", "numbers", "table", "page"]
    assert [block.rows for block in found[:4]] == [
        (("Ice",),),
        (("Cold water.",),),
        (("look",), ("wait",)),
        (("a", "b"), ("1", "2")),
    ]
