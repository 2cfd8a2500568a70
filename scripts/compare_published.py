"""Puts a reader beside the models of Miller et al. 2020 on one of their shifted test sets.

    spanwise eval squad --data new_wiki_v1.0.json.gz --out runs/new-wiki
    python scripts/compare_published.py runs/new-wiki --published published-results.json.gz --set new-wiki

Prints, as Markdown, the humans, every so many published models by F1, and ours between them. `--json`
prints our figures, our rank and all others as one JSON value. Source of the published figures: squadshifts'
results.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from spanwise.errors import DataMalformed, SpanwiseError
from spanwise.pipelines.evaluation.result_folder import ResultFolder


@dataclass(frozen=True, slots=True)
class Published:
    """A row of the table, in percent; `kind` is model, human or ours."""

    name: str
    exact: float
    f1: float
    kind: str = "model"


def published(path: Path, name: str) -> list[Published]:
    """The models and humans of one test set, by F1, best first; DataMalformed names what is wrong."""
    raw = path.read_bytes()
    try:
        sets = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        found = sets[name]
        rows = [
            Published(row["name"], float(row[f"{name}_em"]), float(row[f"{name}_f1"]), kind)
            for kind in ("model", "human")
            for row in found[f"{kind}s"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataMalformed(f"{path}: no published results of {name!r}: {error!r:.200}") from error
    return sorted(rows, key=lambda row: (-row.f1, row.name))


def ours(results: Path) -> list[Published]:
    """What `eval squad --out` found, by system."""
    systems = ResultFolder.open(results).metrics.get("systems", {})
    rows = [
        Published(name, figures.get("exact_match", figures.get("exact")), figures["f1"], "ours")
        for name, figures in systems.items()
    ]
    if not rows:
        raise DataMalformed(f"{results} has no figures: expected a finished `eval squad`")
    return rows


def chosen(rows: Sequence[Published], every: int) -> Iterator[tuple[str, Published]]:
    """(rank, row): humans and ours, their neighbours among the models, and every so many of the others."""
    models = [row for row in rows if row.kind == "model"]
    near = {
        id(models[at])
        for row in rows
        if row.kind == "ours"
        for above in [sum(other.f1 > row.f1 for other in models)]
        for at in (above - 1, above)
        if 0 <= at < len(models)
    }
    rank = 0
    for row in rows:
        rank += row.kind == "model"
        if row.kind != "model":
            yield f"{row.kind}, after {rank} of {len(models)}", row
        elif rank in (1, len(models)) or rank % every == 0 or id(row) in near:
            yield str(rank), row


def main() -> None:
    """Reads the arguments, compares, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="the folder that `eval squad --out` wrote")
    parser.add_argument("--published", type=Path, required=True, help="results.json, plain or gzipped")
    parser.add_argument("--set", default="new-wiki", help="amazon, new-wiki, nyt or reddit")
    parser.add_argument("--every", type=int, default=20, help="print one model of so many")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    arguments = parser.parse_args()
    try:
        mine, others = ours(arguments.results), published(arguments.published, arguments.set)
    except (SpanwiseError, OSError) as error:
        sys.exit(f"{error}")
    if arguments.json:
        ranks = {one.name: 1 + sum(o.f1 > one.f1 for o in others if o.kind == "model") for one in mine}
        print(
            json.dumps(
                {"ours": [asdict(one) for one in mine], "rank": ranks, "published": [*map(asdict, others)]}
            )
        )
        return
    print("| rank by F1 | model | EM | F1 |\n|---|---|---|---|")
    for rank, row in chosen(sorted([*mine, *others], key=lambda row: -row.f1), arguments.every):
        print(f"| {rank} | {row.name} | {row.exact:.1f} | {row.f1:.1f} |")


if __name__ == "__main__":
    main()
