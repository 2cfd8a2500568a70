"""The curve of a run shows its loss, its evaluations and how far it is; as a file it stands alone."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.report.line_chart import HEIGHT
from spanwise.eval.report.loss_chart import POINTS, loss_chart, smoothed
from spanwise.eval.report.standalone import standalone

SVG = "{http://www.w3.org/2000/svg}"
EVALUATIONS = [{"step": 500, "mrr": 0.8251}, {"step": 505, "mrr": 0.9}, {"step": 1000.0, "mrr": 0.9, "x<": 1}]


def drawn(losses, evaluations=EVALUATIONS, steps=2000):
    return ElementTree.fromstring(standalone(loss_chart("Loss", losses, evaluations, steps), HEIGHT))


def test_a_file_names_its_size_and_both_papers():
    svg = drawn([1.0] * 1000)
    assert (svg.get("width"), svg.get("height")) == ("720", "516")
    assert "prefers-color-scheme: dark" in "".join(svg.find(f"{SVG}style").itertext())


def test_the_line_is_thin_enough_to_draw_and_ends_where_the_run_is():
    raw, line = drawn([2.0] * 1000).iter(f"{SVG}polyline")
    for each in (raw, line):
        points = each.get("points").split()
        assert len(points) == POINTS
        assert points[-1].split(",")[0] == "193.0"  # half of the way from 40 to 346


def test_evaluations_are_marked_and_named_where_there_is_room():
    svg = drawn([1.0] * 1000)
    titles = [title.text for title in svg.iter(f"{SVG}title")]
    assert titles == ["step 500: mrr 0.8251", "step 505: mrr 0.9", "step 1,000: mrr 0.9, x< 1"]
    assert [t.text for t in svg.iter(f"{SVG}text") if "mrr" in t.text] == ["mrr 0.8251", "mrr 0.9"]


def test_a_run_without_a_step_has_no_curve():
    with pytest.raises(ValueError, match="no losses"):
        loss_chart("Loss", [], [], 10)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=400), st.integers(0, 100))
def test_any_losses_are_drawn(losses, more):
    assert drawn(losses, [{"step": len(losses)}], len(losses) + more) is not None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(1, 100))
def test_a_smoothed_value_lies_between_those_that_it_is_made_of(values, span):
    found = smoothed(values, span)
    assert all(min(values) - 1e-6 <= value <= max(values) + 1e-6 for value in found)
    assert smoothed(values, 1) == values
