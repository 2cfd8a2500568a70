"""T4: every format ever released opens with equal answers, and a newer one is refused by name."""

from __future__ import annotations

import json
import shutil

import pytest
from golden.make import HERE, answers, put

from spanwise.errors import FormatTooNew
from spanwise.index import Store
from spanwise.index.schema import FORMAT


def test_golden_directories_of_every_format(tmp_path, record) -> None:
    for version in range(1, FORMAT + 1):
        path = tmp_path / f"v{version}"
        shutil.copytree(HERE / path.name, path)
        expected = json.loads((HERE / f"{path.name}.json").read_text(encoding="utf-8"))
        with Store.open(path) as store:
            found = json.loads(json.dumps(answers(store)))
            assert {key: found[key] for key in expected} == expected
            assert store.verify() == []
            with store.writer() as writer:
                put(writer, "new.txt", ["something new"])
                writer.commit()
            assert store.verify() == []
    record("T4", "golden directories opened with equal answers, then written to", f"{FORMAT} of {FORMAT}")


def test_an_index_of_the_next_format(tmp_path, record) -> None:
    shutil.copytree(HERE / f"v{FORMAT}", tmp_path / "next")
    with (tmp_path / "next" / "catalog.sqlite").open("r+b") as file:
        file.seek(60)  # where SQLite keeps the number of the format
        file.write((FORMAT + 1).to_bytes(4, "big"))
    with pytest.raises(FormatTooNew, match=rf"catalog\.sqlite has format {FORMAT + 1}"):
        Store.open(tmp_path / "next")
    record("T4", "an index of the next format", "refused by name")
