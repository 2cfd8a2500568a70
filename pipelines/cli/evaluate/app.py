"""`spanwise eval`: its verbs, each with an example."""

from __future__ import annotations

import typer

from . import compare, fairness, folder, gate, generation, open_domain, report, retrieval, speed, squad

app = typer.Typer(
    help="Evaluate the reader, retrieval with reading, or a folder of your own.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command(epilog="Example: spanwise eval squad --data dev-v1.1.json.gz --json")(squad.squad)
app.command(
    "open", epilog="Example: spanwise eval open --data dev-v1.1.json.gz --retriever bm25 --retriever hybrid"
)(open_domain.open_domain)
app.command(epilog="Example: spanwise eval fairness --data dev-v1.1.json.gz --limit 500 --json")(
    fairness.fairness
)
app.command(epilog="Example: spanwise eval folder notes --questions questions.jsonl --json")(folder.folder)
app.command(epilog="Example: spanwise eval generation --data texts.jsonl --json")(generation.generation)
app.command(epilog="Example: spanwise eval compare runs/bm25 runs/hybrid --show 5")(compare.compare)
app.command(epilog="Example: spanwise eval gate asked.jsonl --folder notes --baseline runs/kept")(gate.gate)
app.command(epilog="Example: spanwise eval retrieval --data scifact --retriever bm25")(retrieval.retrieval)
app.command(epilog="Example: spanwise eval report runs/dev")(report.report)
app.command(epilog="Example: spanwise eval speed --only bm25-search --json")(speed.speed)
