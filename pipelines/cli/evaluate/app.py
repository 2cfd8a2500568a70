"""`spanwise eval`: its verbs, each with an example."""

from __future__ import annotations

import typer

from . import compare, folder, open_domain, retrieval, squad

app = typer.Typer(
    help="Measure reading, retrieval, or answers from your own folder.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command(epilog="Example: spanwise eval squad --data dev-v1.1.json.gz --json")(squad.squad)
app.command(
    "open", epilog="Example: spanwise eval open --data dev-v1.1.json.gz --retriever bm25 --retriever hybrid"
)(open_domain.open_domain)
app.command(epilog="Example: spanwise eval folder notes --questions questions.jsonl --json")(folder.folder)
app.command(epilog="Example: spanwise eval compare runs/bm25 runs/hybrid --show 5")(compare.compare)
app.command(epilog="Example: spanwise eval retrieval --data scifact --retriever bm25")(retrieval.retrieval)
