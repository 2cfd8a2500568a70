"""Writes a collection with the token vectors of its passages and questions into a folder, see `token_corpus`.

    SPANWISE_DATA=/data python scripts/make_token_corpus.py FOLDER --passages 200000

The real paragraphs of SQuAD train and dev come first, then as many made-up ones as are missing. The same
command in the same folder goes on where it was interrupted. Without a GPU 200,000 passages take about an hour
on two cores and 5 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from made_up_passages import made_up_passages
from numpy.lib import format as npy
from numpy.typing import NDArray
from token_corpus import LENGTHS, QUESTION_LENGTHS, QUESTION_ROWS, QUESTIONS, TEXTS, TOKENS

from spanwise.corpora.squad import read_squad
from spanwise.retrieval.protocol import TokenEncoder

BLOCK = 4096  # passages between two savings
FILES = ("train-v1.1.json.gz", "dev-v1.1.json.gz")
HALF = np.dtype("<f2")


def read_asked(data: Path) -> tuple[list[str], list[tuple[str, int]]]:
    """All paragraphs, and every question with the number of its paragraph."""
    paragraphs: list[str] = []
    asked: list[tuple[str, int]] = []
    for name in FILES:
        for article in read_squad(data / "squad" / name).articles:
            for paragraph in article.paragraphs:
                asked += [(question.text, len(paragraphs)) for question in paragraph.questions]
                paragraphs.append(paragraph.context)
    return paragraphs, asked


def write_texts(folder: Path, n_passages: int, n_questions: int, seed: int) -> None:
    """The passages and the questions, drawn from those whose paragraph is among the passages."""
    paragraphs, asked = read_asked(Path(os.environ["SPANWISE_DATA"]))
    more = made_up_passages(paragraphs, max(0, n_passages - len(paragraphs)), seed)
    asked = [(text, gold) for text, gold in asked if gold < n_passages]
    drawn = np.random.default_rng(seed).choice(len(asked), min(n_questions, len(asked)), replace=False)
    chosen = [{"text": asked[i][0], "gold": asked[i][1]} for i in drawn.tolist()]
    write_lines(folder / QUESTIONS, chosen)
    write_lines(folder / TEXTS, [*paragraphs[:n_passages], *more])


def write_lines(path: Path, values: Sequence[object]) -> None:
    """One JSON value a line, whole or not at all."""
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    replace(path, text.encode("utf-8"))


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(content)
    temporary.replace(path)


def save(path: Path, array: NDArray[np.generic]) -> None:
    """An array file, whole or not at all."""
    temporary = path.with_name("new-" + path.name)
    np.save(temporary, array, allow_pickle=False)
    temporary.replace(path)


def write_tokens(folder: Path, encoder: TokenEncoder) -> None:
    """The vectors of all passages; those that lengths.npy counts are there already."""
    lengths = np.load(folder / LENGTHS) if (folder / LENGTHS).exists() else np.zeros(0, np.int64)
    with (folder / TEXTS).open(encoding="utf-8") as lines:
        texts = (json.loads(line) for line in islice(lines, len(lengths), None))
        while block := list(islice(texts, BLOCK)):
            vectors, counts = encoder.encode_passages(block)
            append(folder / TOKENS, int(lengths.sum()), vectors)
            lengths = np.concatenate((lengths, counts))
            save(folder / LENGTHS, lengths)  # last: what it does not count is written over
            print(f"{len(lengths)} passages, {lengths.sum()} tokens", file=sys.stderr, flush=True)


def append(path: Path, n_tokens: int, vectors: NDArray[np.float32]) -> None:
    """Write rows behind the first `n_tokens` of an array file, which need not exist when these are none.

    numpy leaves room in the header of such a file for its first dimension to grow.
    """
    width = vectors.shape[1]
    with path.open("r+b" if path.exists() else "w+b") as file:
        shape = (n_tokens + len(vectors), width)
        npy.write_array_header_1_0(file, {"descr": HALF.str, "fortran_order": False, "shape": shape})
        file.seek(n_tokens * width * HALF.itemsize, os.SEEK_CUR)
        file.write(vectors.astype(HALF).tobytes())
        file.truncate()
        os.fsync(file.fileno())


def write_questions(folder: Path, encoder: TokenEncoder) -> None:
    """The vectors of the questions."""
    lines = (folder / QUESTIONS).read_text(encoding="utf-8").splitlines()
    rows = encoder.encode_questions([json.loads(line)["text"] for line in lines])
    save(folder / QUESTION_ROWS, np.concatenate(rows))
    save(folder / QUESTION_LENGTHS, np.array([len(each) for each in rows]))


def main() -> None:
    """Makes the folder, or finishes it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=200_000)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="builtin")
    options = parser.parse_args()
    if "SPANWISE_DATA" not in os.environ:
        sys.exit("SPANWISE_DATA is not set: it names the folder of data sets")
    options.folder.mkdir(parents=True, exist_ok=True)
    if not (options.folder / TEXTS).exists():
        write_texts(options.folder, options.passages, options.questions, options.seed)
    from spanwise.models.token_encoder import load_token_encoder

    encoder = load_token_encoder(options.model)
    if not (options.folder / QUESTION_LENGTHS).exists():
        write_questions(options.folder, encoder)
    write_tokens(options.folder, encoder)


if __name__ == "__main__":
    main()
