"""Questions about a folder, from JSON lines or from a SQuAD-format file whose titles name documents."""

from __future__ import annotations

from pathlib import Path

from ..corpora.squad import read_squad
from ..eval.question_set import FolderQuestion, read_question_set


def read_questions(path: Path) -> tuple[FolderQuestion, ...]:
    """The questions of a file; `.json` and `.gz` are read as SQuAD, anything else as JSON lines."""
    if path.suffix not in (".json", ".gz"):
        return read_question_set(path)
    return tuple(
        FolderQuestion(
            id=q.id,
            question=q.text,
            type=q.type or "factoid",
            answers=tuple(answer.text for answer in q.answers),
            sentence="",
            documents=(article.title,) if q.answers else (),
            answerable=bool(q.answers),
            no_shared_words=False,
        )
        for article in read_squad(path).articles
        for paragraph in article.paragraphs
        for q in paragraph.questions
    )
