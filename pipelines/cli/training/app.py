"""`spanwise train`: its verbs, each with an example."""

from __future__ import annotations

from collections.abc import Callable

import typer

from . import colbert, cross_encoder, negatives, reader, scores

app = typer.Typer(
    help="Train models from the built-in base, and make the data for it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
EXAMPLES = {
    "reader": "--data train-v1.1.json.gz --out runs/reader",
    "negatives": "--data train-v1.1.json.gz --without dev-v1.1.json.gz --out runs/mined",
    "cross-encoder": "--lists runs/mined/train --validation runs/mined/validation --out runs/teacher",
    "scores": "--lists runs/mined/train --teacher runs/teacher --out runs/scored",
    "colbert": "--lists runs/scored --validation runs/mined/validation --out runs/student",
}
VERBS: tuple[Callable[..., None], ...] = (
    reader.reader,
    negatives.negatives,
    cross_encoder.cross_encoder,
    scores.scores,
    colbert.colbert,
)
for name, verb in zip(EXAMPLES, VERBS, strict=True):
    app.command(name, epilog=f"Example: spanwise train {name} {EXAMPLES[name]}")(verb)
