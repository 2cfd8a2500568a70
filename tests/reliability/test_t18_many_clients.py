"""T18: more clients than a server can work for are told so, and cost it nothing that stays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import spanwise

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_serving.py"
CLIENTS, GROWTH = 200, 0.05


@pytest.mark.reliability
def test_two_hundred_clients_hear_nothing_but_answers_and_come_again(memory, record, nightly) -> None:
    (memory / "notes").mkdir()
    for number in range(200):
        text = (
            f"# Mill {number}\n\nMill number {number} was founded by Ada Rook in the year {1500 + number}.\n"
        )
        (memory / "notes" / f"{number}.md").write_text(text)
    with spanwise.open(memory / "notes", index=memory / "index") as library:
        library.sync(vectors=False)
    seconds = "60" if nightly else "8"
    given = ["clients", "--index", str(memory / "index"), "--retriever", "bm25", "--seconds", seconds]
    command = [sys.executable, str(SCRIPT), *given, "--clients", str(CLIENTS), "--out", str(memory / "found")]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads((memory / "found").read_text())
    assert set(found["statuses"]) <= {"200", "503"}
    assert found["statuses"]["200"] > CLIENTS
    assert abs(found["rss_growth"]) <= GROWTH
    told = f"{found['statuses']['200']:,} answers, the rest 503; 99 % in {found['p99_ms']} ms; memory "
    record("T18", f"{CLIENTS} clients for {seconds} s", told + f"{found['rss_growth']:+.1%}")
