"""Measures what reading takes beyond the encoder's own time for the same tokens.

    python scripts/measure_reader.py --data dev-v1.1.json.gz

One question on twenty passages of 150 words, warm, tokenizing included: read, and, as texts of question and
passage, encoded. Both in turns in one process; the ratio is the median of the ratios of the rounds. `--clock
cpu` counts the processor time of one thread, which neighbours disturb less. Prints one line.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import torch

from spanwise.corpora.squad import read_squad
from spanwise.models.encoder import TextEncoder
from spanwise.reader.load import load_reader
from spanwise.types import Passage

PASSAGES, WORDS = 20, 150
QUESTION = "What is the name of the first bridge that was built over the river?"


def passages(data: Path) -> list[Passage]:
    """The first words of a SQuAD file's paragraphs, cut anew at every 150."""
    words: list[str] = []
    for article in read_squad(data).articles:
        words += [word for one in article.paragraphs for word in one.context.split()]
        if len(words) >= PASSAGES * WORDS:
            break
    texts = [" ".join(words[at * WORDS : (at + 1) * WORDS]) for at in range(PASSAGES)]
    return [Passage(at, str(at), 0, len(text), text) for at, text in enumerate(texts)]


def rounds(n: int, clock: Callable[[], float], *tasks: Callable[[], object]) -> list[Sequence[float]]:
    """What each task took in each round; the order turns from round to round."""
    taken: list[Sequence[float]] = []
    for number in range(n):
        row = [0.0] * len(tasks)
        order = range(len(tasks)) if number % 2 else reversed(range(len(tasks)))
        for at in order:
            began = clock()
            tasks[at]()
            row[at] = clock() - began
        taken.append(row)
    return taken


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a SQuAD-format file")
    parser.add_argument("--rounds", type=int, default=15, help="how often each is done")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    given = parser.parse_args(arguments)
    if given.clock == "cpu":
        torch.set_num_threads(1)
    clock = time.perf_counter if given.clock == "wall" else time.process_time
    read_these, reader, encoder = passages(given.data), load_reader(), TextEncoder.load()
    texts = [f"{QUESTION} {one.text}" for one in read_these]

    def read() -> object:
        return reader.read([QUESTION], [read_these])

    def encode() -> object:
        return encoder.encode_passages(texts)

    read(), encode()
    taken = rounds(given.rounds, clock, read, encode)
    reading, encoding = (median(row[at] for row in taken) for at in (0, 1))
    ratio = median(row[0] / row[1] for row in taken)
    print(f"read {reading * 1000:.0f} ms, encode {encoding * 1000:.0f} ms, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
