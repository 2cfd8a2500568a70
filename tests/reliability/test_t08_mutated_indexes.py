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
    target = draw.choice((manifest, *manifest["columns"].values(), manifest["columns"]))
    target[draw.choice(sorted(target))] = draw.choice(NONSENSE)
    text = json.dumps(manifest).encode()
    new = old.rename(old.with_name(sha256(text).hexdigest()))
    (new / "manifest.json").write_bytes(text)
    with closing(sqlite3.connect(index / "catalog.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE segments SET id = ? WHERE id = ?", (new.name, old.name))
        catalog = Catalog.open(index / "catalog.sqlite")
        (state,) = catalog.rows("SELECT generation, documents, passages FROM state")
        sealed = state_digest(*state.values(), catalog.settings, catalog.segments(), catalog.deleted())
        catalog.close()
        database.execute("UPDATE state SET digest = ?", (sealed,))


def use(say: Say, index: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    say(complaints(index))
    say(answers_or_error(index))


@pytest.mark.times(3, 50, 2000)
@pytest.mark.parametrize("how", [damage_files, exchange_files, forge_a_segment])
def test_a_mutated_directory_ends_no_process(index, memory, record, times, how) -> None:
    right, harmless = answers(index), 0
    for number in range(times):
        copy = shutil.copytree(index, memory / "copy")
        how(copy, random.Random(number))
        end = run(use, copy, timeout_s=SECONDS)
        assert end.code == 0, number
        lines, (found, error) = end.messages
        if how is not forge_a_segment:  # whose digests all fit
            assert found in (None, right)
            assert lines or found == right
        harmless += not lines and not error
        shutil.rmtree(copy)
    figure = f"mutated directories, {how.__name__.replace('_', ' ')}: crashes, hangs, wrong answers"
    record("T8", figure, f"{times}: 0, {harmless} of them harmless")
