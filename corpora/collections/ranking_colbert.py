"""ColBERT's training files: a question and the passages to rank for it by their ids, an array a line.

    [qid, pid+, pid-, ...]              triples
    [qid, [pid, score], ...]            n-way lists with a teacher's scores

The first passage answers the question. Where judgements (`qrels.tsv`) stand beside the file, those do that
they hold relevant; a list with scores that has none of them is left out.

The texts stand beside the file in `collection.tsv` and `queries.tsv`: id, tab, text. All three may have a
split in their name, as in `queries.train.tsv`.

Source: Khattab and Zaharia 2020; Santhanam et al. 2022, and the files that their code reads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from .collection import Qrels, QrelsReader
from .json_records import json_values
from .msmarco import DOCUMENTS, ENDING, QRELS, QUERIES
from .packed import beginning, malformed, plain_or_gzipped, tab_pairs
from .splits import named

FORM = "ColBERT (collection.tsv, queries.tsv, and lines [qid, pid+, pid-, ...] or [qid, [pid, score], ...])"
COLLECTION = "collection"
TRAIN, TRIPLES, SCORED = "train", "triples.jsonl", "examples.jsonl"
_BREAKS = re.compile(r"[\t\r\n]")
ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line as it stands there: ids, and the scores if it has them."""

    question: str
    passages: tuple[str, ...]
    scores: tuple[float, ...]


def is_colbert_file(path: Path) -> bool:
    """True when the file begins with an array whose first value is an id."""
    start = beginning(path).lstrip()
    return start.startswith("[") and start[1:].lstrip()[:1] not in ("", "{", "[", "]")


def colbert_lists(folder: Path) -> list[Path]:
    """The files of lists in a folder that holds their passages; none where that is no such folder."""
    if plain_or_gzipped(folder / DOCUMENTS) is None:
        return []
    return [
        path for path in sorted(folder.iterdir()) if path.name.endswith(ENDINGS) and is_colbert_file(path)
    ]


def read_colbert(
    path: Path, read_qrels: QrelsReader, split: str | None, tell: Callable[[str], None]
) -> Iterator[RankingExample]:
    """The examples of a file, in its order; `split` None means "train" or the files without one.

    `tell` hears how many lists were left out.
    """
    folder = path.parent
    questions, passages = (_texts(_required(folder, stem, split)) for stem in (QUERIES, COLLECTION))
    judgements = _found(folder, QRELS, split)
    qrels = read_qrels(judgements) if judgements else {}
    left_out = 0
    for place, line in colbert_lines(path):
        ordered, n_positive = _judged_first(line, qrels)
        if n_positive or not (line.scores and judgements):
            yield _example(place, ordered, n_positive or 1, questions, passages)
        else:
            left_out += 1
    if left_out:
        tell(f"{path}: {left_out:,} lists without a passage that {judgements} holds relevant, left out")


def colbert_passages(path: Path) -> Iterator[str]:
    """All passages of the collection beside a file of lists, in order."""
    yield from (text for _, _, text in tab_pairs(_required(path.parent, COLLECTION, None)))


def colbert_lines(path: Path) -> Iterator[tuple[str, ListLine]]:
    """The lines of a file with their places; `DataMalformed` at one of neither form."""
    for place, values in json_values(path):
        if not isinstance(values, list) or len(values) < 2:
            raise malformed(place, f"expected [qid, pid, ...], found {values!r:.60}")
        pairs = [each for each in values[1:] if isinstance(each, list)]
        if pairs and (len(pairs) < len(values) - 1 or any(len(pair) != 2 for pair in pairs)):
            raise malformed(place, f"expected [qid, [pid, score], ...], found {values!r:.60}")
        names = [_id(place, each) for each in (values[0], *([p[0] for p in pairs] or values[1:]))]
        yield place, ListLine(names[0], tuple(names[1:]), tuple(_score(place, pair[1]) for pair in pairs))


def write_colbert(folder: Path, examples: Iterable[RankingExample]) -> int:
    """Write collection, queries, lists and judgements, and return how many examples there are.

    The lists are `examples.jsonl` with scores, or `triples.jsonl` without; what the folder held of these is
    replaced. Ids count from 0 as ColBERT wants it; white space in a text becomes a space where a table cannot
    hold it. ValueError when some have scores and some have none.
    """
    examples = list(examples)
    if len({bool(one.scores) for one in examples}) > 1:
        raise ValueError("some examples have scores and some have none: ColBERT's files hold one kind")
    folder.mkdir(parents=True, exist_ok=True)
    ids: dict[str, int] = {}
    rows = [[ids.setdefault(_one_line(text), len(ids)) for text in one.passages] for one in examples]
    scored = any(one.scores for one in examples)
    lists = [_values(qid, one, row) for qid, (one, row) in enumerate(zip(examples, rows, strict=True))]
    for name in (TRIPLES, SCORED):
        (folder / name).unlink(missing_ok=True)
    _write(folder / DOCUMENTS, (f"{pid}\t{text}" for text, pid in ids.items()))
    _write(
        folder / f"{QUERIES}{ENDING}", (f"{q}\t{_one_line(one.question)}" for q, one in enumerate(examples))
    )
    positives = ((q, pid) for q, one in enumerate(examples) for pid in rows[q][: one.n_positive])
    _write(folder / f"{QRELS}{ENDING}", (f"{q}\t0\t{pid}\t1" for q, pid in dict.fromkeys(positives)))
    _write(folder / (SCORED if scored else TRIPLES), map(json.dumps, lists))
    return len(examples)


def _judged_first(line: ListLine, qrels: Qrels) -> tuple[ListLine, int]:
    """The list with what is judged relevant before the rest, and how many that are."""
    judged = qrels.get(line.question, {})
    order = sorted(range(len(line.passages)), key=lambda i: judged.get(line.passages[i], 0) <= 0)
    n_positive = sum(judged.get(name, 0) > 0 for name in line.passages)
    passages = tuple(line.passages[i] for i in order)
    return ListLine(line.question, passages, tuple(line.scores[i] for i in order if line.scores)), n_positive


def _example(
    place: str, line: ListLine, n_positive: int, questions: Mapping[str, str], passages: Mapping[str, str]
) -> RankingExample:
    try:
        texts = tuple(passages[name] for name in line.passages)
        return RankingExample(questions[line.question], texts, n_positive, line.scores)
    except KeyError as error:
        raise malformed(place, f"the id {error} is not in the tables beside the file") from error


def _id(place: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise malformed(place, f"expected an id, found {value!r:.60}")
    return str(value)


def _score(place: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise malformed(place, f"expected a finite score, found {value!r:.60}")
    return float(value)


def _found(folder: Path, stem: str, split: str | None) -> Path | None:
    """`stem.SPLIT.tsv`, else `stem.tsv`, if there is either."""
    tables = named(folder, stem, ENDING)
    return tables.get(split or TRAIN) or tables.get("")


def _required(folder: Path, stem: str, split: str | None) -> Path:
    path = _found(folder, stem, split)
    if path is None:
        raise DataMalformed(f"{folder}: expected {stem}{ENDING} or {stem}.{split or TRAIN}{ENDING}")
    return path


def _texts(path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for place, name, text in tab_pairs(path):
        if name in texts:
            raise malformed(place, f"the id {name!r:.80} is given twice")
        texts[name] = text
    return texts


def _values(qid: int, example: RankingExample, pids: Sequence[int]) -> list[Any]:
    scored = [list(pair) for pair in zip(pids, example.scores, strict=True)] if example.scores else None
    return [qid, *(scored or pids)]


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def _write(path: Path, lines: Iterable[str]) -> None:
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    part.replace(path)
