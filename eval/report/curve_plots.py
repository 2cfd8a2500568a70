"""The plots of curves: recall at k, and risk against coverage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..calibration.risk_coverage import aurc, coverage_at_risk, risk_coverage_curve
from .axis import number
from .line_chart import Curve, line_chart, thinned
from .plot import Plot
from .series import swatch
from .system_tally import SystemTally

_AT_K = re.compile(r"((?:\w*recall)|R|Success)@(\d{1,6})")
TITLES = {
    "recall": "Recall",
    "R": "Recall",
    "answer_recall": "Recall of the answer's words",
    "Success": "Success",
}

RISKS = (0.05, 0.1, 0.2)
LEAST_ANSWERS = 10
"""Of fewer answers the risk jumps about and would set the height of the whole picture."""


def recall_plots(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """A plot for each measure that was taken at two depths or more, with a curve for each system."""
    families: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for index, tally in enumerate(tallies):
        for name, mean in tally.scores.items():
            if (found := _AT_K.fullmatch(name)) and int(found[2]):
                families[found[1]][index][int(found[2])] = mean.value
    for family, by_system in families.items():
        if max(map(len, by_system.values())) > 1:
            yield _recall_plot(family, by_system, [tally.name for tally in tallies])


def risk_plot(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """Risk against coverage of the systems that answered with a confidence, if there are any."""
    sure = [(index, tally) for index, tally in enumerate(tallies) if tally.forecasts.confidences]
    if not sure:
        return
    curves, rows = [], []
    for index, tally in sure:
        forecasts = tally.forecasts.confidences, tally.forecasts.credits
        points = risk_coverage_curve(*forecasts)
        curve = [(p.coverage, p.risk) for p in points if p.coverage * len(forecasts[0]) >= LEAST_ANSWERS]
        curves.append(Curve(index, tally.name, thinned(curve or [(1.0, points[-1].risk)])))
        coverages = [number(coverage_at_risk(*forecasts, risk)) for risk in RISKS]
        areas = [number(aurc(*forecasts)), number(points[-1].risk)]
        rows.append([tally.name, *areas, *coverages, tally.forecasts.told])
    title = "Risk against coverage"
    x_name, y_name = (
        "coverage: share that is answered, the surest first",
        "risk: share of those that is wrong",
    )
    yield Plot(
        title,
        line_chart(f"{title}, a curve for each system", curves, x_name, y_name),
        ["system", "AURC", "risk of all", *(f"coverage at risk {number(risk)}" for risk in RISKS), "of"],
        rows,
        [(swatch(index), tally.name) for index, tally in sure],
        f"The curves begin at {LEAST_ANSWERS} answers."
        + (f" Of {sure[0][1].forecasts.told}." if len(sure) == 1 else ""),
    )


def precision_recall_plot(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """Precision against recall of readers that could decline, if there are any, as SQuAD 2.0 draws it."""
    one = len(tallies) == 1
    found = [
        (name if one else tally.name, points)
        for tally in tallies
        for name, points in tally.margins.curves().items()
        if one or name == "F1"
    ]
    if not found:
        return
    title = "Precision against recall"
    curves = [Curve(index, name, thinned(points)) for index, (name, points) in enumerate(found)]
    yield Plot(
        title,
        line_chart(
            f"{title}, a curve for each measure",
            curves,
            "recall: of the questions with an answer",
            "precision: of those answered",
        ),
        ["", "precision at recall 0.25", "0.5", "all answered: recall", "precision"],
        [
            [name, *(_precision_at(points, least) for least in (0.25, 0.5)), *map(number, points[-1])]
            for name, points in found
        ],
        [(swatch(index), name) for index, (name, _) in enumerate(found)],
        "The surest answered first." if one else "By F1, the surest answered first.",
    )


def _precision_at(points: Sequence[tuple[float, float]], least: float) -> str:
    """The best precision at a recall of at least so much."""
    return number(max((precision for recall, precision in points if recall >= least), default=0.0))


def _recall_plot(family: str, by_system: dict[int, dict[int, float]], names: Sequence[str]) -> Plot:
    depths = sorted({k for values in by_system.values() for k in values})
    curves = [Curve(index, names[index], sorted(values.items())) for index, values in by_system.items()]
    title = f"{TITLES.get(family, family.replace('_', ' '))} at k"
    return Plot(
        title,
        line_chart(f"{title}, a curve for each system", curves, "k", f"{family}@k", depths),
        ["system", *(f"{family}@{k}" for k in depths)],
        [
            [names[index], *(number(values[k]) if k in values else "–" for k in depths)]
            for index, values in by_system.items()
        ],
        [(swatch(index), names[index]) for index in by_system],
    )
