"""`spanwise adapt` shows its questions, tells what came of them, and goes back."""

from __future__ import annotations

import json

import pytest
from made_adaptation import teaching

from spanwise.pipelines.adapt import adapt as adapting


@pytest.fixture
def adapted(run, library, monkeypatch):
    """Runs `adapt` on the index with a trainer whose student is better: (exit code, stdout, stderr)."""
    monkeypatch.setattr(adapting, "Teaching", teaching)
    place = library.store.path
    library.close()
    return lambda *options: run("adapt", "--index", place, "--questions", 200, "--seed", 1, *options)


def test_a_dry_run_shows_ten_questions_and_loads_nothing(adapted, loaded, library):
    code, out, err = adapted("--dry-run")
    assert (code, len(out.splitlines())) == (0, 10)
    assert "minutes on two cores" in err
    record = json.loads(adapted("--dry-run", "--json")[1])
    assert set(record) == {"questions", "minutes", "examples"}
    assert set(record["examples"][0]) == {"question", "kind", "document", "start", "end"}
    assert not (library.store.path / "adapt").exists()


def test_it_tells_the_gain_and_status_shows_it(run, adapted, library):
    code, out, err = adapted()
    assert code == 0, err
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["mrr@10", "recall@1", "installed:"]
    assert "spanwise adapt --undo" in err
    assert "adapted to these documents" in run("status", "--index", library.store.path)[1]
    assert run("verify", "--index", library.store.path)[0] == 0


def test_the_record_is_one_json_value_and_undo_goes_back(run, adapted, library):
    record = json.loads(adapted("--json")[1])
    assert record["installed"]
    assert set(record["measures"]) == {"mrr@10", "recall@1"}
    assert record["measures"]["mrr@10"]["difference"] > 0
    code, out, _ = adapted("--undo", "--json")
    assert (code, json.loads(out)["colbert"]) == (0, "builtin")
    code, out, err = adapted("--undo")
    assert (code, out, "nothing to undo" in err) == (1, "", True)


def test_a_model_that_is_not_better_is_told_with_exit_0(adapted, monkeypatch):
    monkeypatch.setattr(adapting, "Teaching", lambda: teaching("worse"))
    code, out, _ = adapted("--json")
    assert (code, json.loads(out)["installed"]) == (0, None)
    assert "no gain: nothing installed" in adapted()[1]


def test_a_damaged_model_of_the_index_is_found(run, adapted, library):
    digest = json.loads(adapted("--json")[1])["installed"]
    settings = library.store.path / "models" / digest / "settings.json"
    settings.write_text(settings.read_text().replace("better", "worse"))
    code, out, _ = run("verify", "--index", library.store.path)
    assert (code, digest in out) == (1, True)


@pytest.mark.parametrize(
    ("options", "code"), [(("--undo", "--dry-run"), 2), (("--epochs", 0), 2), (("--questions", 0), 2)]
)
def test_wrong_usage(adapted, options, code):
    got, out, err = adapted(*options)
    assert (got, out, err.count("\n")) == (code, "", 1)
