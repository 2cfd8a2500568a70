"""`train fetch-questions`: the questions of a checkout, joined with copies of their documents."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from spanwise.errors import DataMalformed

from ...corpora.datasets.folder_questions import join

QUESTIONS = Path(__file__).resolve().parents[2] / "corpora" / "questions"  # in a checkout alone


@dataclass(frozen=True, slots=True)
class Fetched:
    """The number of questions by file written, the reasons by document left out, and by domain without
    documents the shell command that gets them.
    """

    written: dict[str, int]
    left_out: dict[str, str]
    commands: dict[str, str]


def fetch_questions(folder: Path, questions: Path | None = None) -> Fetched:
    """Write DOMAIN.jsonl for each folder DOMAIN with the documents of questions; nothing is downloaded.

    `questions` has the questions without texts, by default the checkout's. A document that is missing or has
    another text is left out with its questions. `DataMalformed` names a wrong line, or a place without any.
    """
    fetched = Fetched({}, {}, {})
    files = sorted((questions or QUESTIONS).glob("*.jsonl"))
    if not files:
        raise DataMalformed(f"{questions or QUESTIONS}: no questions there; a checkout has corpora/questions")
    for path in files:
        copy, target = folder / path.stem, folder / path.name
        joined = join(path, copy)
        if joined.rows:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in joined.rows)
            unfinished = target.with_name(target.name + ".part")
            unfinished.write_text("".join(lines), encoding="utf-8", newline="\n")
            unfinished.replace(target)
            fetched.written[str(target)] = len(joined.rows)
        else:
            clones = (_clone(each, copy / below) for below, each in joined.repositories.items())
            fetched.commands[path.stem] = " && ".join(clones)
        if copy.is_dir():
            fetched.left_out.update({str(copy / name): reason for name, reason in joined.left_out.items()})
    return fetched


def _clone(repository: str, folder: Path) -> str:
    name, _, commit = repository.partition("@")
    place = shlex.quote(str(folder))
    return f"git clone https://github.com/{name} {place} && git -C {place} checkout {commit}"
