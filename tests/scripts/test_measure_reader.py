"""The script that measures reading against encoding."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from small_squad import small_squad, written

ROOT = Path(__file__).parents[2]


def test_it_prints_both_times_and_their_ratio(tmp_path):
    data = written(tmp_path / "data.json", small_squad("1.1"))
    command = [sys.executable, ROOT / "scripts" / "measure_reader.py", "--data", data, "--rounds", "1"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)
    assert re.fullmatch(r"read \d+ ms, encode \d+ ms, ratio \d+\.\d\d\n", done.stdout), done.stderr
