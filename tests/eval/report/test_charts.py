"""Every chart is well-formed, says what it shows to those who cannot see it, and keeps its words inside."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from spanwise.eval.calibration.calibration_error import reliability_bins
from spanwise.eval.report.box_chart import Spread, box_chart
from spanwise.eval.report.frame import WIDTH
from spanwise.eval.report.interval_chart import Estimate, interval_chart
from spanwise.eval.report.line_chart import Curve, line_chart, thinned
from spanwise.eval.report.reliability_chart import reliability_chart
from spanwise.eval.report.series import colour, line, marker
from spanwise.eval.report.stacked_chart import stacked_chart

NAME = 'a "long" name <of> things & more'
CURVE = Curve(0, NAME, [(1, 0.5), (20, 0.75), (100, 0.75)])
ONE_POINT = Curve(1, "b", [(1, 0.0)])
ESTIMATES = [Estimate(0, NAME, 50.0, 40.0, 60.0, 7), Estimate(1, "b", 0.0, 0.0, 0.0, 1)]
CHARTS: dict[str, Callable[[], Markup]] = {
    "line": lambda: line_chart(NAME, [CURVE, ONE_POINT], "k", "recall@k", [1, 5, 20, 100]),
    "flat line": lambda: line_chart(NAME, [Curve(0, "a", [(0.5, 0.0), (1.0, 0.0)])], "x", "y"),
    "interval": lambda: interval_chart(NAME, [(NAME, ESTIMATES), ("b", ESTIMATES[1:])], "x"),
    "stacked": lambda: stacked_chart(NAME, [(NAME, {"a": 3, "b": 1}), ("b", {"b": 1})], {"a": "x", "b": "y"}),
    "box": lambda: box_chart(NAME, [Spread(0, NAME, (0.0, 1.0, 2.0, 3.0, 4.0), 9)], "ms"),
    "logarithmic box": lambda: box_chart(NAME, [Spread(0, "a", (0.1, 1.0, 2.0, 3.0, 4000.0), 9)], "ms"),
    "one value": lambda: box_chart(NAME, [Spread(0, "a", (0.0,) * 5, 1)], "ms"),
    "reliability": lambda: reliability_chart(NAME, reliability_bins([0.1, 0.95, 1.0], [0, 1, 0]), 2),
}


@pytest.mark.parametrize("made", CHARTS.values(), ids=CHARTS)
def test_a_chart_is_well_formed_and_named(made: Callable[[], Markup]) -> None:
    svg = ElementTree.fromstring(made())
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == NAME
    assert "nan" not in made().lower().replace(NAME.lower(), "")


@pytest.mark.parametrize("made", CHARTS.values(), ids=CHARTS)
def test_everything_lies_inside_the_picture(made: Callable[[], Markup]) -> None:
    svg = ElementTree.fromstring(made())
    height = float(svg.attrib["viewBox"].split()[-1])
    for one in svg.iter():
        assert all(0 <= float(one.get(name, 0)) <= WIDTH for name in ("x", "x1", "x2"))
        assert all(0 <= float(one.get(name, 0)) <= height for name in ("y", "y1", "y2"))


def test_points_tell_their_values_to_a_pointer() -> None:
    titles = [one.text for one in ElementTree.fromstring(CHARTS["line"]()).iter("title")]
    assert titles[1] == f"{NAME}: 0.75 at 20"


def test_two_hundred_series_look_different() -> None:
    looks = {(colour(i), line(i, [(0, 0)]), marker(i, 0, 0)) for i in range(200)}
    assert len(looks) == 200


def test_thinning_keeps_both_ends() -> None:
    points = [(i / 999, i / 999) for i in range(1000)]
    kept = thinned(points, 7)
    assert (len(kept), kept[0], kept[-1]) == (7, points[0], points[-1])
