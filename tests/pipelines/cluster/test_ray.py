"""Shards on a Ray cluster of this machine: the rankings of one index, and actors that die."""

import http.client
import json
import os
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest
from helpers.notes import write_notes

import spanwise
from spanwise import ClusterOptions
from spanwise.errors import ShardsMissing
from spanwise.index.shards import shard_folders
from spanwise.types import SummaryOptions

ray = pytest.importorskip("ray")

pytestmark = [pytest.mark.reliability, pytest.mark.filterwarnings("ignore")]  # Ray warns

QUESTIONS = ["mill owl", "weir term7"]


@pytest.fixture(scope="module")
def cluster():
    """A cluster on 127.0.0.1. The network stays open for Ray's processes, which look for cloud providers."""
    with pytest.MonkeyPatch.context() as patch:
        paths = os.environ["PYTHONPATH"].split(os.pathsep)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if Path(path).name != "offline"))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",
            namespace="spanwise",
            num_cpus=3,
            include_dashboard=False,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
        )
    yield
    ray.shutdown()


def places(lists):
    return [[(hit.passage.document_id, hit.score) for hit in hits] for hits in lists]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray") / "notes"
    write_notes(folder, 24, 60)
    return folder


@pytest.fixture(scope="module")
def expected(notes):
    """The places and scores that one index finds for QUESTIONS, and its answer to the first."""
    with spanwise.open(notes, notes.parent / "one", cache=False) as library:
        library.sync(vectors=False)
        hits = library.search_many(QUESTIONS, retriever="bm25")
        return places(hits), library.ask(QUESTIONS[0], retriever="bm25", k=1)


@pytest.fixture(scope="module")
def index(notes):
    """The notes in four shards."""
    with spanwise.open(notes, notes.parent / "four", cache=False, shards=4) as library:
        library.sync(vectors=False)
    return notes.parent / "four"


def actors(library):
    return library.store._shards._replicas


def open_cluster(index, **options):
    return spanwise.open_index(index, cache=False, cluster=ClusterOptions("local", **options))


def test_a_cluster_indexes_searches_and_answers_as_one_index(cluster, notes, expected):
    hits, answer = expected
    with spanwise.open(
        notes, notes.parent / "two", cache=False, shards=2, cluster=ClusterOptions("local")
    ) as library:
        assert len(library.sync(vectors=False).added) == 24
        assert places(library.search_many(QUESTIONS, retriever="bm25")) == hits
        clustered = library.ask(QUESTIONS[0], retriever="bm25", k=1)
        assert clustered.outcome == answer.outcome
        assert clustered.span == answer.span
        assert clustered.confidence == answer.confidence


def test_documents_and_passages_are_read_on_the_cluster(cluster, index):
    with open_cluster(index) as library:
        assert library.search("mill owl", retriever="tfidf")
        assert library.document("n0003.md").title
        with pytest.raises(ValueError, match="no passage 1000"):
            library.snapshot.passages([1000])


def test_another_replica_is_asked_and_a_missing_shard_is_named(cluster, index, expected):
    with open_cluster(index, replicas=2) as library:
        ray.kill(actors(library)[0][0], no_restart=True)
        for _ in range(3):
            assert places(library.search_many(QUESTIONS, retriever="bm25")) == expected[0]
            assert library.left_out(retriever="bm25") == ""
        ray.kill(actors(library)[0][1], no_restart=True)
        assert library.search("mill owl", retriever="bm25")
        assert library.left_out(retriever="bm25") == "3 of 4 shards"
        assert library.ask("mill owl", retriever="bm25", k=1).left_out == "3 of 4 shards"
        library.store._require_all = True
        actors(library)[1].clear()
        with pytest.raises(ShardsMissing, match="2 of 4"):
            library.search("mill owl", retriever="bm25")


def test_an_actor_that_is_started_again_answers_again(cluster, index):
    with open_cluster(index) as library:
        ray.kill(actors(library)[2][0], no_restart=False)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and library.search("mill", retriever="bm25"):
            if not library.left_out(retriever="bm25"):
                break
            time.sleep(0.2)
        assert library.left_out(retriever="bm25") == ""


def test_workers_write_the_segments_that_one_process_writes(cluster, tmp_path, encoder_folder):
    write_notes(tmp_path / "notes", 8, 40)
    segments = {}
    for name, options in (("here", None), ("there", ClusterOptions("local"))):
        path = tmp_path / name
        with spanwise.open(
            tmp_path / "notes",
            path,
            model=encoder_folder,
            colbert="none",
            cache=False,
            shards=2,
            cluster=options,
        ) as library:
            assert len(library.sync().added) == 8
            assert library.missing_vectors() == 0
            assert library.search("mill owl", retriever="hybrid")
        segments[name] = [
            sorted(segment.name for segment in shard.glob("segments/*")) for shard in shard_folders(path)
        ]
    assert segments["here"] == segments["there"]


def test_the_server_runs_on_the_cluster(cluster, index, expected):
    from spanwise.pipelines.server.run import serve_on_ray
    from spanwise.pipelines.server.security import Access

    records = []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def ask(url):
        body = json.dumps({"question": QUESTIONS[0], "retriever": "bm25"})
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as server:
            server.request("POST", "/api/search", body, {"content-type": "application/json"})
            records.append(json.loads(server.getresponse().read()))
        raise KeyboardInterrupt

    serve_on_ray(index, ClusterOptions("local"), Access("127.0.0.1", port), SummaryOptions(), ask)
    assert [hit["document"] for hit in records[0]["hits"]] == [name for name, _ in expected[0][0]]
