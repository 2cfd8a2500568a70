"""Training groups of questions about folders: the passage that was read, and others that are found.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. Each folder is
indexed, and the best passages for each question are kept in `mined-DOMAIN.jsonl`: an interrupted run resumes.
Another negative is the passage itself without the sentences of the answer: on the topic, and no answer.

A checkout has everyday wordings of many questions (see corpora/questions/README.md). Each is a question of
its own, with the answer and the passages of the question that it rewords.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.types import Passage, ProgressCallback, no_progress

from ...corpora.folder_questions import (
    WORDINGS,
    FolderItem,
    domains_of,
    read_folder_items,
    read_wordings,
    wording_key,
)
from ...corpora.records import json_lines
from ...corpora.sentences import sentence_spans
from ...reader.span_reader import context_of
from ...reader.spans import enclosing_sentences
from ...reader.training import ReaderExample
from ..open import open as open_library

DEPTH = 50  # passages kept for a question
HARD, NEAR = 6, 30  # ranks of the first negative and of the second, among those that do not answer
SECOND, SHORTENED = 0.45, 0.5  # probabilities of a second negative, and of the shortened passage
LEAST = 120  # characters of a shortened passage
NONE_DEPTH = 10  # ranks of the passage for a question without an answer
_WORD = re.compile(r"\w+")
_VERDICTS = {"yes": 1.0, "no": 0.0, "": -1.0}
Ranking = Sequence[tuple[str, str]]
"""Context and text of passages, best first."""


def mine_folders(folders: Path, run: Path, on_progress: ProgressCallback = no_progress) -> dict[str, Path]:
    """The files of questions in `folders`, by domain; the passages for each go to `run/mined-DOMAIN.jsonl`.

    A domain that has its file is skipped. Raises DataMalformed without any domain, FolderNotFound for one
    without its folder.
    """
    domains = domains_of(folders)
    for number, (domain, path) in enumerate(domains.items()):
        on_progress("domains", number, len(domains))
        if not (out := mined_file(run, domain)).is_file():
            items = read_folder_items(path)
            with open_library(folders / domain, run / f"index-{domain}", cache=False) as library:
                library.sync(on_progress=on_progress)
                found = library.search_many([item.question for item in items], k=DEPTH, dedupe=False)
            rankings = [[(context_of(hit.passage), hit.passage.text) for hit in hits] for hits in found]
            lines = (
                json.dumps({"id": item.id, "passages": ranking})
                for item, ranking in zip(items, rankings, strict=True)
            )
            unfinished = out.with_suffix(".part")
            unfinished.write_text("\n".join(lines), encoding="utf-8")
            unfinished.replace(out)
    return domains


def folder_examples(folders: Path, run: Path, seed: int) -> list[ReaderExample]:
    """A group for each question about the folders and each of its wordings, with negatives drawn by the seed.

    A question that nothing in its folder answers has one of the passages that are found for it.
    DataMalformed where the mined passages are those of other questions.
    """
    rng = random.Random(seed)
    examples = []
    for domain, item, found, wordings in mined_items(folders, run):
        reworded = [replace(item, id=f"{item.id}-{n}", question=text) for n, text in enumerate(wordings, 1)]
        examples += [example_of(one, domain, found, rng) for one in (item, *reworded)]
    return examples


def mined_items(folders: Path, run: Path) -> Iterator[tuple[str, FolderItem, Ranking, tuple[str, ...]]]:
    """Each question with its domain, the passages that were found for it, and its other wordings.

    Raises as `folder_examples` does.
    """
    wordings = read_wordings(WORDINGS)
    for domain, path in mine_folders(folders, run).items():
        mined = mined_file(run, domain)
        rankings = {
            line.name("id"): list(map(tuple, line.value("passages", list))) for line in json_lines(mined)
        }
        for item in read_folder_items(path):
            if item.id not in rankings:
                raise DataMalformed(f"{mined} lacks the question {item.id!r}: remove it to mine again")
            yield domain, item, rankings[item.id], wordings.get(wording_key(item.question), ())


def mined_file(run: Path, domain: str) -> Path:
    """Where the passages for the questions of a domain are kept."""
    return run / f"mined-{domain}.jsonl"


def example_of(item: FolderItem, domain: str, ranking: Ranking, rng: random.Random) -> ReaderExample:
    """The group of a question; `ranking` has the passages that were found for it."""
    named = (
        f"{domain}/{item.id}",
        item.question,
        item.passage,
        item.start,
        item.end,
        domain,
        item_context(item),
    )
    if item.start is None:
        others = [one for one in ranking[:NONE_DEPTH] if one[1] != item.passage]
        return ReaderExample(*named, tuple(rng.sample(others, min(len(others), 1))))
    labels = float(item.type == "yes-no"), _VERDICTS[item.verdict], float(item.type == "list")
    return ReaderExample(*named, drawn_negatives(item, ranking, rng), labels)


def item_context(item: FolderItem) -> str:
    """The headings above the passage of a question, as `context_of` has them."""
    headings = tuple(item.heading.split(" > ")) if item.heading else ()
    return context_of(Passage(0, item.document, 0, len(item.passage), item.passage, heading=headings))


def without_answer(item: FolderItem, ranking: Ranking) -> list[tuple[str, str]]:
    """The passages that are not the item's, nor hold its answer or its short answer."""
    golds = [_words(text) for text in (item.passage[item.start : item.end], item.short) if text.strip()]
    others = [one for one in ranking if one[1] != item.passage]
    return [one for one in others if not any(gold in _words(one[1]) for gold in golds)]


def drawn_negatives(item: FolderItem, ranking: Ranking, rng: random.Random) -> tuple[tuple[str, str], ...]:
    """One to three passages that do not answer the question: from the top, and the item's own, shortened."""
    left = without_answer(item, ranking)
    drawn = rng.sample(left[:HARD], min(len(left), 1))
    if rng.random() < SECOND and (rest := [one for one in left[:NEAR] if one not in drawn]):
        drawn.append(rng.choice(rest))
    if rng.random() < SHORTENED and (text := shortened(item.passage, item.start, item.end, item.short)):
        drawn.append((item_context(item), text))
    return tuple(drawn)


def shortened(passage: str, start: int | None, end: int | None, short: str = "") -> str | None:
    """The passage without the sentences of its answer; None where little is left, or the answer's words are.

    >>> shortened("Ada built the mill. It has four floors.", 0, 3) is None
    True
    """
    if start is None or end is None:
        return None
    first, last = enclosing_sentences(sentence_spans(passage), start, end)
    left = f"{passage[:first].rstrip()} {passage[last:].lstrip()}".strip()
    said = [_words(text) for text in (passage[start:end], short) if text.strip()]
    too_short = len(left) < max(LEAST, len(passage) // 4)
    return None if too_short or any(one in _words(left) for one in said) else left


def _words(text: str) -> str:
    """The words with a space before, between and after them."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
