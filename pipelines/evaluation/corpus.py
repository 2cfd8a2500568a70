"""Data sets as questions, and as indexes of documents that are not files."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from spanwise.types import Document, Passage, ProgressCallback, no_progress

from ...corpora.datasets.folder_questions import folder_item
from ...corpora.datasets.squad import SquadArticle, read_squad
from ...corpora.json_lines import JsonObject, json_lines
from ...corpora.passages import passages_at, split
from ...corpora.sentences import trimmed
from ...eval.questions import TYPES, VERDICTS, FolderQuestion
from ...index.analysis import Analyzer
from ...index.languages import stored_terms
from ...index.schema import FileState
from ...index.store import Store
from ...index.writer import Writer
from ..folders import is_index, resolve_index, roots_setting
from ..library.library import Library
from ..library.loaded_models import MODEL, model_setting
from ..parsing.sync import PASSAGES_PER_COMMIT

CONTENTS = "documents"  # the setting that holds the digest of an index's documents and how they are cut
KINDS = get_type_hints(FolderQuestion)
OPTIONAL = {"type": "factoid", "sentence": "", "no_shared_words": False, "verdict": "", "everyday": False}


def read_questions(path: Path) -> tuple[FolderQuestion, ...]:
    """The questions of a file: `.json` and `.gz` are SQuAD, with documents as titles; others JSON lines.

    For the fields of a line see `eval.questions`. A line with a passage (also in `.jsonl.gz`) is a question
    of `corpora.datasets.folder_questions`; one without an answer counts only if it is marked "absent".
    DataMalformed names the line: not JSON, a field that is missing, unknown or of the wrong type, an id that
    occurs twice, or answers that contradict `answerable`.
    """
    if path.suffix not in (".json", ".gz") or path.name.endswith(".jsonl.gz"):
        questions: dict[str, FolderQuestion] = {}
        for line in json_lines(path):
            question = _joined_question(line) if "passage" in line.values else _question(line)
            if question is None:
                continue
            if question.id in questions:
                raise line.error(f"the id {question.id!r} is given twice")
            questions[question.id] = question
        return tuple(questions.values())
    return tuple(
        FolderQuestion(
            id=q.id,
            question=q.text,
            type=q.type or "factoid",
            answers=q.answers,
            documents=(q.title,) if q.answers else (),
            answerable=bool(q.answers),
        )
        for q in gold_questions(read_squad(path).articles)
    )


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its gold paragraph.

    id: unique in its file.
    text: the question.
    context: the paragraph.
    answers: the acceptable answers, if any.
    type: its kind, or "".
    title: the title of its article.
    """

    id: str
    text: str
    context: str
    answers: tuple[str, ...]
    type: str = ""
    title: str = ""


def gold_questions(
    articles: Iterable[SquadArticle], limit: int | None = None, seed: int = 0
) -> list[GoldQuestion]:
    """All questions in order, or `limit` of them drawn by the seed."""
    questions = [
        GoldQuestion(q.id, q.text, p.context, tuple(each.text for each in q.answers), q.type, article.title)
        for article in articles
        for p in article.paragraphs
        for q in p.questions
    ]
    if limit is None or limit >= len(questions):
        return questions
    return [questions[i] for i in sorted(random.Random(seed).sample(range(len(questions)), limit))]


def _question(line: JsonObject) -> FolderQuestion:
    number = line.place.rpartition(" ")[2]
    record = replace(line, values={"id": number, **OPTIONAL, **line.values})
    unknown = sorted(set(record.values).difference(KINDS))
    if unknown:
        raise record.error(f"the field {unknown[0]} is unknown; expected {', '.join(sorted(KINDS))}")
    read: dict[Any, Callable[[str], Any]] = {
        str: record.text,
        tuple[str, ...]: record.texts,
        bool: partial(record.value, kind=bool),
    }
    question = FolderQuestion(**{name: read[kind](name) for name, kind in KINDS.items()})
    if not question.question.strip():
        raise record.error("the question is empty")
    if question.type not in TYPES:
        raise record.error(f"type is {question.type!r}; expected one of {', '.join(TYPES)}")
    if question.verdict and (question.type != "yes-no" or question.verdict not in VERDICTS):
        raise record.error(f"verdict is {question.verdict!r}; expected yes or no, of a yes-no question")
    if not all((*question.answers, *question.documents)):
        raise record.error("an answer or a document is the empty string")
    for name, values in (("answers", question.answers), ("documents", question.documents)):
        if bool(values) != question.answerable:
            raise record.error(f"{name} has {len(values)} items, but answerable is {question.answerable}")
    if question.sentence and not question.answerable:
        raise record.error(f"sentence is {question.sentence!r}, but answerable is {question.answerable}")
    return question


def _joined_question(line: JsonObject) -> FolderQuestion | None:
    """The question of a line with its passage; None when the folder may answer it elsewhere."""
    item = folder_item(line)
    answer = line.text("answer")
    if not answer and line.values.get("absent") is not True:
        return None
    golds = tuple(text for text in (answer, item.short) if text)
    return FolderQuestion(
        id=item.id,
        question=item.question,
        type=item.type if golds else "factoid",
        answers=golds,
        documents=(item.document,) if golds else (),
        answerable=bool(golds),
        verdict=item.verdict,
    )


def document_id_of(context: str) -> str:
    """The id of a paragraph: identical texts are one document."""
    return _sha256(context)[:16]


def paragraph_documents(paragraphs: Iterable[str]) -> list[Document]:
    """A document for each distinct paragraph."""
    return [text_document(document_id_of(text), "", text) for text in dict.fromkeys(paragraphs)]


def text_document(name: str, title: str, text: str) -> Document:
    """A document of plain text; without text, its title is the text."""
    if not text.strip():
        return Document(name, "text/plain", _sha256(title), "", title)
    return Document(name, "text/plain", _sha256(text), title.strip(), text)


def document_library(
    documents: Sequence[Document],
    index: Path,
    passages: str = "split",
    model: str | None = None,
    superset: bool = False,
    on_progress: ProgressCallback = no_progress,
) -> Library:
    """A library over these documents, words indexed and vectors not yet; ids must be unique.

    `passages` is "split", as files are cut, or "whole": each document is one passage. An existing index of
    the same documents is completed; with `superset` one that holds more documents is used as it is.
    ValueError: the index at that place holds other documents.
    """
    contents = contents_digest(documents, passages)
    if index.exists() and not is_index(index) and (index.is_file() or any(index.iterdir())):
        resolve_index(index)  # raises IndexNotFound
    if is_index(index):
        library = Library(Store.open(index))
        library.use_model(model)
    else:
        settings = {**roots_setting((), index), MODEL: model_setting(model or "base"), CONTENTS: contents}
        library = Library(Store.create(index, settings | Analyzer().settings()))
    if library.store.settings.get(CONTENTS) == contents:
        _fill(library, documents, PASSAGES[passages], on_progress)
    elif not superset:
        raise ValueError(f"{index} holds other documents, or other passages of them: name another index")
    else:
        with library.store.snapshot() as snapshot:
            missing = {document.id for document in documents} - set(snapshot.files())
        if missing:
            raise ValueError(
                f"{index} lacks {len(missing)} of the {len(documents)} documents: name another index"
            )
    return library


def put_document(
    writer: Writer, analyzer: Analyzer, document: Document, passages: Sequence[Passage]
) -> list[int]:
    """The ids of the passages, after putting the document into the next commit."""
    terms = [*stored_terms(document, passages, analyzer)]
    return writer.put(document, passages, terms, FileState(len(document.text), 0, document.sha256))


def contents_digest(documents: Sequence[Document], passages: str) -> str:
    """The sha256 of the documents, in their order, and of the way they are cut."""
    contents = hashlib.sha256(passages.encode())
    for document in documents:
        contents.update(json.dumps([document.id, document.title, document.text]).encode())
    return contents.hexdigest()


def _whole(document: Document) -> list[Passage]:
    start, end = trimmed(document.text, 0, len(document.text))
    return passages_at(document, [(start, end)]) if start < end else []


PASSAGES: dict[str, Callable[[Document], list[Passage]]] = {"split": split, "whole": _whole}


def _fill(
    library: Library,
    documents: Sequence[Document],
    cut: Callable[[Document], list[Passage]],
    on_progress: ProgressCallback,
) -> None:
    """Put the missing documents, with a commit every few thousand passages."""
    with library.store.snapshot() as snapshot:
        indexed = snapshot.files()
    missing = [document for document in documents if document.id not in indexed]
    if not missing:
        return
    n_staged = 0
    with library.store.writer() as writer:
        for n_put, document in enumerate(missing, start=1):
            n_staged += len(put_document(writer, library.analyzer, document, cut(document)))
            if n_staged >= PASSAGES_PER_COMMIT:
                writer.commit()
                n_staged = 0
            on_progress("documents", n_put, len(missing))
        writer.commit()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
