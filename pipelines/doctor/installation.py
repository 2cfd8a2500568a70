"""Python, the packages, and the programs that help."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, requires, version
from platform import platform, python_version

from packaging.requirements import Requirement

from .finding import Finding, fail, ok, warn

SHOWN = ("numpy", "torch", "transformers", "faiss-cpu")


def check_python() -> Finding:
    """The versions of spanwise and Python."""
    return ok("python", f"spanwise {version('spanwise')}, Python {python_version()}, {platform()}")


def check_packages() -> Finding:
    """Whether all packages that spanwise requires are installed in versions that it takes."""
    lines = [Requirement(line) for line in requires("spanwise") or []]
    needed = [line for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
    wrong = [f"{line} (found: {installed(line.name)})" for line in needed if not fits(line)]
    if wrong:
        return fail("packages", "; ".join(wrong), "install them; README.md says how")
    return ok("packages", ", ".join([str(len(needed)), *(f"{name} {installed(name)}" for name in SHOWN)]))


def check_tesseract() -> Finding:
    """The program that reads pages without text, which one may do without."""
    found = shutil.which("tesseract")
    if found is None:
        return warn("tesseract", "not installed", "install it to read pages that are pictures")
    return ok("tesseract", found)


def check_faiss() -> Finding:
    """Whether FAISS finds the nearer one of two vectors."""
    import faiss
    import numpy as np

    vectors = np.eye(2, dtype=np.float32)
    index = faiss.IndexFlatIP(2)
    index.add(vectors)
    nearest = index.search(vectors[1:], 1)[1]
    if nearest.tolist() != [[1]]:
        return fail("faiss", f"found {nearest.tolist()} for [[1]]", "pip install --force-reinstall faiss-cpu")
    return ok("faiss", f"searches with {faiss.omp_get_max_threads()} threads")


def check_torch() -> Finding:
    """Whether torch multiplies, where, and with which instructions."""
    import torch

    from ...models.precision import has_bf16, pick_device

    device = pick_device()
    eye = torch.eye(4, device=device)
    if not torch.equal(eye @ eye, eye):
        return fail("torch", f"multiplies wrongly on {device}", "pip install --force-reinstall torch")
    capability = torch.backends.cpu.get_cpu_capability()
    precision = "bf16" if has_bf16(device) else "float32"
    return ok("torch", f"{device}, {capability}, {precision}, {torch.get_num_threads()} threads")


def installed(name: str) -> str:
    """The version of a package, or "none"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def fits(requirement: Requirement) -> bool:
    """Whether a package is installed in a version that the requirement takes."""
    found = installed(requirement.name)
    return found != "none" and requirement.specifier.contains(found, prereleases=True)
