"""Imported once by the server that children are forked from: it loads and compiles what an index needs."""

import tempfile
from pathlib import Path

import workload

with tempfile.TemporaryDirectory() as folder:
    workload.check(workload.make_index(Path(folder) / "index", 2), 2, 2)
