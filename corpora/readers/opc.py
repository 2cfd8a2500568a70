"""Office Open XML packages (pptx, xlsx): which part refers to which, and what the properties say.

Tags are compared without their namespaces, which differ between the transitional and the strict form.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from spanwise.errors import DocumentRejected

from .package import Element, Package, attribute

CORE_PROPERTIES = "docProps/core.xml"


@dataclass(frozen=True, slots=True)
class Relation:
    """A reference from one part to another: its kind ("slide", "chart", "worksheet") and the part's name."""

    kind: str
    target: str


def relations(package: Package, part: str = "") -> dict[str, Relation]:
    """What a part refers to inside the package, by relation id; the package itself has the empty name."""
    folder, name = posixpath.split(part)
    source = posixpath.join(folder, "_rels", f"{name}.rels")
    if source not in package.names:
        return {}
    return {
        attribute(found, "Id"): Relation(
            posixpath.basename(attribute(found, "Type")), package.resolve(part, attribute(found, "Target"))
        )
        for found in package.xml(source)
        if attribute(found, "TargetMode") != "External"
    }


def targets(package: Package, part: str, kind: str) -> list[str]:
    """The names of the parts of one kind that a part refers to and that are there."""
    found = relations(package, part).values()
    return [to.target for to in found if to.kind == kind and to.target in package.names]


def main_part(package: Package) -> str:
    """The part that everything else hangs from; `DocumentRejected` when the package names none."""
    found = targets(package, "", "officeDocument")
    if not found:
        raise DocumentRejected("damaged: the package names no main part")
    return found[0]


def core_title(package: Package) -> str:
    """The title among the properties, or the empty string."""
    if CORE_PROPERTIES not in package.names:
        return ""
    return str(package.xml(CORE_PROPERTIES).findtext("{*}title") or "")


def texts(element: Element) -> list[str]:
    """The words of every `t` element below, in order."""
    return [found.text or "" for found in element.iter("{*}t")]


def relation_id(element: Element, name: str = "id") -> str:
    """The relation that an element names; its own `id`, without a namespace, is something else."""
    found = (value for key, value in element.attrib.items() if key.endswith("}" + name))
    return str(next(found, ""))
