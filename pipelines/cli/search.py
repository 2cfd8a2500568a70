"""`spanwise search QUESTION [FOLDER]`: the best passages for a question."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwise.types import SearchOptions

from ..json_records import search_record
from . import options as opt
from .index import synced
from .show import empty_filter, print_json, progress, say, say_partial, say_spelling, show_hits


@opt.grouped
def search(
    question: Annotated[str, typer.Argument(help="The question, or words.")],
    folder: opt.SyncedFolder = None,
    index: opt.Index = None,
    *,
    ranking: opt.RankingGroup,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages.")] = 10,
    dedupe: opt.Dedupe = True,
    documents: opt.FilterGroup,
    cluster: opt.ClusterGroup,
    no_wait: opt.NoWait = False,
    json: opt.Json = False,
) -> None:
    """Print the best passages for a question."""
    if opt.question_and_folder(question, folder, index)[0] is None:
        raise typer.BadParameter(f"{question} is a folder: name the words before it", param_hint="QUESTION")
    options = opt.options_of(SearchOptions, ranking, documents, k=k, dedupe=dedupe)
    with synced(folder, index, cluster=cluster.options(), wait=not no_wait) as library:
        with progress(after_s=1) as report:
            report("models", 0, 0)
            result = library.search(question, options, on_progress=report)
        say_spelling(result.spelling)
        say_partial(result.left_out)
        if nothing := empty_filter(result.scope):
            say(nothing)
        if json:
            print_json(search_record(result))
        else:
            show_hits(result)
