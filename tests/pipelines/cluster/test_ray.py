"""Shards on a Ray cluster of this machine: the same rankings, and what happens when actors die."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest
from made_shards import write_notes

import spanwise
from spanwise import ClusterOptions
from spanwise.errors import ShardsMissing
from spanwise.index.shards import shard_folders
from spanwise.types import SummaryOptions

ray = pytest.importorskip("ray")

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's own


@pytest.fixture(scope="module")
def cluster():
    """A cluster on 127.0.0.1. Ray's own processes look for clouds, so they are not watched."""
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


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Notes in one index, and the same in four shards."""
    root = tmp_path_factory.mktemp("ray")
    write_notes(root / "notes", 24, 60)
    with spanwise.open(root / "notes", root / "one", cache=False) as one:
        one.sync(vectors=False)
        expected = one.search_many(["mill owl", "weir term7"], retriever="bm25")
    with spanwise.open(root / "notes", root / "four", cache=False, shards=4) as four:
        four.sync(vectors=False)
    return root / "four", expected


def found(lists):
    return [[(hit.passage.document_id, hit.score) for hit in hits] for hits in lists]


def actors(library):
    return library.store._shards._replicas


def open_cluster(index, **options):
    return spanwise.open_index(index, cache=False, cluster=ClusterOptions("local", **options))


def test_rankings_on_the_cluster_are_those_of_one_index(cluster, index):
    with open_cluster(index[0]) as library:
        assert found(library.search_many(["mill owl", "weir term7"], retriever="bm25")) == found(index[1])
        assert library.search("mill owl", retriever="tfidf")
        assert library.document("n0003.md").title
        with pytest.raises(ValueError, match="no passage 1000"):
            library.snapshot.passages([1000])


def test_another_replica_is_asked_and_a_missing_shard_is_named(cluster, index):
    with open_cluster(index[0], replicas=2) as library:
        ray.kill(actors(library)[0][0], no_restart=True)
        for _ in range(3):
            assert found(library.search_many(["mill owl", "weir term7"], retriever="bm25")) == found(index[1])
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
    with open_cluster(index[0]) as library:
        ray.kill(actors(library)[2][0], no_restart=False)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and library.search("mill", retriever="bm25"):
            if not library.left_out(retriever="bm25"):
                break
            time.sleep(0.2)
        assert library.left_out(retriever="bm25") == ""


def test_shards_are_synced_by_workers_as_here(cluster, tmp_path, encoder_folder):
    write_notes(tmp_path / "notes", 8, 40)
    kept = []
    for name, where in (("here", None), ("there", ClusterOptions("local"))):
        path = tmp_path / name
        with spanwise.open(
            tmp_path / "notes",
            path,
            model=encoder_folder,
            colbert="none",
            cache=False,
            shards=2,
            cluster=where,
        ) as library:
            report = library.sync()
            assert (len(report.added), library.missing_vectors()) == (8, 0)
            assert library.search("mill owl", retriever="hybrid")
        shards = shard_folders(path)
        kept.append([sorted(one.name for one in shard.glob("segments/*")) for shard in shards])
    assert kept[0] == kept[1]


def test_the_server_runs_on_the_cluster(cluster, index):
    from spanwise.pipelines.cluster.serve import serve_on_ray
    from spanwise.pipelines.server.security import Access

    records = []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def ask(url):
        body = json.dumps({"question": "mill owl", "retriever": "bm25"})
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as server:
            server.request("POST", "/api/search", body, {"content-type": "application/json"})
            records.append(json.loads(server.getresponse().read()))
        raise KeyboardInterrupt

    serve_on_ray(index[0], ClusterOptions("local"), Access("127.0.0.1", port), SummaryOptions(), ask)
    assert [hit["document"] for hit in records[0]["hits"]] == [name for name, _ in found(index[1])[0]]
