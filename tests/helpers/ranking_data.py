"""A small collection as a BEIR folder, and lists to train rankers on."""

import json
from collections.abc import Iterable
from pathlib import Path

from spanwise.corpora.datasets.ranking_examples import json_line
from spanwise.types import RankingExample

DOCUMENTS = {"1": ("The mill", "It was built\nin 1811."), "2": ("", "A tram line."), "3": ("Weir", "Water.")}
QUERIES = {"1": "who built the mill", "2": "when does the tram run"}
QRELS = {"1": {"1": 1}, "2": {"2": 1, "3": 0}}


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_beir_folder(folder: Path) -> None:
    documents = [{"_id": n, "title": title, "text": text} for n, (title, text) in DOCUMENTS.items()]
    write(folder / "corpus.jsonl", *map(json.dumps, documents))
    queries = [{"_id": n, "text": text} for n, text in QUERIES.items()]
    write(folder / "queries.jsonl", *map(json.dumps, queries))
    rows = [f"{query}\t{name}\t{grade}" for query, judged in QRELS.items() for name, grade in judged.items()]
    write(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore", *rows)


def write_lists(folder: Path, examples: Iterable[RankingExample]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lists.jsonl").write_text("".join(map(json_line, examples)), encoding="utf-8")
