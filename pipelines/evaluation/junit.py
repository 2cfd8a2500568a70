"""A gate as JUnit XML, the form that continuous integration shows: one test case for each measure.

Source: the schema of JUnit reports as Jenkins and GitLab read them. XML 1.0 has no place for most control
characters, whatever their escape, and questions may hold any: they are replaced by U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from ...eval.significance.comparison import Change, Comparison
from .gate import Gate, loss_line

_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NAME = "spanwise eval gate"


def junit_xml(gate: Gate) -> bytes:
    """The report in UTF-8; a significant loss is a failure, with every question that lost."""
    counts = {"tests": str(len(gate.comparisons)), "failures": str(len(gate.losses)), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": NAME, **counts, "skipped": "0"})
    for one in gate.comparisons:
        names = {"classname": f"spanwise.gate.{one.pair.system.system}", "name": one.measure, "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", {name: _fit(text) for name, text in names.items()})
        if gate.is_loss(one):
            message = {"message": _fit(loss_line(one)), "type": "significant loss"}
            ElementTree.SubElement(case, "failure", message).text = _fit(_lines(one.losses))
        ElementTree.SubElement(case, "system-out").text = _fit(_figures(one))
    ElementTree.indent(suites)
    report: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return report + b"\n"


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)


def _lines(changes: Iterable[Change]) -> str:
    return "\n".join(f"{one.difference:+.4g} {one.id} {' '.join(one.question.split())}" for one in changes)


def _figures(one: Comparison) -> str:
    return (
        f"baseline {one.baseline_mean:.6f}, now {one.system_mean:.6f}, difference {one.difference:+.6f}, "
        f"p {one.p:.4g}, corrected {one.p_holm:.4g}; {len(one.wins)} wins, {len(one.losses)} losses, "
        f"{len(one.ties)} ties"
    )
