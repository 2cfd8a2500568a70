"""Averages the weights of readers that were trained from one another, and measures each mixture.

    python scripts/average_readers.py train-v1.1.json.gz runs/first runs/second \\
        --shares 1 0 --shares 0.5 0.5 --out runs/averaged

Every weight is the mean of the readers' weights by their shares; of a weight that some readers do not have,
the mean of the others. Each mixture is measured on the same questions of the validation articles and on
constructed unanswerable ones, as `train reader` does; the one with the best F1 is written to `out`.
(Izmailov et al., "Averaging weights leads to wider optima and better generalization", 2018; Wortsman et al.,
"Model soups", 2022.)
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from spanwise.corpora.sentences import sentence_spans
from spanwise.corpora.squad import read_squad
from spanwise.errors import SpanwiseError
from spanwise.models.delta import save_delta
from spanwise.models.locate import BASE_SHA256, find_base
from spanwise.models.pretrained import load_span_model, load_tokenizer
from spanwise.pipelines.training.reader_quality import held_back_absent, reader_figures
from spanwise.pipelines.training.reader_start import base_state, starting_reader
from spanwise.pipelines.training.train_reader import VALIDATION_ABSENT, examples_of
from spanwise.pipelines.validation_split import split_articles
from spanwise.reader.load import DELTA, SETTINGS, answers_null, input_length
from spanwise.reader.span_reader import SENTENCE_HEAD, SpanReader
from spanwise.reader.training import add_sentence_head

BASE = "base"


def averaged(states: Sequence[Mapping[str, Tensor]], shares: Sequence[float]) -> dict[str, Tensor]:
    """The mean of each weight over the readers that have it; shares of zero leave a reader out.

    ValueError when a weight is left without a share.
    """
    mean: dict[str, Tensor] = {}
    for name in dict.fromkeys(name for state in states for name in state):
        parts = [(share, one[name]) for share, one in zip(shares, states, strict=True) if name in one]
        total = sum(share for share, _ in parts)
        if total > 0:
            mean[name] = torch.stack([share / total * tensor.float() for share, tensor in parts]).sum(0)
        elif not name.startswith(SENTENCE_HEAD):
            raise ValueError(f"no reader with a share has the weight {name}")
    return mean


def as_reader(weights: Mapping[str, Tensor]) -> SpanReader:
    """A reader over the built-in base with these weights."""
    model: nn.Module = load_span_model(find_base())
    if any(name.startswith(SENTENCE_HEAD) for name in weights):
        add_sentence_head(model)
    model.load_state_dict(dict(weights))
    max_length, stride = input_length(model, BASE)
    return SpanReader(
        model.eval(),
        load_tokenizer(find_base()),
        "averaged",
        max_length=max_length,
        stride=stride,
        split=sentence_spans,
    )


def write(reader: SpanReader, weights: Mapping[str, Tensor], out: Path) -> None:
    """Writes the folder of a reader, as `train reader` does."""
    out.mkdir(parents=True, exist_ok=True)
    save_delta(out / DELTA, weights, base_state(), BASE_SHA256)
    (out / SETTINGS).write_text(json.dumps({"answers_null": answers_null(reader)}) + "\n", encoding="utf-8")


def compare(
    data: Path, readers: Sequence[Path], mixtures: Sequence[Sequence[float]], questions: int, out: Path | None
) -> None:
    """Prints the figures of each mixture, and writes the best one."""
    _, validation = split_articles(read_squad(data).articles)
    held_out = examples_of(validation)
    if not held_out:
        raise ValueError(f"{data} has no question of a validation article to choose by")
    absent = held_back_absent(held_out, VALIDATION_ABSENT)
    examples = random.Random(1).sample(held_out, min(questions, len(held_out)))
    states = [starting_reader(folder / DELTA, 0).state_dict() for folder in readers]
    best = -1.0
    for shares in mixtures:
        weights = averaged(states, shares)
        reader = as_reader(weights)
        figures = reader_figures(reader, examples, absent)
        told = "  ".join(f"{name} {value:.2f}" for name, value in figures.items())
        print(" ".join(f"{share:g}" for share in shares), " ", told, flush=True)
        if out and figures["f1"] > best:
            best = figures["f1"]
            write(reader, weights, out)


def main(arguments: Sequence[str] | None = None) -> None:
    """Average, measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the SQuAD-format file that the readers were trained on")
    parser.add_argument("readers", type=Path, nargs="+", help="folders that `train reader` wrote")
    parser.add_argument("--shares", type=float, nargs="+", action="append", help="one share a reader")
    parser.add_argument("--questions", type=int, default=3000, help="of the validation articles")
    parser.add_argument("--out", type=Path, help="folder for the best mixture")
    chosen = parser.parse_args(arguments)
    n = len(chosen.readers)
    mixtures = chosen.shares or [[1 / n] * n]
    for shares in mixtures:
        if len(shares) != n or min(shares) < 0 or sum(shares) <= 0:
            parser.error(f"{shares}: expected {n} shares from 0, not all of them 0")
    try:
        compare(chosen.data, chosen.readers, mixtures, chosen.questions, chosen.out)
    except (SpanwiseError, ValueError, OSError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
