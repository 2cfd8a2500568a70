"""The page of an evaluation, from its settings, its figures and its records alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ..question_record import QuestionRecord
from .axis import number
from .confidence_plots import reliability_plots
from .curve_plots import precision_recall_plot, recall_plots, risk_plot
from .group_plots import group_plots, verdict_plot
from .latency_plot import latency_plot
from .marked_passage import shown_passages
from .markup import shown
from .plot import Plot
from .system_tally import SystemTally, tallies

JOIN = ", "
"""Between the names of an object and of a value in it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one measure: as it is printed, and to its last digit."""

    printed: str
    exact: str


def page(
    command: str,
    settings: Mapping[str, Any],
    records: Iterable[QuestionRecord],
    metrics: Mapping[str, Any] | None,
) -> str:
    """One HTML file that needs nothing else: no script, no request.

    `metrics` are those of `metrics.json`; without them the page says that the evaluation is unfinished and
    shows the means of the scores so far. The records are gone through once.
    """
    gathered = tallies(records)
    figures = _means(gathered) if metrics is None else metrics.get("systems", {})
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_resource("page.html.jinja"))
    rows = _table(figures)
    return template.render(
        command=command,
        style=Markup(_resource("page.css")),  # a file of this package
        settings=[(name, _figure(value).exact) for name, value in flattened(settings)],
        metrics=metrics,
        systems=list(figures),
        figures=[(name, row) for name, row in rows if JOIN not in name],
        parts=[(name, row) for name, row in rows if JOIN in name],
        plots=list(_plots(gathered)),
        tallies=gathered,
        passages=shown_passages,
        number=number,
    )


def flattened(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested objects, by their names joined.

    >>> list(flattened({"f1": 2, "ms": {"read": 3}}))
    [('f1', 2), ('ms, read', 3)]
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{above}{name}{JOIN}")
        else:
            yield f"{above}{name}", value


def _plots(gathered: Sequence[SystemTally]) -> Iterator[Plot]:
    """The plots whose data are there."""
    yield from verdict_plot(gathered)
    yield from recall_plots(gathered)
    yield from group_plots(gathered)
    yield from risk_plot(gathered)
    yield from precision_recall_plot(gathered)
    yield from reliability_plots(gathered)
    yield from latency_plot(gathered)


def _table(systems: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, list[Figure | None]]]:
    """A row for each measure of any system: its name, and the figure of each system, None without one."""
    columns = [dict(flattened(figures)) for figures in systems.values()]
    names = dict.fromkeys(name for column in columns for name in column)
    return [
        (name, [_figure(column[name]) if name in column else None for column in columns]) for name in names
    ]


def _figure(value: Any) -> Figure:
    exact = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Figure(exact, exact)
    return Figure(f"{value:,}" if isinstance(value, int) else number(value), exact)


def _means(gathered: Sequence[SystemTally]) -> dict[str, dict[str, Any]]:
    return {
        tally.name: {
            "questions so far": tally.questions,
            **{name: mean.value for name, mean in tally.scores.items()},
        }
        for tally in gathered
    }


def _shown(value: Any) -> Any:
    """What the template prints: text from elsewhere with its control characters made visible."""
    return shown(value) if isinstance(value, str) else value


def _resource(name: str) -> str:
    return (files("spanwise.eval.report") / name).read_text(encoding="utf-8")
