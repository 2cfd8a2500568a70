"""`spanwise adapt`: the model of token vectors learns from one's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..library import Library
from .arguments import IndexOption, JsonOption, library_of
from .index import run_sync, say_report
from .terminal import print_json, progress, say, visible

if TYPE_CHECKING:
    from ..adapt.adaptation import Adaptation
    from ..adapt.recipe import AdaptRecipe

SHOWN = 10


def adapt(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder to sync and adapt to; else the nearest index upward."),
    ] = None,
    index: IndexOption = None,
    questions: Annotated[
        int, typer.Option(min=1, help="How many questions are made of the documents, at most.")
    ] = 2_000,
    teacher: Annotated[
        str, typer.Option(help="The cross-encoder that teaches: builtin, a folder, or name@revision.")
    ] = "builtin",
    seed: Annotated[int, typer.Option(help="Seed of the questions and of the training.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the questions.")] = 2,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show ten of the questions and how long it would take.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Go back to the model before the last adaptation.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Train the model of token vectors on these documents, without labels; it stays only if it is better.

    An interrupted run goes on where it stopped, and leaves the index as it was until it has ended.
    """
    from ..adapt.recipe import AdaptRecipe

    if undo and dry_run:
        raise typer.BadParameter("name one of --undo and --dry-run", param_hint="--undo")
    recipe = AdaptRecipe(questions=questions, teacher=teacher, seed=seed, epochs=epochs)
    with library_of(folder, index) as library:
        if undo:
            _undo(library, json)
            return
        if folder is not None:
            say_report(run_sync(library))
        if dry_run:
            _show_questions(library, recipe, json)
            return
        _tell_estimate(library, recipe)
        with progress() as report:
            adaptation = library.adapt(recipe, report)
        _show(adaptation, library, json)


def _undo(library: Library, json: bool) -> None:
    with progress() as report:
        setting = library.undo_adapt(report)
    name = setting.name if setting else None
    if json:
        print_json({"index": str(library.store.path), "colbert": name})
    else:
        print(
            f"token vectors are by {visible(name)} again" if name else "no token vectors are kept, as before"
        )


def _show_questions(library: Library, recipe: AdaptRecipe, json: bool) -> None:
    from ..adapt.adaptation import question_record
    from ..adapt.dry_run import planned

    plan = planned(library, recipe)
    if json:
        shown = [question_record(one) for one in plan.questions[:SHOWN]]
        print_json({"questions": plan.n_questions, "minutes": plan.minutes, "examples": shown})
        return
    for one in plan.questions[:SHOWN]:
        print(visible(f"{one.kind:10}  {one.text}  ({one.document_id})"))
    say(f"{plan.n_questions} questions; about {plan.minutes} minutes on two cores")


def _tell_estimate(library: Library, recipe: AdaptRecipe) -> None:
    from ..adapt.dry_run import planned

    plan = planned(library, recipe)
    say(f"{plan.n_questions} questions; about {plan.minutes} minutes on two cores")


def _show(adaptation: Adaptation, library: Library, json: bool) -> None:
    from ..adapt.adaptation import adaptation_record

    if json:
        print_json({"index": str(library.store.path), **adaptation_record(adaptation)})
        return
    for one in adaptation.comparisons:
        low, high = one.interval or (one.difference, one.difference)
        print(
            f"{one.measure:9}  {one.baseline_mean:.3f} -> {one.system_mean:.3f}  "
            f"{one.difference:+.3f} ({low:+.3f} to {high:+.3f})  p {one.p:.4f}  {one.questions} questions"
        )
    print(adaptation.verdict)
    if adaptation.installed:
        say("back to the model before: spanwise adapt --undo")
