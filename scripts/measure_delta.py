"""What it costs to store a trained model in fewer bytes: the size of its file and its quality, by precision.

    python scripts/measure_delta.py WEIGHTS --data train-v1.1.json.gz --precisions bf16 int8 int4 int2/int4
    python scripts/measure_delta.py WEIGHTS --lists runs/mined/validation --precisions int8 int4 rank64

WEIGHTS is a model's file of differences or, in full precision, `run/best.safetensors` of a training: of a
reader (exact match and F1 on `--data`, questions of the validation articles), a cross-encoder or a student
(mean reciprocal rank and the share of lists with the positive passage first, on `--lists`).

A precision is one of the file format's; `A/B` takes A for the embeddings and the lower half of the layers, B
for the upper half; `rankN` keeps the N largest singular values of each difference, its two factors counted as
int8 (the format does not have it).

`error` is the share of the squared differences that is lost. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from spanwise.corpora.ranking_examples import read_ranking_examples
from spanwise.corpora.squad import read_squad
from spanwise.models.checkpoint import read_checkpoint
from spanwise.models.cross_encoder import CrossEncoder, PairScorer
from spanwise.models.delta import Precision, save_delta, tuned_weights
from spanwise.models.locate import BASE_SHA256, find_base
from spanwise.models.pretrained import load_tokenizer
from spanwise.models.skiplist import marks_of
from spanwise.models.stored_model import tuned_trunk
from spanwise.models.student_config import StudentSettings
from spanwise.models.student_folder import StoredStudent
from spanwise.pipelines.training.ranking_quality import first_ranks
from spanwise.pipelines.training.reader_quality import reader_figures
from spanwise.pipelines.training.train_reader import examples_of
from spanwise.pipelines.training.train_student import ranks_of, token_rows
from spanwise.pipelines.validation_split import split_articles
from spanwise.reader.builtin import DELTA, load_reader
from spanwise.retrieval.training.student import Student
from spanwise.retrieval.training.student_scores import StudentScores
from spanwise.types import RankingExample

Weights = Mapping[str, Tensor]
Figures = Mapping[str, float]
READER_HEAD = "qa_outputs.weight"
MAX_LENGTH = 256  # tokens, of a student


def trained_weights(path: Path) -> dict[str, Tensor]:
    """All weights of a model, those of the trunk named as in the base."""
    base = read_checkpoint(find_base()).weights
    with safe_open(path, framework="pt") as file:
        if str((file.metadata() or {}).get("format", "")).startswith("spanwise-delta"):
            prefixed = any(name.startswith("bert.") for name in file.keys())  # noqa: SIM118 (no mapping)
            stored = tuned_weights(named(base, base, "bert." * prefixed), path, BASE_SHA256)
        else:
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    return {**base, **{plain(name): tensor for name, tensor in stored.items()}}


def plain(name: str) -> str:
    """The name without the trunk's place in its model."""
    return name.removeprefix("bert.").removeprefix("trunk.")


def named(weights: Weights, base: Weights, prefix: str) -> dict[str, Tensor]:
    """The weights with a prefix before the names that the base has."""
    return {prefix * (name in base) + name: tensor for name, tensor in weights.items()}


def low_rank(tuned: Weights, base: Weights, rank: int) -> tuple[dict[str, Tensor], int]:
    """The weights with differences of at most this rank, and how many bytes these would take."""
    out, n_bytes = dict(tuned), 0
    for name, tensor in tuned.items():
        if name not in base or torch.equal(tensor, base[name]):
            n_bytes += 0 if name in base else 4 * tensor.numel()
        elif tensor.dim() == 2:
            u, s, v = torch.linalg.svd(tensor - base[name], full_matrices=False)
            out[name] = base[name] + u[:, :rank] * s[:rank] @ v[:rank]
            n_bytes += min(rank, len(s)) * (sum(tensor.shape) + 8)
        else:
            n_bytes += 4 * tensor.numel()
    return out, n_bytes


def by_layer(precision: str, n_layers: int) -> Callable[[str], Precision]:
    """The precision of a weight; `A/B` is A below the middle of the layers and B above it."""
    lower, _, upper = precision.partition("/")

    def chosen(name: str) -> Precision:
        parts = name.split(".")
        layer = int(parts[parts.index("layer") + 1]) if "layer" in parts else 0
        return upper if upper and layer >= n_layers // 2 else lower  # type: ignore[return-value]

    return chosen


def lost(stored: Weights, tuned: Weights, base: Weights) -> float:
    """The share of the squared differences from the base that is not there any more."""
    changed = [name for name in base if name in tuned and not torch.equal(tuned[name], base[name])]
    error = sum(float((stored[name] - tuned[name]).square().sum()) for name in changed)
    return error / sum(float((tuned[name] - base[name]).square().sum()) for name in changed)


def reading(data: Path, n: int) -> Callable[[Path], Figures]:
    """What reads questions of the validation articles by the reader in a folder."""
    held_out = examples_of(split_articles(read_squad(data).articles)[1])
    chosen = random.Random(1).sample(held_out, min(n, len(held_out)))
    return lambda folder: reader_figures(load_reader(str(folder)), chosen)


def ranking(lists: Path, n: int) -> Callable[[Path], Figures]:
    """What ranks the lists by the cross-encoder in a folder."""
    held_out = list(read_ranking_examples(lists))[:n]

    def figures(folder: Path) -> Figures:
        trunk, added = tuned_trunk(folder / DELTA)
        if "projection.weight" in added:
            return student_figures(trunk, added, held_out)
        scorer = PairScorer(trunk, layer(added, "head")).eval()
        encoder = CrossEncoder(scorer, load_tokenizer(find_base()), "measured")
        return first_ranks(encoder.score, held_out)

    return figures


def student_figures(trunk: nn.Module, added: Weights, held_out: Sequence[RankingExample]) -> Figures:
    """How a student with dense heads ranks the lists, by its token vectors and by these."""
    layers = [layer(added, name) for name in ("projection", "question_head", "passage_head")]
    marks = marks_of((find_base() / "vocab.txt").read_text(encoding="utf-8").splitlines())
    stored = StoredStudent(trunk, *layers, StudentSettings(None, marks))
    model = Student(trunk, *layers).eval()
    return ranks_of(StudentScores(model, token_rows(stored, MAX_LENGTH)), held_out)


def layer(added: Weights, name: str) -> nn.Linear:
    """The linear layer of this name."""
    made = nn.Linear(*reversed(added[f"{name}.weight"].shape))
    made.load_state_dict({part: added[f"{name}.{part}"] for part in ("weight", "bias")})
    return made


def measured(tuned: Weights, precision: str, prefix: str, figures: Callable[[Path], Figures]) -> list[str]:
    """The cells of one row: bytes, the share of differences that is lost, the figures."""
    base = read_checkpoint(find_base()).weights
    rank = precision.removeprefix("rank")
    kept, n_bytes = low_rank(tuned, base, int(rank)) if rank.isdigit() else (tuned, 0)
    n_layers = 1 + max(int(name.split(".")[2]) for name in base if name.startswith("encoder.layer."))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / DELTA
        save = partial(save_delta, path, named(kept, base, prefix), named(base, base, prefix), BASE_SHA256)
        save("bf16" if n_bytes else by_layer(precision, n_layers))
        error = lost(trained_weights(path), tuned, base)
        found = figures(Path(folder))
        n_bytes = n_bytes or path.stat().st_size
    return [f"{n_bytes / 1e6:.2f}", f"{error:.2%}", *(f"{value:.4g}" for value in found.values())]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("--data", type=Path, help="SQuAD train, to measure a reader")
    parser.add_argument("--lists", type=Path, help="a ranking folder, to measure what ranks")
    parser.add_argument("-n", type=int, default=200, help="questions or lists")
    parser.add_argument("--precisions", nargs="+", default=["bf16", "int8", "int6", "int4", "int3", "int2"])
    options = parser.parse_args(arguments)
    tuned = trained_weights(options.weights)
    is_reader = READER_HEAD in tuned
    source = options.data if is_reader else options.lists
    if source is None:
        parser.error("--data measures a reader, --lists what ranks: name what these weights need")
    figures = (reading if is_reader else ranking)(source, options.n)
    columns = ["MRR", "first"] + ["dense MRR", "dense first"] * ("projection.weight" in tuned)
    columns = ["precision", "MB", "error", *(["exact", "F1"] if is_reader else columns)]
    print("|", " | ".join(columns), "|\n" + "|---" * len(columns) + "|")
    for precision in options.precisions:
        cells = measured(tuned, precision, "bert." * is_reader, figures)
        print("|", " | ".join([precision, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
