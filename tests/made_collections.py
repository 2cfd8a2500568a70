"""One small collection, written in every format that is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

DOCUMENTS = {"1": ("The mill", "It was built\nin 1811."), "2": ("", "A tram line."), "3": ("Weir", "Water.")}
QUERIES = {"1": "who built the mill", "2": "when does the tram run"}
QRELS = {"1": {"1": 1}, "2": {"2": 1, "3": 0}}

Write = Callable[[Path], None]


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def trec_qrels() -> list[str]:
    return [f"{query} 0 {name} {grade}" for query, judged in QRELS.items() for name, grade in judged.items()]


def write_beir_folder(folder: Path) -> None:
    documents = [{"_id": n, "title": title, "text": text} for n, (title, text) in DOCUMENTS.items()]
    write(folder / "corpus.jsonl", *map(json.dumps, documents))
    write(folder / "queries.jsonl", *[json.dumps({"_id": n, "text": text}) for n, text in QUERIES.items()])
    rows = [line.replace(" 0 ", " ", 1).replace(" ", "\t") for line in trec_qrels()]
    write(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore", *rows)


def write_msmarco(folder: Path) -> None:
    flat = {n: f"{title} {text}".replace("\n", " ").strip() for n, (title, text) in DOCUMENTS.items()}
    write(folder / "collection.tsv", *[f"{n}\t{text}" for n, text in flat.items()])
    write(folder / "queries.dev.tsv", *[f"{n}\t{text}" for n, text in QUERIES.items()])
    write(folder / "qrels.dev.tsv", *[line.replace(" ", "\t") for line in trec_qrels()])


def write_anserini(folder: Path) -> None:
    lines = [json.dumps({"id": n, "contents": f"{title}\n{text}"}) for n, (title, text) in DOCUMENTS.items()]
    write(folder / "part-0.jsonl", *lines[:2])
    write(folder / "part-1.jsonl", *lines[2:])
    write(folder / "topics.toy.test.tsv", *[f"{n}\t{text}" for n, text in QUERIES.items()])
    write(folder / "qrels.toy.test.txt", *trec_qrels())


def write_trec(folder: Path) -> None:
    body = "<DOC>\n<DOCNO> {} </DOCNO>\n<TITLE>{}</TITLE>\n<TEXT>\n{}\n</TEXT>\n</DOC>"
    write(folder / "docs.trec", *[body.format(n, *parts) for n, parts in DOCUMENTS.items()])
    topic = "<top>\n<num> Number: {}\n<title> {}\n<desc> More.\n</top>"
    write(folder / "topics.trec", *[topic.format(*query) for query in QUERIES.items()])
    write(folder / "qrels", *trec_qrels())


def write_cranfield(folder: Path) -> None:
    record = ".I {}\n.T\n{}\n.A\n.B\n.W\n{}"
    write(folder / "cran.all.1400", *[record.format(n, *parts) for n, parts in DOCUMENTS.items()])
    write(folder / "cran.qry", *[f".I 00{2 * int(n)}\n.W\n{text}" for n, text in QUERIES.items()])
    write(folder / "cranqrel", "1 1 4", "2 2 1", "2 3 -1")


def write_cacm(folder: Path) -> None:
    record = ".I {}\n.T\n{}\n.W\n{}\n.X\n1\t5\t1"
    write(folder / "cacm.all", *[record.format(n, *parts) for n, parts in DOCUMENTS.items()])
    write(folder / "query.text", *[f".I {n}\n.W\n {text}\n.N\n someone" for n, text in QUERIES.items()])
    write(folder / "qrels.text", "01 1 0 0", "02 2 0 0")


def write_npl(folder: Path) -> None:
    texts = {n: f"{title}\n{text}" for n, (title, text) in DOCUMENTS.items()}
    write(folder / "doc-text", *[f"{n}\n{text}\n   /" for n, text in texts.items()])
    write(folder / "query-text", *[f"{n}\n{text}\n/" for n, text in QUERIES.items()])
    write(folder / "rlv-ass", "1\n    1\n   /", "2\n 2\n   /")


WRITERS: dict[str, Write] = {
    "beir": write_beir_folder,
    "msmarco": write_msmarco,
    "anserini": write_anserini,
    "trec": write_trec,
    "cranfield": write_cranfield,
    "cacm": write_cacm,
    "npl": write_npl,
}
