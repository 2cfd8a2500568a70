"""Data to train rankers on, in whatever form: which it is shows by the files and by how they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from . import anserini, beir, detect, msmarco, ranking_colbert, ranking_dpr, ranking_folder
from .collection import Collection, QrelsReader
from .packed import beginning
from .splits import named

Tell = Callable[[str], None]
TRAIN = "train"
FORMS = (ranking_folder, ranking_dpr, ranking_colbert, *detect.FORMATS)
_UNKNOWN = f"holds no data to train rankers on. Known are: {'; '.join(form.FORM for form in FORMS)}"


@dataclass(frozen=True, slots=True)
class RankingData:
    """What a folder or a file holds, read anew at each call.

    `examples` are the questions with their passages; `passages` are all that there are, from which
    negatives can be mined, a passage perhaps more than once.
    """

    examples: Callable[[], Iterator[RankingExample]]
    passages: Callable[[], Iterator[str]]


def read_ranking_examples(
    path: Path, read_qrels: QrelsReader, split: str | None = None, tell: Tell = lambda note: None
) -> Iterator[RankingExample]:
    """The examples of `ranking_data`."""
    return ranking_data(path, read_qrels, split, tell).examples()


def ranking_data(
    path: Path, read_qrels: QrelsReader, split: str | None = None, tell: Tell = lambda note: None
) -> RankingData:
    """The data in a folder or a file; `DataMalformed` names the forms that are known, or what is wrong where.

    A test collection has positives alone: the documents judged relevant. `split` says which judgements, by
    default "train". `tell` hears what was left out, a line each.
    """
    if path.is_dir():
        return _in_folder(path, read_qrels, split, tell)
    start = "".join(beginning(path).split())
    if start.startswith(("[{", "[]")):
        return RankingData(
            partial(ranking_dpr.read_dpr_examples, path, tell), partial(ranking_dpr.dpr_passages, path)
        )
    if ranking_colbert.is_colbert_file(path):
        return _colbert(path, read_qrels, split, tell)
    raise DataMalformed(f"{path}: {_UNKNOWN}")


def _in_folder(folder: Path, read_qrels: QrelsReader, split: str | None, tell: Tell) -> RankingData:
    if ranking_folder.is_ranking_folder(folder):
        return RankingData(
            partial(ranking_folder.read_ranking_folder, folder),
            partial(ranking_folder.ranking_folder_passages, folder),
        )
    lists = ranking_colbert.colbert_lists(folder)
    if len(lists) > 1:
        names = ", ".join(path.name for path in lists)
        raise DataMalformed(f"{folder}: holds several files of lists, name the one that is meant: {names}")
    if lists:
        return _colbert(lists[0], read_qrels, split, tell)
    if not detect.is_collection(folder):
        raise DataMalformed(f"{folder}: {_UNKNOWN}")
    collection = detect.read_collection(folder, _training_split(folder, split), read_qrels)
    return RankingData(
        partial(judged_examples, collection, tell),
        lambda: (document.titled for document in collection.documents),
    )


def judged_examples(collection: Collection, tell: Tell) -> Iterator[RankingExample]:
    """Each query with the documents judged relevant, a title in the line above its text.

    `tell` hears how many queries have none, which are left out.
    """
    texts = {document.id: document.titled for document in collection.documents}
    left_out = 0
    for query in collection.queries:
        judged = collection.qrels.get(query.id, {})
        positives = dict.fromkeys(
            texts[name] for name, grade in judged.items() if grade > 0 and name in texts
        )
        if positives:
            yield RankingExample(query.text, tuple(positives), len(positives))
        else:
            left_out += 1
    if left_out:
        tell(f"{collection.name}: {left_out:,} questions without a document judged relevant, left out")


def _colbert(path: Path, read_qrels: QrelsReader, split: str | None, tell: Tell) -> RankingData:
    return RankingData(
        partial(ranking_colbert.read_colbert, path, read_qrels, split, tell),
        partial(ranking_colbert.colbert_passages, path),
    )


def _training_split(folder: Path, split: str | None) -> str | None:
    """The split named, else "train" where judgements have splits: never silently those that are reported."""
    if beir.is_beir(folder):
        splits = named(folder / beir.QRELS, "", ".tsv")
    elif msmarco.is_msmarco(folder):
        splits = named(folder, msmarco.QRELS, msmarco.ENDING)
    elif anserini.is_anserini(folder):
        splits = named(folder, "qrels", ".txt")
    else:
        return split
    return split or (TRAIN if any(splits) else None)
