"""T8: an index that somebody changed opens or is refused by name; it ends no process and hangs none."""

from __future__ import annotations

import json
import random
import resource
import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from crashes import Say, run
from workload import (
    answers,
    answers_or_error,
    complaints,
    files_of,
    make_index,
    scrambled,
    spliced,
    truncated,
)

from spanwise.index.catalog import Catalog
from spanwise.index.schema import state_digest

MEMORY, SECONDS = 4 * 2**30, 10


@pytest.fixture
def index(memory: Path) -> Path:
    return make_index(memory / "index")


def damage_files(index: Path, draw: random.Random) -> None:
    """Change one file to three."""
    for file in draw.sample(files_of(index), draw.randint(1, 3)):
        whole = (index / file).read_bytes()
        (index / file).write_bytes(draw.choice((scrambled, scrambled, spliced, truncated))(whole, draw))


def exchange_files(index: Path, draw: random.Random) -> None:
    """Give two files each other's content."""
    first, second = (index / file for file in draw.sample(files_of(index), 2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


NONSENSE = (-1, 0, 1, 2**63, 10**30, "", "|O", "<f4", "../../x", None, [], [2**40, 2**40], {}, True)


def forge_a_segment(index: Path, draw: random.Random) -> None:
    """Change a value of a manifest and make every digest above it fit, as somebody who means harm would."""
    old = draw.choice(sorted((index / "segments").iterdir()))
    manifest = json.loads((old / "manifest.json").read_bytes())
    columns = manifest["columns"]
    target = draw.choice((manifest, *columns.values(), columns))
    target[draw.choice(sorted(target))] = draw.choice(NONSENSE)
    text = json.dumps(manifest).encode()
    new = old.rename(old.with_name(sha256(text).hexdigest()))
    (new / "manifest.json").write_bytes(text)
    rename_in_catalog(index, old.name, new.name)


def rename_in_catalog(index: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(index / "catalog.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE segments SET id = ? WHERE id = ?", (new, old))
        catalog = Catalog.open(index / "catalog.sqlite")
        (state,) = catalog.rows("SELECT generation, documents, passages FROM state")
        sealed = state_digest(*state.values(), catalog.settings, catalog.segments(), catalog.deleted())
        catalog.close()
        database.execute("UPDATE state SET digest = ?", (sealed,))


def use(say: Say, index: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    say(complaints(index))
    say(answers_or_error(index))


def judged(index: Path, right: object) -> str:
    """What became of a mutated index: refused, or harmless."""
    end = run(use, index, timeout_s=SECONDS)
    assert end.code == 0
    lines, (found, error) = end.messages
    assert found in (None, right)
    assert bool(lines) or found == right
    return "refused" if lines or error else "harmless"


@pytest.mark.times(3, 50, 2000)
def test_mutated_directories_end_no_process(index, memory, record, times) -> None:
    right, outcomes = answers(index), []
    for number in range(times):
        draw = random.Random(number)
        copy = shutil.copytree(index, memory / "copy")
        draw.choice((damage_files, damage_files, exchange_files))(copy, draw)
        outcomes.append(judged(copy, right))
        shutil.rmtree(copy)
    value = f"{times}: 0, {outcomes.count('harmless')} of them harmless"
    record("T8", "mutated directories: crashes, hangs, wrong answers", value)


def test_forged_segments_end_no_process(index, memory, record, nightly) -> None:
    times = 2000 if nightly else 50
    for number in range(times):
        copy = shutil.copytree(index, memory / "copy")
        forge_a_segment(copy, random.Random(number))
        assert run(use, copy, timeout_s=SECONDS).code == 0, number
        shutil.rmtree(copy)
    record("T8", "crashes, hangs by forged manifests", f"0 of {times}")
