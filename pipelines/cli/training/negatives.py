"""`spanwise train negatives`: lists of passages to learn to rank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..arguments import JsonOption
from ..terminal import print_json, progress, say

if TYPE_CHECKING:
    from ...training.leaks import Leaks

RETRIEVERS = ("bm25", "dense")


def negatives(
    data: Annotated[
        list[Path],
        typer.Option(help="SQuAD-format files, or folders with a lists.jsonl; may be given several times."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for `train`, `validation` and the index.")],
    retriever: Annotated[
        list[str] | None,
        typer.Option(help="Whose results are mined, in turn; may be given several times (bm25, dense)."),
    ] = None,
    hard: Annotated[int, typer.Option(min=0, help="Hard negatives of a question: ranked high.")] = 12,
    easy: Annotated[int, typer.Option(min=0, help="Easy negatives of a question: drawn at random.")] = 2,
    depth: Annotated[int, typer.Option(min=1, help="How far down a ranking they are looked for.")] = 50,
    alike: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="What repeats so much of the positive passage is none."),
    ] = 0.5,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many questions to train on, drawn by the seed.")
    ] = None,
    validation: Annotated[int, typer.Option(min=0, help="So many held-back questions.")] = 500,
    without: Annotated[
        list[Path] | None,
        typer.Option(
            help="Evaluation data, whose questions and paragraphs are left out: a SQuAD-format file, a "
            "question set or a test collection; may be given several times."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions and which easy negatives are drawn.")] = 0,
    json: JsonOption = False,
) -> None:
    """Mine negatives: passages that rank high for a question and do not answer it."""
    from ....retrieval.training.mining import Mining
    from ...training.leaks import Leaks

    leaks = Leaks.of(without) if without else None
    mining = Mining(hard, easy, depth, alike, seed)
    names = list(dict.fromkeys(retriever or RETRIEVERS))
    settings: dict[str, Any] = {"limit": limit, "validation": validation, "leaks": leaks}
    with progress() as report:
        counts = _mine(data, out, names, mining, settings | {"report": report})
    if json:
        print_json({"out": str(out), **counts, "left_out": leaks.dropped if leaks else {}})
    else:
        say(f"{out}: {counts['train']:,} lists to train on, {counts['validation']:,} to validate")
        _say_left_out(leaks)


def _mine(
    data: Sequence[Path],
    out: Path,
    names: list[str],
    mining: Any,
    settings: dict[str, Any],
) -> dict[str, int]:
    """Mines for SQuAD's questions, whose answers are known, or for those of other data."""
    from ....corpora.squad import read_squad
    from ...training.examples import open_examples
    from ...training.mine import mine_examples, mine_squad

    is_squad = [path.is_file() and path.name.removesuffix(".gz").endswith(".json") for path in data]
    if all(is_squad):
        return mine_squad([read_squad(path) for path in data], out, names, mining, **settings)
    if any(is_squad):
        raise ValueError("--data mixes SQuAD-format files with other data: mine each kind by itself")
    examples = list(chain.from_iterable(map(open_examples, data)))
    passages = chain.from_iterable(example.passages for example in examples)
    return mine_examples(examples, passages, out, names, mining, **settings)


def _say_left_out(leaks: Leaks | None) -> None:
    if leaks is not None:
        say(
            f"left out: {leaks.by_question:,} questions that are asked in evaluation data, "
            f"{leaks.by_passage:,} that have a paragraph of it"
        )
